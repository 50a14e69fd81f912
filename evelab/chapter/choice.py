"""State, memory slot or connection: four questions that choose, and one fact that is put into each.

The fact is the status of an order. The order's system is outside; a connection asks it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evelab.agent import Agent
from evelab.backends import in_memory
from evelab.chapter.callers import LI_SI, ZHANG_SAN, Caller
from evelab.chapter.policies import TENANT_PRINCIPAL
from evelab.chapter.workbench import NAMESPACE, SLOT
from evelab.file_memory import file_memory
from evelab.model import Reply, call
from evelab.provider import define_memory
from evelab.session import Session
from evelab.state import define_state
from evelab.tools import define_tool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evelab.turn import Turn

NOTHING, STATE, MEMORY, CONNECTION = "nothing", "define_state", "memory slot", "connection"
KINDS = (STATE, MEMORY, CONNECTION)


@dataclass(frozen=True, slots=True)
class Question:
    """One question of the procedure.

    Attributes:
        text: what to ask.
        settles: the answer that settles it.
        advice: where the fact goes then.
        reason: why.
    """

    text: str
    settles: bool
    advice: str
    reason: str


QUESTIONS = (
    Question(
        "Will the next message need it?",
        settles=False,
        advice=NOTHING,
        reason="What nothing needs later is not stored.",
    ),
    Question(
        "Will the next session need it?",
        settles=False,
        advice=STATE,
        reason="It ends with the session, and that is what a state does.",
    ),
    Question(
        "Should it stand in the context by itself, in every turn?",
        settles=True,
        advice=MEMORY,
        reason="A memory slot is fed to the model at the start of each turn.",
    ),
    Question(
        "Should it appear only when the model asks for it?",
        settles=True,
        advice=CONNECTION,
        reason="A connection, or a tool of the provider, is read when the model calls it, and not before.",
    ),
)


@dataclass(frozen=True, slots=True)
class Advice:
    """Where a fact goes.

    Attributes:
        kind: ``"nothing"``, ``"define_state"``, ``"memory slot"`` or ``"connection"``; None while a question is open.
        reason: why, in one sentence.
        asked: how many questions were needed.
    """

    kind: str | None
    reason: str
    asked: int


def advise(answers: Sequence[bool | None]) -> Advice:
    """Ask the four questions in order; the first answer that settles one decides.

    Args:
        answers: one a question, True for yes; None, or left out, when it is not answered.
    """
    for place, question in enumerate(QUESTIONS):
        answer = answers[place] if place < len(answers) else None
        if answer is None:
            return Advice(None, f"Question {place + 1} is open: {question.text}", place)
        if answer is question.settles:
            return Advice(question.advice, question.reason, place + 1)
    return Advice(NOTHING, "Nobody needs it: neither unasked nor asked for.", len(QUESTIONS))


ORDER = "A-17"
SHIPPED, DELIVERED = "order A-17 is shipped", "order A-17 is delivered"
_note = define_state("choice.order", lambda: "")


def _write(text: str) -> None:
    _note.update(lambda _: text)


class OneFact:
    """The order's status, put into one of the three kinds, and looked for afterwards.

    Args:
        kind: one of ``KINDS``.

    Attributes:
        asked: how often the order's system was asked.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.asked = 0
        self._orders = {ORDER: SHIPPED}
        self._store = in_memory()
        self._opened: dict[str, Session] = {}
        self._script: list[Reply] = []

    def respond(self, prompt: object, tools: object) -> Reply:
        """The model: the next call it was told to make, or "ok"."""
        return self._script.pop(0) if self._script else Reply("ok")

    def keep(self) -> Turn:
        """张三's session, in which the fact is kept. A connection keeps nothing: the fact lies outside."""
        saves = {STATE: call("note", text=SHIPPED), MEMORY: call(f"{SLOT}__save_memory", text=SHIPPED)}
        self._script = [saves[self.kind]] if self.kind in saves else []
        return self.session(ZHANG_SAN).send("keep it")

    def ask(self, caller: Caller = ZHANG_SAN, *, new_session: bool = False) -> Turn:
        """A turn in which the model uses the tool that reads the fact, where the kind has one."""
        reads = {STATE: call("show"), CONNECTION: call("look_up", order=ORDER)}
        self._script = [reads[self.kind]] if self.kind in reads else []
        return self.session(caller, new=new_session).send("where is my order?")

    def chat(self, caller: Caller = ZHANG_SAN, *, new_session: bool = False) -> Turn:
        """A turn in which the model calls nothing."""
        self._script = []
        return self.session(caller, new=new_session).send("hello")

    def forget_the_talk(self) -> None:
        """Clear 张三's conversation: what is still there then was kept, not said."""
        self.session(ZHANG_SAN).clear()

    def deliver(self) -> None:
        """The order's system learns something new."""
        self._orders[ORDER] = DELIVERED

    def session(self, caller: Caller, *, new: bool = False) -> Session:
        """The caller's running session, or a new one."""
        if new or caller.label not in self._opened:
            self._opened[caller.label] = Session(self._agent(), caller.principal, environ={})
        return self._opened[caller.label]

    def _agent(self) -> Agent:
        text = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
        order = {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]}
        if self.kind == MEMORY:
            provider = file_memory(backend=self._store)
            memory = define_memory(provider=provider, scope=TENANT_PRINCIPAL.scope, namespace=NAMESPACE)
            return Agent({SLOT: memory}, self)
        if self.kind == STATE:
            note = define_tool(description="Note it.", input_schema=text, execute=_write)
            return Agent(model=self, tools={"note": note, "show": define_tool(description="Read.", execute=_note.get)})
        look_up = define_tool(description="Ask the order's system.", input_schema=order, execute=self._look_up)
        return Agent(model=self, tools={"look_up": look_up})

    def _look_up(self, order: str) -> str:
        self.asked += 1
        return self._orders[order]


