"""Claims of 8.2: what a state is, what it refuses, and what the model sees of it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from evelab.agent import Agent
from evelab.chapter.claims import Evidence, claim
from evelab.chapter.incident import incident, incident_tools, reset_each_turn
from evelab.errors import SessionFailedError, StateError, StateNameError, StateValueError
from evelab.model import Reply, ScriptedModel, call
from evelab.session import Session
from evelab.state import define_mounted_state, define_state
from evelab.tools import define_tool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evelab.hooks import Hook
    from evelab.turn import Turn

STARTED = datetime(2026, 5, 1, 9, 30, tzinfo=UTC)


class OnCall:
    """A session of the agent that tracks an incident. The model does as it is told.

    Args:
        hooks: the agent's hooks.
    """

    def __init__(self, *hooks: Hook) -> None:
        self._replies: list[Reply | str] = []
        tools = incident_tools(now=lambda: STARTED)
        self.session = Session(Agent(model=self, tools=tools, hooks=hooks))

    def respond(self, prompt: object, tools: object) -> Reply:
        """The next call, or "done"."""
        return Reply("done") if not self._replies else self._next()

    def _next(self) -> Reply:
        reply = self._replies.pop(0)
        return Reply(reply) if isinstance(reply, str) else reply

    def turn(self, *calls: Reply) -> Turn:
        """One turn in which the model makes these calls, one a step."""
        self._replies = list(calls)
        return self.session.send("go on")

    def tool(self, name: str, **fields: Any) -> Any:
        """One turn with one call; what the tool gave."""
        return self.turn(call(name, **fields)).results[-1].value


def in_a_session(work: Callable[[], Any]) -> Any:
    """Run something in the context of a new session."""
    return Session(Agent()).run_with_state(work)


@claim("2.1")
def initial_runs_at_the_first_access(see: Evidence) -> None:
    """define_state gives a handle; initial() runs at the first get() in a context, never again while a value exists."""
    made: list[int] = []
    handle = define_state("claim.initial", lambda: made.append(1) or len(made))  # type: ignore[func-returns-value]
    see.equal("calls of initial once it is defined", len(made), 0)
    session = Session(Agent())
    values = [session.run_with_state(handle.get) for _ in range(3)]
    see.equal("three reads in one session", values, [1, 1, 1])
    see.equal("calls of initial", len(made), 1)
    session.run_with_state(lambda: handle.update(lambda value: value + 10))
    see.equal("after an update", session.run_with_state(handle.get), 11)
    see.equal("a new session", in_a_session(handle.get), 2)


@claim("2.2")
def update_replaces_the_value(see: Evidence) -> None:
    """update(fn) replaces the value with fn(current)."""
    handle = define_state("claim.update", lambda: ["a"])
    session = Session(Agent())
    given: list[list[str]] = []
    session.run_with_state(lambda: handle.update(lambda value: given.append(value) or ["b"]))  # type: ignore[func-returns-value]
    see.equal("fn was given", given, [["a"]])
    see.equal("the value now", session.run_with_state(handle.get), ["b"])

    def fails(value: list[str]) -> list[str]:
        raise ValueError("no")

    see.raises("an fn that raises", ValueError, lambda: session.run_with_state(lambda: handle.update(fails)))
    see.equal("the value afterwards", session.run_with_state(handle.get), ["b"])


@claim("2.3")
def reserved_names_are_refused(see: Evidence) -> None:
    """A name that starts with "eve." or "eve:mount." is rejected."""
    for name in ("eve.x", "eve:mount.v1:a:b"):
        see.raises(name, StateNameError, lambda name=name: define_state(name, dict))  # type: ignore[misc]
    for name in ("eve", "eve:x", "Eve.x", " eve.x", "opsbot.incident"):
        see.equal(f"{name!r} is allowed", define_state(name, dict).name, name)


@claim("2.4")
def mounts_do_not_collide(see: Evidence) -> None:
    """An extension's own mount prefixes its state names, so two mounts do not collide."""
    own = define_state("requests", lambda: 0)
    crm, billing = (define_mounted_state(f"extensions/{name}", "requests", lambda: 0) for name in ("crm", "billing"))
    session = Session(Agent())
    session.run_with_state(lambda: crm.update(lambda _: 1))
    session.run_with_state(lambda: billing.update(lambda _: 2))
    kept = [session.run_with_state(handle.get) for handle in (own, crm, billing)]
    see.equal("three states of one name", kept, [0, 1, 2])
    see.equal("the name under which it is kept", crm.name, "eve:mount.v1:extensions%2Fcrm:requests")


@claim("2.5")
def the_incident_of_the_chapter(see: Evidence) -> None:
    """start_incident resets id, start and checked list; check_service needs one, and lists each service once."""
    team = OnCall()
    refused = team.tool("check_service", service="payment-api")
    see.true("checking before the start is refused", "Call start_incident first" in refused)
    started = {"id": "INC-7", "services_checked": [], "started_at": STARTED.isoformat()}
    see.equal("started", team.tool("start_incident", id="INC-7"), started)
    for service in ("payment-api", "checkout-api", "payment-api"):
        checked = team.tool("check_service", service=service)
    see.equal("checked, one of them twice", checked["services_checked"], ["payment-api", "checkout-api"])
    again = team.tool("start_incident", id="INC-8")
    see.equal("started again", (again["id"], again["services_checked"]), ("INC-8", []))


