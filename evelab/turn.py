"""What a session shows of its work: turns, compactions, events and logs, for a reader to look into."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evelab.auth import Principal
    from evelab.keys import Lock
    from evelab.message import Message, ToolCall, ToolResult
    from evelab.recall import Recalled
    from evelab.tools import Tool


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that a session published.

    Attributes:
        type: eve's name of it, such as ``"turn.started"``.
        turn: the turn's id, or None for an event of the session.
    """

    type: str
    turn: str | None = None

    def __str__(self) -> str:
        return self.type if self.turn is None else f"{self.type} {self.turn}"


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One line of the session's log. It names slots, never a resolved scope.

    Attributes:
        level: ``"info"``, ``"warn"`` or ``"error"``.
        namespace: the part of eve that says it.
        message: the sentence.
        fields: values that belong to it; the error's sentence is in ``"error"``.
        error: the error that it reports, or None.
    """

    level: str
    namespace: str
    message: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    error: Exception | None = None


def error_log(namespace: str, message: str, error: Exception, **fields: Any) -> LogRecord:
    """A line about an error that does not stop the session."""
    return LogRecord("error", namespace, message, {**fields, "error": str(error)}, error)


@dataclass(frozen=True, slots=True)
class Prompt:
    """One model call: what the model was shown.

    Attributes:
        messages: in the order the model reads them.
        tools: the names of the tools offered.
    """

    messages: tuple[Message, ...]
    tools: tuple[str, ...]


@dataclass(slots=True)
class Compaction:
    """What one compaction did.

    Attributes:
        id: the turn that it belongs to; between turns, the next one.
        before: how many messages the history had.
        after: how many it has now. Unchanged when the compaction failed.
        usage_input_tokens: the estimate of the prompt that asked for it, or None when nothing was to do.
        summary: the model's summary, or None when none was needed.
        recalled: slot -> what its provider recalled for the new history.
        committed: the records that were added.
        prompts: the model calls for the summary.
        error: why it failed, or None.
        events: what happened, in order.
        logs: diagnostics.
    """

    id: str
    before: int
    after: int
    usage_input_tokens: float | None = None
    summary: str | None = None
    recalled: Mapping[str, tuple[Recalled, ...]] = field(default_factory=dict)
    committed: tuple[Message, ...] = ()
    prompts: list[Prompt] = field(default_factory=list)
    error: Exception | None = None
    events: list[str] = field(default_factory=list)
    logs: list[LogRecord] = field(default_factory=list)


@dataclass(slots=True)
class Turn:
    """What one turn saw and did.

    Attributes:
        id: ``turn_<sequence>``.
        caller: who spoke.
        said: the input.
        status: ``"running"``, ``"completed"``, ``"failed"`` (the model failed; the session goes on),
            ``"held"`` (a person must decide) or ``"cancelled"``.
        locks: slot -> its lock; a slot that is off has none.
        disabled: slot -> ``"scope"`` or ``"namespace"``: what resolved to None.
        recalled: slot -> what its provider recalled, after validation.
        committed: the records that this turn added to history.
        prompts: each model call that answers; the calls for a summary stand in ``compactions``.
        tools: name -> tool, as offered.
        results: each tool call's result, in order.
        held: the tool calls that wait for a person.
        compactions: the compactions inside this turn.
        reply: the model's last text; None until there is one.
        error: the model's error when the turn failed, or why it was cancelled.
        failures: the error of each attempt at a step that was thrown away.
        events: what happened, in order.
        logs: diagnostics and swallowed errors.
    """

    id: str
    caller: Principal | None
    said: str
    status: str = "running"
    locks: Mapping[str, Lock] = field(default_factory=dict)
    disabled: Mapping[str, str] = field(default_factory=dict)
    recalled: Mapping[str, tuple[Recalled, ...]] = field(default_factory=dict)
    committed: tuple[Message, ...] = ()
    prompts: list[Prompt] = field(default_factory=list)
    tools: Mapping[str, Tool] = field(default_factory=dict)
    results: list[ToolResult] = field(default_factory=list)
    held: tuple[ToolCall, ...] = ()
    compactions: list[Compaction] = field(default_factory=list)
    reply: str | None = None
    error: Exception | None = None
    failures: list[Exception] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    logs: list[LogRecord] = field(default_factory=list)

    @property
    def context(self) -> tuple[Message, ...]:
        """What the model saw when the turn began."""
        return self.prompts[0].messages if self.prompts else ()
