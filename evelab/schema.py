"""A tool's input against its JSON Schema, with the sentences that eve's model reads.

fastjsonschema decides whether an input fits. What it refuses is then described in eve's words for the rules
that tool inputs use (a flat object: types, required and unknown fields, lengths, bounds), and in plain
words for every other rule. Source: eve 0.80.1, seen on the real package.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import fastjsonschema

from evelab.text import to_json, utf16_length

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Issue = dict[str, Any]
"""``{"message": ...}``, and ``"path"``: the field's name in a list, where the fault is in one field."""


def input_issues(schema: Mapping[str, Any], value: object) -> list[Issue]:
    """What is wrong with an input; nothing when it fits."""
    try:
        _validator(json.dumps(schema, sort_keys=True))(value)
    except fastjsonschema.JsonSchemaValueException as error:
        reason = str(error.message).replace("data", "input", 1)
        return list(_issues(schema, value)) or [{"message": reason}]
    return []


def _issues(schema: Mapping[str, Any], value: object) -> Iterator[Issue]:
    if schema.get("type") == "object" and not isinstance(value, dict):
        yield {"message": _wrong_type(value, "object")}
    if not isinstance(value, dict):
        return
    fields: Mapping[str, Any] = schema.get("properties", {})
    unknown = [name for name in value if name not in fields] if schema.get("additionalProperties") is False else []
    if not unknown:
        for name in schema.get("required", ()):
            if name not in value:
                yield {"message": f'Instance does not have required property "{name}".'}
                return
    for name, rules in fields.items():
        if name in value:
            yield from ({"message": message, "path": [name]} for message in _faults(rules, value[name]))
    yield from ({"message": f'Unrecognized key: "{name}"'} for name in unknown)


def _faults(rules: Mapping[str, Any], value: object) -> Iterator[str]:
    wanted = rules.get("type")
    if isinstance(wanted, str) and not _is(wanted, value):
        yield _wrong_type(value, wanted)
    if isinstance(value, str) and utf16_length(value) < (least := rules.get("minLength", 0)):
        yield f"String is too short ({utf16_length(value)} < {least})."
    if isinstance(value, int | float) and not isinstance(value, bool):
        if "minimum" in rules and value < rules["minimum"]:
            yield f"{_number(value)} is less than {_number(rules['minimum'])}."
        if "maximum" in rules and value > rules["maximum"]:
            yield f"{_number(value)} is greater than {_number(rules['maximum'])}."


def _wrong_type(value: object, wanted: str) -> str:
    kinds = ("null", "boolean", "number", "string", "array", "object")
    kind = next(kind for kind in kinds if _is(kind, value))
    return f'Instance type "{kind}" is invalid. Expected "{wanted}".'


def _is(kind: str, value: object) -> bool:
    match kind:
        case "null":
            return value is None
        case "boolean":
            return isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "integer":
            return not isinstance(value, bool) and (
                isinstance(value, int) or (isinstance(value, float) and value.is_integer())
            )
        case "string":
            return isinstance(value, str)
        case "array":
            return isinstance(value, list)
    return isinstance(value, dict)


def _number(value: float) -> str:
    return to_json(value) if abs(value) < 1e21 else repr(float(value))


@lru_cache(maxsize=256)
def _validator(schema: str) -> Callable[[object], object]:
    compiled: Callable[[object], object] = fastjsonschema.compile(json.loads(schema))
    return compiled
