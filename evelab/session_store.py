"""Sessions that outlive their process: one SQLite file, written at the end of every step.

The history is kept a message a row, and only what is new in it is written. The rest of a session is one JSON
text, written whole: state, locks, and the digests of at most 1,024 recalls. As in eve, raw scopes and what users
said are in it, so the file is as private as they are.

Opening a session takes a lock on it which ends with the process, however that ends: an exclusive transaction on
a small file of its own, beside the store.
"""

from __future__ import annotations

import os
import sqlite3
from dataclasses import replace

from evelab.checkpoint import Record
from evelab.checkpoint_json import dump, load
from evelab.errors import OptionError, RecordError, SessionHeldError, StoreError
from evelab.keys import digest
from evelab.message import Message
from evelab.sqlite import MEMORY, Layout, SqliteDatabase
from evelab.text import utf8

SESSIONS = Layout(
    "sessions",
    0x65767373,
    1,
    (
        "CREATE TABLE evelab_sessions (id TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID",
        """CREATE TABLE evelab_messages (
          session TEXT NOT NULL, position INTEGER NOT NULL, message TEXT NOT NULL,
          PRIMARY KEY (session, position)) WITHOUT ROWID""",
    ),
)
"""The file's header says ``evss``."""


class StoredSession:
    """One session of a store, held by this process until it is closed.

    Raises:
        OptionError: the store is no file.
        SessionHeldError: it is open elsewhere.
        StoreError: the store cannot be used.
    """

    def __init__(self, path: str | os.PathLike[str], session_id: str) -> None:
        if os.fspath(path) == MEMORY:
            raise OptionError("A session that outlives its process needs a file, not :memory:.", place="store")
        self._key = digest(utf8(session_id))
        self._lock = _lock(f"{os.fspath(path)}-{self._key[:16]}.lock", session_id)
        self._database = SqliteDatabase(path, SESSIONS)
        self._written: tuple[Message, ...] = ()

    def load(self) -> Record | None:
        """What was written last, or None for a new session.

        Raises:
            RecordError: the file holds something else.
            StoreError: the store cannot be used.
        """
        with self._database.work(write=False) as work:
            found = work.rows("SELECT record FROM evelab_sessions WHERE id = :id", id=self._key)
            order = "SELECT message FROM evelab_messages WHERE session = :id ORDER BY position"
            messages = tuple(load(text) for (text,) in work.rows(order, id=self._key))
        if not found:
            return None
        record = load(found[0][0])
        if not isinstance(record, Record) or not all(isinstance(message, Message) for message in messages):
            raise RecordError("A stored session cannot be read.", path="session")
        self._written = messages
        return replace(record, saved=replace(record.saved, history=messages))

    def save(self, record: Record) -> None:
        """Write where the session is now: all of it or nothing.

        Raises:
            RecordError: something in it cannot be stored.
            StoreError: the store cannot be used.
        """
        history = record.saved.history
        same = 0
        for old, new in zip(self._written, history, strict=False):
            if old is not new:
                break
            same += 1
        added = [
            {"session": self._key, "position": same + index, "message": dump(message)}
            for index, message in enumerate(history[same:])
        ]
        text = dump(replace(record, saved=replace(record.saved, history=())))
        with self._database.work(write=True) as work:
            if len(self._written) > same:
                gone = "DELETE FROM evelab_messages WHERE session = :id AND position >= :same"
                work.rows(gone, id=self._key, same=same)
            work.many("INSERT INTO evelab_messages VALUES (:session, :position, :message)", added)
            put = "INSERT INTO evelab_sessions VALUES (:id, :record) ON CONFLICT (id) DO UPDATE SET record = :record"
            work.rows(put, id=self._key, record=text)
        self._written = history

    def close(self) -> None:
        """Let go of the session."""
        self._database.close()
        self._lock.close()


def _lock(path: str, session_id: str) -> sqlite3.Connection:
    """A transaction that nobody else can have at the same time. It ends with the process."""
    try:
        lock = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except BaseException:
            lock.close()
            raise
    except sqlite3.Error as error:
        if "locked" not in str(error):
            raise StoreError(f"The lock of a session cannot be taken: {error}.", store="SQLite") from error
        raise SessionHeldError(
            f"Session {session_id} is open elsewhere. Close it there first: one process works on a session.",
            session_id=session_id,
        ) from None
    return lock
