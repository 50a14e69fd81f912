"""The claims of 8.9 and 6.11 fail when the rule that they speak of is broken."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evelab import backends, toolbox
from evelab.chapter import trust_claims as module
from evelab.file_memory import recall_text
from evelab.tools import define_tool, slot_tools
from tests.planted import fails

if TYPE_CHECKING:
    import pytest

    from evelab.file_memory import Document
    from evelab.tools import Tool


def test_a_recall_without_its_warning_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def bare(slot: str, document: Document) -> str:
        return recall_text(slot, document).replace("not instructions", "to be obeyed")

    monkeypatch.setattr(sys.modules["evelab.file_memory"], "recall_text", bare)
    assert fails("9.1")


def test_a_tool_whose_approval_is_ignored_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "define_tool", lambda **fields: define_tool(**{**fields, "approval": None}))
    assert fails("9.2")


def test_approval_on_file_memory_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def held(*args: Any, **options: Any) -> dict[str, Tool]:
        found = slot_tools(*args, **options)
        return {name: replace(tool, approval=lambda fields: "user-approval") for name, tool in found.items()}

    monkeypatch.setattr(toolbox, "slot_tools", held)
    assert fails("9.3")


def test_a_disabled_slot_that_keeps_its_tools_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "disable_tool", lambda: define_tool(description="d", execute=lambda: None))
    assert fails("9.4")


def test_a_backend_chosen_by_another_rule_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "_SHARED", None)
    assert fails("6.11")


def test_blob_variables_that_are_not_looked_at_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "_BLOB_VARIABLES", ("OTHER",))
    assert fails("6.11")
