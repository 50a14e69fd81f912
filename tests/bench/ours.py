"""evelab's side of the benchmark: the same works as ``eves.mjs``, on inputs that are new for every seed."""

from __future__ import annotations

import hashlib
import time
import tracemalloc
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evelab.agent import Agent
from evelab.auth import Auth
from evelab.backends import StoredDocument, in_memory
from evelab.file_memory import file_memory
from evelab.keys import Lock, create_lock, encode_composite, encode_scope, keys_in
from evelab.message import Message, TurnInfo
from evelab.model import ScriptedModel
from evelab.provider import MemoryContext, OperationContext, SessionInfo, ToolsContext, define_memory
from evelab.recall import MemoryState, RecallBatch, Recalled, apply_batches, project, validate_recall
from evelab.session import Session
from evelab.summary import CompactionPolicy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

NAMESPACE = "acme-support-v1"
TURN = TurnInfo("turn_0", (), 0)


def lock_of(scope: str | tuple[str, ...]) -> Lock:
    return create_lock(NAMESPACE, scope, slot="profile", turn=TURN)


def document_of(entries: int, seed: int) -> str:
    lines = "".join(
        f"{index}: user {seed} only watches service number {index} and wants short answers in Chinese\n"
        for index in range(entries)
    )
    return f"<!-- eve-memory-file-v1 lastAllocatedIndex={entries - 1} -->\n{lines}"


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def fresh_scopes(count: int, seed: int) -> list[tuple[str, str]]:
    return [(f"tenant_{seed}_{index % 97}", f"user_{index}") for index in range(count)]


def keys(count: int, seed: int) -> float:
    """The whole lock: three digests, checked, as a record. The real package makes the same."""
    scopes = fresh_scopes(count, seed)

    def work() -> None:
        for scope in scopes:
            create_lock(NAMESPACE, scope, slot="profile", turn=TURN)

    return seconds(work)


def keys_alone(count: int, seed: int) -> float:
    """Only the key of each scope, in one namespace."""
    scopes = fresh_scopes(count, seed)

    def work() -> None:
        key_of = keys_in(NAMESPACE)
        for scope in scopes:
            key_of(scope)

    return seconds(work)


def bare_digests(count: int, seed: int) -> float:
    """Two digests of inputs of the same lengths, and nothing else: what no key can be faster than."""
    lock = lock_of("acme")
    composite = encode_composite(lock.namespace_key, lock.scope_key)
    inputs = [
        (encode_scope(scope), composite[:-8] + index.to_bytes(8, "big"))
        for index, scope in enumerate(fresh_scopes(count, seed))
    ]

    def work() -> None:
        sha256 = hashlib.sha256
        for first, second in inputs:
            sha256(first).digest()
            sha256(second).digest()

    return seconds(work)


class StubBackend:
    """Gives each document once, and keeps nothing."""

    def __init__(self, contents: list[str]) -> None:
        self._contents: Iterator[str] = iter(contents)

    def read(self, key: str) -> StoredDocument:
        return StoredDocument(next(self._contents), "v")

    def write(self, key: str, content: str, *, expected_version: str | None) -> StoredDocument:
        return StoredDocument(content, "w")


def save(count: int, seed: int) -> float:
    provider = file_memory(
        backend=StubBackend([document_of(19, seed + at) for at in range(count)]), max_characters=20_000
    )
    memory = MemoryContext(lock_of("acme").scope, "profile")
    assert provider.tools is not None
    execute = provider.tools(ToolsContext(memory, (), SessionInfo("s", Auth()), TURN))["save_memory"].execute
    texts = [f"a new fact, number {seed} {at}" for at in range(count)]

    def work() -> None:
        for text in texts:
            execute(text=text)

    return seconds(work)


def recall(count: int, seed: int) -> float:
    provider = file_memory(backend=StubBackend([document_of(20, seed + at) for at in range(count)]))
    ctx = OperationContext(MemoryContext(lock_of("acme").scope, "profile"), (), "op", SessionInfo("s", Auth()), TURN)
    handler = provider.recall["turn.started"]

    def work() -> None:
        for _ in range(count):
            handler(ctx)

    return seconds(work)


def _recalled(seed: str, version: str) -> tuple[Recalled, ...]:
    messages = [{"id": f"k{index}", "content": f"{seed} {index} {version}"} for index in range(200)]
    return validate_recall({"messages": messages}, "profile")


def commit(*versions: str) -> Callable[[int, int], float]:
    """Commit 200 records with ids, and project; before that, the versions but the last are committed."""

    def measure(count: int, seed: int) -> float:
        lock = lock_of("acme")
        rounds = []
        for at in range(count):
            history: tuple[Message, ...] = ()
            state = MemoryState()
            for version in versions[:-1]:
                first = apply_batches([RecallBatch("first", lock, _recalled(f"{seed}.{at}", version))], (), state)
                history, state = first.appended, first.state
            rounds.append(
                (history, state, RecallBatch(f"op {seed} {at}", lock, _recalled(f"{seed}.{at}", versions[-1])))
            )

        def work() -> None:
            for history, state, batch in rounds:
                done = apply_batches([batch], history, state)
                project(history + done.appended, {"profile": lock})

        return seconds(work)

    return measure


def turn(count: int, seed: int, length: int) -> float:
    """Turns of a session that has so many messages, with 20 recalled entries that do not change."""
    backend = in_memory()
    backend.write(lock_of("acme").scope.key, document_of(20, seed), expected_version=None)
    session = _session(backend)
    session.send("warm up")
    history = tuple(
        Message(*(("user", said, "user") if index % 2 == 0 else ("assistant", said)))
        for index, said in enumerate(f"message {index} of {seed}" for index in range(length))
    )
    saved = session.checkpoint()
    session.restore(replace(saved, history=history + saved.history))

    def work() -> None:
        for at in range(count):
            session.send(f"hello {seed} {at}")

    return seconds(work)


def _session(backend: Any) -> Session:
    slot = define_memory(provider=file_memory(backend=backend), scope="acme", namespace=NAMESPACE)
    agent = Agent({"profile": slot}, model=ScriptedModel(), compaction=CompactionPolicy(threshold=1e12))
    return Session(agent, environ={})


def memory_of_turns(turns: int) -> tuple[float, float]:
    """Peak memory of a session of so many turns, and what its own text takes: bytes a turn."""
    backend = in_memory()
    backend.write(lock_of("acme").scope.key, document_of(20, 0), expected_version=None)
    session = _session(backend)
    session.send("warm up")
    tracemalloc.start()
    text = 0
    for at in range(turns):
        said = f"hello number {at}, what do you know about me?"
        text += len(said) + len("ok")
        session.send(said)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / turns, text / turns


WORKS: Mapping[str, Callable[..., float]] = {
    "keys": keys,
    "save": save,
    "recall": recall,
    "commit new": commit("v1"),
    "commit unchanged": commit("v1", "v1"),
    "commit changed": commit("v1", "v2"),
    "turn": turn,
}
