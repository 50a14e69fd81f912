"""A folder of documents: crashes, full disks, locks, clocks."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from evelab import directory, document_path
from evelab.directory import LOCK_FILES, LOCKS, UNFINISHED
from evelab.errors import DocumentError, MemoryDocumentConflictError, OptionError, StoreError
from evelab.file_memory import parse_document
from evelab.keys import memory_key
from tests.stores.writer import saver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

module: Any = import_module("evelab.directory")
A = memory_key("n", "a")
KILLS = 200
OLD, NEW = "old\n", "new, and longer\n"


def python(program: str, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", program, *words], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_documents_lie_where_eves_object_store_has_them(tmp_path: Path) -> None:
    directory(tmp_path).write(A, "x", expected_version=None)
    assert (tmp_path / document_path(A)).read_bytes() == b"x"
    directory(tmp_path, prefix="/eve/memory/opsbot/").write(A, "y", expected_version=None)
    assert (tmp_path / document_path(A, prefix="eve/memory/opsbot")).read_bytes() == b"y"
    assert directory(tmp_path).read(A) == directory(str(tmp_path)).read(A)


@pytest.mark.parametrize("prefix", ["", "///", "..", "a/../b", "./a", "a//b", "a\\b", "C:", "a\0", "a/*"])
def test_a_prefix_that_leaves_the_folder_or_is_ambiguous_is_refused(prefix: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError) as caught:
        directory(tmp_path, prefix=prefix)
    assert caught.value.place == "prefix"


def test_a_path_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(OptionError, match="must be a folder"):
        directory(tmp_path / "file")


def test_nothing_is_created_before_the_first_write(tmp_path: Path) -> None:
    store = directory(tmp_path / "store")
    assert store.read(A) is None
    assert list(store.keys()) == []
    assert not (tmp_path / "store").exists()


def test_a_document_that_is_not_utf8_is_named_with_its_line_and_kept(tmp_path: Path) -> None:
    store = directory(tmp_path)
    store.write(A, "one\ntwo\n", expected_version=None)
    path = store.root / A / "MEMORY.md"
    path.write_bytes(b"one\n\xff\n")
    attempts: list[Callable[[], object]] = [
        lambda: store.read(A),
        lambda: store.write(A, "x", expected_version=None),
    ]
    for attempt in attempts:
        with pytest.raises(DocumentError, match="not UTF-8") as caught:
            attempt()
        assert caught.value.line == 2
    assert path.read_bytes() == b"one\n\xff\n"


def test_a_byte_order_mark_stays_and_a_lone_surrogate_becomes_the_replacement_character(tmp_path: Path) -> None:
    store = directory(tmp_path)
    written = store.write(A, "\ufeffa\ud800b\ud83d\ude42", expected_version=None)
    assert written.content == "\ufeffa\ufffdb🙂"
    assert store.read(A) == written


@pytest.mark.parametrize(
    ("step", "found"),
    [("locked", OLD), ("half written", OLD), ("written", OLD), ("synced", OLD), ("renamed", NEW)],
)
def test_a_writer_that_is_killed_leaves_the_old_document_or_the_new_one(step: str, found: str, tmp_path: Path) -> None:
    store = directory(tmp_path)
    version = store.write(A, OLD, expected_version=None).version
    command = [sys.executable, "-m", "tests.stores.dying", step, str(tmp_path), A, version, NEW]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    stored = store.read(A)
    assert stored is not None
    assert stored.content == found
    assert store.write(A, "next", expected_version=stored.version).content == "next"
    assert [path.name for path in (store.root / A).iterdir()] == ["MEMORY.md"]


def test_two_hundred_kills_lose_nothing_that_was_saved(tmp_path: Path) -> None:
    committed = json.loads(python("tests.stores.killing", str(tmp_path), str(KILLS), "8"))
    store = directory(tmp_path)
    saved = sum(map(len, committed.values()))
    assert saved >= KILLS // 2, "every other writer is killed after its first save"
    for key, texts in committed.items():
        stored = store.read(key)
        document = parse_document("" if stored is None else stored.content)
        entries = list(document.entries.values())
        assert set(texts) <= set(entries)
        assert len(set(entries)) == len(entries)
        # A save that was killed between its end and its message: one a writer at most.
        assert len(entries) - len(texts) <= KILLS // len(committed)
    names = {path.name for path in store.root.rglob("*") if path.is_file() and path.parent.name != LOCKS}
    assert names <= {"MEMORY.md", UNFINISHED}
    assert len(list((store.root / LOCKS).iterdir())) <= LOCK_FILES


def test_a_reader_beside_a_writer_sees_whole_documents_only(tmp_path: Path) -> None:
    store, over = directory(tmp_path), threading.Event()
    contents = ["a" * 60_000, "b" * 30_000]
    version = store.write(A, contents[0], expected_version=None).version
    seen: set[str] = set()

    def read() -> None:
        while not over.is_set():
            found = store.read(A)
            seen.add("" if found is None else found.content)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for number in range(1, 300):
        version = store.write(A, contents[number % 2], expected_version=version).version
    over.set()
    for reader in readers:
        reader.join()
    assert seen <= set(contents)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[tuple[Path, bool]]:
    """A disk of 64 kB and False; without the right to mount one, a folder and True."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = shutil.which("mount")
    command = [mount or "", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    mounted = mount is not None and subprocess.run(command, capture_output=True, check=False).returncode == 0
    yield disk, not mounted
    if mounted:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_is_an_error_and_the_old_document_stays(small_disk: tuple[Path, bool]) -> None:
    disk, limited = small_disk
    told = json.loads(python("tests.stores.full_disk", str(disk), A, "yes" if limited else "no"))
    assert told["saved"] > 2
    assert told["error"].startswith("A memory document could not be written: ")
    assert ("too large" if limited else "No space left") in told["error"]
    assert len(parse_document(told["document"]).entries) == told["saved"]
    assert not list(disk.rglob(UNFINISHED))


def test_a_writer_that_does_not_end_is_an_error_not_a_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOCK_SECONDS", 0.05)
    store = directory(tmp_path)
    version = store.write(A, OLD, expected_version=None).version
    with store._lock(A), pytest.raises(StoreError, match=r"held the lock .* for 0\.05 seconds") as caught:
        directory(tmp_path).write(A, NEW, expected_version=version)
    assert caught.value.key == A
    assert store.write(A, NEW, expected_version=version).content == NEW


def test_where_readers_lock_they_wait_for_the_writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_WINDOWS", True)
    store = directory(tmp_path)
    assert store.read(A) is None
    assert not list(tmp_path.iterdir())
    store.write(A, OLD, expected_version=None)
    read: list[object] = []
    with store._lock(A):
        reader = threading.Thread(target=lambda: read.append(store.read(A)))
        reader.start()
        reader.join(0.1)
        assert read == []
    reader.join()
    assert len(read) == 1


def test_a_clock_that_jumps_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = directory(tmp_path)
    clock = iter([2e9, 1.0, 4e9, 0.0] * 1000)
    monkeypatch.setattr(time, "time", lambda: next(clock))
    save = saver(store, A, 10**6)
    for number in range(8):
        save(str(number))
        os.utime(store.root / A / "MEMORY.md", (next(clock), next(clock)))
    stored = store.read(A)
    assert stored is not None
    assert list(parse_document(stored.content).entries.values()) == [str(number) for number in range(8)]
    os.utime(store.root / A / "MEMORY.md", (0, 0))
    assert store.read(A) == stored
    with pytest.raises(MemoryDocumentConflictError):
        store.write(A, NEW, expected_version=None)


def failing(name: str) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", name)

    return fail


@pytest.mark.parametrize(
    ("method", "words"),
    [("read_bytes", "could not be read"), ("replace", "could not be written"), ("mkdir", "could not be locked")],
)
def test_what_the_system_refuses_is_a_sentence_without_the_path(
    method: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = directory(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(Path, method, failing(str(tmp_path)))
        with pytest.raises(StoreError, match=words) as caught:
            store.write(A, "x", expected_version=None)
    assert str(caught.value).endswith("Permission denied.")
    assert str(tmp_path) not in str(caught.value)
    assert (caught.value.store, caught.value.key) == ("directory", A)
    assert isinstance(caught.value.__cause__, PermissionError)
