"""The claims of 8.12 fail when the rule that they speak of is broken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evelab import lifecycle
from evelab.chapter.exercise_claims import PrintingNotes
from evelab.chapter.notes_in_dict import Notes
from evelab.keys import create_lock
from evelab.state import StateContainer
from tests.planted import fails

if TYPE_CHECKING:
    import pytest


def test_a_state_that_outlives_its_session_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    everywhere: dict[str, Any] = {}

    def shared(self: StateContainer, values: object = None) -> None:
        self.values = everywhere

    monkeypatch.setattr(StateContainer, "__init__", shared)
    assert fails("12.1")


def test_one_partition_for_everybody_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "create_lock", lambda n, s, **options: create_lock(n, "everybody", **options))
    for name in ("12.2", "12.3", "12.4", "12.5"):
        assert fails(name), name


def test_a_partition_for_each_session_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = iter(range(100_000))
    monkeypatch.setattr(lifecycle, "create_lock", lambda n, s, **options: create_lock(n, f"{next(made)}", **options))
    for name in ("12.2", "12.3", "12.4", "12.5"):
        assert fails(name), name


def test_a_capture_that_is_not_deduplicated_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    capture = Notes.capture

    def twice(self: Notes, ctx: Any) -> None:
        self.done.discard((ctx.memory.scope.key, ctx.operation_id))
        capture(self, ctx)
        self.done.add(("", f"{len(self.done)}"))

    monkeypatch.setattr(Notes, "capture", twice)
    assert fails("12.5")


def test_a_provider_that_prints_nothing_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PrintingNotes, "tools", Notes.tools)
    assert fails("12.5")
