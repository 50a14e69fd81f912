"""A session and its turns: lock, recall, commit, show, call, answer, capture.

::

    caller -> scope -> namespace -> Lock        every slot, before any recall
           -> provider.recall -> validate -> commit all or nothing -> project
           -> model -> tool calls (bound to the Lock) -> reply -> provider.capture

One model call with its tool calls is a step. A step that raises leaves no trace in the session and is run
again, four times in all; then the session has failed. Source: eve 0.80.1, ``harness/tool-loop``.
"""

from __future__ import annotations

import os
import uuid
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from types import EllipsisType
from typing import TYPE_CHECKING, Any

from evelab.auth import Auth, Principal
from evelab.checkpoint import Work
from evelab.errors import (
    HeldTurnError,
    NotHeldError,
    RunningTurnError,
    SessionFailedError,
    StateValueError,
    TurnCancelledError,
)
from evelab.kept import Kept
from evelab.message import Message, TurnInfo
from evelab.recall import MemoryState
from evelab.signal import AbortSignal
from evelab.state import load_state
from evelab.steps import APPROVE, Steps
from evelab.text import is_blank
from evelab.transaction import transaction
from evelab.turn import Compaction, Event, LogRecord, Prompt, Turn, error_log

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from evelab.agent import Agent
    from evelab.checkpoint import Checkpoint, Record
    from evelab.message import ToolCall

__all__ = ["ATTEMPTS", "Compaction", "Event", "LogRecord", "Prompt", "Session", "Turn", "running_session"]

ATTEMPTS = 4
"""How often a step is tried before the session has failed."""
CONTEXT_KIND = "context.instruction"

TURNS_KEPT = 100
"""How many turns a session keeps for a reader. A turn in hand lives on; its prompts hold whole histories."""

_RUNNING: ContextVar[Session] = ContextVar("evelab.session")


def running_session() -> Session:
    """The session whose step runs here, for tools that need it.

    Raises:
        LookupError: none runs.
    """
    return _RUNNING.get()


