"""The oracle's tagged values, in Python: what JSON cannot say, such as ``{"$undefined": true}``."""

from __future__ import annotations

import hashlib
import math
from datetime import UTC, datetime, timedelta
from typing import Any

from evelab.errors import EvelabError
from evelab.text import join_pairs, utf8, utf16_length

LONG = 3000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Unsupported(Exception):
    """A request that has no Python counterpart."""


class ScriptedError(Exception):
    """What a script throws: JavaScript's plain ``Error``."""

    eve_name = "Error"


ScriptedError.__name__ = "Error"


class Undefined:
    """JavaScript's ``undefined``, which is neither None nor anything else that evelab takes."""


UNDEFINED = Undefined()


def function(*_: object) -> str:
    """What ``{"$fn": true}`` stands for."""
    return "fn"


def decode(value: Any) -> Any:
    """A request's value in Python. A field that is undefined keeps ``UNDEFINED``."""
    if isinstance(value, str):
        return join_pairs(value)
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1 and next(iter(value)).startswith("$"):
        tag, inner = next(iter(value.items()))
        match tag:
            case "$undefined":
                return UNDEFINED
            case "$number":
                return number(inner)
            case "$date":
                return EPOCH + timedelta(milliseconds=inner)
            case "$set":
                return set(decode(inner))
            case "$bytes":
                return bytes(inner)
            case "$fn":
                return function
            case "$repeat":
                return join_pairs(inner[0] * inner[1])
            case "$concat":
                return join_pairs("".join(decode(part) for part in inner))
            case "$range":
                return spread(inner)
            case "$bigint" | "$map" | "$class":
                raise Unsupported(f"Python has no counterpart of JavaScript's {tag[1:]} values")
    return {name: decode(item) for name, item in value.items()}


def defined(value: Any) -> Any:
    """The value, undefined fields left out at every depth; ``undefined`` itself is None."""
    if value is UNDEFINED:
        return None
    if isinstance(value, list):
        return [defined(item) for item in value]
    if isinstance(value, dict):
        return {name: defined(item) for name, item in value.items() if item is not UNDEFINED}
    return value


def number(text: str) -> float:
    """A number that JSON cannot write: NaN, infinities, minus zero, large integers."""
    value = float(text.replace("Infinity", "inf"))
    if text.lstrip("-").isdigit() and text != "-0":
        return int(text)
    return value


def spread(rule: dict[str, Any]) -> list[dict[str, str]]:
    """Recall messages that differ in a number."""
    start, content = rule.get("from", 0), decode(rule["content"])
    return [
        {"content": content.replace("{i}", str(at))}
        | ({"id": rule["id"].replace("{i}", str(at))} if "id" in rule else {})
        for at in range(start, start + rule["n"])
    ]


def encode(value: Any) -> Any:
    """A reply's value in JSON, as the oracle writes it."""
    if value is UNDEFINED:
        return {"$undefined": True}
    if isinstance(value, str):
        return long_text(value) if utf16_length(value) > LONG else value
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        return encode_number(value)
    if isinstance(value, datetime):
        return {"$date": (value - EPOCH) // timedelta(milliseconds=1)}
    if isinstance(value, set):
        return {"$set": [encode(item) for item in value]}
    if isinstance(value, bytes):
        return {"$bytes": list(value)}
    if isinstance(value, list | tuple):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        return {name: encode(item) for name, item in value.items()}
    raise TypeError(f"a reply cannot hold a {type(value).__name__}")


def encode_number(value: float) -> Any:
    if isinstance(value, int):
        return value
    if math.isnan(value):
        return {"$number": "NaN"}
    if math.isinf(value):
        return {"$number": "Infinity" if value > 0 else "-Infinity"}
    if value == 0 and math.copysign(1, value) < 0:
        return {"$number": "-0"}
    return int(value) if value.is_integer() else value


def long_text(text: str) -> dict[str, Any]:
    data = utf8(text)
    return {"$long": {"length": utf16_length(text), "utf8": len(data), "sha256": hashlib.sha256(data).hexdigest()}}


def error_json(error: Exception) -> dict[str, Any]:
    """An error under the name that eve gives this kind, with our sentence."""
    described: dict[str, Any] = {"name": eve_name(error), "class": type(error).__name__, "message": str(error)}
    if isinstance(key := getattr(error, "key", None), str):
        described["key"] = key
    return described


def eve_name(error: Exception) -> str:
    """A value of a wrong type is a TypeError in eve; so is a field of ``undefined``."""
    if isinstance(error, EvelabError | ScriptedError):
        return error.eve_name
    if isinstance(error, TypeError | AttributeError):
        return "TypeError"
    return "URIError" if isinstance(error, UnicodeEncodeError) else "Error"
