"""The claims of 8.11 fail when the rule that they speak of is broken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from evelab import lifecycle, session, steps
from evelab.chapter import pitfalls
from evelab.chapter.notes_in_dict import Notes
from evelab.chapter.pitfalls import PITFALLS
from evelab.keys import create_lock
from evelab.state import StateContainer
from tests.planted import fails

if TYPE_CHECKING:
    from evelab.message import Message


def test_a_state_that_outlives_its_session_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    everywhere: dict[str, Any] = {}

    def shared(self: StateContainer, values: object = None) -> None:
        self.values = everywhere

    monkeypatch.setattr(StateContainer, "__init__", shared)
    assert fails("11.1")
    assert fails("11.6")


def test_a_memory_that_is_not_fed_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def hidden(history: Any, locks: Any) -> tuple[Message, ...]:
        return tuple(message for message in history if message.memory is None)

    monkeypatch.setattr(steps, "project", hidden)
    assert fails("11.2")
    assert fails("11.8")


@pytest.mark.parametrize("name", ["11.3", "11.5"])
def test_one_partition_for_everybody_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "create_lock", lambda n, s, **options: create_lock(n, "everybody", **options))
    assert fails(name)


@pytest.mark.parametrize("name", ["11.3", "11.4", "11.5"])
def test_a_partition_for_each_session_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = iter(range(10_000))
    monkeypatch.setattr(lifecycle, "create_lock", lambda n, s, **options: create_lock(n, f"{next(made)}", **options))
    assert fails(name)


def test_a_capture_that_forgets_its_operation_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Notes, "capture", pitfalls.TwiceNotes.capture)
    assert fails("11.7")


def test_an_operation_that_has_another_id_each_time_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    made, count = lifecycle.operation_id, iter(range(10_000))
    monkeypatch.setattr(lifecycle, "operation_id", lambda *args, **step: f"{made(*args, **step)}:{next(count)}")
    assert fails("11.7")


def test_a_memory_in_the_instructions_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "recall_turn", lambda *_: [])
    assert fails("11.8")
    assert fails("11.9")


def test_a_clear_that_takes_the_state_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    clear = session.Session.clear

    def everything(self: Any) -> None:
        clear(self)
        self._steps.saved = replace(self._steps.saved, state={})

    monkeypatch.setattr(session.Session, "clear", everything)
    assert fails("11.9")


def test_a_namespace_that_is_not_in_the_key_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "create_lock", lambda n, s, **options: create_lock("one", s, **options))
    assert fails("11.10")


def test_a_limit_that_is_not_there_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setattr(sys.modules["evelab.file_memory"], "utf16_length", lambda text: 0)
    assert fails("11.11")


def test_a_file_memory_that_listens_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pitfalls, "file_memory", lambda **options: Notes().provider())
    assert fails("11.12")


def test_each_pitfall_shows_two_different_runs() -> None:
    assert list(PITFALLS) == [f"11.{number}" for number in range(1, 13)]
    for pitfall in PITFALLS.values():
        wrong, right = pitfall.rows()
        assert wrong[pitfall.question] != right[pitfall.question]
