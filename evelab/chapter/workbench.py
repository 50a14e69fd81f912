"""A workbench: one memory slot, some callers, and what each of them gets to recall.

Everything it tells was seen in a real session: a caller is looked at by opening a new session as that
caller and saying one word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evelab.agent import Agent
from evelab.backends import InMemory, document_path, in_memory
from evelab.chapter.callers import CALLERS, Caller, may_share
from evelab.errors import DocumentError, EvelabError, SessionFailedError
from evelab.file_memory import Document, file_memory, parse_document
from evelab.model import ScriptedModel, call
from evelab.provider import Default, Handler, MemoryDefinition, define_memory
from evelab.session import Session, Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from evelab.model import Model
    from evelab.provider import MemoryProvider
    from evelab.scope import Scope

NAMESPACE = "acme-support-v1"
SLOT = "profile"
DEV: Mapping[str, str] = {"EVE_DEV": "1"}


@dataclass(frozen=True, slots=True)
class Look:
    """What a caller gets when a new session opens.

    Attributes:
        caller: who was looked at.
        scope: the resolved scope, or None when the slot is off or in error.
        key: ``memory.scope.key``, or None.
        path: the document's path in an object store, or None.
        recall: the recalled text, or None when nothing was recalled.
        tools: the names of the slot's tools in this turn.
        off: why the slot is off, in words, or None.
        error: the sentence of the error that ended the session, or None.
    """

    caller: Caller
    scope: Scope | None = None
    key: str | None = None
    path: str | None = None
    recall: str | None = None
    tools: tuple[str, ...] = ()
    off: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Stored:
    """A stored document.

    Attributes:
        key: its key.
        path: its path in an object store.
        content: its text, as stored.
        document: its entries, or None when it cannot be read.
    """

    key: str
    path: str
    content: str
    document: Document | None


@dataclass(frozen=True, slots=True)
class Sharing:
    """Who recalls whose memory.

    Attributes:
        callers: readers and writers, in one order.
        recalls: ``recalls[reader][writer]``, by position; None where the reader's or the writer's slot is off.
    """

    callers: tuple[Caller, ...]
    recalls: tuple[tuple[bool | None, ...], ...]

    def word(self, reader: int, writer: int) -> str:
        """``"own"``, ``"shared"``, ``"LEAK"``, ``"off"`` or ``""`` for one cell."""
        recalled = self.recalls[reader][writer]
        if recalled is None:
            return "off"
        if not recalled:
            return ""
        if reader == writer:
            return "own"
        return "shared" if may_share(self.callers[reader], self.callers[writer]) else "LEAK"

    def leaks(self) -> list[tuple[Caller, Caller]]:
        """Reader and writer of each cell that leaks."""
        places = range(len(self.callers))
        return [
            (self.callers[reader], self.callers[writer])
            for reader in places
            for writer in places
            if self.word(reader, writer) == "LEAK"
        ]


class Workbench:
    """One slot on one in-memory store, and a running session a caller.

    Args:
        scope: what ``define_memory`` takes: a string, None or a resolver.
        namespace: what ``define_memory`` takes.
        callers: who takes part.
        slot: the slot's name.
        backend: the store; an empty one when None.
        environ: the environment of the sessions; eve's development mode when None.
        model: answers the callers; four plain rules when None.
        provider: makes the slot's provider for a store; file memory when left out.
    """

    def __init__(
        self,
        scope: str | Handler | None,
        *,
        namespace: str | Handler | Default | None = NAMESPACE,
        callers: Iterable[Caller] = CALLERS,
        slot: str = SLOT,
        backend: InMemory | None = None,
        environ: Mapping[str, str] | None = None,
        model: Model | None = None,
        provider: Callable[[InMemory], MemoryProvider] = lambda backend: file_memory(backend=backend),
    ) -> None:
        self.scope = scope
        self.namespace = namespace
        self.callers = list(callers)
        self.slot = slot
        self.backend = in_memory() if backend is None else backend
        self._environ = DEV if environ is None else environ
        self._model = model
        self._provider = provider
        self._sessions: dict[str, Session] = {}

    def say(self, caller: Caller, text: str) -> Turn:
        """Say something in the caller's running session; the first call opens it.

        Raises:
            SessionFailedError: the session failed. The next call opens a new one.
        """
        session = self._sessions.get(caller.label)
        if session is None:
            session = self._sessions[caller.label] = self._open(caller, self.backend, self._model)
        try:
            return session.send(text)
        except SessionFailedError:
            del self._sessions[caller.label]
            raise

    def new_session(self, caller: Caller) -> None:
        """End the caller's session. What is stored stays; the next ``say`` opens a new one."""
        self._sessions.pop(caller.label, None)

    def turns(self, caller: Caller) -> Sequence[Turn]:
        """The turns of the caller's running session."""
        session = self._sessions.get(caller.label)
        return () if session is None else session.turns

    def look(self, caller: Caller) -> Look:
        """Open a new session as the caller, say one word, and tell what the slot did."""
        session = self._open(caller, self.backend, ScriptedModel())
        try:
            turn = session.send("?")
        except SessionFailedError as failed:
            cause = failed.__cause__
            if not isinstance(cause, EvelabError):
                return Look(caller, error=f"{type(cause).__name__}: {cause}")
            return Look(caller, error=str(cause))
        lock = turn.locks.get(self.slot)
        if lock is None:
            resolver = turn.disabled[self.slot]
            return Look(caller, off=f"{resolver} is None")
        recalled = turn.recalled[self.slot]
        return Look(
            caller,
            lock.scope.value,
            lock.scope.key,
            document_path(lock.scope.key),
            "\n\n".join(item.content for item in recalled) or None,
            tuple(turn.tools),
        )

    def looks(self) -> list[Look]:
        """Every caller, looked at."""
        return [self.look(caller) for caller in self.callers]

    def documents(self) -> list[Stored]:
        """The stored documents, in the order in which they were first written."""
        return [
            Stored(key, document_path(key), content, _readable(content))
            for key, content in self.backend.documents().items()
        ]

    def sharing(self) -> Sharing:
        """Who recalls whose memory, tried in a store of its own.

        Each caller saves one line; then each opens a new session, and the lines that it recalls are noted.
        """
        scratch = in_memory()
        lines = [f"line of {place}." for place in range(len(self.callers))]
        wrote = []
        for caller, line in zip(self.callers, lines, strict=True):
            model = ScriptedModel([call(f"{self.slot}__save_memory", text=line), "saved"])
            turn = self._open(caller, scratch, model).send("save")
            wrote.append(self.slot in turn.locks)
        rows = []
        for caller in self.callers:
            turn = self._open(caller, scratch, ScriptedModel()).send("?")
            text = "\n".join(item.content for item in turn.recalled.get(self.slot, ()))
            reads = self.slot in turn.locks
            rows.append(
                tuple(
                    (f": {line}" in text) if reads and written else None
                    for line, written in zip(lines, wrote, strict=True)
                )
            )
        return Sharing(tuple(self.callers), tuple(rows))

    def _open(self, caller: Caller, backend: InMemory, model: Model | None) -> Session:
        memory: dict[str, MemoryDefinition] = {
            self.slot: define_memory(
                provider=self._provider(backend),
                scope=self.scope,
                namespace=self.namespace,
            )
        }
        agent = Agent(memory) if model is None else Agent(memory, model)
        return Session(agent, caller.principal, environ=self._environ)


def _readable(content: str) -> Document | None:
    try:
        return parse_document(content)
    except DocumentError:
        return None