@claim("2.6")
def a_state_is_its_name(see: Evidence) -> None:
    """A slot of state is its name: two handles read and write one slot, and the second initial has no effect."""
    first = define_state("claim.shared", lambda: "first")
    second = define_state("claim.shared", lambda: "second")
    session = Session(Agent())
    see.equal("read through the first handle", session.run_with_state(first.get), "first")
    see.equal("read through the second", session.run_with_state(second.get), "first")
    session.run_with_state(lambda: second.update(lambda _: "changed"))
    see.equal("written through the second, read through the first", session.run_with_state(first.get), "changed")
    see.equal("in a session that reads the second first", in_a_session(second.get), "second")


@claim("2.7")
def outside_a_context_it_raises(see: Evidence) -> None:
    """get() and update() outside a context raise; scheduled inside one they work; define_state works anywhere."""
    handle = define_state("claim.outside", lambda: 0)
    see.raises("get() at a module's top", StateError, handle.get)
    see.raises("update() at a module's top", StateError, lambda: handle.update(lambda value: value + 1))
    see.equal("in a tool", _tool_value(lambda: handle.get()), 0)
    see.equal("in a callback that a tool has scheduled", _tool_value(_later(handle.get)), 0)
    left: list[Callable[[], int]] = []
    _tool_value(lambda: left.append(handle.get))
    see.raises("called once the session has gone on", StateError, left[0])


def _later(read: Callable[[], int]) -> Callable[[], Any]:
    """A tool that reads in a callback of the event loop, as a timer does."""

    async def tool() -> int:
        import asyncio

        loop = asyncio.get_running_loop()
        value: asyncio.Future[int] = loop.create_future()
        loop.call_later(0, lambda: value.set_result(read()))
        return await value

    return tool


def _tool_value(execute: Callable[[], Any]) -> Any:
    tools = {"t": define_tool(description="A tool.", execute=execute)}
    return Session(Agent(model=ScriptedModel([call("t"), "done"]), tools=tools)).send("go").results[0].value


class Plan:
    """An instance of a class: not a value that a state can keep."""


REFUSED: Mapping[str, object] = {"a function": print, "an instance of a class": Plan(), "a tuple": (1, 2)}


@claim("2.8")
def a_value_that_cannot_be_kept(see: Evidence) -> None:
    """A value that cannot be kept is refused with a clear error, and the old value stays."""
    handle: Any = define_state("claim.values", lambda: {"n": 1})
    session = Session(Agent())
    for what, value in REFUSED.items():
        refused = see.raises(what, StateValueError, lambda value=value: _write(session, handle, value))  # type: ignore[misc]
        see.true(f"{what}: the error names the state", refused is not None and "claim.values" in str(refused))
    see.equal("the value afterwards", session.run_with_state(handle.get), {"n": 1})
    nested = see.raises("inside a dict", StateValueError, lambda: _write(session, handle, {"a": [Plan()]}))
    see.equal("the error says where", None if nested is None else nested.path, "claim.values['a'][0]")
    kept = {"when": STARTED, "seen": {1, 2}, "data": b"x"}
    _write(session, handle, kept)
    see.equal("a date, a set and bytes are kept, as in the package", session.run_with_state(handle.get), kept)
    tools = {"t": define_tool(description="A tool.", execute=lambda: handle.get().update(plan=Plan()))}
    spoiled = Session(Agent(model=ScriptedModel([call("t")]), tools=tools))
    see.raises(
        "one put in by changing the value in place ends the session", SessionFailedError, lambda: spoiled.send("go")
    )


def _write(session: Session, handle: Any, value: object) -> None:
    session.run_with_state(lambda: handle.update(lambda _: value))


@claim("2.12")
def a_hook_gives_each_turn_a_clean_slate(see: Evidence) -> None:
    """A turn.started hook that updates the same handle gives a clean slate each turn."""
    kept, reset = OnCall(), OnCall(reset_each_turn())
    seen = {}
    for name, team in (("without the hook", kept), ("with the hook", reset)):
        team.tool("start_incident", id="INC-7")
        seen[name] = team.tool("show_incident")["id"]
    see.equal("the next turn reads", seen, {"without the hook": "INC-7", "with the hook": None})
    one_turn = reset.turn(call("start_incident", id="INC-7"), call("show_incident")).results[-1]
    see.equal("within the turn it stays", one_turn.value["id"], "INC-7")


@claim("2.13")
def the_model_does_not_see_it(see: Evidence) -> None:
    """State is not in the model's context until a tool returns it."""
    team = OnCall()
    silent = {"note": define_tool(description="Note it.", execute=_note)}
    session = Session(Agent(model=ScriptedModel([call("note"), "noted", "ok"]), tools=silent))
    session.send("note it")
    see.equal("the state holds it", session.state["opsbot.incident"]["id"], "INC-7")
    turn = session.send("what is tracked?")
    see.true("no message of the next turn does", not _names_it([message.text for message in turn.context]))
    turn = team.turn(call("start_incident", id="INC-7"))
    shown = [message for message in turn.prompts[-1].messages if _names_it([message.text])]
    roles = [message.role for message in shown]
    see.equal("once a tool returns it, it stands in the call and its result", roles, ["assistant", "tool"])


def _note() -> str:
    incident.update(lambda held: {**held, "id": "INC-7"})
    return "noted"


def _names_it(texts: list[str]) -> bool:
    return "INC-7" in "".join(texts)
