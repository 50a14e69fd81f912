"""Claims of 8.4: the order of a turn, what the model reads, and what fails how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evelab.agent import Agent
from evelab.backends import in_memory
from evelab.chapter.callers import LI_SI, ZHANG_SAN
from evelab.chapter.claims import Evidence, claim
from evelab.chapter.policies import tenant_principal
from evelab.chapter.values import FILE_MEMORY
from evelab.chapter.workbench import NAMESPACE, SLOT
from evelab.errors import SessionFailedError
from evelab.file_memory import file_memory
from evelab.message import CHECKPOINT_KIND, RECALL_KIND
from evelab.model import Reply, RuleModel, ScriptedModel, call
from evelab.provider import MemoryDefinition, define_memory, define_memory_provider
from evelab.session import Session
from evelab.tools import define_tool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evelab.message import Message
    from evelab.provider import OperationContext, ToolsContext
    from evelab.scope import ScopeContext
    from evelab.tools import Tool
    from evelab.turn import Turn

SLOTS = ("profile", "workspace")
INPUT = "payment-api 现在正常吗？"


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that happened in a session.

    Attributes:
        lane: who did it: ``"session"``, ``"model"`` or a slot.
        what: in a word or two.
    """

    lane: str
    what: str


class Traced:
    """A session with two slots, of which everything is written down in the order in which it happens.

    Args:
        replies: what the model answers.
        fails: what raises, such as ``"recall workspace"``.

    Attributes:
        moments: what has happened.
        session: the session of 张三.
    """

    def __init__(self, *replies: Reply | str, fails: str | None = None) -> None:
        self.moments: list[Moment] = []
        self._replies = list(replies)
        self._fails = fails
        memory = {slot: self._slot(slot) for slot in SLOTS}
        self.session = Session(Agent(memory, self), ZHANG_SAN.principal, id="traced", environ={})

    def respond(self, prompt: Sequence[Message], tools: Mapping[str, Tool]) -> Reply:
        """The model."""
        summary = prompt[-1].kind == CHECKPOINT_KIND
        self._happens("model", "summary" if summary else "answer")
        if summary:
            return Reply("They talked.")
        reply = self._replies.pop(0) if self._replies else "ok"
        return Reply(reply) if isinstance(reply, str) else reply

    def _happens(self, lane: str, what: str) -> None:
        self.moments.append(Moment(lane, what))
        if self._fails == f"{what} {lane}":
            raise ConnectionError(f"the store of {lane} is down")

    def _slot(self, slot: str) -> MemoryDefinition:
        def recall(ctx: OperationContext) -> dict[str, Any]:
            self._happens(slot, "recall")
            return {"messages": [{"id": "fact", "content": f"what {slot} knows"}]}

        def capture(ctx: OperationContext) -> None:
            self._happens(slot, "capture")

        def tools(ctx: ToolsContext) -> dict[str, Tool]:
            self._happens(slot, "tools")
            return {}

        def scope(ctx: ScopeContext) -> tuple[str, ...] | None:
            self._happens(slot, "lock")
            return tenant_principal(ctx)  # type: ignore[return-value]

        provider = define_memory_provider(
            recall={"turn.started": recall, "compaction.completed": recall},
            capture={"turn.completed": capture},
            tools=tools,
        )
        return define_memory(provider=provider, scope=scope, namespace=NAMESPACE)

    def lines(self) -> list[str]:
        """The moments as lines."""
        return [f"{moment.what} {moment.lane}" for moment in self.moments]


@claim("4.1")
def the_order_of_a_turn(see: Evidence) -> None:
    """Order of a turn: lock every slot's scope, recall, insert, model, capture; after compaction recall once more."""
    traced = Traced()
    turn = traced.session.send(INPUT)
    see.equal(
        "one turn",
        traced.lines(),
        [f"{what} {slot}" for what in ("lock", "recall", "tools") for slot in SLOTS]
        + ["answer model", "capture profile", "capture workspace"],
    )
    kinds = [message.kind for message in turn.context[1:]]
    see.equal("what the model read", kinds, [RECALL_KIND, RECALL_KIND, "user"])
    again = traced.session.send("and now?")
    see.equal("unchanged records stay where they first came: new ones in the next turn", len(again.committed), 0)
    traced.moments.clear()
    traced.session.compact()
    see.equal("a compaction", traced.lines(), ["summary model", "recall profile", "recall workspace"])


def remembered(*entries: str) -> Agent:
    """An agent whose file memory holds these entries for 张三."""
    memory = define_memory(provider=file_memory(backend=in_memory()), scope=tenant_principal, namespace=NAMESPACE)
    saves = [call(f"{SLOT}__save_memory", text=text) for text in entries]
    Session(Agent({SLOT: memory}, ScriptedModel(saves)), ZHANG_SAN.principal).send("remember these")
    return Agent({SLOT: memory}, RuleModel())


