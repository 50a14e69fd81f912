"""A session and its turns: lock, recall, commit, show, call, answer, capture.

::

    caller -> scope -> namespace -> Lock        every slot, before any recall
           -> provider.recall -> validate -> commit all or nothing -> project
           -> model -> tool calls (bound to the Lock) -> reply -> provider.capture

One model call with its tool calls is a step. A step that raises leaves no trace in the session and is run
again, four times in all; then the session has failed. Source: eve 0.80.1, ``context/memory-lifecycle``.
"""

from __future__ import annotations

import os
import uuid
from dataclasses import dataclass, field
from types import EllipsisType
from typing import TYPE_CHECKING, Any

from evelab.auth import Auth, Principal
from evelab.awaiting import Outcome, Task, all_settled, resolve
from evelab.errors import EvelabError, SessionFailedError, ToolNotFoundError
from evelab.keys import Lock, create_lock
from evelab.message import Message, ToolCall, ToolResult, TurnInfo
from evelab.provider import (
    OPERATION_TAG,
    Default,
    MemoryContext,
    MemoryDefinition,
    OperationContext,
    SessionInfo,
    ToolsContext,
)
from evelab.recall import MemoryState, RecallBatch, Recalled, apply_batches, project, validate_recall
from evelab.scope import Channel, NamespaceContext, ScopeContext, ScopeSession, default_namespace
from evelab.tools import Tool, check_input, slot_tools

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evelab.agent import Agent

ATTEMPTS = 4
"""How often a step is tried before the session has failed."""


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One line of the session's log. It names slots, never a resolved scope."""

    level: str
    namespace: str
    message: str
    fields: Mapping[str, Any] = field(default_factory=dict)


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
class Turn:
    """What one turn saw and did.

    Attributes:
        id: ``turn_<sequence>``.
        caller: who spoke.
        said: the input.
        locks: slot -> its lock; a slot that is off has none.
        disabled: slot -> ``"scope"`` or ``"namespace"``: what resolved to None.
        recalled: slot -> what its provider recalled, after validation.
        committed: the records that this turn added to history.
        prompts: each model call.
        tools: name -> tool, as offered.
        results: each tool call's result, in order.
        reply: the model's last text.
        events: what happened, in order.
        logs: diagnostics and swallowed errors.
    """

    id: str
    caller: Principal | None
    said: str
    locks: Mapping[str, Lock] = field(default_factory=dict)
    disabled: Mapping[str, str] = field(default_factory=dict)
    recalled: Mapping[str, tuple[Recalled, ...]] = field(default_factory=dict)
    committed: tuple[Message, ...] = ()
    prompts: list[Prompt] = field(default_factory=list)
    tools: Mapping[str, Tool] = field(default_factory=dict)
    results: list[ToolResult] = field(default_factory=list)
    reply: str | None = None
    events: list[str] = field(default_factory=list)
    logs: list[LogRecord] = field(default_factory=list)

    @property
    def context(self) -> tuple[Message, ...]:
        """What the model saw when the turn began."""
        return self.prompts[0].messages if self.prompts else ()


