"""The claims of 8.2 fail when the rule that they speak of is broken."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pytest

from evelab import session, state, steps, subagents, transaction
from evelab.chapter import incident
from evelab.chapter.state_claims import OnCall
from evelab.checkpoint import Checkpoint
from evelab.hooks import define_hook
from evelab.state import State, StateContainer
from tests.planted import fails

if TYPE_CHECKING:
    from collections.abc import Iterator


def test_an_initial_that_runs_at_each_read_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(State, "get", lambda self: self._initial())
    assert fails("2.1")


def test_an_initial_that_runs_at_the_definition_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    init = State.__init__

    def eager(self: State[Any], name: str, initial: Any) -> None:
        initial()
        init(self, name, initial)

    monkeypatch.setattr(State, "__init__", eager)
    assert fails("2.1")


def test_an_update_that_does_not_replace_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(State, "update", lambda self, change: change(self.get()))
    for name in ("2.1", "2.2", "2.4", "2.5", "2.6", "2.12"):
        assert fails(name), name


@pytest.mark.parametrize("kept", ["eve.", "eve:mount."])
def test_a_reserved_prefix_that_is_forgotten_is_noticed(kept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "RESERVED_PREFIXES", (kept,))
    assert fails("2.3")


def test_mounts_under_their_bare_name_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "mounted_state_key", lambda mount_id, name: name)
    assert fails("2.4")


def test_a_tool_that_checks_nothing_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(service: str) -> Any:
        incident.incident.update(lambda held: {**held, "services_checked": [*held["services_checked"], service]})
        return incident.incident.get()

    monkeypatch.setattr(incident, "check_service", careless)
    assert fails("2.5")


def test_a_slot_of_its_own_for_each_handle_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    init = State.__init__
    monkeypatch.setattr(State, "__init__", lambda self, name, initial: init(self, f"{name}#{id(initial)}", initial))
    assert fails("2.6")


def test_a_context_that_is_always_there_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    everywhere = StateContainer()
    monkeypatch.setattr(state, "_running", lambda: everywhere)
    assert fails("2.7")


def test_values_that_are_not_checked_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "check_value", lambda name, value: None)
    assert fails("2.8")


def test_a_check_that_forgets_the_inside_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    check = state._check

    def outside_only(name: str, value: object, path: str, around: tuple[int, ...]) -> None:
        if not around:
            check(name, value if not isinstance(value, dict | list) else {}, path, around)

    monkeypatch.setattr(state, "_check", outside_only)
    assert fails("2.8")


def test_a_copy_that_works_in_the_parents_state_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    container = StateContainer.__init__

    def inherits(self: StateContainer, values: Any = None) -> None:
        container(self, values)
        with contextlib.suppress(LookupError):
            self.values = state._CONTAINER.get().values

    monkeypatch.setattr(StateContainer, "__init__", inherits)
    assert fails("2.9")


def test_a_memory_that_a_copy_does_not_share_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    subagent = session.Session.subagent

    def nobody(self: Any, agent: Any = None) -> Any:
        child = subagent(self, agent)
        child._steps.agent = type(child.agent)(model=child.agent.model, tools=child.agent.tools)
        return child

    monkeypatch.setattr(session.Session, "subagent", nobody)
    assert subagents.agent_tool() is not None
    assert fails("2.9")


def test_a_restore_without_the_state_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "load_state", lambda saved: ({}, ()))
    assert fails("2.10")
    assert fails("2.11")


def test_a_state_that_ends_with_the_turn_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    end = steps.Steps._end

    def forgetful(self: Any, turn: Any, status: str) -> None:
        state._CONTAINER.get().values.clear()
        end(self, turn, status)

    monkeypatch.setattr(steps.Steps, "_end", forgetful)
    assert fails("2.10")


def test_a_step_that_keeps_half_of_its_work_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextlib.contextmanager
    def keeps(work: Any) -> Iterator[None]:
        from dataclasses import replace

        container = StateContainer(work.saved.state)
        try:
            with container.active():
                yield
        finally:
            work.saved = replace(work.saved, state=container.checkpoint())

    monkeypatch.setattr(session, "transaction", keeps)
    assert transaction.transaction is not keeps
    assert fails("2.11")


def test_a_resume_that_begins_the_turn_anew_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def anew(self: Any) -> Any:
        self.cancel()
        self.restore(Checkpoint())
        return self.send("go")

    monkeypatch.setattr(session.Session, "resume", anew)
    assert fails("2.11")


def test_hooks_that_do_not_run_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    from evelab.journal import Journal

    monkeypatch.setattr(Journal, "run_hooks", lambda *_: None)
    assert fails("2.12")


def test_a_state_in_the_context_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    from evelab.message import Message

    shown = steps.Steps._shown

    def tells(self: Any, messages: Any) -> Any:
        return (*shown(self, messages), Message("user", repr(self.saved.state)))

    monkeypatch.setattr(steps.Steps, "_shown", tells)
    assert fails("2.13")


def test_the_agent_that_tracks_an_incident_reads_its_clock() -> None:
    team = OnCall(define_hook(events={}))
    assert team.tool("start_incident", id="INC-7")["started_at"] == "2026-05-01T09:30:00+00:00"
