"""What is wrong with a tool's input, in the words that eve's model reads."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evelab.file_memory import REMOVE_SCHEMA, SAVE_SCHEMA
from evelab.schema import input_issues

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["text", "index", "x"]), inner),
    max_leaves=5,
)


@pytest.mark.parametrize(
    ("schema", "value", "issues"),
    [
        (SAVE_SCHEMA, {}, [{"message": 'Instance does not have required property "text".'}]),
        (SAVE_SCHEMA, {"text": ""}, [{"message": "String is too short (0 < 1).", "path": ["text"]}]),
        (SAVE_SCHEMA, {"text": "a", "x": 1, "y": 2},
         [{"message": 'Unrecognized key: "x"'}, {"message": 'Unrecognized key: "y"'}]),
        (SAVE_SCHEMA, {"x": 1}, [{"message": 'Unrecognized key: "x"'}]),
        (SAVE_SCHEMA, {"text": 1},
         [{"message": 'Instance type "number" is invalid. Expected "string".', "path": ["text"]}]),
        (SAVE_SCHEMA, [], [{"message": 'Instance type "array" is invalid. Expected "object".'}]),
        (REMOVE_SCHEMA, {"index": -1.5},
         [{"message": 'Instance type "number" is invalid. Expected "integer".', "path": ["index"]},
          {"message": "-1.5 is less than 0.", "path": ["index"]}]),
        (REMOVE_SCHEMA, {"index": 2**53},
         [{"message": "9007199254740992 is greater than 9007199254740991.", "path": ["index"]}]),
        (REMOVE_SCHEMA, {"index": True},
         [{"message": 'Instance type "boolean" is invalid. Expected "integer".', "path": ["index"]}]),
        (REMOVE_SCHEMA, {"index": 1.0}, []),
        (SAVE_SCHEMA, {"text": " "}, []),
    ],
)  # fmt: skip
def test_issues_are_eves(schema: dict[str, Any], value: object, issues: list[object]) -> None:
    assert input_issues(schema, value) == issues


@given(JSON)
def test_an_input_fits_or_something_is_said(value: object) -> None:
    fits = isinstance(value, dict) and list(value) == ["text"] and isinstance(value["text"], str) and value["text"]
    assert bool(input_issues(SAVE_SCHEMA, value)) is not bool(fits)


def test_a_rule_without_a_sentence_of_eves_is_told_in_plain_words() -> None:
    schema = {"type": "object", "properties": {"n": {"enum": ["a", "b"]}}}
    assert input_issues(schema, {"n": "c"}) == [{"message": "input.n must be one of ['a', 'b']"}]
