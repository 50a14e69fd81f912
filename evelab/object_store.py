"""File memory in an object store: S3, Google Cloud Storage, Azure Blob Storage, or memory, through ``obstore``.

Paths, prefix and the reading of conflicts are those of eve 0.80.1's Vercel Blob store. The version of a document
is its ETag (in Google's store its generation). A store is used only if it keeps conditional writes.
"""

from __future__ import annotations

import re
import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from evelab.backends import (
    DEFAULT_PREFIX,
    DOCUMENT_NAME,
    StoredDocument,
    check_key,
    check_prefix,
    document_path,
)
from evelab.errors import DefinitionError, MemoryDocumentConflictError, OptionError, StoreError
from evelab.text import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from obstore.store import ObjectStore as Store

CONTENT_TYPE = "text/markdown; charset=utf-8"
PROBE_NAME = ".evelab-conditional-writes"
PROBE = b"evelab wrote this to see whether the store keeps conditional writes. It may be deleted.\n"
RETRY: Mapping[str, Any] = {"max_retries": 3, "retry_timeout": timedelta(seconds=30)}
"""A turn waits for its memory: obstore's own patience is ten retries in three minutes."""
_NO_ETAG = '"00000000000000000000000000000000"'
_NO_GENERATION = "1"
_STATUS = re.compile(r"\b(?:status|response)\D{0,20}([45]\d\d)\b", re.IGNORECASE)


class ObjectStore:
    """Documents in an object store. Made by ``object_store``. Safe between threads and processes.

    Attributes:
        prefix: what every path begins with.
    """

    def __init__(self, store: Store, prefix: str, *, by_generation: bool, proven: bool) -> None:
        self.prefix = prefix
        self._store = store
        self._by_generation = by_generation
        self._proven = proven
        self._proving = threading.Lock()

    def read(self, key: str) -> StoredDocument | None:
        """The key's document, or None. A byte order mark is dropped and what is not UTF-8 becomes U+FFFD, as in eve.

        Raises:
            OptionError: the key cannot name a document.
            StoreError: the store did not answer, or not with a whole document.
        """
        path = self._path(key)
        try:
            found = self._store.get(path)
            data = bytes(found.bytes())
        except FileNotFoundError:
            return None
        except _errors() as error:
            raise _failed("could not read", key, error) from error
        return StoredDocument(_text(data), self._version(found.meta, key))

    def write(self, key: str, content: str, *, expected_version: str | None) -> StoredDocument:
        """Write the document if its version is the expected one; None expects that there is none.

        A create that the store refuses for another reason is a conflict too if the document then exists. Lone
        surrogates become U+FFFD.

        Raises:
            MemoryDocumentConflictError: the version is another. Nothing was written.
            OptionError: the key cannot name a document.
            StoreError: the store did not answer, or does not keep conditional writes. After a timeout the document
                may be the new one: a save that is tried again finds its text there.
        """
        path = self._path(key)
        data = utf8(content)
        with self._proving:
            if not self._proven:
                self._prove()
        try:
            result = self._put(path, data, expected_version)
        except _conflicts() as error:
            raise MemoryDocumentConflictError(key) from error
        except _errors() as error:
            if expected_version is None and self._exists(key):
                raise MemoryDocumentConflictError(key) from error
            raise _failed("could not write", key, error) from error
        return StoredDocument(_text(data), self._version(result, key))

    def keys(self) -> Iterator[str]:
        """The keys of all documents, in the order of their paths.

        Raises:
            StoreError: the store cannot be listed.
        """
        depth = len(self.prefix.split("/"))
        try:
            for page in self._store.list(self.prefix):
                for found in page:
                    names = found["path"].split("/")[depth:]
                    if len(names) == 2 and names[1] == DOCUMENT_NAME:
                        yield names[0]
        except _errors() as error:
            raise _failed("could not list", None, error) from error

    def _path(self, key: str) -> str:
        return document_path(check_key(key), prefix=self.prefix)

    def _exists(self, key: str) -> bool:
        try:
            return self.read(key) is not None
        except StoreError:
            return False

    def _put(self, path: str, data: bytes, expected_version: str | None) -> Mapping[str, Any]:
        mode: Any = "create"
        if expected_version is not None:
            mode = {"version" if self._by_generation else "e_tag": expected_version}
        return self._store.put(path, data, attributes={"Content-Type": CONTENT_TYPE}, mode=mode, use_multipart=False)

    def _version(self, meta: Mapping[str, Any], key: str) -> str:
        version = meta["version" if self._by_generation else "e_tag"]
        if not version:
            raise StoreError("The object store gave a memory document no version.", store="object store", key=key)
        return str(version)

    def _prove(self) -> None:
        """Before the first write: see that the store refuses a second create, and a replacement of another version.

        A server that only looks like S3 may ignore the condition of a write, and then each writer would undo
        what another has saved.
        """
        path = f"{self.prefix}/{PROBE_NAME}"
        wrong = _NO_GENERATION if self._by_generation else _NO_ETAG
        refuses_create = self._refuses(path, None) or self._refuses(path, None)
        if not (refuses_create and self._refuses(path, wrong)):
            raise StoreError(
                "The object store ignores the condition of a write, so two writers would undo each other's work. "
                "Use another store, or evelab.directory().",
                store="object store",
            )
        self._proven = True

    def _refuses(self, path: str, expected_version: str | None) -> bool:
        try:
            self._put(path, PROBE, expected_version)
        except _conflicts():
            return True
        except NotImplementedError:
            return False
        except _errors() as error:
            raise _failed("could not try a conditional write for", None, error) from error
        return False


