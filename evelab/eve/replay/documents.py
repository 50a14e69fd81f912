"""Replies about file memory and its backends."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from evelab.auth import Auth
from evelab.backends import StoredDocument, in_memory
from evelab.errors import MemoryDocumentConflictError
from evelab.eve.replay.plain import TURN_0
from evelab.eve.replay.tags import UNDEFINED, ScriptedError, Unsupported, decode, defined, encode, error_json
from evelab.file_memory import file_memory
from evelab.keys import MemoryScope
from evelab.provider import MemoryContext, OperationContext, SessionInfo, ToolsContext
from evelab.schema import input_issues

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BLOB_PREFIXES = ("VERCEL", "EVE_", "BLOB", "NEXT_PUBLIC_VERCEL")


def attempt(work: Callable[[], Any]) -> dict[str, Any]:
    try:
        return {"ok": True, "value": encode(work())}
    except Exception as error:
        return {"ok": False, "error": error_json(error)}


def label(version: str) -> str:
    """A version with its backend's random id masked."""
    prefix, _, count = version.rpartition("_")
    return f"mem_<uuid>_{count}" if prefix.startswith("mem_") else version


class ForeignConflict(ScriptedError):
    """A conflict of another library's class: it has the right name and a key, and that is enough."""

    eve_name = "MemoryDocumentConflictError"

    def __init__(self, key: str) -> None:
        super().__init__("x")
        self.key = key


ForeignConflict.__name__ = "MemoryDocumentConflictError"


class ScriptedBackend:
    """An in-memory backend that counts, meets conflicts and loses races as it is told."""

    def __init__(self, request: dict[str, Any], key: str) -> None:
        self.inner = in_memory()
        self.key = key
        self.reads = self.writes = self.conflicts = 0
        self.race: list[str] = []
        self.log: list[dict[str, Any]] = []
        self.duck = request.get("duckConflict", False)
        self.override = decode(request["override"]) if "override" in request else None
        self.overridden = "override" in request

    def read(self, key: str) -> Any:
        self.reads += 1
        if not self.overridden:
            return self.inner.read(key)
        if isinstance(self.override, dict):
            return StoredDocument(self.override.get("content"), self.override.get("version"))  # type: ignore[arg-type]
        return self.override

    def write(self, key: str, content: str, *, expected_version: str | None) -> StoredDocument:
        self.writes += 1
        expected = None if expected_version is None else label(expected_version)
        self.log.append({"expectedVersion": expected, "content": content})
        if self.conflicts > 0:
            self.conflicts -= 1
            if self.race:
                self.put(self.race.pop(0))
            raise ForeignConflict(key) if self.duck else MemoryDocumentConflictError(key)
        return self.inner.write(key, content, expected_version=expected_version)

    def put(self, content: str) -> None:
        current = self.inner.read(self.key)
        self.inner.write(self.key, content, expected_version=None if current is None else current.version)


def file_memory_ops(request: dict[str, Any]) -> Any:
    slot, key = request.get("slot", "profile"), request.get("key", "memscope1_test")
    backend = ScriptedBackend(request, key)
    if "document" in request:
        backend.put(decode(request["document"]))
    limit = decode(request.get("maxCharacters"))
    provider = file_memory(backend=backend, max_characters=None if limit is UNDEFINED else limit)
    memory = MemoryContext(MemoryScope(key, "n", "s"), slot)
    session = SessionInfo("session", Auth())
    ctx = OperationContext(memory, (), "op", session, TURN_0)
    assert provider.tools is not None
    tools = provider.tools(ToolsContext(memory, (), session, TURN_0))

    def run(op: dict[str, Any]) -> Any:
        match op["op"]:
            case "save":
                return nothing(tools["save_memory"].execute(text=decode(op.get("text"))))
            case "remove":
                return nothing(tools["remove_memory"].execute(index=decode(op.get("index"))))
            case "recall":
                return provider.recall["turn.started"](ctx)
            case "put":
                backend.put(decode(op["content"]))
                return UNDEFINED
            case "validate":
                value = defined(decode(op["input"]))
                issues = input_issues(tools[op["tool"]].input_schema, value)
                return {"issues": issues} if issues else {"value": value}
            case "schema":
                return dict(tools[op["tool"]].input_schema)
            case "tools":
                return [{"name": name, "description": tool.description} for name, tool in tools.items()]
            case "version":
                stored = backend.inner.read(key)
                assert stored is not None
                return label(stored.version)
        raise AssertionError(op["op"])

    replies = []
    for op in request["ops"]:
        reads, writes = backend.reads, backend.writes
        backend.log.clear()
        backend.conflicts = op.get("conflicts", 0)
        backend.race = [decode(content) for content in op.get("race", [])]
        reply = attempt(lambda op=op: run(op))  # type: ignore[misc]
        document = backend.inner.read(key)
        reply |= {
            "document": None if document is None else document.content,
            "version": None if document is None else label(document.version),
            "reads": backend.reads - reads,
            "writes": backend.writes - writes,
        }
        replies.append(reply | ({"writeLog": list(backend.log)} if request.get("showWrites") else {}))
    return replies


def nothing(value: None) -> Any:
    """A function that returns nothing gives ``undefined`` in JavaScript."""
    return UNDEFINED if value is None else value


def in_memory_ops(request: dict[str, Any]) -> Any:
    backend = in_memory()
    seen: dict[str, str] = {}

    def show(document: StoredDocument | None) -> Any:
        if document is None:
            return None
        seen[label(document.version)] = document.version
        return {"content": document.content, "version": label(document.version)}

    def run(op: dict[str, Any]) -> Any:
        if "read" in op:
            return show(backend.read(op["read"]))
        write = op["write"]
        expected = write.get("expectedVersion")
        return show(
            backend.write(write["key"], decode(write["content"]), expected_version=seen.get(expected, expected))
        )

    return [attempt(lambda op=op: run(op)) for op in request["ops"]]  # type: ignore[misc]


def default_backend_ops(request: dict[str, Any]) -> Any:
    if request.get("responses"):
        raise Unsupported("it is about the HTTP requests of Vercel's Blob client, a JavaScript module")
    key = request.get("key", "memscope1_default_backend")
    memory = MemoryContext(MemoryScope(key, "n", "s"), "profile")
    session = SessionInfo("session", Auth())
    first, second = file_memory(), file_memory()

    def save() -> Any:
        assert first.tools is not None
        tools = first.tools(ToolsContext(memory, (), session, TURN_0))
        return nothing(tools["save_memory"].execute(text="shared"))

    def recall(provider: Any) -> Any:
        return provider.recall["turn.started"](OperationContext(memory, (), "op", session, TURN_0))

    with environment(request.get("env") or {}):
        results = [{"what": "recall a", **attempt(lambda: recall(first))}]
        if request.get("save"):
            results.append({"what": "save via a", **attempt(save)})
            results.append({"what": "recall b (second provider instance)", **attempt(lambda: recall(second))})
    return {"results": results, "requests": []}


@contextmanager
def environment(env: dict[str, str]) -> Iterator[None]:
    """The process's environment as the request has it: nothing else that eve reads is set."""
    before = dict(os.environ)
    for name in before:
        if name.startswith(BLOB_PREFIXES):
            del os.environ[name]
    os.environ.update(env)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
