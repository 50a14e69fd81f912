"""When memory is locked, recalled and captured: one function a moment of a session.

Every moment goes over the slots in order of ``memory/<slot>.ts``. Handlers run concurrently and all are
awaited; the first failing slot in that order decides which error it is. Resolvers are different: there the
error that comes first in time decides. Source: eve 0.80.1, ``context/memory-lifecycle``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evelab.awaiting import Outcome, Task, all_settled
from evelab.keys import Lock, create_lock
from evelab.provider import (
    OPERATION_TAG,
    CompactionInfo,
    Default,
    MemoryContext,
    MemoryDefinition,
    OperationContext,
    SessionInfo,
)
from evelab.recall import RecallBatch, project, validate_recall
from evelab.scope import Channel, NamespaceContext, ScopeContext, ScopeSession, default_namespace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evelab.agent import Agent
    from evelab.auth import Auth
    from evelab.message import Message, TurnInfo
    from evelab.signal import AbortSignal


@dataclass(frozen=True, slots=True)
class Scene:
    """Whose memory it is, and in which session.

    Attributes:
        agent: the slots.
        session_id: the session.
        auth: who speaks, and who opened the session.
        environ: for the default namespace.
        signal: tells handlers that the turn was cancelled.
        schedule: the schedule that started the session, or None.
        parent: the session that started this one, or None.
    """

    agent: Agent
    session_id: str
    auth: Auth
    environ: Mapping[str, str]
    signal: AbortSignal
    schedule: str | None = None
    parent: str | None = None

    def session(self, turn: TurnInfo | None) -> SessionInfo:
        """The session as a provider sees it."""
        return SessionInfo(self.session_id, self.auth, turn, self.parent, self.schedule)


@dataclass(frozen=True, slots=True)
class Locks:
    """What the slots' resolvers gave.

    Attributes:
        table: slot -> its lock, in slot order.
        disabled: slot -> the resolver that turned it off: ``"scope"`` or ``"namespace"``.
    """

    table: Mapping[str, Lock]
    disabled: Mapping[str, str]


def resolve_locks(scene: Scene, turn: TurnInfo, report: Callable[[str, str], None]) -> Locks:
    """Resolve every slot's scope, then its namespace, then the lock; all slots concurrently.

    Args:
        scene: whose memory.
        turn: the turn that the locks are for.
        report: told the slot and the resolver when one turns the slot off.
    """

    def resolve(slot: str, memory: MemoryDefinition) -> Task[Lock | str]:
        found = yield from _resolve(scene, slot, memory, turn)
        if isinstance(found, str):
            report(slot, found)
        return found

    slots = scene.agent.slots()
    outcomes = all_settled([resolve(slot, memory) for slot, memory in slots])
    if failed := [outcome for outcome in outcomes if outcome.error is not None]:
        raise _error(min(failed, key=lambda outcome: outcome.order))
    found = {slot: outcome.value for (slot, _), outcome in zip(slots, outcomes, strict=True)}
    return Locks(
        {slot: lock for slot, lock in found.items() if isinstance(lock, Lock)},
        {slot: off for slot, off in found.items() if isinstance(off, str)},
    )


def _resolve(scene: Scene, slot: str, memory: MemoryDefinition, turn: TurnInfo) -> Task[Lock | str]:
    """One slot's lock, or the name of the resolver that turned it off."""
    agent = scene.agent
    scope = memory.scope
    if callable(scope):
        scope = yield scope(ScopeContext(ScopeSession(scene.session_id, scene.auth, scene.schedule), Channel()))
    if scope is None:
        return "scope"
    namespace = memory.namespace
    if isinstance(namespace, Default):
        namespace = default_namespace(slot, app_root=agent.app_root, node=agent.node, environ=scene.environ)
    elif callable(namespace):
        namespace = yield namespace(NamespaceContext(agent.app_root, agent.node, slot))
    if namespace is None:
        return "namespace"
    return create_lock(namespace, scope, slot=slot, visibility=memory.visibility, turn=turn)


def recall_turn(
    scene: Scene, locks: Mapping[str, Lock], history: Sequence[Message], turn: TurnInfo
) -> list[RecallBatch]:
    """``recall["turn.started"]`` of every locked slot. Each sees the same history, without the new input."""
    seen = project(history, locks)

    def recall(lock: Lock) -> Task[RecallBatch]:
        operation = operation_id(scene.session_id, turn.sequence, turn, "turn.started", lock.slot)
        ctx = _context(scene, lock, seen, operation, turn)
        result = yield scene.agent.memory[lock.slot].provider.recall["turn.started"](ctx)
        return RecallBatch(operation, lock, validate_recall(result, lock.slot))

    return _values(all_settled([recall(lock) for lock in locks.values()]))


