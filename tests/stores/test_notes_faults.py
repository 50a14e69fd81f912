"""What a killed writer, two writers at once and a full disk leave behind."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from evelab import notes, notes_postgres, notes_sqlite, open_notes
from evelab.errors import StoreError
from evelab.notes_store import NoteStore
from evelab.sqlite import SqliteDatabase
from tests.stores.callers import capture, key, recall, where
from tests.stores.postgres import postgres, postgres_url

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["postgres", "postgres_url", "where"]

KILLS = 200
CAPTURES = 50


def kill_writers(where: str, kills: int) -> list[str]:
    """Kill as many writers, see that nothing they captured is lost or there twice, and give the notes."""
    words = [sys.executable, "-m", "tests.stores.killed_writer", where, str(kills), "7"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    counted = json.loads(done.stdout)
    assert counted["died"] == kills
    assert len(counted["promised"]) > kills
    assert set(counted["promised"]) <= set(counted["kept"])
    # One capture of each writer may be stored though the writer had no time to say so.
    kept: list[str] = counted["kept"]
    assert len(kept) == len(set(kept)) <= len(counted["promised"]) + kills
    return kept


def test_every_note_that_was_captured_outlives_killed_writers(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    kept = kill_writers(str(path), KILLS)
    look = sqlite3.connect(path)
    assert look.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert look.execute("PRAGMA foreign_key_check").fetchall() == []
    # Half a capture would be a note without words, or an operation without its note.
    (found,) = look.execute("SELECT count(DISTINCT note) FROM evelab_words WHERE word = 'note'").fetchone()
    (operations,) = look.execute("SELECT count(*) FROM evelab_operations").fetchone()
    look.close()
    assert found == len(kept)
    assert operations == min(len(kept), 1024)


def test_every_note_in_postgresql_outlives_killed_writers(postgres: str) -> None:
    import psycopg

    kept = kill_writers(postgres, KILLS // 4)
    with psycopg.connect(postgres) as look:
        found = look.execute("SELECT count(DISTINCT note) FROM evelab_words WHERE word = 'note'").fetchone()
        operations = look.execute("SELECT count(*) FROM evelab_operations").fetchone()
    assert found == operations == (len(kept),)


WRITER = """
import sys
from evelab import notes, open_notes
from tests.stores.callers import capture
store = open_notes(sys.argv[1])
provider = notes(store)
print("ready", flush=True)
sys.stdin.readline()
for index in range(int(sys.argv[3])):
    for _ in range(2):
        capture(provider, "a", f"rota {sys.argv[2]} {index}", f"{sys.argv[2]} {index}")
