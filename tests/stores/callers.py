"""What the tests of stores are made of: stores that are closed again, and operations of chosen callers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from evelab import Auth, Message, create_lock, open_notes
from evelab.awaiting import resolve
from evelab.message import TurnInfo
from evelab.provider import MemoryContext, OperationContext, SessionInfo, ToolsContext

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from evelab.notes_store import NoteStore
    from evelab.provider import MemoryProvider


@pytest.fixture(params=["sqlite", "postgres"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where notes are kept: a new file, or a new database of PostgreSQL."""
    return str(tmp_path / "notes.db") if request.param == "sqlite" else request.getfixturevalue("postgres")


@pytest.fixture
def store(where: str) -> Iterator[NoteStore]:
    """An empty store."""
    opened = open_notes(where)
    yield opened
    opened.close()


def operation(caller: str, said: str, name: str = "op", *, namespace: str = "n") -> OperationContext:
    """The context of a recall or a capture of a caller who says something."""
    turn = TurnInfo("turn_0", (Message("user", said, "user"),), 0)
    lock = create_lock(namespace, caller, slot="notes", turn=turn)
    session = SessionInfo("s", Auth(None, None), turn)
    return OperationContext(MemoryContext(lock.scope, "notes"), (), name, session, turn)


def key(caller: str, *, namespace: str = "n") -> str:
    return create_lock(namespace, caller, slot="notes").scope.key


def recall(provider: MemoryProvider, caller: str, said: str) -> list[dict[str, Any]]:
    result = resolve(provider.recall["turn.started"](operation(caller, said)))
    return [] if result is None else list(result["messages"])


def capture(provider: MemoryProvider, caller: str, said: str, name: str) -> Any:
    return resolve(provider.capture["turn.completed"](operation(caller, said, name)))


def forget(provider: MemoryProvider, caller: str, id: str, *, namespace: str = "n") -> Any:  # noqa: A002
    assert provider.tools is not None
    ctx = operation(caller, "", namespace=namespace)
    assert ctx.turn is not None
    tools = resolve(provider.tools(ToolsContext(ctx.memory, (), ctx.session, ctx.turn)))
    return resolve(tools["forget"].execute(id=id))
