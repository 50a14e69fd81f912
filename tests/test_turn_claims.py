"""The claims of 8.4 fail when the rule that they speak of is broken."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from evelab import Session, compact, file_memory, lifecycle, recall, steps
from evelab.chapter.turn_claims import Traced
from evelab.compaction import canonicalise
from evelab.errors import SessionFailedError
from tests.planted import fails

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evelab.message import Message


def test_a_recall_before_all_are_locked_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    resolve = lifecycle.resolve_locks

    def one_by_one(scene: Any, turn: Any, report: Any) -> Any:
        for slot in scene.agent.memory:
            alone = replace(scene, agent=replace(scene.agent, memory={slot: scene.agent.memory[slot]}))
            lifecycle.recall_turn(alone, resolve(alone, turn, report).table, (), turn)
        return resolve(scene, turn, report)

    monkeypatch.setattr(steps, "resolve_locks", one_by_one)
    assert fails("4.1")


def test_no_recall_after_a_compaction_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compact, "recall_compaction", lambda *_: [])
    assert fails("4.1")


def test_unchanged_records_that_are_added_again_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(batches: Any, history: Any, state: Any) -> Any:
        return recall.apply_batches(batches, (), recall.MemoryState())

    monkeypatch.setattr(steps, "apply_batches", forgetful)
    assert fails("4.1")


def test_a_changed_word_of_the_block_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = file_memory.__globals__["recall_text"]

    def reworded(slot: str, document: Any) -> str:
        return str(text(slot, document)).replace("durable data", "data")

    monkeypatch.setitem(file_memory.__globals__, "recall_text", reworded)
    assert fails("4.2")


def test_a_block_after_the_input_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = steps.Steps._shown

    def reversed_order(self: Any, messages: Sequence[Message]) -> tuple[Message, ...]:
        return tuple(reversed(shown(self, messages)))

    monkeypatch.setattr(steps.Steps, "_shown", reversed_order)
    assert fails("4.2")


def test_a_scope_that_follows_the_caller_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    capture = lifecycle.capture_turn

    def follows(scene: Any, locks: Any, history: Any) -> Any:
        turn = lifecycle.first_turn(locks)
        fresh = lifecycle.resolve_locks(scene, turn, lambda *_: None)  # type: ignore[arg-type]
        return capture(scene, fresh.table, history)

    monkeypatch.setattr(steps, "capture_turn", follows)
    assert fails("4.3")


def test_a_recall_as_a_system_message_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    apply = recall.apply_batches

    def as_system(*args: Any) -> Any:
        commit = apply(*args)
        return replace(commit, appended=tuple(replace(message, role="system") for message in commit.appended))

    monkeypatch.setattr(steps, "apply_batches", as_system)
    assert fails("4.4")


def test_a_compaction_that_summarises_memories_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def everything(messages: Sequence[Message]) -> Any:
        split = canonicalise(messages)
        return replace(split, memory=(), ordinary=(*split.memory, *split.ordinary))

    monkeypatch.setattr(compact, "canonicalise", everything)
    assert fails("4.4")


def test_half_a_commit_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def one_at_a_time(scene: Any, locks: Any, history: Any, turn: Any) -> Any:
        batches = []
        for slot, lock in locks.items():
            try:
                batches += lifecycle.recall_turn(scene, {slot: lock}, history, turn)
            except ConnectionError:
                continue
        return batches

    monkeypatch.setattr(steps, "recall_turn", one_at_a_time)
    assert fails("4.5")


def test_a_step_that_is_tried_once_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    init = Session.__init__

    def impatient(self: Session, *args: Any, **options: Any) -> None:
        init(self, *args, **{**options, "attempts": 1})

    monkeypatch.setattr(Session, "__init__", impatient)
    assert fails("4.5")


def test_a_capture_whose_error_escapes_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    capture = lifecycle.capture_turn

    def raises(*args: Any) -> None:
        if (error := capture(*args)) is not None:
            raise error

    monkeypatch.setattr(steps, "capture_turn", raises)
    assert fails("4.6")


def test_a_trace_names_what_failed() -> None:
    traced = Traced(fails="recall profile")
    with pytest.raises(SessionFailedError, match="the store of profile is down"):
        traced.session.send("?")
    assert traced.lines()[-1] == "recall workspace"
