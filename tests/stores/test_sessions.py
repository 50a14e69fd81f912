"""Sessions that outlive their process."""

from __future__ import annotations

import json
import math
import sqlite3
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evelab import (
    Agent,
    Call,
    Principal,
    Reply,
    ScriptedModel,
    Session,
    define_memory,
    define_memory_provider,
    define_state,
    define_tool,
)
from evelab.checkpoint import Checkpoint, Record
from evelab.checkpoint_json import dump, load
from evelab.errors import (
    NotHeldError,
    OptionError,
    RecordError,
    RunningTurnError,
    SessionClosedError,
    SessionFailedError,
    SessionHeldError,
    StoreError,
)
from evelab.session_store import StoredSession
from tests.stores.killed_session import STEPS
from tests.stores.test_notes_faults import small_disk

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["small_disk"]

KILLS = 200
ZHANG = Principal("user", "app", "zhang", attributes={"tenantId": "acme", "roles": ["a", "b"]})
LI = Principal("service", "app", "li", "issuer")

count = define_state("stored count", lambda: 0)
things = define_state("stored things", dict[str, Any])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.db"


def once(ctx: Any) -> Any:
    return {"messages": [{"id": "one", "content": f"recalled in {ctx.turn.id}"}, {"content": "no id"}]}


def agent(*replies: Any, work: Callable[[], Any] | None = None, approval: Any = None) -> Agent:
    def plain() -> int:
        count.update(lambda value: value + 1)
        return count.get()

    tool = define_tool(description="", execute=work or plain, approval=approval)
    provider = define_memory_provider(recall={"turn.started": once})
    memory = {"notes": define_memory(provider=provider, scope=lambda ctx: ("acme", "team"), namespace="n")}
    return Agent(memory, model=ScriptedModel(replies), tools={"work": tool})


WORK = Reply(calls=(Call("work", {}),))


def asked(session: Session) -> list[str]:
    return [message.text for message in session.history if message.kind == "user"]


# What is stored


def test_a_session_goes_on_in_the_next_process(path: Path) -> None:
    with Session.open(path, "s", agent=agent(WORK, "done"), caller=ZHANG, schedule="daily", parent="p") as first:
        first.send("one", context=["be brief"])
        saved = first.checkpoint()
        assert first.interrupted is None
        assert first.resume() is None
    with Session.open(path, "s", agent=agent("again"), caller=LI) as second:
        assert second.checkpoint() == saved
        assert second.auth.initiator == second.auth.current == ZHANG
        turn = second.send("two", caller=LI)
        assert (turn.id, turn.reply) == ("turn_1", "again")
        assert second.state == {"stored count": 1}
        assert (second._steps.schedule, second._steps.parent) == ("daily", "p")
        assert "session.started" not in turn.events
    with Session.open(path, "s", agent=agent()) as third:
        assert (third.auth.initiator, third.auth.current) == (ZHANG, LI)
        assert asked(third) == ["one", "two"]


def test_sessions_of_one_file_do_not_mix(path: Path) -> None:
    with Session.open(path, "a", agent=agent()) as a, Session.open(path, "b", agent=agent()) as b:
        a.send("said in a")
        b.send("said in b")
    with Session.open(path, "a", agent=agent()) as again:
        assert asked(again) == ["said in a"]


def test_ids_of_calls_and_of_children_go_on(path: Path) -> None:
    ids = []
    for _ in range(2):
        with Session.open(path, "s", agent=agent(WORK, "done")) as session:
            session.send("x")
            session.subagent()
            session.send("y")
            ids += [session.subagent().id, *[result.id for result in session.turns[0].results]]
            session.send("z")
    assert ids == ["s/agent-2", "call_1_0", "s/agent-4", "call_5_0"]


def test_a_step_writes_what_is_new_and_leaves_the_rest(path: Path) -> None:
    with Session.open(path, "s", agent=agent()) as session:
        session.send("one")
        mark = sqlite3.connect(path, isolation_level=None)
        mark.execute("UPDATE evelab_messages SET message = 'marked' WHERE position = 0")
        session.send("two")
        found = mark.execute("SELECT message FROM evelab_messages ORDER BY position").fetchall()
        mark.close()
    assert found[0] == ("marked",)
    assert len(found) == len(session.history)


@pytest.mark.parametrize("change", ["compact", "clear"])
def test_a_history_that_became_shorter_is_stored_so(path: Path, change: str) -> None:
    replies = ["a", "b", "c", "SUMMARY"]
    with Session.open(path, "s", agent=agent(*replies)) as session:
        for text in ("one", "two", "three"):
            session.send(text)
        before = len(session.history)
        session.compact() if change == "compact" else session.clear()
        assert len(session.history) < before
        saved = session.checkpoint()
    with Session.open(path, "s", agent=agent()) as again:
        assert again.checkpoint() == saved