EXAMPLE: tuple[str, ...] = tuple(FILE_MEMORY["texts"])


@claim("4.2")
def what_the_model_reads(see: Evidence) -> None:
    """The model's history of the example: the recalled block, a user message right before the input, word for word."""
    agent = remembered(*EXAMPLE)
    turn = Session(agent, ZHANG_SAN.principal).send(INPUT)
    _, block, said = turn.context
    see.equal("roles", [block.role, said.role], ["user", "user"])
    see.equal("the block", block.text, FILE_MEMORY["recall"])
    see.equal("the input", said.text, INPUT)


def held_then_taken_over() -> tuple[list[tuple[str, str]], Turn]:
    """张三's turn waits for a person; meanwhile 李四 speaks in the thread.

    Returns:
        caller and key of each call of the provider, and the turn that went on.
    """
    calls: list[tuple[str, str]] = []

    def note(what: str) -> Callable[[OperationContext], None]:
        def noted(ctx: OperationContext) -> None:
            current = ctx.session.auth.current
            calls.append((f"{what}, {'' if current is None else current.principal_id} speaks", ctx.memory.scope.key))

        return noted

    provider = define_memory_provider(
        recall={"turn.started": note("recall")}, capture={"turn.completed": note("capture")}
    )
    memory = define_memory(provider=provider, scope=tenant_principal, namespace=NAMESPACE)
    delete = define_tool(description="Delete.", execute=lambda: "gone", approval=lambda fields: "user-approval")
    model = ScriptedModel([call("delete"), "done", "ok"])
    session = Session(Agent({SLOT: memory}, model, tools={"delete": delete}), ZHANG_SAN.principal)
    session.send("delete it")
    turn = session.send("what is going on?", caller=LI_SI.principal)
    session.send("and now?")
    return calls, turn


@claim("4.3")
def the_scope_is_locked_before_recall(see: Evidence) -> None:
    """Scope is locked before recall; a caller that changes during the turn changes nothing in it."""
    calls, turn = held_then_taken_over()
    keys = [key for _, key in calls]
    see.equal(
        "calls of the provider",
        [what for what, _ in calls],
        ["recall, u_42 speaks", "capture, u_99 speaks", "recall, u_99 speaks", "capture, u_99 speaks"],
    )
    see.equal("the turn's capture has the key of its recall", keys[1], keys[0])
    see.equal("the turn's lock", turn.locks[SLOT].scope.value, ("acme", "u_42"))
    see.true("the next turn has another key", keys[2] != keys[0] and keys[3] == keys[2])


@claim("4.4")
def recalled_messages_carry_a_mark(see: Evidence) -> None:
    """Recalled messages carry the memory.load mark: never system, and not summarised by compaction."""
    session = Session(remembered(*EXAMPLE), ZHANG_SAN.principal)
    session.send(INPUT)
    records = [message for message in session.history if message.kind == RECALL_KIND]
    see.equal("role", [record.role for record in records], ["user"])
    see.true("a mark that says where it came from", records[0].memory is not None and records[0].memory.slot == SLOT)
    compaction = session.compact()
    asked = "".join(message.text for prompt in compaction.prompts for message in prompt.messages)
    see.true("the summary was asked for the talk", INPUT in asked)
    see.true("and not for the memory", EXAMPLE[1] not in asked)
    kept = [message.text for message in session.history if message.kind == RECALL_KIND]
    see.equal("the record afterwards", kept, [FILE_MEMORY["recall"]])


@claim("4.5")
def one_failing_recall_fails_the_turn(see: Evidence) -> None:
    """One slot's recall that raises fails the turn before the model call, and no slot's result is committed."""
    traced = Traced(fails="recall workspace")
    failed = see.raises("the turn", SessionFailedError, lambda: traced.session.send(INPUT))
    see.true("the model was not called", "answer model" not in traced.lines())
    see.equal("the other slot had been asked each time", traced.lines().count("recall profile"), 4)
    see.equal("history", len(traced.session.history), 0)
    see.equal("records of the slot that did not fail", len(traced.session.memory.locks), 0)
    see.equal("attempts, as in the package", None if failed is None else failed.attempts, 4)
    see.raises("the session takes no more messages", SessionFailedError, lambda: traced.session.send("hello?"))


@claim("4.6")
def a_failing_capture_is_logged(see: Evidence) -> None:
    """A capture that raises after the turn is logged only; the reply stands."""
    traced = Traced("it is fine", fails="capture profile")
    turn = traced.session.send(INPUT)
    see.equal("the turn", (turn.status, turn.reply), ("completed", "it is fine"))
    logs = [(log.level, log.message, log.fields["error"]) for log in turn.logs]
    sentence = "Completed-turn memory capture failed."
    see.equal("the log", logs, [("error", sentence, "the store of profile is down")])
    see.true("the other slot's capture ran", "capture workspace" in traced.lines())
    see.equal("the next turn", traced.session.send("hello?").status, "completed")