class Session:
    """A conversation with an agent. Memory outlives it; everything else in it ends with it.

    ``turns`` and ``compactions`` are the newest hundred, for a reader. A session does one thing at a time.

    Args:
        agent: what answers.
        caller: who opens the session: a Principal, or None for nobody.
        id: the session's id; a random one when None.
        environ: the environment to read (``EVE_DEV``, the default namespace); the process's own when None.
        schedule: the schedule that started the session, if one did.
        attempts: how often a step is tried: eve's 4.
        parent: the id of the session that started this one, if one did.
    """

    def __init__(
        self,
        agent: Agent,
        caller: Principal | None = None,
        *,
        id: str | None = None,  # noqa: A002
        environ: Mapping[str, str] | None = None,
        schedule: str | None = None,
        attempts: int = ATTEMPTS,
        parent: str | None = None,
    ) -> None:
        self.agent = agent
        self.id = id or f"session-{uuid.uuid4().hex[:12]}"
        self.turns: list[Turn] = []
        self.compactions: list[Compaction] = []
        self.failure: SessionFailedError | None = None
        self._attempts = attempts
        self._children = 0
        self._busy = False
        self._kept = Kept(self.id)
        self._steps = Steps(
            agent,
            self.id,
            caller,
            environ=os.environ if environ is None else environ,
            schedule=schedule,
            parent=parent,
        )

    @classmethod
    def open(
        cls,
        store: str | os.PathLike[str],
        id: str,  # noqa: A002
        *,
        agent: Agent,
        caller: Principal | None = None,
        environ: Mapping[str, str] | None = None,
        schedule: str | None = None,
        attempts: int = ATTEMPTS,
        parent: str | None = None,
    ) -> Session:
        """A session that outlives its process: what each step leaves is in a file before the next one begins.

        A new id begins a session, a known one goes on where its last step ended; it remembers its own caller,
        schedule and parent. When ``interrupted`` is not None, its process ended inside a turn: ``resume`` goes
        on with it. ``close`` the session when it is done, or use it in a ``with``.

        The file is JSON in SQLite: reading it runs no code. It holds what users said and raw scopes, as eve's
        own session store does. An interrupted step runs again from its start, so what its tools did outside the
        session they do again; recalls and captures have the same operation id then.

        Args:
            store: the file, made when it is not there. It holds many sessions, and small files ending in
                ``.lock`` stand beside it.
            id: the session's id.
            agent: what answers. It is code, so it is not stored: give the same one again.
            caller: who opens a new session.
            environ: as for a ``Session``, as are ``schedule``, ``attempts`` and ``parent``.

        Raises:
            OptionError: ``:memory:`` is no file.
            SessionHeldError: it is open elsewhere, in this process or another.
            StoreError: the file cannot be used.
            RecordError: the file holds something that is no session.
        """
        from evelab.session_store import StoredSession

        keeper = StoredSession(store, id)
        try:
            session = cls(agent, caller, id=id, environ=environ, schedule=schedule, attempts=attempts, parent=parent)
            session._kept = Kept(id, keeper)
            session._continue(keeper.load())
        except BaseException:
            keeper.close()
            raise
        return session

    def close(self) -> None:
        """Let go of a stored session, so that it can be opened elsewhere. It takes no more messages here."""
        self._kept.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def interrupted(self) -> Turn | None:
        """The turn inside which the session's process ended, or None."""
        return None if self._kept.work is None else self.turns[-1]

    def resume(self) -> Turn | None:
        """Go on with the turn that was interrupted: steps that had ended stay, the one that had not runs again.

        Returns:
            The turn; None when there is none to go on with.

        Raises:
            SessionFailedError: a step failed four times, or the session is over.
        """
        work, self._kept.work = self._kept.work, None
        self._check_alive()
        if work is None:
            return None
        turn = self.turns[-1]
        turn.status = "running"
        return self._run(turn, work)

    @property
    def initiator(self) -> Principal | None:
        """Who opened the session."""
        return self._steps.initiator

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything that the session published, in order, also by attempts that were thrown away."""
        return tuple(self._steps.journal.events)

    @property
    def history(self) -> tuple[Message, ...]:
        """Every message of the conversation, recalled records with their marks."""
        return self._steps.saved.history

    @property
    def memory(self) -> MemoryState:
        """The locks of the last commit, and the digests of the recalls that are done."""
        return self._steps.saved.memory or MemoryState()

    @property
    def auth(self) -> Auth:
        """Who speaks, and who opened the session."""
        return Auth(self._steps.saved.caller, self.initiator)

    @property
    def state(self) -> Mapping[str, Any]:
        """The values of ``define_state``, as the last step left them."""
        return self._steps.saved.state

    def send(
        self,
        text: str,
        *,
        caller: Principal | EllipsisType | None = ...,
        context: Sequence[str] = (),
    ) -> Turn:
        """Say something and wait for the answer.

        A turn that waits for a person goes on: its calls are refused because nobody decided, and nothing is
        recalled again.

        Args:
            text: the turn's input. Blank, it is left out.
            caller: who speaks, when it is not the one who spoke last.
            context: instructions that stand before the input.

        Raises:
            SessionFailedError: a step failed four times. The session is over.
            RunningTurnError: it is called from inside a turn of this session, or from another thread.
        """
        self._check_alive()
        if self._busy:
            raise RunningTurnError(f"Session {self.id} is at work. Start another session.", session_id=self.id)
        self._hear(caller)
        said = [Message("user", text, "user")] if not is_blank(text) else []
        messages = (*[Message("user", note, CONTEXT_KIND) for note in context], *said)
        if self._steps.saved.held is not None:
            return self._resume({}, messages)
        sequence = self._steps.saved.sequence
        info = TurnInfo(f"turn_{sequence}", messages, sequence)
        turn = Turn(info.id, self._steps.saved.caller, text)
        self.turns.append(turn)
        del self.turns[:-TURNS_KEPT]
        return self._run(turn, Work("open", info, text))

    def approve(self, call: ToolCall | None = None) -> Turn:
        """Allow a tool call that waits, or all of them; the turn goes on when none waits any more.

        Raises:
            NotHeldError: no turn waits for this call.
            SessionFailedError: a step failed four times.
        """
        return self._answer(call, APPROVE)

    def refuse(self, call: ToolCall | None = None, *, reason: str = "") -> Turn:
        """Refuse a tool call that waits, or all of them. The model reads that it was denied, and why.

        Raises:
            NotHeldError: no turn waits for this call.
            SessionFailedError: a step failed four times.
        """
        return self._answer(call, f"deny {reason}".rstrip())

    def compact(self, *, caller: Principal | EllipsisType | None = ...) -> Compaction:
        """Make the history short now, between turns. A failure is logged, and the history stays.

        The memory of the last turn is used, whoever asks: the locks of its speaker.

        Args:
            caller: who asks, when it is not the one who spoke last.

        Raises:
            SessionFailedError: the session is over.
            HeldTurnError: a tool call waits for a person. eve would let the turn go here; we ask for the
                decision first.
        """
        self._check_alive()
        if self._steps.saved.held is not None:
            raise HeldTurnError("Approve or refuse the waiting tool call first, then compact.", session_id=self.id)
        self._hear(caller)
        length = len(self.history)
        record = Compaction(f"turn_{self._steps.saved.sequence}", length, length)
        self.compactions.append(record)
        del self.compactions[:-TURNS_KEPT]
        try:
            self._transact(lambda: self._steps.compact_now(record))
        except Exception as error:
            record.error = error
            record.logs.append(error_log("harness.tool-loop", "manual session compaction failed", error))
        record.after = len(self.history)
        self._keep()
        self._steps.journal.publish("session.waiting", record)
        return record

    def clear(self, *, caller: Principal | EllipsisType | None = ...) -> None:
        """Forget the conversation and what was recalled. State and the providers' storage stay.

        Args:
            caller: who asks, when it is not the one who spoke last.

        Raises:
            SessionFailedError: the session is over.
        """
        self._check_alive()
        self._hear(caller)
        self._steps.clear(self.turns[-1:])
        self._keep()

    def cancel(self) -> None:
        """Stop the turn that runs, from a handler, a tool or another thread, or give up the interrupted one."""
        self._steps.signal.abort()
        if self._kept.work is not None:
            self._kept.work = None
            self._steps.saved = replace(self._steps.saved, held=None)
            self._end_cancelled(self.turns[-1], TurnCancelledError("The turn was interrupted and given up."))

    def subagent(self, agent: Agent | None = None) -> Session:
        """A session of its own for a part of the work: fresh state, the same speaker.

        Without an agent it is a copy of this one: the same node, so the same memory. Another agent with
        its own ``node`` has its own default namespace.
        """
        self._children += 1
        child = Session(
            agent or self.agent,
            self._steps.saved.caller,
            id=f"{self.id}/agent-{self._children}",
            environ=self._steps.environ,
            attempts=self._attempts,
            parent=self.id,
        )
        child._steps.initiator = self.initiator
        return child

    def checkpoint(self) -> Checkpoint:
        """Everything that the session keeps between steps. ``restore`` continues from it."""
        return self._steps.saved

    def restore(self, saved: Checkpoint) -> None:
        """Continue from a checkpoint, also of another process: state that nothing here defines is dropped."""
        self._restore(saved)
        self._keep()

    def _restore(self, saved: Checkpoint) -> None:
        values, _ = load_state(saved.state)
        self._steps.saved = replace(saved, state=values)
        self.failure = None
        if saved.held is not None:
            turn = Turn(f"turn_{saved.sequence}", saved.caller, "", "held", held=saved.held.waiting)
            self.turns.append(turn)
            self._steps.reopen(turn)

    def run_with_state(self, work: Callable[[], Any]) -> Any:
        """Run a function as if in this session: its state can be read and written.

        Raises:
            StateValueError: it left a value that cannot be kept.
        """
        result = self._transact(work)
        self._keep()
        return result

    def _hear(self, caller: Principal | EllipsisType | None) -> None:
        if not isinstance(caller, EllipsisType):
            self._steps.saved = replace(self._steps.saved, caller=caller)

    def _check_alive(self) -> None:
        self._kept.check()
        if self.failure is not None:
            raise SessionFailedError(
                f"Session {self.id} has failed and takes no more messages.",
                session_id=self.id,
                attempts=self.failure.attempts,
            ) from self.failure

    def _answer(self, call: ToolCall | None, answer: str) -> Turn:
        self._check_alive()
        held = self._steps.saved.held
        if held is None or (call is not None and call not in held.waiting):
            raise NotHeldError("No tool call of this session waits for this decision.", session_id=self.id)
        chosen = held.waiting if call is None else (call,)
        answers = dict(held.answers) | {one.id: answer for one in chosen}
        if any(one.id not in answers for one in held.waiting):
            self._steps.saved = replace(self._steps.saved, held=replace(held, answers=answers))
            self._keep()
            self._steps.journal.publish("turn.waiting", self.turns[-1])
            return self.turns[-1]
        return self._resume(answers, ())

    def _resume(self, answers: Mapping[str, str], messages: tuple[Message, ...]) -> Turn:
        turn = self.turns[-1]
        turn.status = "running"
        turn.held = ()
        info = TurnInfo(turn.id, messages, self._steps.saved.sequence)
        return self._run(turn, Work("resume", info, turn.said, answers))

    def _run(self, turn: Turn, work: Work) -> Turn:
        """Run a turn's steps until it has ended or waits. Each is kept before the next one begins."""
        self._steps.signal = AbortSignal()
        self._keep(work)
        try:
            while turn.status == "running":
                self._step(turn, partial(self._do, turn, work))
                work = replace(work, step="next")
                self._keep(work if turn.status == "running" else None)
        except TurnCancelledError as error:
            self._end_cancelled(turn, error)
        except BaseException as error:
            if not isinstance(error, Exception) and turn.status in ("running", "cancelled"):
                self._interrupt(work)
            raise
        return turn

    def _end_cancelled(self, turn: Turn, error: TurnCancelledError) -> None:
        turn.status = "cancelled"
        turn.error = error
        self._steps.saved = replace(self._steps.saved, sequence=self._steps.saved.sequence + 1, step_index=0)
        self._keep()
        self._steps.journal.publish("turn.cancelled", turn)
        self._steps.journal.publish("session.waiting", turn)

    def _interrupt(self, work: Work) -> None:
        """After Ctrl-C: a stored session goes on as if its process had ended; another one gives the turn up."""
        if self._kept:
            self._kept.work = work
        elif work.step == "next":
            # What its steps recalled is committed under this number. The next turn needs another one.
            self._steps.saved = replace(self._steps.saved, sequence=self._steps.saved.sequence + 1, step_index=0)

    def _do(self, turn: Turn, work: Work) -> None:
        if work.step == "open":
            self._steps.open(turn, work.turn)
        elif work.step == "resume":
            self._steps.resume(turn, work.answers, work.turn.input)
        else:
            self._steps.next_step(turn)

    def _step(self, turn: Turn, work: Callable[[], None]) -> None:
        """Run one step as a transaction, again when it raises."""
        marks = (len(turn.prompts), len(turn.results), len(turn.compactions))
        for attempt in range(1, self._attempts + 1):
            try:
                self._transact(work)
            except Exception as error:
                del turn.prompts[marks[0] :], turn.results[marks[1] :], turn.compactions[marks[2] :]
                turn.status = "running"
                turn.failures.append(error)
                if isinstance(error, TurnCancelledError):
                    raise
                if attempt == self._attempts or isinstance(error, StateValueError):
                    raise self._fail(turn, error, attempt) from error
            except BaseException:
                turn.status = "cancelled"
                raise
            else:
                return

    def _transact(self, work: Callable[[], Any]) -> Any:
        if self._busy:
            raise RunningTurnError(f"Session {self.id} is at work. Start another session.", session_id=self.id)
        self._busy = True
        token = _RUNNING.set(self)
        try:
            with transaction(self._steps):
                return work()
        finally:
            _RUNNING.reset(token)
            self._busy = False

    def _fail(self, turn: Turn, error: Exception, attempts: int) -> SessionFailedError:
        self.failure = SessionFailedError(
            f"Session {self.id} has failed: a step failed on attempt {attempts}. {type(error).__name__}: {error}",
            session_id=self.id,
            attempts=attempts,
        )
        turn.status = "failed"
        turn.error = error
        self._keep()
        self._steps.journal.publish("session.failed", turn)
        return self.failure

    def _keep(self, work: Work | None = None) -> None:
        """Write where a stored session is. Inside a step there is nothing to write yet."""
        if not self._busy:
            self._kept.save(self._steps, self._children, self.failure, work)

    def _continue(self, record: Record | None) -> None:
        """Go on from a record."""
        if record is None:
            self._keep()
            return
        steps = self._steps
        steps.initiator, steps.schedule, steps.parent = record.initiator, record.schedule, record.parent
        steps.model_calls, self._children = record.model_calls, record.children
        self._restore(record.saved)
        if record.failure is not None:
            self.failure = SessionFailedError(record.failure, session_id=self.id, attempts=record.attempts)
        elif record.work is not None:
            self._kept.work = record.work
            info = record.work.turn
            del self.turns[-1:]
            self.turns.append(Turn(info.id, record.saved.caller, record.work.said))
            if record.work.step != "open":
                steps.reopen(self.turns[-1])
