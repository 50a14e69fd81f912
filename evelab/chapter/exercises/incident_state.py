"""12.1: a state with two tools. Kept from turn to turn, fresh in a new session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evelab.chapter.exercises.answers import Play, agent_of, sample
from evelab.chapter.exercises.requirement import Exercise, Requirement, Seen
from evelab.model import Call
from evelab.text import to_json

if TYPE_CHECKING:
    from evelab.agent import Agent

WRITTEN = "INC-7"
OTHER = "INC-OTHER"


class Pair:
    """A tool that writes and a tool that reads, found by trying.

    Attributes:
        writer: the first one's name.
        reader: the second one's.
    """

    def __init__(self, agent: Agent, writer: str, reader: str) -> None:
        self._tools = agent.own_tools()
        self.writer = writer
        self.reader = reader

    def write(self) -> Call:
        """The call that writes."""
        return Call(self.writer, sample(self._tools[self.writer].input_schema, WRITTEN))

    def read(self) -> Call:
        """The call that reads, with another text wherever it takes one."""
        return Call(self.reader, sample(self._tools[self.reader].input_schema, OTHER))


def pair_of(agent: Agent) -> Pair:
    """The first two tools of which one reads what the other writes, in one turn.

    Raises:
        LookupError: there are none.
    """
    names = list(agent.own_tools())
    for writer in names:
        for reader in names:
            pair = Pair(agent, writer, reader)
            if writer != reader and _shows(Play(agent).say("go on", pair.write(), pair.read()).results[-1].value):
                return pair
    raise LookupError("no tool reads what another has written")


def _shows(value: object) -> bool:
    return WRITTEN in to_json(value)


def _reads(play: Play, pair: Pair) -> bool:
    call = pair.read()
    return _shows(play.call(call.name, call.input).value)


def _two_tools(answer: object) -> Seen:
    names = list(agent_of(answer).own_tools())
    what = f"tools of the agent: {', '.join(names) or 'none'}"
    if len(names) > 1:
        return Seen(True, what)
    return Seen(False, what, "Give the agent two tools, made with define_tool(): Agent(tools={name: tool, ...}).")


def _written_is_read(answer: object) -> Seen:
    agent = agent_of(answer)
    try:
        pair = pair_of(agent)
    except LookupError as missing:
        errors = "".join(f"; {name}: {error}" for name in agent.own_tools() if (error := _error(agent, name)))
        hint = "One tool writes with state.update(lambda value: ...), the other returns state.get()."
        return Seen(False, f"{missing}{errors}", hint)
    return Seen(True, f"{pair.reader} reads what {pair.writer} has written")


def _error(agent: Agent, name: str) -> str:
    """The error of a tool that is called by itself, or nothing."""
    result = Play(agent).call(name, sample(agent.own_tools()[name].input_schema, WRITTEN))
    return str(result.value) if result.type == "error-text" else ""


def _kept(answer: object) -> Seen:
    agent = agent_of(answer)
    pair = pair_of(agent)
    play = Play(agent)
    play.say("first turn", pair.write())
    if _reads(play, pair):
        return Seen(True, "the next turn reads it")
    return Seen(
        False,
        "the next turn does not read it",
        "Something resets it, such as a turn.started hook, or it is kept where a turn ends it. Keep it in the state.",
    )


def _fresh(answer: object) -> Seen:
    agent = agent_of(answer)
    pair = pair_of(agent)
    first = Play(agent)
    first.say("first session", pair.write())
    if not _reads(Play(agent), pair):
        return Seen(True, "a new session reads nothing of it")
    in_state = WRITTEN in str(dict(first.session.state))
    hint = (
        "The state leaks: initial gives every session one and the same object. Make a new one: lambda: {...}."
        if in_state
        else "The value leaks: it lies outside the session, in a variable or a memory. Keep it with define_state()."
    )
    return Seen(False, "a new session reads what another session has written", hint)


def _rewinds(answer: object) -> Seen:
    agent = agent_of(answer)
    pair = pair_of(agent)
    play = Play(agent)
    before = play.session.checkpoint()
    play.say("write", pair.write())
    again = Play(agent, id=play.session.id)
    again.session.restore(before)
    if not _reads(again, pair):
        return Seen(True, "the value goes back to what the checkpoint holds")
    return Seen(
        False,
        "an interrupted step left its value behind",
        "The value is not part of the session's checkpoint: a dict by session id is not a state.",
    )


EXERCISE = Exercise(
    "12.1",
    "A state with two tools",
    (
        Requirement("The agent has two tools.", "8.2", _two_tools, is_basis=True),
        Requirement("One tool reads what the other has written.", "8.2", _written_is_read, is_basis=True),
        Requirement("The next turn still has it.", "8.2", _kept),
        Requirement("A new session starts fresh.", "8.2", _fresh),
        Requirement("A step that is run again starts from what was there before it.", "8.2", _rewinds),
    ),
)