def test_state_that_is_written_between_turns_and_a_restored_checkpoint_are_stored(path: Path) -> None:
    with Session.open(path, "s", agent=agent()) as session:
        start = session.checkpoint()
        session.send("one")
        session.run_with_state(lambda: count.update(lambda _: 41))
    with Session.open(path, "s", agent=agent()) as session:
        assert session.state == {"stored count": 41}
        session.restore(start)
    with Session.open(path, "s", agent=agent()) as session:
        assert session.checkpoint() == start


# A process that ends inside a turn


class Dies(BaseException):
    """Ends the process's work like Ctrl-C, at a chosen place."""


def die(at: int) -> Callable[[], int]:
    """A tool that counts in the session's state, and ends the process at its n-th call."""
    calls = [0]

    def work() -> int:
        calls[0] += 1
        count.update(lambda value: value + 1)
        if calls[0] == at:
            raise Dies
        return count.get()

    return work


def interrupted(path: Path, *replies: Any, at: int) -> None:
    session = Session.open(path, "s", agent=agent(*replies, work=die(at)), caller=ZHANG)
    with pytest.raises(Dies):
        session.send("go", context=["note"])
    session.close()


def test_a_step_that_had_ended_does_not_run_again(path: Path) -> None:
    interrupted(path, WORK, WORK, "never", at=2)
    with Session.open(path, "s", agent=agent(WORK, "done")) as session:
        turn = session.interrupted
        assert turn is not None
        assert (turn.id, turn.said, turn.caller) == ("turn_0", "go", ZHANG)
        assert session.state == {"stored count": 1}
        assert session.resume() is turn
        assert (turn.status, turn.reply) == ("completed", "done")
        assert [result.value for result in turn.results] == [2], (
            "the step that was cut off ran again, the first did not"
        )
        assert asked(session) == ["go"]
        assert session.interrupted is None


def test_the_first_step_begins_again_from_its_recorded_input(path: Path) -> None:
    interrupted(path, WORK, at=1)
    with Session.open(path, "s", agent=agent(WORK, "done")) as session:
        assert session.history == ()
        turn = session.resume()
        assert turn is not None
        assert [message.text for message in turn.context][1:] == ["recalled in turn_0", "no id", "note", "go"]
        assert [result.value for result in turn.results] == [1]


def test_an_interrupted_session_wants_to_be_resumed_first(path: Path) -> None:
    interrupted(path, WORK, at=1)
    with Session.open(path, "s", agent=agent()) as session:
        for act in (lambda: session.send("x"), session.compact, session.clear, session.approve):
            with pytest.raises(RunningTurnError, match=r"interrupted in turn_0\. Call resume\(\) to go on"):
                act()
        session.resume()
        session.send("x")
        assert asked(session) == ["go", "x"]


def test_after_ctrl_c_the_same_process_may_resume(path: Path) -> None:
    with Session.open(path, "s", agent=agent(WORK, WORK, WORK, "done", work=die(2))) as session:
        with pytest.raises(Dies):
            session.send("go")
        turn = session.resume()
        assert turn is session.turns[-1]
        assert turn.reply == "done"
        assert session.state == {"stored count": 2}


def test_an_interrupted_turn_may_be_given_up(path: Path) -> None:
    interrupted(path, WORK, WORK, at=2)
    with Session.open(path, "s", agent=agent("x")) as session:
        turn = session.interrupted
        assert turn is not None
        session.cancel()
        assert (turn.status, session.interrupted) == ("cancelled", None)
        assert turn.events[-2:] == ["turn.cancelled", "session.waiting"]
    with Session.open(path, "s", agent=agent("x")) as session:
        assert session.interrupted is None
        assert session.send("else").id == "turn_1"
        assert asked(session) == ["go", "else"]


def test_a_cancelled_turn_is_stored_as_one(path: Path) -> None:
    session = Session.open(path, "s", agent=agent(WORK, work=lambda: session.cancel()))
    assert session.send("go").status == "cancelled"
    session.close()
    with Session.open(path, "s", agent=agent()) as again:
        assert again.interrupted is None
        assert again.send("x").id == "turn_1"


def test_nothing_is_stored_from_inside_a_step(path: Path) -> None:
    """What a tool does to its own session is stored when its step has ended, or not at all."""

    def work() -> None:
        session.clear()
        raise Dies

    session = Session.open(path, "s", agent=agent("one", WORK, work=work))
    session.send("first")
    with pytest.raises(Dies):
        session.send("go")
    session.close()
    with Session.open(path, "s", agent=agent()) as again:
        assert again.interrupted is not None
        assert asked(again) == ["first"]


