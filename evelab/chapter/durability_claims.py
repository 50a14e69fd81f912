"""Claims of 8.2 about how far a state reaches: to one session, to its end, and through a crash."""

from __future__ import annotations

import signal
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from collections.abc import Mapping


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
    with killed.killed_in_its_second_turn() as (file, ended):
        see.equal("another process was ended by", signal.Signals(ended).name, "SIGKILL")
        with Session.open(file, killed.SESSION, agent=killed.two_adder()) as again:
            see.equal("taken up here, its session holds what its first turn wrote", again.state["killed.progress"], 2)
            again.resume()
            see.equal("the turn that was killed, run again here", again.state["killed.progress"], 4)
        with Session.open(file, "another", agent=killed.two_adder()) as other:
            see.equal("another session begins afresh", dict(other.state), {})
    session.clear()
    see.equal("clear() leaves it", session.state["claim.count"], 1)


def _add_tool() -> Any:
    return define_tool(description="Add one.", execute=_add)


class Interrupted:
    """A stored session of two steps. Its process ends in the second, once; both steps write down that they ran.

    Attributes:
        ran: the steps that ran, in order.
    """

    def __init__(self, file: Path) -> None:
        self.ran: list[str] = []
        self._file = file
        self._dies = True

    def _open(self, *replies: Reply) -> Session:
        tools = {
            "first": define_tool(description="The first step.", execute=self._first),
            "second": define_tool(description="The second step.", execute=self._second),
        }
        return Session.open(self._file, "interrupted", agent=Agent(model=ScriptedModel(replies), tools=tools))

    def _first(self) -> int:
        self.ran.append("first")
        return _add()

    def _second(self) -> int:
        self.ran.append("second")
        _add()
        if self._dies:
            raise KilledError
        return _add()

    def until_it_ends(self) -> Mapping[str, Any]:
        """The process works until it ends; the state that its file then holds."""
        with self._open(call("first"), call("second")) as session:
            try:
                session.send("go")
            except KilledError:
                return session.state
        raise AssertionError("the process has not ended")

    def resumed(self) -> Mapping[str, Any]:
        """Another process takes the session up and ends the turn; the state then."""
        self._dies = False
        with self._open(call("second")) as session:
            session.resume()
            return session.state


@claim("2.11")
def an_interrupted_step_runs_again(see: Evidence) -> None:
    """A completed step is not run again; an interrupted one runs again from the state at its start."""
    with tempfile.TemporaryDirectory() as folder:
        run = Interrupted(Path(folder) / "sessions")
        kept = run.until_it_ends()
        see.equal("the process ended in the second step; kept is the first one's state", kept["claim.count"], 1)
        see.equal("after the second step has run again", run.resumed()["claim.count"], 3)
        see.equal("steps that ran", run.ran, ["first", "second", "second"])
    raises = {"t": define_tool(description="Adds, then fails.", execute=lambda: _add() / 0)}
    session = Session(Agent(model=ScriptedModel([call("t"), "ok"]), tools=raises))
    session.send("go")
    see.equal("a tool that raises does not rewind: its update is kept", session.state["claim.count"], 1)