def capture_turn(scene: Scene, locks: Mapping[str, Lock], history: Sequence[Message]) -> Exception | None:
    """``capture["turn.completed"]`` of every locked slot that has it.

    Returns:
        The error of the first failing slot, or None. It is for the log: the turn stands.
    """
    seen = project(history, locks)

    def capture(lock: Lock) -> Task[None]:
        turn = _turn_of(lock)
        operation = operation_id(scene.session_id, turn.sequence, turn, "turn.completed", lock.slot)
        handler = scene.agent.memory[lock.slot].provider.capture["turn.completed"]
        yield handler(_context(scene, lock, seen, operation, turn))

    slots = [lock for lock in locks.values() if "turn.completed" in scene.agent.memory[lock.slot].provider.capture]
    outcomes = all_settled([capture(lock) for lock in slots])
    return next((outcome.error for outcome in outcomes if outcome.error is not None), None)


@dataclass(frozen=True, slots=True)
class CompactionMoment:
    """Where in the session a compaction happens.

    Attributes:
        sequence: the number of the turn that runs, or of the next one.
        step_index: the number of the model call in the turn.
        model_id: the model that summarises.
    """

    sequence: int
    step_index: int
    model_id: str


def capture_compaction(
    scene: Scene, locks: Mapping[str, Lock], prompt: Sequence[Message], moment: CompactionMoment, usage: float
) -> None:
    """``capture["compaction.requested"]`` of every locked slot that has it."""
    turn = first_turn(locks)
    phase = "compaction.requested"

    def capture(lock: Lock) -> Task[None]:
        operation = operation_id(
            scene.session_id, moment.sequence, turn, phase, lock.slot, step_index=moment.step_index
        )
        handler = scene.agent.memory[lock.slot].provider.capture[phase]
        yield handler(_context(scene, lock, tuple(prompt), operation, turn, CompactionInfo(moment.model_id, usage)))

    slots = [lock for lock in locks.values() if phase in scene.agent.memory[lock.slot].provider.capture]
    for outcome in all_settled([capture(lock) for lock in slots]):
        if outcome.error is not None:
            raise outcome.error


def recall_compaction(
    scene: Scene, locks: Mapping[str, Lock], history: Sequence[Message], moment: CompactionMoment
) -> list[RecallBatch]:
    """``recall["compaction.completed"]`` of every locked slot that has it, on the new history."""
    turn = first_turn(locks)
    phase = "compaction.completed"
    seen = project(history, locks)

    def recall(lock: Lock) -> Task[RecallBatch]:
        operation = operation_id(
            scene.session_id, moment.sequence, turn, phase, lock.slot, step_index=moment.step_index
        )
        ctx = _context(scene, lock, seen, operation, turn, CompactionInfo(moment.model_id))
        result = yield scene.agent.memory[lock.slot].provider.recall[phase](ctx)
        return RecallBatch(operation, lock, validate_recall(result, lock.slot))

    slots = [lock for lock in locks.values() if phase in scene.agent.memory[lock.slot].provider.recall]
    return _values(all_settled([recall(lock) for lock in slots]))


def operation_id(
    session_id: str, sequence: int, turn: TurnInfo | None, phase: str, slot: str, *, step_index: int | None = None
) -> str:
    """An operation's id: the same for the same session, turn, step, phase and slot.

    The step's index is part of it in the two compaction phases only.
    """
    step = [] if step_index is None else [str(step_index)]
    turn_id = "standalone" if turn is None else turn.id
    return ":".join([OPERATION_TAG, session_id, str(sequence), turn_id, *step, phase, slot])


def first_turn(locks: Mapping[str, Lock]) -> TurnInfo | None:
    """The turn that the locks were made for."""
    return next((lock.turn for lock in locks.values()), None)


def _turn_of(lock: Lock) -> TurnInfo:
    if lock.turn is None:
        raise AssertionError("a session makes every lock for a turn")
    return lock.turn


def _context(
    scene: Scene,
    lock: Lock,
    messages: tuple[Message, ...],
    operation: str,
    turn: TurnInfo | None,
    compaction: CompactionInfo | None = None,
) -> OperationContext:
    memory = MemoryContext(lock.scope, lock.slot)
    return OperationContext(memory, messages, operation, scene.session(turn), turn, compaction, scene.signal)


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
