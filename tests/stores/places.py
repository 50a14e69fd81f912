"""Where a store is, in words that another process can open too."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from evelab import directory, in_memory, object_store
from evelab.backends import Backend

if TYPE_CHECKING:
    from collections.abc import Iterator


class Store(Backend, Protocol):
    """A backend that can also say which documents it has."""

    def keys(self) -> Iterator[str]: ...


@dataclass(frozen=True, slots=True)
class Place:
    """A store by its kind and its address.

    Attributes:
        kind: ``in_memory``, ``directory`` or ``object_store``.
        target: the folder or the URL.
        options: what ``object_store`` gets besides.
    """

    kind: str
    target: str = ""
    options: dict[str, Any] = field(default_factory=dict)

    def open(self) -> Store:
        if self.kind == "in_memory":
            return in_memory()
        if self.kind == "directory":
            return directory(self.target)
        return object_store(self.target, **self.options)

    def to_json(self) -> str:
        return json.dumps(asdict(self))


def place_of(text: str) -> Place:
    return Place(**json.loads(text))
