"""One of several processes that save into one document: ``python -m tests.stores.writer PLACE KEY NAME COUNT LIMIT``.

It says "ready", waits for a line, saves COUNT texts through file memory's own tool, and tells in JSON what became of
them. A save that gives up after eve's nine tries is tried again.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, TypedDict

from evelab import file_memory
from evelab.auth import Auth
from evelab.errors import MemoryDocumentConflictError, MemoryLimitError
from evelab.keys import MemoryScope
from evelab.message import TurnInfo
from evelab.provider import MemoryContext, SessionInfo, ToolsContext
from tests.stores.places import place_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evelab.backends import Backend
    from evelab.tools import Tool

SLOT = "profile"


def tools_of(backend: Backend, key: str, limit: int) -> Mapping[str, Tool]:
    """The two tools that a model gets."""
    provider = file_memory(backend=backend, max_characters=limit)
    assert provider.tools is not None
    memory = MemoryContext(MemoryScope(key, "n", "s"), SLOT)
    turn = TurnInfo("turn_0", (), 0)
    tools: Mapping[str, Tool] = provider.tools(ToolsContext(memory, (), SessionInfo("session", Auth()), turn))
    return tools


def saver(backend: Backend, key: str, limit: int) -> Callable[[str], None]:
    """What the model's ``save_memory`` runs."""
    save = tools_of(backend, key, limit)["save_memory"].execute
    return lambda text: save(text=text)


def texts(name: str, count: int) -> list[str]:
    """Texts of one length, so that how many fit does not depend on who comes first."""
    return [f"{name} {number:03}" for number in range(count)]


class Told(TypedDict):
    """What became of the texts, and how many saves gave up before they came through."""

    saved: list[str]
    refused: list[str]
    gave_up: int


def save_all(save: Callable[[str], None], wanted: list[str]) -> Told:
    told = Told(saved=[], refused=[], gave_up=0)
    for text in wanted:
        while True:
            try:
                save(text)
            except MemoryDocumentConflictError:
                told["gave_up"] += 1
                continue
            except MemoryLimitError:
                told["refused"].append(text)
            else:
                told["saved"].append(text)
            break
    return told


def main(place: str, key: str, name: str, count: str, limit: str) -> None:
    save = saver(place_of(place).open(), key, int(limit))
    print("ready", flush=True)
    sys.stdin.readline()
    print(json.dumps(save_all(save, texts(name, int(count)))), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
