"""opsbot, and its claims when the rule that they speak of is broken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evelab import default_namespace, lifecycle
from evelab.chapter import incident, opsbot
from evelab.chapter.callers import CALLERS
from evelab.keys import Lock, create_lock
from evelab.state import define_state
from tests.planted import fails

if TYPE_CHECKING:
    import pytest


def test_one_partition_for_everybody_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def shared(namespace: Any, scope: Any, **options: Any) -> Lock:
        return create_lock(namespace, "everybody", **options)

    monkeypatch.setattr(lifecycle, "create_lock", shared)
    assert fails("10.1")
    assert fails("10.2")
    assert fails("10.3")


def test_a_default_namespace_without_the_slot_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "default_namespace", lambda slot, **options: default_namespace("memory", **options))
    assert fails("10.3")


def test_a_slot_in_the_key_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def keyed_by_slot(namespace: Any, scope: Any, **options: Any) -> Lock:
        return create_lock(f"{namespace}/{options['slot']}", scope, **options)

    monkeypatch.setattr(lifecycle, "create_lock", keyed_by_slot)
    assert fails("10.3")


def test_a_state_that_outlives_its_session_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    held: dict[str, Any] = {"id": "INC-1", "services_checked": []}
    monkeypatch.setattr(incident, "incident", define_state("opsbot.leaky", lambda: held))
    assert fails("10.1")


def test_every_caller_has_a_row() -> None:
    assert list(opsbot.who_sees_what()) == [caller.label for caller in CALLERS]
