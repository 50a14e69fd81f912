"""Claims of 8.2 about how far a state reaches: to one session, to its end, and through a crash."""

from __future__ import annotations

import signal
from typing import Any

from evelab.agent import Agent
from evelab.backends import in_memory
from evelab.chapter import killed
from evelab.chapter.callers import ZHANG_SAN
from evelab.chapter.claims import Evidence, claim
from evelab.chapter.workbench import SLOT
from evelab.file_memory import file_memory
from evelab.model import Reply, RuleModel, ScriptedModel, call
from evelab.provider import define_memory
from evelab.session import Session
from evelab.state import define_state
from evelab.subagents import agent_tool
from evelab.tools import define_tool


class KilledError(BaseException):
    """Stands for the end of the process: nothing in a session catches it."""


COUNT = define_state("claim.count", lambda: 0)


def _add(most: int = 1) -> int:
    COUNT.update(lambda value: value + most)
    return COUNT.get()


class Delegating:
    """A model that adds one, hands work to a copy of itself, and reads; the copy adds ten and reads.

    Attributes:
        read: what each of them has read, in order: copy, then parent.
    """

    def __init__(self) -> None:
        self.read: list[int] = []
        tools = {
            "agent": agent_tool(),
            "add": define_tool(description="Add one.", execute=_add),
            "add_ten": define_tool(description="Add ten.", execute=lambda: _add(10)),
            "read": define_tool(description="Read.", execute=lambda: self.read.append(COUNT.get())),
        }
        self.agent = Agent(model=self, tools=tools)
        self._script = [
            call("add"),
            call("agent", message="do a part"),
            call("add_ten"),
            call("read"),
            Reply("the copy is done"),
            call("read"),
            Reply("done"),
        ]

    def respond(self, prompt: object, tools: object) -> Reply:
        """The next reply; the copy's turn runs inside the parent's call."""
        return self._script.pop(0)


@claim("2.9")
def a_state_belongs_to_one_session(see: Evidence) -> None:
    """State belongs to one session and one agent node: a subagent starts from initial, and neither sees the other's."""
    model = Delegating()
    session = Session(model.agent)
    session.send("go")
    see.equal("the copy read, then the parent", model.read, [10, 1])
    see.equal("kept in the parent", session.state["claim.count"], 1)
    see.equal("a new session", "claim.count" in Session(model.agent).state, False)
    memory = define_memory(provider=file_memory(backend=in_memory()), scope="acme", namespace="n")
    parent = Session(Agent({SLOT: memory}, RuleModel()), ZHANG_SAN.principal)
    parent.subagent().send("remember I watch payment-api")
    recalled = parent.send("?").recalled[SLOT]
    see.equal(
        "memory, unlike state, is shared with the copy", ["payment-api" in item.content for item in recalled], [True]
    )


@claim("2.10")
def a_state_survives_until_its_session_ends(see: Evidence) -> None:
    """State survives turns, a killed process and a redeploy (it is in the checkpoint), and ends with its session."""
    session = Session(Agent(model=ScriptedModel([call("add"), "ok"]), tools={"add": _add_tool()}))
    session.send("first turn")
    session.send("second turn")
    see.equal("after another turn", session.state["claim.count"], 1)
    saved, ended = killed.killed_in_its_second_turn()
    see.equal("the other process was ended by", signal.Signals(ended).name, "SIGKILL")
    see.equal("its checkpoint holds what its first turn wrote", saved.state["killed.progress"], 2)
    again = killed.session()
    again.restore(saved)
    again.send("second turn")
    see.equal("the turn that was killed, run again here", again.state["killed.progress"], 4)
    see.equal("another session begins afresh", dict(killed.session().state), {})
    session.clear()
    see.equal("clear() leaves it", session.state["claim.count"], 1)


def _add_tool() -> Any:
    return define_tool(description="Add one.", execute=_add)


class Interrupted:
    """A session of two steps. The process ends in the second, once; both steps count their runs.

    Attributes:
        ran: the steps that ran, in order.
        session: the session that was interrupted.
    """

    def __init__(self) -> None:
        self.ran: list[str] = []
        self._dies = True
        self.session = self._open([call("first"), call("second")])

    def _open(self, replies: list[Reply]) -> Session:
        tools = {
            "first": define_tool(description="The first step.", execute=self._first),
            "second": define_tool(description="The second step.", execute=self._second),
        }
        return Session(Agent(model=ScriptedModel(replies), tools=tools), id="interrupted")

    def _first(self) -> int:
        self.ran.append("first")
        return _add()

    def _second(self) -> int:
        self.ran.append("second")
        _add()
        if self._dies:
            raise KilledError
        return _add()

    def resumed(self) -> Session:
        """Another process takes the session up from its checkpoint, and ends the turn."""
        self._dies = False
        after = self._open([call("second")])
        after.restore(self.session.checkpoint())
        after.resume()
        return after


@claim("2.11")
def an_interrupted_step_runs_again(see: Evidence) -> None:
    """A completed step is not run again; an interrupted one runs again from the state at its start."""
    run = Interrupted()
    see.raises("the process ends in the second step", KilledError, lambda: run.session.send("go"))
    see.equal("the checkpoint holds the first step's state only", run.session.state["claim.count"], 1)
    see.equal("after the second step has run again", run.resumed().state["claim.count"], 3)
    see.equal("steps that ran", run.ran, ["first", "second", "second"])
    raises = {"t": define_tool(description="Adds, then fails.", execute=lambda: _add() / 0)}
    session = Session(Agent(model=ScriptedModel([call("t"), "ok"]), tools=raises))
    session.send("go")
    see.equal("a tool that raises does not rewind: its update is kept", session.state["claim.count"], 1)
