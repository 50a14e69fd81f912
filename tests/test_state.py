"""define_state: one value a name and session, kept from step to step."""

from __future__ import annotations

import asyncio
import threading
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evelab import Agent, ScriptedModel, Session, define_state, define_tool
from evelab.errors import OptionError, SessionFailedError, StateError, StateLayoutError, StateNameError, StateValueError
from evelab.model import call
from evelab.state import State, StateContainer, check_value, define_mounted_state, dump_state, load_state

PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
VALUES = st.recursive(
    PLAIN | st.datetimes() | st.sets(st.integers()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@pytest.mark.parametrize("name", ["eve.", "eve.x", "eve:mount.", "eve:mount.v1:a:b"])
def test_a_reserved_name_is_refused(name: str) -> None:
    with pytest.raises(StateNameError) as refused:
        define_state(name, dict)
    assert refused.value.name == name


@pytest.mark.parametrize("name", ["", "eve", "eve:x", "eve:mount", "Eve.x", " eve.x", "运维.事故"])
def test_every_other_name_is_allowed(name: str) -> None:
    assert define_state(name, dict).name == name


def test_a_name_that_is_not_a_string_is_refused() -> None:
    with pytest.raises(OptionError):
        define_state(7, dict)  # type: ignore[arg-type]


def test_initial_runs_once_and_only_when_needed() -> None:
    calls: list[int] = []
    handle = define_state("lazy", lambda: calls.append(1) or {"n": 0})  # type: ignore[func-returns-value]
    assert calls == []
    with StateContainer().active():
        assert handle.get() == {"n": 0}
        handle.get()
    assert calls == [1]


def test_handles_of_one_name_share_the_value_and_the_first_initial_wins() -> None:
    first, second = define_state("shared", lambda: 1), define_state("shared", lambda: 99)
    with StateContainer().active():
        assert second.get() == 99
        assert first.get() == 99


def test_get_gives_the_stored_object_and_a_change_in_place_is_kept() -> None:
    handle: Any = define_state("in place", lambda: {"n": 0})
    container = StateContainer()
    with container.active():
        handle.get()["n"] = 7
    with StateContainer(container.checkpoint()).active():
        assert handle.get() == {"n": 7}


def test_an_update_that_raises_keeps_the_value() -> None:
    handle = define_state("raises", lambda: 1)

    def fail(_: int) -> int:
        raise ValueError("boom")

    with StateContainer().active():
        with pytest.raises(ValueError, match="boom"):
            handle.update(fail)
        assert handle.get() == 1


def test_a_nested_update_is_overwritten_by_the_outer_one() -> None:
    handle = define_state("nested", lambda: {"n": 0})

    def outer(value: dict[str, int]) -> dict[str, int]:
        handle.update(lambda inner: {**inner, "inner": 1})
        return {**value, "outer": 1}

    with StateContainer().active():
        handle.update(outer)
        assert handle.get() == {"n": 0, "outer": 1}


def test_an_initial_that_raises_stores_nothing() -> None:
    attempts: list[int] = []

    def initial() -> int:
        attempts.append(1)
        if len(attempts) == 1:
            raise ValueError("not yet")
        return 5

    handle = define_state("initial raises", initial)
    with StateContainer().active():
        with pytest.raises(ValueError, match="not yet"):
            handle.get()
        assert handle.get() == 5


@given(VALUES)
def test_a_kept_value_survives_a_checkpoint_and_is_a_copy(value: object) -> None:
    container = StateContainer({"v": value})
    saved = container.checkpoint()
    assert saved["v"] == value
    if isinstance(value, dict | list):
        assert saved["v"] is not container.values["v"]


class Thing:
    pass


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (Thing(), "incident"),
        ({"log": [1, 2, Thing()]}, "incident['log'][2]"),
        ({"f": len}, "incident['f']"),
        ((1, 2), "incident"),
        ({"a": {1: "x"}}, "incident['a'][1]"),
        ({"s": {(1, 2)}}, "incident['s']{...}"),
        ([complex(1, 2)], "incident[0]"),
    ],
)
def test_a_value_that_cannot_be_kept_is_refused_with_its_path_and_the_old_one_stays(value: object, path: str) -> None:
    handle: Any = define_state("incident", lambda: {"id": "INC-1"})
    with StateContainer().active():
        with pytest.raises(StateValueError) as refused:
            handle.update(lambda _: value)
        assert refused.value.path == path
        assert path in str(refused.value)
        assert handle.get() == {"id": "INC-1"}


def test_a_value_that_holds_itself_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(StateValueError, match="holds itself"):
        check_value("loop", loop)


def test_outside_a_session_state_is_refused() -> None:
    handle = define_state("outside", lambda: 1)
    with pytest.raises(StateError):
        handle.get()
    with pytest.raises(StateError):
        handle.update(lambda value: value)


def test_a_task_inherits_the_session_and_a_thread_does_not() -> None:
    handle = define_state("inherits", lambda: 1)
    found: list[object] = []

    async def read() -> int:
        return handle.get()

    def in_thread() -> None:
        try:
            handle.get()
        except StateError as error:
            found.append(error)

    with StateContainer().active():
        assert asyncio.run(read()) == 1
        thread = threading.Thread(target=in_thread)
        thread.start()
        thread.join()
    assert isinstance(found[0], StateError)


def test_saved_state_names_its_layout_when_an_extension_has_state() -> None:
    handle = define_mounted_state("extensions/crm", "requests", lambda: 0)
    container = StateContainer()
    with container.active():
        handle.get()
    saved = dump_state(container.checkpoint())
    assert saved == {"eve:mount.v1:extensions%2Fcrm:requests": 0, "eve.stateLayout": 1}
    assert load_state(saved) == ({"eve:mount.v1:extensions%2Fcrm:requests": 0}, ())


def test_state_that_nothing_defines_is_dropped_when_it_is_loaded() -> None:
    define_state("known", lambda: 0)
    assert load_state({"known": 1, "opsbot.removed": 2}) == ({"known": 1}, ("opsbot.removed",))


def test_state_of_another_layout_is_refused() -> None:
    with pytest.raises(StateLayoutError) as refused:
        load_state({"eve.stateLayout": 2})
    assert refused.value.layout == 2


COUNTER: State[dict[str, Any]] = define_state("test.counter", lambda: {"n": 0, "at": datetime(2026, 1, 1, tzinfo=UTC)})


def count() -> int:
    COUNTER.update(lambda value: {**value, "n": value["n"] + 1})
    return int(COUNTER.get()["n"])


def test_state_lives_as_long_as_the_session_and_not_longer() -> None:
    agent = Agent(
        model=ScriptedModel([call("count"), "one", call("count"), "two", call("count"), "three"]),
        tools={"count": define_tool(description="Count.", execute=count)},
    )
    session = Session(agent)
    assert session.send("a").results[0].value == 1
    session.clear()
    assert session.send("b").results[0].value == 2
    assert Session(agent).send("c").results[0].value == 1


def test_a_value_changed_in_place_into_something_else_ends_the_session_at_once() -> None:
    def spoil() -> None:
        COUNTER.get()["n"] = Thing()

    agent = Agent(
        model=ScriptedModel([call("spoil"), "done"]), tools={"spoil": define_tool(description="Spoil.", execute=spoil)}
    )
    session = Session(agent)
    with pytest.raises(SessionFailedError) as failed:
        session.send("go")
    assert failed.value.attempts == 1
    assert isinstance(failed.value.__cause__, StateValueError)