class Session:
    """A conversation with an agent. Memory outlives it; everything else in it ends with it.

    Args:
        agent: what answers.
        caller: who opens the session: a Principal, or None for nobody.
        id: the session's id; a random one when None.
        environ: the environment to read (``EVE_DEV``, the default namespace); the process's own when None.
        schedule: the schedule that started the session, if one did.
    """

    def __init__(
        self,
        agent: Agent,
        caller: Principal | None = None,
        *,
        id: str | None = None,  # noqa: A002
        environ: Mapping[str, str] | None = None,
        schedule: str | None = None,
    ) -> None:
        self.agent = agent
        self.id = id or f"session-{uuid.uuid4().hex[:12]}"
        self.initiator = caller
        self.history: tuple[Message, ...] = ()
        self.memory = MemoryState()
        self.turns: list[Turn] = []
        self.failure: SessionFailedError | None = None
        self._caller = caller
        self._environ = os.environ if environ is None else environ
        self._schedule = schedule

    def send(self, text: str, *, caller: Principal | ellipsis | None = ...) -> Turn:  # noqa: F821
        """Say something and wait for the answer.

        Args:
            text: the turn's input.
            caller: who speaks, when it is not the one who spoke last.

        Raises:
            SessionFailedError: a step failed four times. The session is over.
        """
        if self.failure is not None:
            raise SessionFailedError(
                f"Session {self.id} has failed and takes no more messages.",
                session_id=self.id,
                attempts=self.failure.attempts,
            ) from self.failure
        if not isinstance(caller, EllipsisType):
            self._caller = caller
        sequence = len(self.turns)
        info = TurnInfo(f"turn_{sequence}", (Message("user", text, "user"),), sequence)
        turn = Turn(info.id, self._caller, text)
        self.turns.append(turn)
        if sequence == 0:
            turn.events.append("session.started")
        self._step(turn, lambda: self._open(turn, info))
        while turn.reply is None:
            self._step(turn, lambda: self._ask(turn, info))
        turn.events.append("turn.completed")
        self._capture(turn, info)
        turn.events.append("session.waiting")
        return turn

    def _step(self, turn: Turn, work: Callable[[], None]) -> None:
        """Run one step as a transaction, again when it raises."""
        before = (self.history, self.memory, len(turn.prompts), len(turn.results))
        for attempt in range(1, ATTEMPTS + 1):
            try:
                work()
            except Exception as error:
                self.history, self.memory, prompts, results = before
                del turn.prompts[prompts:], turn.results[results:]
                turn.events.append("step.failed")
                if attempt == ATTEMPTS:
                    self.failure = SessionFailedError(
                        f"Session {self.id} has failed: its step failed {ATTEMPTS} times. "
                        f"{type(error).__name__}: {error}",
                        session_id=self.id,
                        attempts=ATTEMPTS,
                    )
                    turn.events.append("session.failed")
                    raise self.failure from error
            else:
                return

    def _open(self, turn: Turn, info: TurnInfo) -> None:
        """Lock, recall and commit, then make the first model call."""
        turn.events += ["turn.started", "message.received"]
        turn.locks, turn.disabled = self._lock(turn, info)
        batches = self._recall(turn.locks, info)
        turn.recalled = {batch.lock.slot: batch.messages for batch in batches}
        commit = apply_batches(batches, self.history, self.memory)
        turn.committed = commit.appended
        self.history += commit.appended + info.input
        self.memory = commit.state
        turn.tools = self._tools(turn, info)
        self._ask(turn, info)

    def _lock(self, turn: Turn, info: TurnInfo) -> tuple[dict[str, Lock], dict[str, str]]:
        """Resolve every slot's scope and namespace; the error that comes first in time wins."""
        outcomes = all_settled([self._resolve(slot, memory, info) for slot, memory in self.agent.slots()])
        if failed := [outcome for outcome in outcomes if outcome.error is not None]:
            raise _error(min(failed, key=lambda outcome: outcome.order))
        locks: dict[str, Lock] = {}
        disabled: dict[str, str] = {}
        for (slot, _), outcome in zip(self.agent.slots(), outcomes, strict=True):
            if isinstance(outcome.value, Lock):
                locks[slot] = outcome.value
            else:
                disabled[slot] = str(outcome.value)
        if self._environ.get("EVE_DEV") == "1":
            turn.logs += [
                LogRecord(
                    "info",
                    "memory",
                    "Memory slot is disabled for this operation",
                    {"resolver": resolver, "slot": slot},
                )
                for slot, resolver in disabled.items()
            ]
        return locks, disabled

    def _resolve(self, slot: str, memory: MemoryDefinition, info: TurnInfo) -> Task[Lock | str]:
        """One slot's lock, or the name of the resolver that turned it off."""
        session = ScopeSession(self.id, Auth(self._caller, self.initiator), self._schedule)
        scope = memory.scope
        if callable(scope):
            scope = yield scope(ScopeContext(session, Channel()))
        if scope is None:
            return "scope"
        namespace = memory.namespace
        if isinstance(namespace, Default):
            namespace = default_namespace(
                slot, app_root=self.agent.app_root, node=self.agent.node, environ=self._environ
            )
        elif callable(namespace):
            namespace = yield namespace(NamespaceContext(self.agent.app_root, self.agent.node, slot))
        if namespace is None:
            return "namespace"
        return create_lock(namespace, scope, slot=slot, visibility=memory.visibility, turn=info)

    def _recall(self, locks: Mapping[str, Lock], info: TurnInfo) -> list[RecallBatch]:
        """Every active slot's recall; all are awaited, the first failing slot wins."""
        seen = project(self.history, locks)

        def recall(lock: Lock) -> Task[RecallBatch]:
            ctx = self._operation(lock, seen, "turn.started", info)
            result = yield self.agent.memory[lock.slot].provider.recall["turn.started"](ctx)
            return RecallBatch(ctx.operation_id, lock, validate_recall(result, lock.slot))

        return _values(all_settled([recall(lock) for lock in locks.values()]))

    def _tools(self, turn: Turn, info: TurnInfo) -> dict[str, Tool]:
        """The slots' tools, bound to this turn's locks. A slot whose tools fail offers none."""
        seen = project(self.history, turn.locks)
        offered: dict[str, Tool] = {}
        for slot in self.agent.tool_slots():
            memory = self.agent.memory[slot]
            if slot not in turn.locks or memory.provider.tools is None:
                continue
            context = ToolsContext(MemoryContext(turn.locks[slot].scope, slot), seen, self._info(info), info)
            try:
                made = resolve(memory.provider.tools(context))
                offered |= slot_tools(made, slot=slot, description=memory.description)
            except Exception as error:
                turn.logs.append(
                    LogRecord(
                        "error",
                        "dynamic-tools",
                        "Dynamic tool resolver (turn.started) failed — skipping its complete result.",
                        {"slot": slot, "error": str(error)},
                    )
                )
        return offered

    def _ask(self, turn: Turn, info: TurnInfo) -> None:
        """One model call and the tool calls that it asks for."""
        system = Message("system", self.agent.instructions)
        messages = (system, *project(self.history, self.memory.locks))
        turn.prompts.append(Prompt(messages, tuple(turn.tools)))
        reply = resolve(self.agent.model.respond(messages, turn.tools))
        calls = [
            ToolCall(f"call_{info.sequence}_{len(turn.prompts)}_{index}", made.name, dict(made.input))
            for index, made in enumerate(reply.calls)
        ]
        said = () if reply.text is None else (reply.text,)
        if not calls:
            self.history += (Message("assistant", reply.text or ""),)
            turn.reply = reply.text or ""
            turn.events.append("message.completed")
            return
        turn.events.append("actions.requested")
        results = [self._call(made, turn) for made in calls]
        turn.results += results
        self.history += (Message("assistant", (*said, *calls)), Message("tool", tuple(results)))
        turn.events += ["action.result", "step.completed"]

    def _call(self, made: ToolCall, turn: Turn) -> ToolResult:
        """Run one tool. An error becomes the result that the model reads; the turn goes on."""
        try:
            tool = turn.tools.get(made.name)
            if tool is None:
                raise ToolNotFoundError(made.name, tuple(turn.tools))
            value = resolve(tool.execute(**check_input(made.name, tool, made.input)))
        except Exception as error:
            name = error.eve_name if isinstance(error, EvelabError) else type(error).__name__
            turn.logs.append(LogRecord("error", "harness.tool-loop", "Tool call failed.", {"tool": made.name}))
            return ToolResult(made.id, made.name, "error-text", f"{name}: {error}")
        return ToolResult(made.id, made.name, "json", value)

    def _capture(self, turn: Turn, info: TurnInfo) -> None:
        """Let providers see the settled turn. A failure is logged; the reply stands."""
        seen = project(self.history, turn.locks)

        def capture(lock: Lock) -> Task[None]:
            handler = self.agent.memory[lock.slot].provider.capture["turn.completed"]
            yield handler(self._operation(lock, seen, "turn.completed", info))

        slots = [slot for slot in turn.locks if "turn.completed" in self.agent.memory[slot].provider.capture]
        outcomes = all_settled([capture(turn.locks[slot]) for slot in slots])
        if failed := next((outcome for outcome in outcomes if outcome.error is not None), None):
            turn.logs.append(
                LogRecord("error", "memory", "Completed-turn memory capture failed.", {"error": str(failed.error)})
            )

    def _operation(self, lock: Lock, messages: tuple[Message, ...], phase: str, info: TurnInfo) -> OperationContext:
        parts = (OPERATION_TAG, self.id, str(info.sequence), info.id, phase, lock.slot)
        return OperationContext(MemoryContext(lock.scope, lock.slot), messages, ":".join(parts), self._info(info), info)

    def _info(self, info: TurnInfo) -> SessionInfo:
        return SessionInfo(self.id, Auth(self._caller, self.initiator), info, schedule=self._schedule)


def _values(outcomes: Sequence[Outcome[RecallBatch]]) -> list[RecallBatch]:
    values = []
    for outcome in outcomes:
        if outcome.value is None:
            raise _error(outcome)
        values.append(outcome.value)
    return values


def _error(outcome: Outcome[Any]) -> Exception:
    if outcome.error is None:
        raise AssertionError("an outcome without a value has an error")
    return outcome.error