def test_an_interrupted_turn_keeps_the_memory_of_its_caller(path: Path) -> None:
    """Locks and tools are those of the turn, although another agent object runs it."""
    interrupted(path, WORK, WORK, at=2)
    with Session.open(path, "s", agent=agent("done")) as session:
        turn = session.resume()
        assert turn is not None
        assert list(turn.tools) == ["work"]
        assert list(session.memory.locks) == ["notes"]
        assert session.memory.locks["notes"].scope.value == ("acme", "team")


def wants(_: Any) -> str:
    return "user-approval"


def test_a_turn_that_waits_for_a_person_waits_in_the_next_process_too(path: Path) -> None:
    two = Reply(calls=(Call("work", {}), Call("work", {})))
    with Session.open(path, "s", agent=agent(two, approval=wants)) as session:
        turn = session.send("go")
        session.approve(turn.held[0])
    with Session.open(path, "s", agent=agent("done", approval=wants)) as session:
        assert session.interrupted is None
        (held,) = session.turns
        assert held.status == "held"
        turn = session.refuse(held.held[1], reason="no")
        assert [(result.type, result.value) for result in turn.results][1] == ("json", 1)
        assert turn.reply == "done"
        with pytest.raises(NotHeldError):
            session.approve()


def test_a_decision_that_was_cut_off_is_not_asked_for_again(path: Path) -> None:
    session = Session.open(path, "s", agent=agent(WORK, approval=wants, work=die(1)))
    session.send("go")
    with pytest.raises(Dies):
        session.approve()
    session.close()
    with Session.open(path, "s", agent=agent("done", approval=wants)) as session:
        assert session.interrupted is not None
        turn = session.resume()
        assert turn is not None
        assert ([result.value for result in turn.results], turn.reply) == ([1], "done")


def test_a_failed_session_stays_failed(path: Path) -> None:
    broken = define_memory(
        provider=define_memory_provider(recall={"turn.started": lambda ctx: "no dict"}), scope="s", namespace="n"
    )
    session = Session.open(path, "s", agent=Agent({"m": broken}))
    with pytest.raises(SessionFailedError, match="must return a dict"):
        session.send("x")
    session.close()
    with Session.open(path, "s", agent=agent()) as session:
        assert session.failure is not None
        assert session.failure.attempts == 4
        with pytest.raises(SessionFailedError):
            session.send("x")


def test_processes_killed_at_random_points_of_turns_leave_one_whole_session(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "tests.stores.killed_session", str(tmp_path), str(KILLS), "11"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["died"] == KILLS
    at, inside = (0, 0), 0
    for begun, (sequence, step, running) in zip(seen["begun"], seen["stored"], strict=True):
        # Each process begins with the step that was stored last, and goes on step by step.
        for turn, index in begun:
            assert (turn, index) == at
            at = (turn, index + 1) if index + 1 < STEPS else (turn + 1, 0)
        begun_last = tuple(begun[-1])
        # The step that was cut off is stored as the next one, or it had just ended.
        assert (sequence, step) in (begun_last, at)
        at = (sequence, step)
        inside += running
    assert inside > KILLS // 4, "most processes died inside a turn"
    assert seen["same"], "history and state are those of a session that nobody killed"
    assert seen["state"] == {"worked": [seen["turns"] * (STEPS - 1)]}
    assert seen["initiator"] == "zhang"
    # A capture may be replayed, under its operation id; none is missing.
    assert len(set(seen["captured"])) == seen["turns"]


# One process at a time


def test_a_session_is_open_once(path: Path) -> None:
    with Session.open(path, "s", agent=agent()) as session:
        with pytest.raises(SessionHeldError, match="Session s is open elsewhere") as raised:
            Session.open(path, "s", agent=agent())
        assert raised.value.session_id == "s"
        code = "import sys; from evelab import Agent, Session; Session.open(sys.argv[1], 's', agent=Agent())"
        other = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
        assert other.stderr.strip().split("\n")[-1].startswith("evelab.errors.SessionHeldError: Session s is open")
        session.send("still at work")
    Session.open(path, "s", agent=agent()).close()


def test_a_lock_ends_with_its_process(path: Path) -> None:
    code = (
        "import os, signal, sys; from evelab import Agent, Session; "
        "Session.open(sys.argv[1], 's', agent=Agent()).send('x'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(path)], check=False).returncode == -9
    with Session.open(path, "s", agent=agent()) as session:
        assert asked(session) == ["x"]


def test_a_closed_session_takes_no_messages(path: Path) -> None:
    session = Session.open(path, "s", agent=agent())
    session.close()
    session.close()
    with pytest.raises(SessionClosedError, match="Session s is closed"):
        session.send("x")
    assert session.failure is None


# What goes wrong


def test_a_disk_that_is_full_stops_the_session_at_what_is_stored(small_disk: Path) -> None:
    path = small_disk / "sessions.db"
    session = Session.open(path, "s", agent=agent())

    def fill() -> None:
        for index in range(1000):
            session.send(f"{index} " + "filler " * 3000)

    with pytest.raises(StoreError, match="full"):
        fill()
    with pytest.raises(SessionClosedError, match="could not be stored"):
        session.send("x")
    sent = len(asked(session))
    with Session.open(path, "s", agent=agent()) as again:
        assert len(asked(again)) in (sent - 1, sent)
        assert asked(again) == asked(session)[: len(asked(again))]


def test_a_value_that_cannot_be_stored_is_named_and_nothing_is_stored(path: Path) -> None:
    secret = Principal("user", "app", "x", attributes={"token": object()})
    with pytest.raises(RecordError, match="is a object") as raised:
        Session.open(path, "s", agent=agent(), caller=secret)
    assert raised.value.path == "session.saved.caller.attributes['token']"
    with Session.open(path, "s", agent=agent()) as session:
        assert session.auth.initiator is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "7",
        "{}",
        '{"$Path": {"a": 1}}',
        '{"$Record": 5}',
        '{"$Record": {"saved": null, "more": 1}}',
        '{"$datetime": "today"}',
        '{"$set": 1}',
        "[" * 100_000,
        '{"$Session": {"agent": 1}}',
    ],
)
def test_a_file_that_holds_something_else_is_one_clear_error(path: Path, text: str) -> None:
    Session.open(path, "s", agent=agent()).close()
    changed = sqlite3.connect(path, isolation_level=None)
    changed.execute("UPDATE evelab_sessions SET record = ?", (text,))
    changed.close()
    with pytest.raises(RecordError, match="A stored session cannot be read"):
        Session.open(path, "s", agent=agent())
    with pytest.raises(RecordError):
        Session.open(path, "s", agent=agent())


