"""The notes' database in one file, with Python's own SQLite.

Write-ahead log, so that readers do not wait for a writer; every commit is on the disk before a capture
returns; a writer that finds another one at work waits. One connection a process, used by one thread at a time.
"""

from __future__ import annotations

import math
import os
import sqlite3
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evelab.errors import StoreError
from evelab.notes_store import LAYOUT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MEMORY = ":memory:"
WAIT_SECONDS = 30.0
APPLICATION_ID = 0x65766E74
"""``evnt`` in the file's header: a file of another program is not written to."""

_TABLES = (
    "CREATE TABLE evelab_partitions (number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE)",
    """CREATE TABLE evelab_notes (
      number INTEGER PRIMARY KEY AUTOINCREMENT, partition INTEGER NOT NULL REFERENCES evelab_partitions,
      id TEXT NOT NULL, text TEXT NOT NULL, length INTEGER NOT NULL, written REAL NOT NULL, UNIQUE (partition, id))""",
    "CREATE INDEX evelab_notes_by_age ON evelab_notes (partition, written, number, length)",
    """CREATE TABLE evelab_words (
      partition INTEGER NOT NULL, word TEXT NOT NULL,
      note INTEGER NOT NULL REFERENCES evelab_notes ON DELETE CASCADE, times INTEGER NOT NULL,
      PRIMARY KEY (partition, word, note)) WITHOUT ROWID""",
    "CREATE INDEX evelab_words_by_note ON evelab_words (note)",
    """CREATE TABLE evelab_operations (
      serial INTEGER PRIMARY KEY AUTOINCREMENT, partition INTEGER NOT NULL REFERENCES evelab_partitions,
      id TEXT NOT NULL, UNIQUE (partition, id))""",
    "CREATE INDEX evelab_operations_by_serial ON evelab_operations (partition, serial)",
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {LAYOUT}",
)
_LEFT_BEHIND: list[sqlite3.Connection] = []
"""Connections of the parent process. SQLite forbids a child even to close them."""


class SqliteWork:
    """A transaction that is open."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, sql: str, /, **values: Any) -> list[tuple[Any, ...]]:
        """Run a statement and give its rows."""
        return self._connection.execute(sql, values).fetchall()

    def many(self, sql: str, values: Sequence[Mapping[str, Any]], /) -> None:
        """Run a statement once for each of the values."""
        self._connection.executemany(sql, values)


class SqliteDatabase:
    """A database file, made when it is first used.

    Args:
        path: the file, or ``:memory:`` for a database that ends with this object.
        wait_seconds: how long a writer waits for another one.
    """

    row_lock = ""

    def __init__(self, path: str | os.PathLike[str], *, wait_seconds: float = WAIT_SECONDS) -> None:
        self.path = os.fspath(path)
        self._wait = wait_seconds
        self._connection: sqlite3.Connection | None = None
        self._one_at_a_time = threading.Lock()
        self._process = os.getpid()

    @contextmanager
    def work(self, *, write: bool) -> Iterator[SqliteWork]:
        """A transaction: kept when the ``with`` ends, undone when it raises.

        Raises:
            StoreError: SQLite refused: a full disk, another program's file, a writer that does not end.
        """
        self._leave_the_parents()
        with self._one_at_a_time:
            try:
                connection = self._open()
                connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
                try:
                    yield SqliteWork(connection)
                    connection.execute("COMMIT")
                except BaseException:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    raise
            except sqlite3.Error as error:
                raise StoreError(f"SQLite could not use {Path(self.path).name}: {error}.", store="SQLite") from error

    def close(self) -> None:
        """Close the file. It is opened again when it is used again; a database in memory is gone."""
        self._leave_the_parents()
        with self._one_at_a_time:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _leave_the_parents(self) -> None:
        """After a fork, take a connection and a lock of one's own."""
        if self._process != os.getpid():
            if self._connection is not None:
                _LEFT_BEHIND.append(self._connection)
            self._connection = None
            self._one_at_a_time = threading.Lock()
            self._process = os.getpid()

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            connection = sqlite3.connect(self.path, timeout=self._wait, isolation_level=None, check_same_thread=False)
            try:
                self._prepare(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.create_function("ln", 1, math.log, deterministic=True)
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        # What was forgotten is overwritten in the file, not only left out of it.
        connection.execute("PRAGMA secure_delete = ON")
        if (layout := _layout(connection)) == 0:
            self._write_ahead(connection)
            connection.execute("BEGIN IMMEDIATE")
            # Another process may have made the tables since.
            if (layout := _layout(connection)) == 0:
                for statement in _TABLES:
                    connection.execute(statement)
                layout = LAYOUT
            connection.execute("COMMIT")
        if layout != LAYOUT:
            raise StoreError(
                f"{Path(self.path).name} holds notes in layout {layout}; this version of evelab reads layout {LAYOUT}.",
                store="SQLite",
            )

    def _write_ahead(self, connection: sqlite3.Connection) -> None:
        """Turn the write-ahead log on. SQLite does not wait here by itself when another process does the same."""
        until = time.monotonic() + self._wait
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > until:
                    raise
                time.sleep(0.01)
            else:
                return


def _layout(connection: sqlite3.Connection) -> int:
    """The number of the file's layout, 0 for a new file.

    Raises:
        StoreError: it is a database of another program.
    """
    # One statement sees one moment: another process may be making the tables.
    ((application, layout, tables),) = connection.execute(
        "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master) "
        "FROM pragma_application_id, pragma_user_version"
    ).fetchall()
    if tables and application != APPLICATION_ID:
        raise StoreError("The file is a database of another program; it was left alone.", store="SQLite")
    return int(layout) if tables else 0
