"""Everything that a session keeps from step to step. A step that fails begins again from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evelab.auth import Principal
    from evelab.keys import Lock
    from evelab.message import Message, ToolCall, ToolResult
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