def object_store(url: str, *, prefix: str = DEFAULT_PREFIX, **options: Any) -> ObjectStore:
    """A backend that keeps documents in an object store: ``<url>/<prefix>/<key>/MEMORY.md``.

    It needs the package obstore: ``pip install 'evelab[stores]'``.

    Args:
        url: ``s3://bucket``, ``gs://bucket``, ``az://container`` or ``memory://``, each but the last with a path
            after it if you like; or the store's own ``https://`` address.
        prefix: what each path begins with; eve's ``eve/memory/file`` by default.
        options: what ``obstore.store.from_url`` takes: ``config``, ``client_options``, ``retry_config``,
            ``credential_provider``, and the settings of the store, such as ``region`` or ``account_name``. What is
            not given comes from the environment (``AWS_ACCESS_KEY_ID`` and so on).

    Raises:
        DefinitionError: obstore is not installed.
        OptionError: the URL, the prefix or an option; or a store without conditional writes.
    """
    trimmed = check_prefix(prefix)
    if any(name in ("", ".", "..") for name in trimmed.split("/")):
        raise OptionError(
            "The prefix of an object_store() must be names with one / between them, none of them . or ..: "
            "obstore cannot write other paths.",
            place="prefix",
        )
    stores = _stores()
    refusals: tuple[type[Exception], ...] = (*_errors(), TypeError)
    try:
        store = stores.from_url(url, **{**options, "retry_config": {**RETRY, **(options.get("retry_config") or {})}})
    except refusals as error:
        raise _not_opened(error) from error
    if isinstance(store, stores.LocalStore):
        raise OptionError(
            "obstore has no conditional update for local files: use evelab.directory(path) for a folder.", place="url"
        )
    if not isinstance(store, stores.S3Store | stores.GCSStore | stores.AzureStore | stores.MemoryStore):
        raise OptionError(
            "A store at a plain web address has no conditional writes: use s3://, gs://, az:// or memory://.",
            place="url",
        )
    return ObjectStore(
        store,
        trimmed,
        by_generation=isinstance(store, stores.GCSStore),
        proven=isinstance(store, stores.MemoryStore),
    )


def _stores() -> Any:
    """obstore's stores, imported when the first one is opened."""
    try:
        from obstore import store
    except ImportError:
        raise DefinitionError(
            "object_store() needs the package obstore: pip install 'evelab[stores]'.", place="object_store"
        ) from None
    return store


def _errors() -> tuple[type[Exception], ...]:
    """What obstore raises when a request fails: its own tree and some built-in errors."""
    from obstore.exceptions import BaseError

    return BaseError, OSError, ValueError, NotImplementedError


def _conflicts() -> tuple[type[Exception], ...]:
    """What obstore raises when a write's condition fails."""
    from obstore.exceptions import AlreadyExistsError, PreconditionError

    return AlreadyExistsError, PreconditionError


def _not_opened(error: Exception) -> OptionError:
    """Why a store was not opened, without its address: that may hold a password."""
    said = str(error).partition("\n")[0].rstrip(".")
    reason = "" if "url" in said.lower() else f" obstore says: {said}."
    return OptionError(
        "object_store() cannot open this address with these options: give s3://bucket, gs://bucket, az://container "
        f"(and account_name) or memory://, and the options of obstore.store.from_url.{reason}",
        place="url",
    )


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").removeprefix("\ufeff")


def _failed(what: str, key: str | None, error: Exception) -> StoreError:
    found = _STATUS.search(str(error))
    reason = f"HTTP status {found[1]}" if found else "no whole answer"
    return StoreError(f"The object store {what} a memory document: {reason}.", store="object store", key=key)
