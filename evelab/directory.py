"""File memory in a folder: the layout of eve's object store, safe between threads, processes and crashes.

A document is at ``<path>/<prefix>/<key>/MEMORY.md``. A write holds a lock of the operating system, which ends
with its process, and puts a finished file in the place of the old one: whatever is killed, a reader finds the
old document or the new one. Readers take no lock.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from evelab.backends import DEFAULT_PREFIX, DOCUMENT_NAME, StoredDocument, check_key, check_prefix
from evelab.errors import DocumentError, MemoryDocumentConflictError, OptionError, StoreError
from evelab.text import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator

LOCKS = ".locks"
LOCK_FILES = 64
"""How many lock files a store has. Every process must count the same: a key's lock is one of them."""
LOCK_SECONDS = 60.0
UNFINISHED = ".MEMORY.md.new"
_POLL_SECONDS = 0.002
_WINDOWS = os.name == "nt"
_NOT_IN_A_PREFIX = '\\:*?"<>|\0'


class Directory:
    """Documents in a folder of this machine. Made by ``directory``.

    Attributes:
        root: the folder that holds a folder a key.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def read(self, key: str) -> StoredDocument | None:
        """The key's document, or None.

        Raises:
            OptionError: the key cannot name a folder.
            DocumentError: the file is not UTF-8.
            StoreError: the file cannot be read.
        """
        path = self._path(key)
        # An open file cannot be replaced on Windows.
        if _WINDOWS and path.exists():
            with self._lock(key):
                return self._load(path, key)
        return self._load(path, key)

    def write(self, key: str, content: str, *, expected_version: str | None) -> StoredDocument:
        """Write the document if its version is the expected one; None expects that there is none.

        The version is a digest of the content. Two equal contents have one version, and that is safe: what a
        writer decided from the content it read still holds. Lone surrogates become U+FFFD, as in eve's store.

        Raises:
            MemoryDocumentConflictError: it is another. Nothing was written.
            OptionError: the key cannot name a folder.
            StoreError: the file cannot be written. The document is the old one, unless only the last step of
                making the new one durable failed.
        """
        path, data = self._path(key), utf8(content)
        with self._lock(key):
            current = self._load(path, key)
            if (None if current is None else current.version) != expected_version:
                raise MemoryDocumentConflictError(key)
            try:
                _replace(path, data, is_new=current is None)
            except OSError as error:
                raise _failed("A memory document could not be written", key, error) from error
        return StoredDocument(data.decode(), _version(data))

    def keys(self) -> Iterator[str]:
        """The names of the folders that hold a document, sorted.

        Raises:
            StoreError: the store's folder cannot be listed.
        """
        try:
            names = sorted(entry.name for entry in os.scandir(self.root) if entry.is_dir())
        except FileNotFoundError:
            return
        except OSError as error:
            raise _failed("The folder of memory documents could not be listed", None, error) from error
        for name in names:
            if _may_exist(self.root / name / DOCUMENT_NAME):
                yield name

    def _path(self, key: str) -> Path:
        return self.root / check_key(key) / DOCUMENT_NAME

    def _load(self, path: Path, key: str) -> StoredDocument | None:
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _failed("A memory document could not be read", key, error) from error
        try:
            return StoredDocument(data.decode(), _version(data))
        except UnicodeDecodeError as error:
            raise _not_utf8(data, error.start) from None

    @contextmanager
    def _lock(self, key: str) -> Iterator[None]:
        """Hold the key's lock. Its file is outside the documents' folders, so deleting one frees no lock."""
        from filelock import FileLock, Timeout

        name = f"{sha256(key.encode()).digest()[0] % LOCK_FILES:02d}"
        try:
            _make_folder(self.root / LOCKS)
            # A lock of the system only: the library's other kind would outlive a killed process.
            lock = FileLock(self.root / LOCKS / name, fallback_to_soft=False)
            lock.acquire(timeout=LOCK_SECONDS, poll_interval=_POLL_SECONDS)
        except Timeout:
            raise StoreError(
                f"Another writer has held the lock of a memory document for {LOCK_SECONDS:g} seconds.",
                store="directory",
                key=key,
            ) from None
        except (OSError, NotImplementedError) as error:
            raise _failed("A memory document could not be locked", key, error) from error
        try:
            yield
        finally:
            lock.release()


def directory(path: str | os.PathLike[str], *, prefix: str = DEFAULT_PREFIX) -> Directory:
    """A backend that keeps documents in a folder: ``<path>/<prefix>/<key>/MEMORY.md``.

    Nothing is created before the first write. The folder must be on a file system with locks and an atomic
    rename, which a local disk is.

    Args:
        path: the folder.
        prefix: where in it, with ``/`` between names; eve's ``eve/memory/file`` by default.

    Raises:
        OptionError: the prefix is empty or leaves the folder, or the path is a file.
    """
    names = check_prefix(prefix).split("/")
    if any(name in ("", ".", "..") or set(name) & set(_NOT_IN_A_PREFIX) for name in names):
        raise OptionError(
            "The prefix of a directory() must be names with one / between them, "
            f'none of them . or .. and none with one of {_NOT_IN_A_PREFIX[:-1]}, not "{prefix}".',
            place="prefix",
        )
    base = Path(path).absolute()
    if base.exists() and not base.is_dir():
        raise OptionError("The path of a directory() must be a folder; this one is a file.", place="path")
    return Directory(base.joinpath(*names))


def _replace(path: Path, data: bytes, *, is_new: bool) -> None:
    """Put a finished file in the place of the old one. The caller holds the lock, so one name is enough."""
    _make_folder(path.parent)
    unfinished = path.with_name(UNFINISHED)
    try:
        with unfinished.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError:
        with suppress(OSError):
            unfinished.unlink()
        raise
    _sync_folder(path.parent)
    if is_new:  # whoever made the document's folder may have been killed before this
        _sync_folder(path.parent.parent)


def _make_folder(folder: Path) -> None:
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    """Make the names in a folder durable. Windows has no such call and needs none."""
    if _WINDOWS:
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _may_exist(path: Path) -> bool:
    """Whether there is a file, or something that keeps us from seeing one: reading it says what."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def _version(data: bytes) -> str:
    return f"sha256-{sha256(data).hexdigest()}"


def _not_utf8(data: bytes, start: int) -> DocumentError:
    line = data.count(b"\n", 0, start) + 1
    return DocumentError(
        f"Memory backend returned a document that is not UTF-8. Line {line}.", reason="it is not UTF-8", line=line
    )


def _failed(what: str, key: str | None, error: Exception) -> StoreError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
    return StoreError(f"{what}: {reason}.", store="directory", key=key)
