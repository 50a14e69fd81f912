"""The three measures of a string, against an independent restatement of JavaScript's rules."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from evelab.text import (
    WHITE_SPACE,
    is_blank,
    join_pairs,
    normalise,
    to_json,
    trim,
    utf8,
    utf8_length,
    utf16_length,
)
from tests.strategies import units


def code_units(text: str) -> list[int]:
    """The UTF-16 units of a text, by the book."""
    found = []
    for char in text:
        code = ord(char)
        if code > 0xFFFF:
            found += [0xD800 + (code - 0x10000 >> 10), 0xDC00 + (code - 0x10000 & 0x3FF)]
        else:
            found.append(code)
    return found


def bytes_of(text: str) -> bytes:
    """UTF-8 of a text, pairs joined and every lone surrogate replaced, by the book."""
    found, at, data = code_units(text), 0, b""
    while at < len(found):
        unit = found[at]
        if 0xD800 <= unit < 0xDC00 and at + 1 < len(found) and 0xDC00 <= found[at + 1] < 0xE000:
            data += chr(0x10000 + (unit - 0xD800 << 10) + found[at + 1] - 0xDC00).encode()
            at += 2
            continue
        data += b"\xef\xbf\xbd" if 0xD800 <= unit < 0xE000 else chr(unit).encode()
        at += 1
    return data


@given(units)
def test_utf8_replaces_lone_surrogates_and_joins_pairs(text: str) -> None:
    assert utf8(text) == bytes_of(text)
    assert utf8_length(text) == len(bytes_of(text))


@given(units)
def test_length_counts_utf16_units(text: str) -> None:
    assert utf16_length(text) == len(code_units(text))


@given(units)
def test_joined_pairs_are_the_same_units(text: str) -> None:
    assert code_units(join_pairs(text)) == code_units(text)


def test_white_space_is_javascripts_25_code_points() -> None:
    wanted = {*range(9, 14), 0x20, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF}
    assert {ord(char) for char in WHITE_SPACE} == wanted
    assert len(WHITE_SPACE) == 25


@pytest.mark.parametrize("char", ["\x85", "\x1c", "\x1f", "\u180e", "\u200b", "\u2060", "\0"])
def test_what_python_strips_and_javascript_does_not_is_kept(char: str) -> None:
    assert not is_blank(char)
    assert trim(f" {char} ") == char
    assert normalise(f"a {char} b") == f"a {char} b"


@given(units)
def test_normalised_text_stays_as_it_is(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    assert once == " ".join(part for part in "".join(" " if c in WHITE_SPACE else c for c in text).split(" ") if part)


@given(units)
def test_json_reads_back_to_the_same_units(text: str) -> None:
    written = to_json([text])
    assert code_units(json.loads(written)[0]) == code_units(text)
    assert not any(0xD800 <= ord(char) < 0xE000 for char in written)


def test_json_is_written_as_javascript_writes_it() -> None:
    assert to_json(["a/b", "\x7f", "\u2028", "é", '"', "\\", "\b\t\n\f\r\x1f"]) == (
        '["a/b","\x7f","\u2028","é","\\"","\\\\","\\b\\t\\n\\f\\r\\u001f"]'
    )
    assert (
        to_json({"b": 1.0, "a": [None, True, 1.5, "\ud800x\udc00"]}) == '{"b":1,"a":[null,true,1.5,"\\ud800x\\udc00"]}'
    )
