"""The notes provider: what a user says is kept in a database, and found again when it matters.

File memory recalls a whole document. Notes are searched: each turn recalls the few notes that share words
with its input. This is the example provider of the chapter's section 8.7 on a real store, and keeps its four
rules: every read and write is in the partition ``memory.scope.key``, a capture is done once for each
``operation_id``, size and age are the provider's own business, and a note is data that a user wrote.
"""

from __future__ import annotations

import time
from datetime import timedelta
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from evelab.errors import MemoryLimitError, OptionError
from evelab.provider import define_memory_provider
from evelab.recall import ITEM_ID_MAX_BYTES
from evelab.text import is_blank, normalise, utf8, utf8_length
from evelab.tools import define_tool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from evelab.notes_store import Draft, Ingested, NoteStore
    from evelab.provider import MemoryProvider, OperationContext, ToolsContext
    from evelab.tools import Tool

LIMIT = 5
MAX_LIMIT = 100
MAX_NOTES = 10_000
NOTE_MAX_BYTES = 8192
FORGET_DESCRIPTION = "Delete one note by its id, the word before the colon of a recalled note."
FORGET_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"id": {"type": "string", "minLength": 1}},
    "required": ["id"],
    "additionalProperties": False,
}


def open_notes(where: str | PathLike[str]) -> NoteStore:
    """A store of notes: SQLite in a file, or PostgreSQL.

    Args:
        where: the path of a file (made when it is not there), ``:memory:``, or ``postgresql://...``, which
            needs ``evelab[postgres]``.

    Raises:
        OptionError: a URL of something else.
    """
    from evelab.notes_store import NoteStore

    name = fspath(where)
    scheme, separator, _ = name.partition("://")
    if not separator:
        from evelab.notes_sqlite import NOTES
        from evelab.sqlite import SqliteDatabase

        return NoteStore(SqliteDatabase(name, NOTES))
    if scheme not in ("postgresql", "postgres"):
        raise OptionError(f"Notes are kept in a file or at a postgresql:// URL, not at {scheme}://.", place="where")
    from evelab.notes_postgres import PostgresDatabase

    return NoteStore(PostgresDatabase(name))


def what_was_said(ctx: OperationContext) -> list[Draft]:
    """A note of what the user said in this turn. What was recalled, and what the model said, is no note."""
    from evelab.notes_store import Draft

    said = [] if ctx.turn is None else [message.text for message in ctx.turn.input if message.kind == "user"]
    return [Draft(text) for text in said]


def notes(
    where: str | PathLike[str] | NoteStore,
    *,
    limit: int = LIMIT,
    max_notes: int = MAX_NOTES,
    max_note_bytes: int = NOTE_MAX_BYTES,
    retention: timedelta | None = None,
    extract: Callable[[OperationContext], Iterable[Draft]] = what_was_said,
    clock: Callable[[], float] = time.time,
) -> MemoryProvider:
    """A provider that keeps what users say and recalls what fits the turn's input.

    It recalls when a turn starts and after a compaction, at most ``limit`` notes, the best first; each is a
    message ``<id>: <text>`` with the note's id, so that it is not added to the history twice. It captures
    when a turn is completed; the capture returns an ``Ingested`` that counts what was added and removed. Its
    tool ``forget`` deletes a note of the turn's own partition by id. A forgotten note stays in the history of
    sessions that have recalled it: recall cannot take back.

    Nothing is cut: a note that is too long is an error, which the session logs, and the other notes stay.
    Too old and too many is different: the note that is in the way goes, and the capture's result counts it.

    Args:
        where: a path, a ``postgresql://`` URL, or a store of ``open_notes``. It is opened at first use.
        limit: how many notes a turn recalls at most, 1 to 100.
        max_notes: how many notes a partition holds; a capture removes the oldest.
        max_note_bytes: how long one note may be, in UTF-8 bytes.
        retention: how long a note is kept. An older one is not recalled, and removed by the partition's next
            capture, or by ``NoteStore.sweep``. None keeps them.
        extract: what of a completed turn is kept. White space is collapsed; lone surrogates and U+0000,
            which a database cannot hold, become U+FFFD.
        clock: the time in seconds.

    Raises:
        OptionError: an option out of its range, or a URL of something else.
    """
    _check_count("limit", limit, MAX_LIMIT)
    _check_count("max_notes", max_notes)
    _check_count("max_note_bytes", max_note_bytes)
    if retention is not None and (not isinstance(retention, timedelta) or retention <= timedelta(0)):
        raise OptionError(
            f"notes() retention must be a positive timedelta or None, not {retention!r}.", place="retention"
        )
    store = open_notes(where) if isinstance(where, str | PathLike) else where

    def since() -> float:
        return float("-inf") if retention is None else clock() - retention.total_seconds()

    def recall(ctx: OperationContext) -> dict[str, Any] | None:
        found = store.search(ctx.memory.scope.key, _question(ctx), limit=limit, since=since())
        if not found:
            return None
        return {"messages": [{"id": note.id, "content": f"{note.id}: {note.text}"} for note in found]}

    def capture(ctx: OperationContext) -> Ingested:
        drafts = [_checked(draft, max_note_bytes) for draft in extract(ctx) if not is_blank(draft.text)]
        return store.ingest(
            ctx.memory.scope.key, ctx.operation_id, drafts, now=clock(), since=since(), max_notes=max_notes
        )

    def tools(ctx: ToolsContext) -> dict[str, Tool]:
        partition = ctx.memory.scope.key

        def forget(id: str) -> dict[str, bool]:  # noqa: A002
            return {"deleted": store.delete(partition, _storable(id))}

        return {"forget": define_tool(description=FORGET_DESCRIPTION, input_schema=FORGET_SCHEMA, execute=forget)}

    return define_memory_provider(
        recall={"turn.started": recall, "compaction.completed": recall},
        capture={"turn.completed": capture},
        tools=tools,
    )


def _question(ctx: OperationContext) -> str:
    messages = ctx.messages[-1:] if ctx.turn is None else ctx.turn.input
    return "\n".join(message.text for message in messages if message.kind == "user")


def _checked(draft: Draft, max_bytes: int) -> Draft:
    """The draft as it is stored.

    Raises:
        MemoryLimitError: its text or its id is too long.
    """
    from evelab.notes_store import Draft

    text = _storable(normalise(draft.text))
    name = None if draft.id is None else _storable(draft.id)
    for what, size, limit in (
        ("A note", utf8_length(text), max_bytes),
        ("A note's id", utf8_length(name or ""), ITEM_ID_MAX_BYTES),
    ):
        if size > limit:
            raise MemoryLimitError(
                f"{what} is {size:,} UTF-8 bytes long; the limit is {limit:,}. Nothing was kept.",
                limit=limit,
                actual=size,
                unit="UTF-8 bytes",
            )
    return Draft(text, name)


def _storable(text: str) -> str:
    return utf8(text).decode().replace("\0", "\ufffd")


def _check_count(name: str, value: object, most: int | None = None) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1 or (most is not None and value > most):
        limit = "a positive whole number" if most is None else f"a whole number from 1 to {most}"
        raise OptionError(f"notes() {name} must be {limit}, not {value!r}.", place=name)
