"""The claims of 8.3 fail when the rule that they speak of is broken."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evelab import Agent, Session, default_namespace, folder, lifecycle, provider, toolbox
from evelab.chapter import slot_claims
from evelab.chapter.slot_claims import owners, slots_of
from evelab.discovery import Discovery, discover_slots
from evelab.keys import Lock, create_lock
from evelab.tools import slot_tools
from tests.planted import fails

if TYPE_CHECKING:
    import pytest


def test_both_forms_at_once_that_are_let_through_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def lenient(entries: Any, **options: Any) -> Discovery:
        return replace(discover_slots(entries, **options), diagnostics=())

    monkeypatch.setattr(folder, "discover_slots", lenient)
    assert fails("3.1")


def test_a_slot_named_after_its_path_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def by_path(entries: Any, **options: Any) -> Discovery:
        found = discover_slots(entries, **options)
        return replace(found, slots=tuple(replace(slot, name=f"memory_{slot.name}") for slot in found.slots))

    monkeypatch.setattr(folder, "discover_slots", by_path)
    assert fails("3.1")


def test_a_default_namespace_without_the_slot_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "default_namespace", lambda slot, **options: default_namespace("memory", **options))
    assert fails("3.2")
    assert fails("3.3")


def test_tools_without_the_slots_prefix_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def bare(tools: object, *, slot: str, description: str | None) -> Any:
        named = slot_tools(tools, slot=slot, description=description)
        return {f"{name.partition('__')[2]}_{slot}": tool for name, tool in named.items()}

    monkeypatch.setattr(toolbox, "slot_tools", bare)
    assert fails("3.2")


def test_tools_of_one_slot_only_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Agent, "tool_slots", lambda self: sorted(self.memory)[:1])
    assert fails("3.3")


def wrong_key(namespace: Any, scope: Any, **options: Any) -> Lock:
    return create_lock(namespace, "everybody", **options)


def test_one_partition_for_everybody_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "create_lock", wrong_key)
    assert fails("3.4")
    assert fails("3.6")


def test_a_provider_that_keeps_nothing_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slot_claims.Owner, "_capture", lambda self, ctx: self._note("capture", ctx))
    assert fails("3.6")


def test_a_clear_that_reaches_into_the_store_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def clear(self: Session) -> None:
        handler: Any = self.agent.memory["profile"].provider.recall["turn.started"]
        handler.__self__.notes.clear()

    monkeypatch.setattr(Session, "clear", clear)
    assert fails("3.4")


def test_a_literal_tuple_that_is_let_through_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def lenient(**fields: Any) -> Any:
        return provider.MemoryDefinition(**fields)

    monkeypatch.setattr(slot_claims, "define_memory", lenient)
    assert fails("3.5")


def test_a_key_in_the_prompt_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def tells(tools: Any, *, slot: str, description: str | None) -> Any:
        key = create_lock("acme-support-v1", ("acme", "u_42"), slot=slot).scope.key
        named = slot_tools(tools, slot=slot, description=None)
        return {name: replace(tool, description=key) for name, tool in named.items()}

    monkeypatch.setattr(toolbox, "slot_tools", tells)
    assert fails("3.6")


def test_a_folder_is_read_as_it_is() -> None:
    assert slots_of(["memory/a.py", "memory/b.py", "tools/x.txt"]) == ["a", "b"]
    assert [set(row) for row in owners()] == [{"eve", "provider"}] * 5