def test_a_folder_that_is_not_there_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="unable to open database file"):
        Session.open(tmp_path / "nowhere" / "s.db", "s", agent=agent())


def test_a_session_in_memory_would_not_outlive_its_process() -> None:
    with pytest.raises(OptionError) as raised:
        Session.open(":memory:", "s", agent=agent())
    assert raised.value.place == "store"


def test_a_file_of_notes_is_no_file_of_sessions(tmp_path: Path) -> None:
    from evelab import open_notes

    store = open_notes(tmp_path / "x.db")
    store.notes()
    store.close()
    with pytest.raises(StoreError, match="something else than sessions"):
        Session.open(tmp_path / "x.db", "s", agent=agent())


# JSON

plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
zones = st.sampled_from([None, UTC, timezone(timedelta(hours=8))])
leaves = plain | st.datetimes(timezones=zones) | st.sets(st.integers() | st.text() | st.binary())
values = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.just("$set"), inner))


def same_kinds(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(same_kinds(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same_kinds, one, other))
    return bool(one == other)


@given(value=values)
def test_a_state_comes_back_as_it_was(value: Any) -> None:
    text = dump(Record(Checkpoint(state={"x": value})))
    assert text.isascii()
    back = load(text)
    assert isinstance(back, Record)
    assert same_kinds(back.saved.state["x"], value)


def test_numbers_and_letters_that_json_has_not(path: Path) -> None:
    odd = {"nan": math.nan, "inf": -math.inf, "zero": -0.0, "lone": "\ud800", "$set": 1, "tag": {"$bytes": "x"}}
    with Session.open(path, "s", agent=agent()) as session:
        session.run_with_state(lambda: things.update(lambda _: odd))
    with Session.open(path, "s", agent=agent()) as session:
        back = session.state["stored things"]
    assert math.isnan(back.pop("nan"))
    assert back == {key: value for key, value in odd.items() if key != "nan"}
    assert math.copysign(1, back["zero"]) == -1


def test_every_part_of_a_checkpoint_comes_back(path: Path) -> None:
    """A checkpoint with all its parts: held calls, locks with tuples, digests, the model's own token count."""
    two = Reply("text", calls=(Call("work", {}), Call("nothing", {"a": [1, {"b": None}]})), input_tokens=7)
    with Session.open(path, "s", agent=agent("x", two, approval=wants), caller=ZHANG) as session:
        session.send("one")
        session.send("two")
        saved = session.checkpoint()
    assert None not in (saved.held, saved.known, saved.envelope, saved.memory, saved.locks, saved.caller)
    stored = StoredSession(path, "s")
    record = stored.load()
    stored.close()
    assert record is not None
    assert record.saved == saved
    assert load(dump(record)) == record
    assert load(dump(replace(record, failure="x", attempts=2))).attempts == 2
