"""Where file memory keeps its documents: one contract, conditional writes only.

A backend reads the document of a key with its version, and writes it only if the version is still the one
that was read. Source: eve 0.80.1, ``public/memory/file/backend``. ``in_memory`` is here; ``evelab.directory`` keeps
documents in a folder and ``evelab.object_store`` in S3, Google's or Azure's store.
"""

from __future__ import annotations

import os
import re
import threading
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote

from evelab.errors import DefinitionError, MemoryDocumentConflictError, OptionError
from evelab.text import is_blank

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

DEFAULT_PREFIX = "eve/memory/file"
DOCUMENT_NAME = "MEMORY.md"
KEY_MAX_CHARACTERS = 200
_NOT_IN_A_KEY = re.compile(r"[^A-Za-z0-9_-]")
_BLOB_VARIABLES = (
    "EVE_MEMORY_BLOB_STORE_ID",
    "EVE_MEMORY_BLOB_READ_WRITE_TOKEN",
    "BLOB_STORE_ID",
    "BLOB_READ_WRITE_TOKEN",
)


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document as a backend holds it.

    Attributes:
        content: the whole text.
        version: what a conditional write must name.
    """

    content: str
    version: str


class Backend(Protocol):
    """What file memory needs of a store."""

    def read(self, key: str) -> StoredDocument | None:
        """The key's document, or None."""
        ...

    def write(self, key: str, content: str, *, expected_version: str | None) -> StoredDocument:
        """Write the document if its version is the expected one; None expects that there is none.

        Raises:
            MemoryDocumentConflictError: it is another. Nothing was written.
        """
        ...


def check_prefix(prefix: str) -> str:
    """A prefix without the slashes at its ends.

    Raises:
        OptionError: nothing is left of it.
    """
    trimmed = prefix.strip("/")
    if not trimmed:
        raise OptionError("The prefix of memory documents must not be empty.", place="prefix")
    return trimmed


def check_key(key: str) -> str:
    """A key that can name a folder: 1 to 200 of the characters ``A-Z a-z 0-9 _ -``, as every key of eve.

    No other character reaches a path, so no key can leave the folder of its store.

    Raises:
        OptionError: what is wrong with it. The key itself is not shown: it may be a raw scope.
    """
    if not isinstance(key, str) or not 1 <= len(key) <= KEY_MAX_CHARACTERS:
        raise OptionError(
            f"A document's key must be a string of 1 to {KEY_MAX_CHARACTERS} characters, "
            f"not {f'{len(key):,} characters' if isinstance(key, str) else type(key).__name__}.",
            place="key",
        )
    if found := _NOT_IN_A_KEY.search(key):
        raise OptionError(
            f"A document's key may hold A-Z, a-z, 0-9, _ and - only: character {found.start()} is {found.group()!r}.",
            place=f"key[{found.start()}]",
        )
    return key


def document_path(key: str, *, prefix: str = DEFAULT_PREFIX) -> str:
    """The path of a key's document in an object store: ``<prefix>/<key>/MEMORY.md``.

    Raises:
        OptionError: the prefix is empty.
    """
    return "/".join([check_prefix(prefix), quote(key, safe="-_.!~*'()"), DOCUMENT_NAME])


class InMemory:
    """Documents in this process. Safe between threads; gone with the process."""

    def __init__(self) -> None:
        self._documents: dict[str, StoredDocument] = {}
        self._id = uuid.uuid4()
        self._writes = 0
        self._lock = threading.Lock()

    def read(self, key: str) -> StoredDocument | None:
        """The key's document, or None."""
        return self._documents.get(key)

    def write(self, key: str, content: str, *, expected_version: str | None) -> StoredDocument:
        """Write if the version is still the expected one. Versions count all writes of this backend."""
        with self._lock:
            current = self._documents.get(key)
            if (None if current is None else current.version) != expected_version:
                raise MemoryDocumentConflictError(key)
            self._writes += 1
            stored = StoredDocument(content, f"mem_{self._id}_{self._writes}")
            self._documents[key] = stored
            return stored

    def keys(self) -> Iterator[str]:
        """The keys of all documents, in the order in which they were first written."""
        return iter(list(self._documents))

    def documents(self) -> dict[str, str]:
        """Key -> content of every document, in the order in which they were first written."""
        return {key: stored.content for key, stored in list(self._documents.items())}


def in_memory() -> InMemory:
    """A backend that keeps documents in this process: eve's ``inMemory``."""
    return InMemory()


_SHARED = in_memory()


def default_backend(environ: Mapping[str, str] | None = None) -> Backend:
    """The backend that file memory takes when it is given none, by environment.

    In eve's development mode (``EVE_DEV`` is exactly ``1``) it is in memory, shared by the whole process.

    Args:
        environ: the environment to read; the process's own when None.

    Raises:
        DefinitionError: every other environment. The sentence says what to do.
    """
    env = os.environ if environ is None else environ
    if not is_blank(env.get("VERCEL", "")):
        if all(is_blank(env.get(name, "")) for name in _BLOB_VARIABLES):
            raise DefinitionError(
                "File memory on Vercel needs Blob storage: set EVE_MEMORY_BLOB_STORE_ID (eve: /add memory/file), "
                "or pass file_memory(backend=...).",
                place="backend",
            )
        raise DefinitionError(
            "eve would use private Vercel Blob here. evelab has no Blob backend: pass file_memory(backend=...).",
            place="backend",
        )
    if env.get("EVE_DEV") == "1":
        return _SHARED
    raise DefinitionError(
        "File memory needs an explicit backend outside Vercel and eve dev: pass file_memory(backend=...).",
        place="backend",
    )
