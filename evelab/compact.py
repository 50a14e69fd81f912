"""One compaction, from the request to the new history, with memory taking part.

Captures run first, on the old prompt. The ordinary messages are shortened, the recalled records kept. Then
recall runs on the new history, and what it brings is put into it. Source: eve 0.80.1,
``harness/compaction/step``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evelab.compaction import canonicalise, place
from evelab.lifecycle import CompactionMoment, Scene, capture_compaction, recall_compaction
from evelab.recall import MemoryState, apply_batches
from evelab.summary import estimate_tokens, input_tokens, is_too_long, shorten

if TYPE_CHECKING:
    from collections.abc import Callable

    from evelab.checkpoint import Checkpoint
    from evelab.journal import Journal
    from evelab.message import Message
    from evelab.turn import Compaction, Turn


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be compacted.

    Attributes:
        messages: the whole history, with the turn's input when one runs.
        prompt: what the model would see of it.
        envelope: estimated tokens beside the messages.
        turn: the turn that runs, or None between turns.
        force: summarise in any case.
    """

    messages: tuple[Message, ...]
    prompt: tuple[Message, ...]
    envelope: float
    turn: Turn | None = None
    force: bool = False


def compact(
    request: Request,
    saved: Checkpoint,
    scene: Scene,
    journal: Journal,
    record: Compaction,
    summarise: Callable[[tuple[Message, Message]], str],
) -> Checkpoint:
    """Compact, and give the checkpoint with the new history. A raise leaves the old one as it was."""
    records = (record,) if request.turn is None else (request.turn, record)
    policy = scene.agent.compaction
    tokens = input_tokens(request.prompt, saved.known, request.envelope, saved.envelope)
    record.usage_input_tokens = tokens
    locks = saved.locks or {}
    moment = CompactionMoment(saved.sequence, saved.step_index, model_id(scene))
    requested = journal.write("compaction.requested", *records)
    capture_compaction(scene, locks, request.prompt, moment, tokens)
    journal.run_hooks(requested, *records)
    split = canonicalise(request.messages)
    ordinary = split.ordinary
    if request.force or is_too_long(tokens, request.prompt, policy):
        ordinary = shorten(
            ordinary,
            replace(policy, threshold=max(1, policy.threshold - request.envelope)),
            summarise,
            force=request.force,
            extra=max(0, max(0, tokens - request.envelope) - estimate_tokens(ordinary)),
        )
    history = split.memory + ordinary
    completed = journal.write("compaction.completed", *records)
    memory = saved.memory
    if scene.agent.memory:
        batches = recall_compaction(scene, locks, history, moment)
        commit = apply_batches(batches, history, memory or MemoryState())
        record.recalled = {batch.lock.slot: batch.messages for batch in batches}
        record.committed = commit.appended
        history = place(history, commit.appended, between_turns=request.turn is None)
        memory = commit.state
    journal.run_hooks(completed, *records)
    record.after = len(history)
    return replace(saved, history=history, memory=memory, known=None)


def model_id(scene: Scene) -> str:
    """The model's id, or its class's name when it has none."""
    model = scene.agent.model
    return str(getattr(model, "id", type(model).__name__))
