"""Everything that a session keeps from step to step. A step that fails begins again from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evelab.auth import Principal
    from evelab.keys import Lock
    from evelab.message import Message, ToolCall, ToolResult, TurnInfo
    from evelab.recall import MemoryState
    from evelab.summary import KnownTokens


@dataclass(frozen=True, slots=True)
class Held:
    """A step that waits for a person: the model's message, and what became of its calls so far.

    Attributes:
        said: the model's message with all its calls.
        results: the calls that are done.
        waiting: the calls that need a decision.
        answers: call id -> the decision, for those that have one already.
    """

    said: Message
    results: tuple[ToolResult, ...]
    waiting: tuple[ToolCall, ...]
    answers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A session between two steps.

    Attributes:
        caller: who spoke last.
        history: every message, recalled records with their marks.
        memory: the session's memory state, or None before the first commit and after a clear.
        locks: slot -> the lock of the last turn.
        state: name -> value of every ``define_state``.
        sequence: the number of the turn that runs, or of the next one.
        step_index: the number of the model call in the turn.
        started: whether the session has published that it started.
        held: the step that waits for a person, or None.
        known: how many tokens the last prompt was, by the model's own count.
        envelope: estimated tokens of instructions and tools in the last prompt.
    """

    caller: Principal | None = None
    history: tuple[Message, ...] = ()
    memory: MemoryState | None = None
    locks: Mapping[str, Lock] | None = None
    state: Mapping[str, Any] = field(default_factory=dict)
    sequence: int = 0
    step_index: int = 0
    started: bool = False
    held: Held | None = None
    known: KnownTokens | None = None
    envelope: float | None = None


@dataclass(frozen=True, slots=True)
class Work:
    """A turn that is not at its end, and the step that it runs next: all that the step begins from.

    Attributes:
        step: ``"open"`` for the first one, ``"resume"`` after a person has decided, ``"next"`` for any other.
        turn: the turn's id, its number, and the messages that it or its continuation begins with.
        said: what the user said.
        answers: call id -> the decision, for ``"resume"``.
    """

    step: str
    turn: TurnInfo
    said: str = ""
    answers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Record:
    """A session as it is kept outside its process, at the end of a step.

    Attributes:
        saved: the checkpoint.
        initiator: who opened the session.
        schedule: the schedule that started it, or None.
        parent: the session that started it, or None.
        work: the turn that is not at its end, or None.
        model_calls: how many model calls were made; the ids of tool calls count them.
        children: how many sessions it has started; their ids count them.
        failure: why the session has failed, or None.
        attempts: how often the step that failed was tried.
    """

    saved: Checkpoint
    initiator: Principal | None = None
    schedule: str | None = None
    parent: str | None = None
    work: Work | None = None
    model_calls: int = 0
    children: int = 0
    failure: str | None = None
    attempts: int = 0


class Keeper(Protocol):
    """What keeps the record of one session."""

    def load(self) -> Record | None:
        """What was kept last, or None for a new session."""
        ...

    def save(self, record: Record) -> None:
        """Keep it, all or nothing, before this returns."""
        ...

    def close(self) -> None:
        """Let go of the session."""
        ...