store.close()
"""


def test_two_processes_at_once_lose_nothing_and_write_nothing_twice(where: str) -> None:
    words = [sys.executable, "-c", WRITER, where]
    writers = [
        subprocess.Popen([*words, name, str(CAPTURES)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for name in ("one", "two")
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    store = open_notes(where)
    kept = [note.text for note in store.notes(key("a"))]
    store.close()
    assert sorted(kept) == sorted(f"rota {name} {index}" for name in ("one", "two") for index in range(CAPTURES))


def test_threads_share_a_store(where: str) -> None:
    store = open_notes(where)
    provider = notes(store)

    def write(name: int) -> int:
        for index in range(20):
            capture(provider, "a", f"rota {name} {index}", f"{name} {index}")
            assert recall(provider, "a", f"{name}")
        return name

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(write, range(4))) == [0, 1, 2, 3]
    assert len(store.notes(key("a"))) == 80
    store.close()


def test_two_processes_may_replay_the_same_captures_at_once(where: str) -> None:
    words = [sys.executable, "-c", WRITER, where, "same", str(CAPTURES)]
    writers = [subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [writer.wait() for writer in writers] == [0, 0]
    store = open_notes(where)
    assert sorted(note.text for note in store.notes()) == sorted(f"rota same {index}" for index in range(CAPTURES))
    store.close()


def test_a_store_that_another_process_is_making_is_waited_for(where: str) -> None:
    """The other one has begun and not yet committed."""
    store = open_notes(where)
    with ThreadPoolExecutor(1) as pool:
        if "://" in where:
            import psycopg

            with psycopg.connect(where) as other:
                other.execute("SELECT pg_advisory_xact_lock(%s)", (notes_postgres.SCHEMA_LOCK,))
                for statement in notes_postgres._TABLES:
                    other.execute(statement)
                opened = pool.submit(store.notes)
                time.sleep(0.3)
                assert not opened.done()
        else:
            maker = sqlite3.connect(where, isolation_level=None)
            maker.execute("BEGIN EXCLUSIVE")
            opened = pool.submit(store.notes)
            time.sleep(0.3)
            assert not opened.done()
            for statement in notes_sqlite.NOTES.tables:
                maker.execute(statement)
            maker.execute(f"PRAGMA application_id = {notes_sqlite.NOTES.application_id}")
            maker.execute(f"PRAGMA user_version = {notes_sqlite.NOTES.number}")
            maker.execute("COMMIT")
            maker.close()
        assert opened.result() == []
    store.close()


def test_many_processes_may_open_a_new_store_at_the_same_moment(where: str) -> None:
    words = [sys.executable, "-c", WRITER, where]
    writers = [subprocess.Popen([*words, str(n), "1"], stdin=subprocess.DEVNULL, stdout=-3) for n in range(4)]
    assert [writer.wait() for writer in writers] == [0, 0, 0, 0]
    store = open_notes(where)
    assert len(store.notes()) == 4
    store.close()


OPENERS = """
import os, sys, time
from evelab import open_notes
statuses = []
for file in range(40):
    at, children = time.time() + 0.02, []
    for _ in range(4):
        children.append(os.fork())
        if children[-1] == 0:
            store = open_notes(f"{sys.argv[1]}/{file}.db")
            while time.time() < at:
                pass
            store.notes()
            store.close()
            os._exit(0)
    statuses += [os.waitpid(child, 0)[1] for child in children]
print(sum(status != 0 for status in statuses), len(statuses))
"""


def test_new_files_are_opened_at_the_same_moment_without_an_error(tmp_path: Path) -> None:
    """SQLite does not wait when two processes turn the write-ahead log on: about 1 of 13 openers failed so."""
    done = subprocess.run([sys.executable, "-c", OPENERS, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout == "0 160\n", done.stderr


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    folder = tmp_path / "small"
    folder.mkdir()
    done = (
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True, text=True, check=False
        )
        if hasattr(os, "geteuid") and os.geteuid() == 0
        else None
    )
    if done is None or done.returncode != 0:
        if os.environ.get("EVELAB_REQUIRE_STORES") == "1":
            pytest.fail("a small file system cannot be mounted here")
        pytest.skip("a small file system can be mounted by root only")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_is_an_error_and_the_old_notes_stay(small_disk: Path) -> None:
    store = open_notes(small_disk / "notes.db")
    provider = notes(store)
    kept: list[str] = []

    def fill() -> None:
        for index in range(1000):
            capture(provider, "a", f"rota {index} " + "filler " * 500 + f"{index}", f"op{index}")
            kept.append(f"rota {index}")

    with pytest.raises(StoreError, match="full"):
        fill()
    assert len(kept) > 10
    assert [" ".join(note.text.split()[:2]) for note in store.notes()] == kept
    assert len(recall(provider, "a", "rota")) == 5
    with pytest.raises(StoreError, match="full"):
        capture(provider, "a", "rota and " + "more " * 1500, "op")
    store.close()
    (small_disk / "notes.db").stat()
    look = sqlite3.connect(small_disk / "notes.db")
    assert look.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    look.close()


def test_a_writer_that_waits_too_long_is_told_so(tmp_path: Path) -> None:
    store = NoteStore(SqliteDatabase(tmp_path / "notes.db", notes_sqlite.NOTES, wait_seconds=0.05))
    provider = notes(store)
    capture(provider, "a", "rota", "op1")
    other = sqlite3.connect(tmp_path / "notes.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="locked"):
        capture(provider, "a", "rota", "op2")
    assert len(recall(provider, "a", "rota")) == 1, "a reader does not wait for a writer"
    other.execute("ROLLBACK")
    other.close()
    capture(provider, "a", "rota", "op2")
    assert len(store.notes()) == 2
    store.close()
