"""Recall results become records: checked, committed whole or not at all, projected by the current locks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evelab.compaction import canonicalise
from evelab.errors import HistoryError, RecallError
from evelab.keys import Lock, create_lock
from evelab.message import Message, TurnInfo, message_json, read_message
from evelab.recall import MemoryState, RecallBatch, apply_batches, batch_digest, project, validate_recall
from tests.providers import keyed, texts


def lock(scope: str = "acme", *, slot: str = "profile", namespace: str = "ns", visibility: str = "scope") -> Lock:
    return create_lock(namespace, scope, slot=slot, visibility=visibility, turn=TurnInfo("turn_0", (), 0))


def batch(operation: str, result: Any, of: Lock | None = None) -> RecallBatch:
    at = of or lock()
    return RecallBatch(operation, at, validate_recall(result, at.slot))


def commit(*batches: RecallBatch) -> tuple[Message, ...]:
    """The history after batches that come one after the other."""
    history: tuple[Message, ...] = ()
    state = MemoryState()
    for one in batches:
        made = apply_batches([one], history, state)
        history, state = history + made.appended, made.state
    return history


def shown(history: tuple[Message, ...], *locks: Lock) -> list[str]:
    return [message.text for message in project(history, {one.slot: one for one in locks})]


RESULTS = st.lists(
    st.fixed_dictionaries(
        {"content": st.sampled_from(["a", "b", "c"])}, optional={"id": st.sampled_from(["k", "j", "\ud800"])}
    ),
    max_size=4,
    unique_by=lambda message: message.get("id", id(message)),
).map(lambda messages: {"messages": messages})
SCOPES = st.sampled_from(["acme", "globex"])


@pytest.mark.parametrize(
    "result",
    [
        [],
        "text",
        {},
        {"messages": {}},
        {"messages": [], "more": 1},
        {"messages": ["a"]},
        {"messages": [{"content": " \ufeff"}]},
        {"messages": [{"content": 1}]},
        {"messages": [{"id": "a"}]},
        {"messages": [{"content": "a", "id": ""}]},
        {"messages": [{"content": "a", "id": None}]},
        {"messages": [{"content": "a", "id": "é" * 513}]},
        {"messages": [{"content": "a", "role": "user"}]},
        {"messages": [{"content": "a", "id": "k"}, {"content": "b", "id": "k"}]},
    ],
)
def test_a_result_that_breaks_a_rule_is_refused_and_names_its_slot(result: object) -> None:
    with pytest.raises(RecallError) as refused:
        validate_recall(result, "workspace")
    assert refused.value.slot == "workspace"


@pytest.mark.parametrize(
    "result", [None, {"messages": []}, {"messages": ()}, {"messages": [{"content": "a", "id": " "}]}]
)
def test_a_result_that_breaks_none_passes(result: object) -> None:
    assert len(validate_recall(result, "profile")) == (1 if result and "id" in str(result) else 0)


def test_nothing_recalled_has_eves_digest() -> None:
    assert batch_digest(()) == "T1PNoYwrqgwDVLtfmj7L5e0Sq02OEbqHPC8RFhICuUU"


@given(RESULTS, SCOPES)
def test_the_same_result_again_adds_only_what_has_no_id(result: dict[str, Any], scope: str) -> None:
    history = commit(batch("o0", result, lock(scope)), batch("o1", result, lock(scope)))
    without_id = sum("id" not in message for message in result["messages"])
    assert len(history) == len(result["messages"]) + without_id


@given(RESULTS)
def test_a_replay_of_the_same_operation_adds_nothing(result: dict[str, Any]) -> None:
    once = commit(batch("o", result))
    assert commit(batch("o", result), batch("o", result)) == once


@given(RESULTS, RESULTS)
def test_a_replay_with_another_result_is_refused_and_changes_nothing(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    made = apply_batches([batch("o", first)], (), MemoryState())
    again = batch("o", second)
    if batch_digest(again.messages) == batch_digest(batch("o", first).messages):
        assert apply_batches([again], made.appended, made.state).appended == ()
    else:
        with pytest.raises(RecallError):
            apply_batches([batch("new", first), again], made.appended, made.state)
        assert list(made.state.operation_digests) == ["o"]


@given(st.lists(st.tuples(RESULTS, SCOPES), max_size=5), SCOPES)
def test_a_scope_never_sees_what_another_scope_recalled(recalls: list[tuple[dict[str, Any], str]], reader: str) -> None:
    history = commit(*[batch(f"o{at}", result, lock(scope)) for at, (result, scope) in enumerate(recalls)])
    at = lock(reader)
    seen = project(history, {"profile": at})
    mine = {message.text for message in history if message.memory and message.memory.scope_key == at.scope_key}
    assert {message.text for message in seen} <= mine
    assert all(message.memory is None for message in seen)


@given(st.lists(st.tuples(RESULTS, SCOPES), max_size=5), SCOPES, st.sampled_from(["scope", "session"]))
def test_canonicalising_changes_nothing_that_anyone_sees(
    recalls: list[tuple[dict[str, Any], str]], reader: str, visibility: str
) -> None:
    history = commit(*[batch(f"o{at}", result, lock(scope)) for at, (result, scope) in enumerate(recalls)])
    at = lock(reader, visibility=visibility)
    split = canonicalise(history)
    assert shown(split.memory, at) == shown(history, at)
    assert split.ordinary == ()


@given(st.lists(RESULTS, max_size=4))
def test_records_survive_being_stored(results: list[dict[str, Any]]) -> None:
    history = commit(*[batch(f"o{at}", result) for at, result in enumerate(results)])
    assert tuple(read_message(message_json(message)) for message in history) == history


def test_a_new_value_hides_the_old_one_and_going_back_adds_a_record() -> None:
    history = commit(batch("0", keyed(k="v1")), batch("1", keyed(k="v2")), batch("2", keyed(k="v1")))
    assert [message.text for message in history] == ["v1", "v2", "v1"]
    assert shown(history, lock()) == ["v1"]


def test_an_omitted_id_is_not_taken_back() -> None:
    assert shown(commit(batch("0", keyed(k="v1")), batch("1", None)), lock()) == ["v1"]


def test_the_same_id_in_another_scope_or_slot_replaces_nothing() -> None:
    here, there, other = lock("A", visibility="session"), lock("B", visibility="session"), lock("A", slot="workspace")
    history = commit(batch("0", keyed(k="x"), here), batch("1", keyed(k="x"), there), batch("2", keyed(k="x"), other))
    assert shown(history, here) == ["x", "x"]
    assert shown(history, here, other) == ["x", "x", "x"]


def test_going_back_to_a_scope_shows_its_records_at_their_old_place() -> None:
    history = commit(batch("0", keyed(k="A"), lock("A")), batch("1", texts("B"), lock("B")))
    again = apply_batches([batch("2", keyed(k="A"), lock("A"))], history, MemoryState())
    assert again.appended == ()
    assert shown(history, lock("A")) == ["A"]


def test_a_namespace_hides_even_in_session_visibility() -> None:
    history = commit(batch("0", texts("v1"), lock(namespace="v1", visibility="session")))
    assert shown(history, lock(namespace="v2", visibility="session")) == []


def test_the_locks_of_a_commit_are_those_of_its_batches() -> None:
    made = apply_batches([batch("0", None, lock(slot="a")), batch("1", None, lock(slot="b"))], (), MemoryState())
    assert list(apply_batches([batch("2", None, lock(slot="a"))], (), made.state).state.locks) == ["a"]


def test_the_last_1024_operations_are_remembered() -> None:
    made = apply_batches([batch(f"o{at}", None) for at in range(1030)], (), MemoryState())
    assert list(made.state.operation_digests) == [f"o{at}" for at in range(6, 1030)]


@pytest.mark.parametrize("field", ["batchIndex", "namespaceKey", "operationId", "scopeKey", "slot", "version"])
def test_a_stored_mark_without_a_field_is_refused(field: str) -> None:
    stored = message_json(commit(batch("0", texts("x")))[0])
    del stored["metadata"]["eve.memory"][field]
    with pytest.raises(HistoryError):
        read_message(stored)


@pytest.mark.parametrize(
    ("field", "value"),
    [("batchIndex", True), ("batchIndex", "0"), ("version", True), ("version", 2), ("itemKey", None), ("slot", 1)],
)
def test_a_stored_mark_with_a_wrong_field_is_refused(field: str, value: object) -> None:
    stored = message_json(commit(batch("0", texts("x")))[0])
    stored["metadata"]["eve.memory"][field] = value
    with pytest.raises(HistoryError):
        read_message(stored)


def test_a_stored_mark_holds_digests_and_no_scope() -> None:
    stored = message_json(commit(batch("0", keyed(k="x"), lock("u_42@example.org", namespace="secret")))[0])
    assert "u_42" not in str(stored)
    assert "secret" not in str(stored)
