"""The work of a turn, step by step: what happens inside one transaction.

``Steps`` holds a session's checkpoint and moves it forward. It neither retries nor catches what a step
raises: ``Session`` does that. Source: eve 0.80.1, ``harness/step`` and ``harness/compaction``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evelab.auth import Auth, Principal
from evelab.awaiting import resolve
from evelab.checkpoint import Checkpoint, Held
from evelab.compact import Request, compact
from evelab.compaction import should_canonicalise
from evelab.errors import EmptyPromptError, TurnCancelledError
from evelab.journal import Journal
from evelab.lifecycle import Scene, capture_turn, first_turn, recall_turn, resolve_locks
from evelab.message import Message, ToolCall, ToolResult, TurnInfo
from evelab.provider import MemoryContext, ToolsContext
from evelab.recall import MemoryState, apply_batches, project
from evelab.signal import AbortSignal
from evelab.summary import KnownTokens, envelope_tokens, input_tokens, is_too_long
from evelab.text import is_blank
from evelab.toolbox import Toolbox, check_calls, denied_result, open_toolbox, run_calls
from evelab.turn import Compaction, LogRecord, Prompt, Turn, error_log
from evelab.wording import denial, following, pending, without_blanks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evelab.agent import Agent
    from evelab.keys import Lock
    from evelab.model import Reply

APPROVE = "approve"
STATE_KIND = "context.state"


class Steps:
    """A session's checkpoint, and the steps that move it.

    Attributes:
        agent: what answers.
        saved: where the session is.
        signal: whether the turn was cancelled.
        journal: everything that was published.
        model_calls: how many model calls were made, also in steps that were thrown away.
    """

    def __init__(
        self,
        agent: Agent,
        session_id: str,
        caller: Principal | None,
        *,
        environ: Mapping[str, str],
        schedule: str | None,
        parent: str | None,
    ) -> None:
        self.agent = agent
        self.session_id = session_id
        self.initiator = caller
        self.environ = environ
        self.schedule = schedule
        self.parent = parent
        self.saved = Checkpoint(caller=caller)
        self.signal = AbortSignal()
        self.journal = Journal(agent.hooks, lambda: self.scene.session(first_turn(self.saved.locks or {})))
        self._box = Toolbox()
        self.model_calls = 0

    @property
    def scene(self) -> Scene:
        """Whose memory it is now."""
        auth = Auth(self.saved.caller, self.initiator)
        return Scene(self.agent, self.session_id, auth, self.environ, self.signal, self.schedule, self.parent)

    def open(self, turn: Turn, info: TurnInfo) -> None:
        """Lock, recall and commit, offer the tools, then make the first model call."""
        if not self.saved.started:
            self.journal.publish("session.started", turn)
        started = self.journal.write("turn.started", turn)
        try:
            if self.agent.memory:
                self._recall(turn, info)
        except Exception as error:
            if self.signal.aborted:
                raise TurnCancelledError("The turn was cancelled.") from error
            raise
        self.journal.run_hooks(started, turn)
        self._offer_tools(turn, info)
        self.saved = replace(self.saved, started=True, step_index=0)
        self.journal.publish("message.received", turn)
        self._ask(turn, info.input)

    def next_step(self, turn: Turn) -> None:
        """The next model call of a turn, after tools have run."""
        self._ask(turn, ())

    def resume(self, turn: Turn, answers: Mapping[str, str], messages: tuple[Message, ...]) -> None:
        """Go on with a turn that waited: run what was allowed, refuse the rest, ask the model again."""
        held = self.saved.held
        if held is None:
            raise AssertionError("only a turn that waits is resumed")
        self.journal.publish("input.resolved", turn)
        allowed = [call for call in held.waiting if answers.get(call.id) == APPROVE]
        results = list(held.results)
        for call in held.waiting:
            if call not in allowed:
                results.append(denied_result(call, denial(answers.get(call.id))))
                turn.results.append(results[-1])
                self.journal.publish("action.result", turn)
        if messages:
            self.journal.publish("message.received", turn)
        self.journal.publish("step.started", turn)
        checked = check_calls(self._box, allowed)
        refused = [one.result for one in checked if one.result is not None]
        turn.results += refused
        results += [*refused, *self._run_tools(turn, [one.call for one in checked if one.result is None])]
        history = (*self.saved.history, held.said, Message("tool", tuple(results)))
        self.saved = replace(self.saved, history=history, held=None)
        self._ask(turn, messages, started=True)

    def reopen(self, turn: Turn) -> None:
        """Make the tools of a turn that waits again, in a session that was restored."""
        first = first_turn(self.saved.locks or {}) or TurnInfo(turn.id, (), self.saved.sequence)
        self._offer_tools(turn, first)

    def compact_now(self, record: Compaction) -> None:
        """Compact between turns. An empty history is left alone."""
        if self.saved.history:
            prompt = project(self.saved.history, self._memory_locks)
            request = Request(self.saved.history, prompt, self.saved.envelope or 0, force=True)
            self._compact(request, record)

    def clear(self, turns: Sequence[Turn]) -> None:
        """Drop the history and the memory state; a turn that waits for a person ends with them."""
        saved = self.saved
        if saved.held is not None:
            self.journal.publish("input.resolved", *turns)
            for turn in turns:
                turn.status, turn.held = "cancelled", ()
        self.journal.publish("context.cleared", turn_id=f"turn_{saved.sequence}")
        sequence = saved.sequence + (saved.held is not None)
        self.saved = replace(saved, history=(), memory=None, held=None, known=None, sequence=sequence, step_index=0)
        self.journal.publish("session.waiting")

    def _recall(self, turn: Turn, info: TurnInfo) -> None:
        scene = self.scene

        def report(slot: str, resolver: str) -> None:
            if self.environ.get("EVE_DEV") == "1":
                sentence = "Memory slot is disabled for this operation"
                turn.logs.append(LogRecord("info", "memory", sentence, {"resolver": resolver, "slot": slot}))

        locks = resolve_locks(scene, info, report)
        turn.locks, turn.disabled = locks.table, locks.disabled
        batches = recall_turn(scene, locks.table, self.saved.history, info)
        turn.recalled = {batch.lock.slot: batch.messages for batch in batches}
        commit = apply_batches(batches, self.saved.history, self.saved.memory or MemoryState())
        turn.committed = commit.appended
        self.saved = replace(
            self.saved,
            locks=locks.table,
            memory=commit.state,
            history=self.saved.history + commit.appended,
        )

    def _offer_tools(self, turn: Turn, info: TurnInfo) -> None:
        seen = project((*self.saved.history, *info.input), self._memory_locks)
        session = self.scene.session(info)
        slots = []
        for slot in self.agent.tool_slots():
            memory, lock = self.agent.memory[slot], (self.saved.locks or {}).get(slot)
            if lock is not None and memory.provider.tools is not None:
                context = ToolsContext(MemoryContext(lock.scope, slot), seen, session, info)
                slots.append((slot, memory.description, memory.provider.tools, context))
        self._box = open_toolbox(self.agent.own_tools(), slots)
        turn.tools = self._box.tools
        sentence = "Dynamic tool resolver (turn.started) failed — skipping its complete result."
        turn.logs += [
            error_log("dynamic-tools", sentence, failed.error, slot=failed.slot) for failed in self._box.failures
        ]

    @property
    def _memory_locks(self) -> Mapping[str, Lock]:
        return {} if self.saved.memory is None else self.saved.memory.locks

    def _ask(self, turn: Turn, inputs: tuple[Message, ...], *, started: bool = False) -> None:
        """One model call and the tool calls that it asks for."""
        if not started:
            self.journal.publish("step.started", turn)
        self._check_cancelled()
        messages = self.saved.history + following(self.saved.history, inputs)
        prompt = project(messages, self._memory_locks)
        envelope = envelope_tokens(self.agent.instructions, turn.tools)
        tokens = input_tokens(prompt, self.saved.known, envelope, self.saved.envelope)
        if is_too_long(tokens, prompt, self.agent.compaction) or should_canonicalise(messages):
            record = Compaction(turn.id, len(messages), len(messages))
            turn.compactions.append(record)
            messages = self._compact(Request(messages, prompt, envelope, turn), record)
        asked = self._shown(messages)
        if not asked:
            self._fail_turn(turn, EmptyPromptError())
            return
        shown = (Message("system", self.agent.instructions), *asked)
        turn.prompts.append(Prompt(shown, tuple(turn.tools)))
        self.model_calls += 1
        try:
            reply = resolve(self.agent.model.respond(shown, turn.tools))
        except Exception as error:
            self._check_cancelled()
            self._fail_turn(turn, error)
            return
        self._check_cancelled()
        known = None if reply.input_tokens is None else KnownTokens(reply.input_tokens, len(asked))
        self.saved = replace(self.saved, known=known, envelope=None if known is None else envelope)
        self._take(turn, reply, messages)

    def _take(self, turn: Turn, reply: Reply, messages: tuple[Message, ...]) -> None:
        """Keep the model's reply: run its tool calls, or end the turn."""
        text = reply.text or ""
        if text:
            self.journal.publish("message.appended", turn)
            if not is_blank(text):
                self.journal.publish("message.completed", turn)
        calls = [
            ToolCall(f"call_{self.model_calls}_{index}", made.name, dict(made.input))
            for index, made in enumerate(reply.calls)
        ]
        if not calls:
            self.saved = replace(self.saved, history=(*messages, *([Message("assistant", text)] if text else [])))
            self.journal.publish("step.completed", turn)
            turn.reply = "" if is_blank(text) else text
            self._complete_turn(turn)
            return
        said = Message("assistant", (*([text] if text else []), *calls))
        checked = check_calls(self._box, calls)
        for one in checked:
            if one.result is None or one.result.type == "execution-denied":
                self.journal.publish("actions.requested", turn)
        settled = {one.call.id: one.result for one in checked if one.result is not None}
        for result in settled.values():
            turn.results.append(result)
            if result.type == "execution-denied":
                self.journal.publish("action.result", turn)
        running = [one.call for one in checked if one.result is None and not one.waits]
        settled |= {result.id: result for result in self._run_tools(turn, running)}
        waiting = tuple(one.call for one in checked if one.waits)
        results = tuple(settled[call.id] for call in calls if call.id in settled)
        self.saved = replace(self.saved, step_index=self.saved.step_index + 1)
        if waiting:
            note = Message("user", pending(waiting), STATE_KIND)
            self.saved = replace(self.saved, history=(*messages, note), held=Held(said, results, waiting))
            turn.held, turn.status = waiting, "held"
            for event in ("step.completed", "input.requested", "turn.waiting"):
                self.journal.publish(event, turn)
            return
        self.saved = replace(self.saved, history=(*messages, said, Message("tool", results)))
        self.journal.publish("step.completed", turn)

    def _run_tools(self, turn: Turn, calls: Sequence[ToolCall]) -> list[ToolResult]:
        results = []
        for result, error in run_calls(self._box, calls):
            if error is not None:
                turn.logs.append(error_log("harness.tool-loop", "tool execution failed", error, tool=result.name))
            results.append(result)
            self.journal.publish("action.result", turn)
        turn.results += results
        return results

    def _complete_turn(self, turn: Turn) -> None:
        completed = self.journal.write("turn.completed", turn)
        error = capture_turn(self.scene, self.saved.locks or {}, self.saved.history)
        if error is not None:
            turn.logs.append(error_log("memory", "Completed-turn memory capture failed.", error))
        self.journal.run_hooks(completed, turn)
        self._end(turn, "completed")

    def _fail_turn(self, turn: Turn, error: Exception) -> None:
        """The model failed: the input is not kept, what was recalled is, and the session waits."""
        turn.error = error
        turn.logs += [
            error_log("harness.tool-loop", sentence, error)
            for sentence in (
                "tool-loop stream error",
                "model call failed — parking session for retry by the user",
            )
        ]
        self.journal.publish("step.failed", turn)
        self.journal.publish("turn.failed", turn)
        self._end(turn, "failed")

    def _end(self, turn: Turn, status: str) -> None:
        self.saved = replace(self.saved, sequence=self.saved.sequence + 1, step_index=0)
        turn.status = status
        self.journal.publish("session.waiting", turn)

    def _compact(self, request: Request, record: Compaction) -> tuple[Message, ...]:
        self.saved = compact(
            request, self.saved, self.scene, self.journal, record, lambda asked: self._summarise(asked, record)
        )
        return self.saved.history

    def _summarise(self, asked: tuple[Message, Message], record: Compaction) -> str:
        record.prompts.append(Prompt(asked, ()))
        self.model_calls += 1
        reply = resolve(self.agent.model.respond(asked, {}))
        record.summary = reply.text or ""
        return record.summary

    def _shown(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """What the model sees of a history: the current locks' records, and no blank message."""
        return tuple(shown for message in project(messages, self._memory_locks) for shown in without_blanks(message))

    def _check_cancelled(self) -> None:
        if self.signal.aborted:
            raise TurnCancelledError("The turn was cancelled.")
