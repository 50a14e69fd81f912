"""A checkpoint as JSON, and back: no code of a stored file is ever run.

Values that JSON has not are written as an object with one key that begins with ``$``: ``{"$set": [...]}``.
Of the classes below only these are made again, from their fields. Everything else is refused when it is
written, and an unknown tag when it is read.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from typing import TYPE_CHECKING, Any

from evelab.auth import Principal
from evelab.checkpoint import Checkpoint, Held, Record, Work
from evelab.errors import RecordError
from evelab.keys import Lock, MemoryScope
from evelab.message import Attribution, Message, ToolCall, ToolResult, TurnInfo
from evelab.recall import MemoryState
from evelab.summary import KnownTokens

if TYPE_CHECKING:
    from collections.abc import Callable

_CLASSES: tuple[type, ...] = (
    Checkpoint, Held, KnownTokens, Lock, MemoryScope, MemoryState, Message, Principal, Record, ToolCall, ToolResult,
    TurnInfo, Work,
)  # fmt: skip
_FIELDS = {kind: tuple(field.name for field in fields(kind) if field.init) for kind in _CLASSES}
_NAMED: dict[str, type] = {f"${kind.__name__}": kind for kind in _CLASSES}
_PLAIN = (str, int, float, bool, type(None))


def dump(value: object) -> str:
    """A value as JSON text, in ASCII.

    Raises:
        RecordError: something in it cannot be stored; it says where and of what type it is.
    """
    return json.dumps(_plain(value, "session"), separators=(",", ":"))


def load(text: str) -> Any:
    """The value of a JSON text.

    Raises:
        RecordError: it is not what ``dump`` writes.
    """
    try:
        return _value(json.loads(text))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise RecordError("A stored session cannot be read.", path="session") from error


def _plain(value: object, path: str) -> Any:
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind in _FIELDS:
        return {f"${kind.__name__}": {name: _plain(getattr(value, name), f"{path}.{name}") for name in _FIELDS[kind]}}
    match value:
        case Attribution():
            return {"$Attribution": list(value)}
        case list():
            return [_plain(item, f"{path}[{index}]") for index, item in enumerate(value)]
        case tuple():
            return {"$tuple": [_plain(item, f"{path}[{index}]") for index, item in enumerate(value)]}
        case set():
            return {"$set": [_plain(item, f"{path}{{...}}") for item in value]}
        case datetime():
            return {"$datetime": value.isoformat()}
        case bytes():
            return {"$bytes": b64encode(value).decode()}
    if isinstance(value, Mapping) and all(type(key) is str for key in value):
        inside = {key: _plain(item, f"{path}[{key!r}]") for key, item in value.items()}
        return {"$dict": inside} if any(key.startswith("$") for key in inside) else inside
    raise RecordError(f"A session cannot be stored: {path} is a {kind.__name__}.", path=path)


def _value(plain: Any) -> Any:
    if isinstance(plain, list):
        return [_value(item) for item in plain]
    if not isinstance(plain, dict):
        return plain
    if len(plain) == 1:
        ((tag, inside),) = plain.items()
        if tag in _NAMED:
            return _NAMED[tag](**{name: _value(item) for name, item in inside.items()})
        if tag in _TAGS:
            return _TAGS[tag](inside)
    if any(key.startswith("$") for key in plain):
        raise ValueError("an unknown tag")
    return {key: _value(item) for key, item in plain.items()}


_TAGS: dict[str, Callable[[Any], Any]] = {
    "$Attribution": lambda inside: Attribution(*inside),
    "$tuple": lambda inside: tuple(_value(item) for item in inside),
    "$set": lambda inside: {_value(item) for item in inside},
    "$dict": lambda inside: {key: _value(item) for key, item in inside.items()},
    "$datetime": datetime.fromisoformat,
    "$bytes": b64decode,
}
