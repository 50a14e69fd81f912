"""A database in one file, with Python's own SQLite.

Write-ahead log, so that readers do not wait for a writer; every commit is on the disk before a write
returns; a writer that finds another one at work waits. One connection a process, used by one thread at a time.
"""

from __future__ import annotations

import math
import os
import sqlite3
import threading
import time
import weakref
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evelab.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MEMORY = ":memory:"
WAIT_SECONDS = 30.0
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


@dataclass(frozen=True, slots=True)
class Layout:
    """What a file holds.

    Attributes:
        what: the things in it, in the plural, for errors.
        application_id: four letters in the file's header: a file of another program is not written to.
        number: which arrangement of tables it is.
        tables: the statements that make them.
    """

    what: str
    application_id: int
    number: int
    tables: tuple[str, ...]


def _let_go(connection: sqlite3.Connection, process: int) -> None:
    """Close the connection of a database that nobody holds any more; closed twice, nothing happens."""
    if process == os.getpid():
        connection.close()
    else:
        _LEFT_BEHIND.append(connection)


class SqliteDatabase:
    """A database file, made when it is first used.

    Args:
        path: the file, or ``:memory:`` for a database that ends with this object.
        layout: what is in it.
        wait_seconds: how long a writer waits for another one.
    """

    row_lock = ""

    def __init__(self, path: str | os.PathLike[str], layout: Layout, *, wait_seconds: float = WAIT_SECONDS) -> None:
        self.path = os.fspath(path)
        self._layout = layout
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
            weakref.finalize(self, _let_go, connection, os.getpid()).atexit = False
        return self._connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.create_function("ln", 1, math.log, deterministic=True)
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        # What was forgotten is overwritten in the file, not only left out of it.
        connection.execute("PRAGMA secure_delete = ON")
        if (number := self._number(connection)) == 0:
            self._write_ahead(connection)
            connection.execute("BEGIN IMMEDIATE")
            # Another process may have made the tables since.
            if (number := self._number(connection)) == 0:
                for statement in self._layout.tables:
                    connection.execute(statement)
                number = self._layout.number
                connection.execute(f"PRAGMA application_id = {self._layout.application_id}")
                connection.execute(f"PRAGMA user_version = {number}")
            connection.execute("COMMIT")
        if number != self._layout.number:
            raise StoreError(
                f"{Path(self.path).name} holds {self._layout.what} in layout {number}; "
                f"this version of evelab reads layout {self._layout.number}.",
                store="SQLite",
            )

    def _number(self, connection: sqlite3.Connection) -> int:
        """The number of the file's layout, 0 for a new file.

        Raises:
            StoreError: it is a database of another program.
        """
        # One statement sees one moment: another process may be making the tables.
        ((application, number, tables),) = connection.execute(
            "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master) "
            "FROM pragma_application_id, pragma_user_version"
        ).fetchall()
        if tables and application != self._layout.application_id:
            raise StoreError(
                f"{Path(self.path).name} is a database of something else than {self._layout.what}; it was left alone.",
                store="SQLite",
            )
        return int(number) if tables else 0

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
