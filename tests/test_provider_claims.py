"""The claims of 8.7 fail when the rule that they speak of is broken."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from evelab import compact, keys, lifecycle, message, provider, recall, scope, session, steps, toolbox
from evelab.chapter import notes_in_dict
from evelab.chapter.notes_in_dict import Notes, words
from evelab.chapter.provider_failure_claims import failures
from evelab.keys import create_lock
from evelab.recall import MemoryState, apply_batches, validate_recall
from evelab.tools import define_tool, slot_tools
from tests.planted import fails

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evelab.keys import Lock


def test_a_provider_without_recall_that_is_let_through_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provider, "_check_handlers", lambda *_: None)
    assert fails("7.1")


def test_a_compaction_without_its_captures_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compact, "capture_compaction", lambda *_: None)
    assert fails("7.1")
    assert fails("7.9")


def test_a_context_without_the_estimate_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "CompactionInfo", lambda model, usage=None: provider.CompactionInfo(model))
    assert fails("7.2")


def test_a_context_with_another_key_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def keyed(memory: Any, slot: str) -> provider.MemoryContext:
        return provider.MemoryContext(replace(memory, key="memscope1_other"), slot)

    monkeypatch.setattr(lifecycle, "MemoryContext", keyed)
    assert fails("7.2")


@pytest.mark.parametrize("left_out", ["phase", "session"])
def test_an_operation_id_that_leaves_something_out_is_noticed(left_out: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = lifecycle.operation_id

    def shorter(session_id: str, sequence: int, turn: Any, phase: str, slot: str, **step: Any) -> str:
        parts = {"session": session_id, "phase": phase} | {left_out: ""}
        return made(parts["session"], sequence, turn, parts["phase"], slot, **step)

    monkeypatch.setattr(lifecycle, "operation_id", shorter)
    assert fails("7.3")


def test_an_operation_id_that_changes_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    made, count = lifecycle.operation_id, iter(range(10_000))
    monkeypatch.setattr(lifecycle, "operation_id", lambda *args, **step: f"{made(*args, **step)}:{next(count)}")
    assert fails("7.3")
    assert fails("7.7")


def test_a_replay_with_another_result_that_is_taken_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def lenient(batches: Any, history: Any, state: MemoryState) -> Any:
        return apply_batches(batches, history, MemoryState(state.locks))

    monkeypatch.setattr(compact, "apply_batches", lenient)
    assert fails("7.3")


def everything(history: Sequence[message.Message], locks: Mapping[str, Lock]) -> tuple[message.Message, ...]:
    return tuple(history)


def test_a_replaced_record_that_is_still_shown_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "project", everything)
    assert fails("7.4")


def test_an_id_that_is_ignored_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def unkeyed(result: Any, slot: str) -> Any:
        return tuple(replace(one, item_key=None) for one in validate_recall(result, slot))

    monkeypatch.setattr(lifecycle, "validate_recall", unkeyed)
    assert fails("7.4")


def test_an_id_that_may_come_twice_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def lenient(result: Any, slot: str) -> Any:
        return tuple(one for item in result["messages"] for one in validate_recall({"messages": [item]}, slot))

    monkeypatch.setattr(lifecycle, "validate_recall", lenient)
    assert fails("7.4")


def test_a_tool_name_that_is_not_checked_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def lenient(tools: Any, *, slot: str, description: str | None) -> Any:
        return {f"{slot}__{key}": tool for key, tool in tools.items()}

    monkeypatch.setattr(toolbox, "slot_tools", lenient)
    assert fails("7.5")


def test_a_tool_name_that_may_be_too_long_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def shortened(tools: Any, *, slot: str, description: str | None) -> Any:
        named = slot_tools({key[:50]: tool for key, tool in tools.items()}, slot=slot, description=description)
        return dict(named)

    monkeypatch.setattr(toolbox, "slot_tools", shortened)
    assert fails("7.5")


def test_a_tool_in_everybodys_partition_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "create_lock", lambda n, s, **options: create_lock(n, "everybody", **options))
    assert fails("7.6")
    assert fails("7.7")
    assert fails("7.10")


def test_a_tool_that_is_made_once_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def once(box: Any, name: str) -> Any:
        yield from ()
        return box.tools[name]

    monkeypatch.setattr(toolbox, "_rebuild", once)
    assert fails("7.6")


def test_a_forget_that_looks_everywhere_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def anywhere(self: Notes, ctx: Any) -> Any:
        def forget(id: str) -> dict[str, bool]:  # noqa: A002
            return {"deleted": any(notes.pop(id, None) for notes in self.partitions.values())}

        return {"forget": define_tool(description="?", input_schema=notes_in_dict.ID, execute=forget)}

    monkeypatch.setattr(Notes, "tools", anywhere)
    assert fails("7.7")


def test_a_search_over_everything_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Notes, "recall", notes_in_dict.SearchFirst.recall)
    assert fails("7.10")


def test_a_turn_that_sees_its_own_input_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    recalled = lifecycle.recall_turn

    def early(scene: Any, locks: Any, history: Any, turn: Any) -> Any:
        return recalled(scene, locks, (*history, *turn.input), turn)

    monkeypatch.setattr(steps, "recall_turn", early)
    assert fails("7.8")


def test_a_compaction_that_shows_the_old_history_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compact, "shorten", lambda messages, *_, **__: tuple(messages))
    assert fails("7.8")


def test_a_failing_recall_that_is_swallowed_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    recalled = lifecycle.recall_turn

    def swallowed(*args: Any) -> Any:
        try:
            return recalled(*args)
        except ConnectionError:
            return []

    monkeypatch.setattr(steps, "recall_turn", swallowed)
    assert fails("7.9")


def test_a_failing_compaction_that_is_fatal_by_hand_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fatal(self: Any, **_: object) -> Any:
        record = session.Compaction("turn_1", 0, 0)
        self._transact(lambda: self._steps.compact_now(record))
        return record

    monkeypatch.setattr(session.Session, "compact", fatal)
    assert fails("7.9")


@pytest.mark.parametrize(
    ("module", "name", "value"),
    [
        (scope, "NAMESPACE_MAX_BYTES", 1025),
        (scope, "COMPONENT_MAX_BYTES", 1025),
        (scope, "COMPONENT_MAX_BYTES", 1023),
        (scope, "TUPLE_MAX_COMPONENTS", 17),
        (keys, "ENCODED_MAX_BYTES", 4097),
        (keys, "ENCODED_MAX_BYTES", 4095),
        (recall, "ITEM_ID_MAX_BYTES", 1025),
        (recall, "ITEM_ID_MAX_BYTES", 1023),
    ],
)
def test_a_limit_that_is_off_by_one_is_noticed(
    module: Any, name: str, value: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, value)
    assert fails("7.11")


def test_the_notes_find_chinese_words_and_the_best_first() -> None:
    assert words("值班 on-call, A1!") == {"值", "班", "on-call", "a1"}
    notes = Notes(limit=1)
    assert notes.search([("a", "rota rota"), ("b", "the on-call rota")], "on-call rota") == [("b", "the on-call rota")]
    assert notes.search([("a", "tea")], "coffee") == []


def test_every_failure_is_tried() -> None:
    assert [failure.turn for failure in failures().values()] == [
        "session ended",
        "completed",
        "no turn",
        "session ended",
        "no turn",
        "session ended",
        "completed",
    ]