def shown(turn: Turn) -> str:
    """What a turn's model saw of the order: ``"shipped"``, ``"delivered"``, both, or ``"-"``."""
    text = "".join(message.text for prompt in turn.prompts for message in prompt.messages)
    return _status(text)


def shown_unasked(turn: Turn) -> str:
    """What stood there of it when the turn began."""
    return _status("".join(message.text for message in turn.context))


def _status(text: str) -> str:
    return " ".join(word for word, status in (("shipped", SHIPPED), ("delivered", DELIVERED)) if status in text) or "-"


TRIALS = (
    "next turn, unasked",
    "next turn, asked for",
    "his next session, unasked",
    "his next session, asked for",
    "a colleague's session, asked for",
    "after the order was delivered, asked for",
)


def tried(kind: str) -> dict[str, str]:
    """Put the fact into one kind and look for it in six ways.

    Returns:
        trial -> what the model saw of the order.
    """
    first = OneFact(kind)
    first.keep()
    first.forget_the_talk()
    unasked, asked = shown_unasked(first.chat()), shown(first.ask())
    return {
        TRIALS[0]: unasked,
        TRIALS[1]: asked,
        TRIALS[2]: shown_unasked(first.chat(new_session=True)),
        TRIALS[3]: shown(first.ask(new_session=True)),
        TRIALS[4]: shown(first.ask(LI_SI, new_session=True)),
        TRIALS[5]: _after_delivery(kind),
    }


def _after_delivery(kind: str) -> str:
    fact = OneFact(kind)
    fact.keep()
    fact.forget_the_talk()
    fact.deliver()
    return shown(fact.ask())


@dataclass(frozen=True, slots=True)
class Compared:
    """The chapter's five rows for one kind, as the trials showed them.

    Attributes:
        scope: who has it.
        lifetime: how long.
        visible: whether the model sees it.
        writer: who writes it.
        use: what it is for; not tried, but the chapter's advice.
    """

    scope: str
    lifetime: str
    visible: str
    writer: str
    use: str


USES = {
    STATE: "counters, the plan, what was checked",
    MEMORY: "preferences, what a team has agreed, facts",
    CONNECTION: "looking up orders and tickets",
}


def compared(kind: str) -> Compared:
    """The five rows of one kind, read off its trials."""
    saw = tried(kind)
    next_session = saw[TRIALS[3]] != "-" or saw[TRIALS[2]] != "-"
    colleague = saw[TRIALS[4]] != "-"
    outside = saw[TRIALS[5]] == "delivered"
    scope = "the outside system" if colleague else ("those of one scope" if next_session else "one session")
    return Compared(
        scope=scope,
        lifetime="as the outside system says" if outside else ("as the store says" if next_session else "the session"),
        visible="yes, in every turn" if saw[TRIALS[0]] != "-" else "only when a tool returns it",
        writer="the outside system" if outside else ("the provider" if next_session else "your code"),
        use=USES[kind],
    )
