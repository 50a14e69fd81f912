"""The claims of 8.1 fail when the rule that they speak of is broken."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from evelab import lifecycle, steps
from evelab.chapter import choice
from evelab.chapter.choice import KINDS, QUESTIONS, advise, tried
from evelab.keys import create_lock
from evelab.state import StateContainer
from tests.planted import fails

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evelab.keys import Lock
    from evelab.message import Message


def test_a_memory_that_is_not_shown_to_the_model_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def hidden(history: Sequence[Message], locks: Mapping[str, Lock]) -> tuple[Message, ...]:
        return tuple(message for message in history if message.memory is None)

    monkeypatch.setattr(steps, "project", hidden)
    for name in ("1.1", "1.2", "1.3"):
        assert fails(name)


def test_a_memory_that_is_not_recalled_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "recall_turn", lambda *_: [])
    for name in ("1.1", "1.2", "1.3"):
        assert fails(name)


def test_a_state_that_outlives_its_session_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    everywhere: dict[str, Any] = {}

    def shared(self: StateContainer, values: object = None) -> None:
        self.values = everywhere

    monkeypatch.setattr(StateContainer, "__init__", shared)
    assert fails("1.1")


def test_one_partition_for_everybody_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "create_lock", lambda n, s, **options: create_lock(n, "everybody", **options))
    assert tried("memory slot")["a colleague's session, asked for"] == "shipped"
    assert fails("1.1")


@pytest.mark.parametrize("place", range(len(QUESTIONS)))
def test_a_question_that_settles_the_other_way_is_noticed(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = [
        replace(question, settles=not question.settles) if at == place else question
        for at, question in enumerate(QUESTIONS)
    ]
    monkeypatch.setattr(choice, "QUESTIONS", tuple(changed))
    assert fails("1.2")


def test_an_open_question_is_named() -> None:
    advice = advise([True, None])
    assert advice.kind is None
    assert advice.reason == f"Question 2 is open: {QUESTIONS[1].text}"


def test_a_fact_that_nobody_asks_for_is_not_stored() -> None:
    assert advise([True, True, False, False]).kind == "nothing"


def test_each_kind_is_tried_in_six_ways() -> None:
    assert [list(tried(kind).values()) for kind in KINDS] == [
        ["-", "shipped", "-", "-", "-", "shipped"],
        ["shipped", "shipped", "shipped", "shipped", "-", "shipped"],
        ["-", "shipped", "-", "shipped", "shipped", "delivered"],
    ]
