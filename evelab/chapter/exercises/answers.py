"""How a check makes an answer work: agents with a model that does as it is told, and what they then recall."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evelab.agent import Agent
from evelab.chapter.exercises.requirement import AnswerError
from evelab.model import Call, Reply, RuleModel
from evelab.session import Session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evelab.auth import Principal
    from evelab.chapter.callers import Caller
    from evelab.message import Message, ToolResult
    from evelab.tools import Tool
    from evelab.turn import Turn

ENVIRON: Mapping[str, str] = {}
"""The environment of a check's sessions: none, so that an answer is checked alike on every machine."""


def agent_of(answer: object, *args: object) -> Agent:
    """The agent that a learner's function makes.

    Raises:
        AnswerError: it is no function, or it makes something else.
    """
    if not isinstance(answer, Callable):  # type: ignore[arg-type]
        raise AnswerError(f"The answer is a {type(answer).__name__}, not a function.")
    made = answer(*args)  # type: ignore[operator]
    if not isinstance(made, Agent):
        raise AnswerError(f"The function returned a {type(made).__name__}, not an Agent.")
    return made


class Puppet:
    """A model that makes the calls it is given, one a reply, and then says "done"."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def respond(self, prompt: Sequence[Message], tools: Mapping[str, Tool]) -> Reply:
        """The next call."""
        return Reply(calls=(self.calls.pop(0),)) if self.calls else Reply("done")


class Play:
    """One session of an answer's agent, played by a check.

    Args:
        agent: the answer's agent; its model is replaced.
        caller: who speaks.
        id: the session's id; a random one when None.
    """

    def __init__(self, agent: Agent, caller: Principal | None = None, *, id: str | None = None) -> None:  # noqa: A002
        self._puppet = Puppet()
        self.session = Session(replace(agent, model=self._puppet), caller, id=id, environ=ENVIRON)

    def say(self, text: str, *calls: Call) -> Turn:
        """One turn: the caller says something, and the model makes the calls one after the other."""
        self._puppet.calls = list(calls)
        return self.session.send(text)

    def call(self, name: str, fields: Mapping[str, Any]) -> ToolResult:
        """One turn in which the model calls one tool."""
        return self.say("go on", Call(name, fields)).results[-1]


def sample(schema: Mapping[str, Any], text: str) -> Any:
    """A value that fits a tool's schema, with ``text`` wherever a string goes."""
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object" | None:
            return {name: sample(field, text) for name, field in schema.get("properties", {}).items()}
        case "array":
            return [sample(schema.get("items", {"type": "string"}), text)]
        case "integer" | "number":
            return 7
        case "boolean":
            return True
    return text


def told(agent: Agent, caller: Caller, text: str) -> Turn:
    """A new session of a caller, one sentence, answered by the plain rules."""
    return Session(replace(agent, model=RuleModel()), caller.principal, environ=ENVIRON).send(text)


def recalls(agent: Agent, caller: Caller, text: str) -> bool:
    """Whether a new session of a caller recalls a text."""
    return text in recalled_text(told(agent, caller, "?"))


def recalled_text(turn: Turn) -> str:
    """Everything that a turn recalled."""
    return "\n".join(item.content for items in turn.recalled.values() for item in items)
