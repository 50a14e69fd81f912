"""The three measures of a string, as eve counts them, and white-space normalisation.

eve's strings are sequences of UTF-16 units. Python's are sequences of code points, in which two separate
surrogates may stand where eve has one character. Everything here gives eve's answer for both.
"""

from __future__ import annotations

import json
import re

WHITE_SPACE = (
    "\t\n\v\f\r \u00a0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""The 25 code points that JavaScript's ``trim()`` and ``\\s`` take. Python's ``strip()`` takes others."""

_RUN = re.compile(f"[{WHITE_SPACE}]+")
_SURROGATE = re.compile("[\ud800-\udfff]")


def join_pairs(text: str) -> str:
    """The same text with every high-low pair of surrogates joined into one character.

    >>> join_pairs("\\ud83d\\ude42") == "\\U0001f642"
    True
    """
    if not _has_surrogates(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _has_surrogates(text: str) -> bool:
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def utf8(text: str) -> bytes:
    """The text's UTF-8 bytes, each lone surrogate as U+FFFD (eve 0.80.1, ``memory-state``)."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", join_pairs(text)).encode()


def utf8_length(text: str) -> int:
    """The length of ``utf8(text)``, in bytes."""
    return len(text) if text.isascii() else len(utf8(text))


def utf16_length(text: str) -> int:
    """The length in UTF-16 units, which is what eve calls characters: an emoji counts 2."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def is_blank(text: str) -> bool:
    """Whether nothing is left when white space is trimmed."""
    return not text.strip(WHITE_SPACE)


def trim(text: str) -> str:
    """The text without white space at its ends."""
    return text.strip(WHITE_SPACE)


def normalise(text: str) -> str:
    """Trimmed, and each run of white space turned into one space."""
    return _RUN.sub(" ", text.strip(WHITE_SPACE))


_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def to_json(value: object) -> str:
    """JSON as JavaScript's ``JSON.stringify`` writes it: no spaces, lone surrogates escaped.

    Finite numbers only; a float with a whole value is written without a fraction.
    """
    return _escape_surrogates(_JSON.encode(_whole_floats(value)))


def text_to_json(text: str) -> str:
    """As ``to_json``, for one text."""
    return _escape_surrogates(_JSON.encode(text))


def _escape_surrogates(text: str) -> str:
    if not _has_surrogates(text):
        return text
    return _SURROGATE.sub(lambda found: f"\\u{ord(found.group()):04x}", join_pairs(text))


def _whole_floats(value: object) -> object:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _whole_floats(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_whole_floats(item) for item in value]
    return value
