"""The notes' database on PostgreSQL, through SQLAlchemy and psycopg: ``evelab[postgres]``.

The same tables as in SQLite. A capture locks the row of its partition, so captures of one partition wait for
each other and those of two do not.
"""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from evelab.errors import OptionError, StoreError
from evelab.notes_store import LAYOUT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sqlalchemy import Connection, Engine

SCHEMA_LOCK = 0x6576656C6162
"""The advisory lock under which the tables are made: two processes may start at once."""

_TABLES = (
    "CREATE TABLE evelab_partitions (number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, key TEXT NOT NULL UNIQUE)",
    """CREATE TABLE evelab_notes (
      number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, partition BIGINT NOT NULL REFERENCES evelab_partitions,
      id TEXT NOT NULL, text TEXT NOT NULL, length BIGINT NOT NULL, written DOUBLE PRECISION NOT NULL,
      UNIQUE (partition, id))""",
    "CREATE INDEX evelab_notes_by_age ON evelab_notes (partition, written, number, length)",
    """CREATE TABLE evelab_words (
      partition BIGINT NOT NULL, word TEXT COLLATE "C" NOT NULL,
      note BIGINT NOT NULL REFERENCES evelab_notes ON DELETE CASCADE, times BIGINT NOT NULL,
      PRIMARY KEY (partition, word, note))""",
    "CREATE INDEX evelab_words_by_note ON evelab_words (note)",
    """CREATE TABLE evelab_operations (
      serial BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, partition BIGINT NOT NULL REFERENCES evelab_partitions,
      id TEXT NOT NULL, UNIQUE (partition, id))""",
    "CREATE INDEX evelab_operations_by_serial ON evelab_operations (partition, serial)",
    "CREATE TABLE evelab_layout (number BIGINT NOT NULL)",
    f"INSERT INTO evelab_layout VALUES ({LAYOUT})",  # noqa: S608
)


class PostgresWork:
    """A transaction that is open."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def rows(self, sql: str, /, **values: Any) -> list[tuple[Any, ...]]:
        """Run a statement and give its rows."""
        from sqlalchemy import text

        result = self._connection.execute(text(sql), values)
        return [tuple(row) for row in result] if result.returns_rows else []

    def many(self, sql: str, values: Sequence[Mapping[str, Any]], /) -> None:
        """Run a statement once for each of the values."""
        from sqlalchemy import text

        if values:
            self._connection.execute(text(sql), [dict(one) for one in values])


class PostgresDatabase:
    """A database of a PostgreSQL server. The tables are made when it is first used.

    Args:
        url: ``postgresql://user@host:port/database``.

    Raises:
        OptionError: SQLAlchemy or psycopg is not installed, or the URL cannot be read.
    """

    row_lock = " FOR UPDATE"

    def __init__(self, url: str) -> None:
        try:
            import psycopg  # noqa: F401
            from sqlalchemy.engine import make_url
            from sqlalchemy.exc import ArgumentError
        except ImportError as error:
            raise OptionError(
                "Notes on PostgreSQL need SQLAlchemy and psycopg: install evelab[postgres].", place="where"
            ) from error
        try:
            self._url = make_url(url).set(drivername="postgresql+psycopg")
        except (ArgumentError, ValueError):
            # The cause would show the URL, and with it a password.
            raise OptionError("The URL of the PostgreSQL database cannot be read.", place="where") from None
        self._engine: Engine | None = None
        self._opening = threading.Lock()
        self._process = os.getpid()

    @contextmanager
    def work(self, *, write: bool) -> Iterator[PostgresWork]:
        """A transaction: kept when the ``with`` ends, undone when it raises.

        Raises:
            StoreError: PostgreSQL refused, or is not there.
        """
        from sqlalchemy.exc import SQLAlchemyError

        try:
            with self._open().begin() as connection:
                if not write:
                    connection.exec_driver_sql("SET TRANSACTION READ ONLY")
                yield PostgresWork(connection)
        except SQLAlchemyError as error:
            # No cause: the driver's own text quotes the row, and that is what a user wrote.
            raise StoreError(f"PostgreSQL could not use the notes: {_reason(error)}.", store="PostgreSQL") from None

    def close(self) -> None:
        """Close every connection. They are opened again when the database is used again."""
        if self._engine is not None:
            self._engine.dispose(close=self._process == os.getpid())
            self._engine = None

    def _open(self) -> Engine:
        if self._process != os.getpid():
            # After a fork: connections and a lock of one's own.
            self.close()
            self._opening = threading.Lock()
            self._process = os.getpid()
        with self._opening:
            if self._engine is None:
                from sqlalchemy import create_engine

                # Parameters are what users wrote: they stay out of errors and logs.
                engine = create_engine(self._url, hide_parameters=True, pool_pre_ping=True)
                try:
                    _prepare(engine)
                except BaseException:
                    engine.dispose()
                    raise
                self._engine = engine
            return self._engine


def _prepare(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({SCHEMA_LOCK})")
        if connection.exec_driver_sql("SELECT to_regclass('evelab_layout')").scalar() is None:
            for statement in _TABLES:
                connection.exec_driver_sql(statement)
        layout = connection.exec_driver_sql("SELECT number FROM evelab_layout").scalar()
    if layout != LAYOUT:
        raise StoreError(
            f"The database holds notes in layout {layout}; this version of evelab reads layout {LAYOUT}.",
            store="PostgreSQL",
        )


def _reason(error: Exception) -> str:
    """The first line of what the driver says: a further line may quote a value."""
    return str(getattr(error, "orig", None) or error).strip().split("\n")[0].rstrip(".")
