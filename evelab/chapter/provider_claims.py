"""Claims of 8.7 about the provider's contract: faces, fields, ids, replays, names, phases and limits."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from evelab.agent import Agent
from evelab.chapter.callers import GLOBEX, ZHANG_SAN
from evelab.chapter.claims import Evidence, claim
from evelab.chapter.policies import tenant_principal
from evelab.chapter.workbench import NAMESPACE, SLOT
from evelab.errors import DefinitionError, RecallError, ScopeError, SessionFailedError
from evelab.keys import create_lock
from evelab.model import Reply, RuleModel, ScriptedModel, call
from evelab.provider import (
    CAPTURE_PHASES,
    RECALL_PHASES,
    OperationContext,
    ToolsContext,
    define_memory,
    define_memory_provider,
)
from evelab.session import Session
from evelab.tools import define_tool

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PHASES = (*RECALL_PHASES, *CAPTURE_PHASES)


@dataclass(slots=True)
class Recorder:
    """A provider with every face. It keeps what it is called with, and recalls what it is told to.

    Attributes:
        calls: phase, or ``"tools"`` or ``"tool"``, and the context, in order.
        messages: what each recall returns.
    """

    calls: list[tuple[str, Any]] = field(default_factory=list)
    messages: list[Mapping[str, Any]] = field(default_factory=list)

    def session(self, *replies: Reply | str, caller: Any = ZHANG_SAN) -> Session:
        """A new session with this provider in one slot."""
        provider = define_memory_provider(
            recall={phase: self._handler(phase) for phase in RECALL_PHASES},
            capture={phase: self._handler(phase) for phase in CAPTURE_PHASES},
            tools=self._tools,
        )
        memory = define_memory(provider=provider, scope=tenant_principal, namespace=NAMESPACE)
        model = ScriptedModel(replies) if replies else RuleModel()
        return Session(Agent({SLOT: memory}, model), caller.principal, id="recorded", environ={})

    def _handler(self, phase: str) -> Any:
        def handler(ctx: OperationContext) -> Any:
            self.calls.append((phase, ctx))
            return {"messages": list(self.messages)} if phase in RECALL_PHASES else None

        return handler

    def _tools(self, ctx: ToolsContext) -> Any:
        self.calls.append(("tools", ctx))
        schema = {"type": "object", "properties": {"tenant": {"type": "string"}}}

        def note(tenant: str = "") -> str:
            self.calls.append(("tool", ctx))
            return f"written into {ctx.memory.scope.value}"

        return {"note": define_tool(description="Write a note.", input_schema=schema, execute=note)}

    def seen(self, phase: str) -> list[Any]:
        """The contexts of one phase, in order."""
        return [ctx for name, ctx in self.calls if name == phase]


def every_phase() -> Recorder:
    """A session that comes through all four phases: a turn, then a compaction."""
    recorder = Recorder(messages=[{"id": "fact", "content": "a fact"}])
    session = recorder.session()
    session.send("first words")
    session.compact()
    return recorder


@claim("7.1")
def the_three_faces(see: Evidence) -> None:
    """Provider: recall (turn.started required, compaction.completed), capture (two phases), tools."""
    recorder = every_phase()
    order = [phase for phase, _ in recorder.calls]
    wanted = ["turn.started", "tools", "turn.completed", "compaction.requested", "compaction.completed"]
    see.equal("calls of a turn and a compaction", order, wanted)
    required = [row["phase"] for row in contract() if row["required"] == "yes"]
    see.equal("required", required, ["turn.started"])
    missing = see.raises("without recall at turn.started", DefinitionError, lambda: define_memory_provider(recall={}))
    see.true("the error names it", missing is not None and "turn.started" in str(missing))
    only = define_memory_provider(recall={"turn.started": lambda ctx: None})
    memory = define_memory(provider=only, scope="acme", namespace=NAMESPACE)
    see.equal("nothing else is required", Session(Agent({SLOT: memory})).send("?").status, "completed")
    handlers: dict[str, Any] = {"turn.started": lambda ctx: None, "turn.ended": lambda ctx: None}
    see.raises("a phase that does not exist", DefinitionError, lambda: define_memory_provider(recall=handlers))


def contract() -> list[dict[str, str]]:
    """Every face and phase of a provider, and whether one can be made without it; tried."""

    def made_without(face: str, phase: str) -> bool:
        whole: dict[str, Any] = {
            "recall": {one: lambda ctx: None for one in RECALL_PHASES},
            "capture": {one: lambda ctx: None for one in CAPTURE_PHASES},
            "tools": lambda ctx: None,
        }
        if face == "tools":
            del whole["tools"]
        else:
            del whole[face][phase]
        try:
            define_memory_provider(**whole)
        except DefinitionError:
            return False
        return True

    faces = [("recall", phase) for phase in RECALL_PHASES] + [("capture", phase) for phase in CAPTURE_PHASES]
    return [
        {"face": face, "phase": phase, "required": "no" if made_without(face, phase) else "yes"}
        for face, phase in [*faces, ("tools", "-")]
    ]


def filled(ctx: object) -> dict[str, bool]:
    """The fields of a context, and whether each holds something."""
    return {one.name: getattr(ctx, one.name) is not None for one in fields(ctx)}  # type: ignore[arg-type]


@claim("7.2")
def the_fields_of_a_context(see: Evidence) -> None:
    """Fields of the operation context, eight of them, and the extra turn and compaction fields of each phase."""
    recorder = every_phase()
    common = ("memory", "messages", "operation_id", "session", "abort_signal")
    for phase in PHASES:
        (ctx,) = recorder.seen(phase)
        see.true(f"{phase}: the common fields", all(filled(ctx)[name] for name in common))
        see.equal(f"{phase}: slot", ctx.memory.slot, SLOT)
        scope = ctx.memory.scope
        see.equal(f"{phase}: namespace and value", (scope.namespace, scope.value), (NAMESPACE, ("acme", "u_42")))
        see.equal(f"{phase}: key", scope.key, create_lock(NAMESPACE, ("acme", "u_42"), slot=SLOT).scope.key)
        see.equal(f"{phase}: compaction", filled(ctx)["compaction"], phase.startswith("compaction"))
        see.equal(f"{phase}: turn, which is never None in practice", ctx.turn.id, "turn_0")
    requested, completed = recorder.seen("compaction.requested")[0], recorder.seen("compaction.completed")[0]
    see.true("usage_input_tokens when it is requested", requested.compaction.usage_input_tokens > 0)
    see.equal("and not when it is completed", completed.compaction.usage_input_tokens, None)
    see.equal(
        "the turn's input", [message.text for message in recorder.seen("turn.started")[0].turn.input], ["first words"]
    )


@claim("7.3")
def an_operation_has_one_id(see: Evidence) -> None:
    """operationId is stable per session, turn, step, phase and slot; replayed with another result it is an error."""
    recorder = every_phase()
    ids = [ctx.operation_id for phase, ctx in recorder.calls if phase in PHASES]
    see.equal("ids of the four phases", len(set(ids)), 4)
    see.equal("the first", ids[0], f"eve-memory-operation-v1:recorded:0:turn_0:turn.started:{SLOT}")
    see.equal("the same session once more", [ctx.operation_id for p, ctx in every_phase().calls if p in PHASES], ids)
    retried = Recorder(messages=[{"content": "one"}])
    session = retried.session()
    before = session.checkpoint()
    session.send("hello")
    retried.messages = [{"content": "two"}]
    session.restore(before)
    turn = session.send("hello")
    see.equal("before a commit another result is taken", [item.content for item in turn.recalled[SLOT]], ["two"])
    session = retried.session()
    session.send("hello")
    first = session.compact()
    retried.messages = [{"content": "three"}]
    second = session.compact()
    see.equal("two compactions between two turns have one id: the first", first.error, None)
    see.true("the second, with another result, is an error", isinstance(second.error, RecallError))


def ids_in_history(*results: Iterable[Mapping[str, Any]]) -> list[str]:
    """What the model sees of the recalled messages after some turns, one recall result a turn."""
    recorder = Recorder()
    session = recorder.session("ok")
    turn = None
    for result in results:
        recorder.messages = list(result)
        turn = session.send("?")
    return [] if turn is None else [m.text for m in turn.context if m.kind == "memory.load"]


TEA, COFFEE, NOTE = {"id": "drink", "content": "tea"}, {"id": "drink", "content": "coffee"}, {"content": "a note"}


@claim("7.4")
def what_an_id_does(see: Evidence) -> None:
    """Recall ids: same id replaces; same id and content is a no-op; no id accumulates; left out is not removed."""
    see.equal("the same id, other content", ids_in_history([TEA], [COFFEE]), ["coffee"])
    see.equal("the same id, the same content", ids_in_history([TEA], [TEA]), ["tea"])
    see.equal("no id", ids_in_history([NOTE], [NOTE]), ["a note", "a note"])
    see.equal("left out", ids_in_history([TEA], []), ["tea"])
    twice = see.raises("one id twice in one result", SessionFailedError, lambda: ids_in_history([TEA, COFFEE]))
    see.true("the error says so", twice is not None and "twice" in str(twice))


def tool_named(key: str, *, slot: str = SLOT) -> tuple[list[str], list[str]]:
    """The tools that a turn offers, and what the log says, when a provider has one tool of this key."""
    tool = define_tool(description="A tool.", execute=lambda: None)
    provider = define_memory_provider(recall={"turn.started": lambda ctx: None}, tools=lambda ctx: {key: tool})
    memory = define_memory(provider=provider, scope="acme", namespace=NAMESPACE)
    turn = Session(Agent({slot: memory}, ScriptedModel()), environ={}).send("?")
    return list(turn.tools), [str(log.error) for log in turn.logs]


TOOL_KEYS = {"forget": True, "v2-forget_all": True, "1": True, "für": False, "a b": False, "a.b": False}
"""A tool's key, and whether its name may be offered in a slot called profile."""


@claim("7.5")
def the_names_of_tools(see: Evidence) -> None:
    """Tool names: <slot>__<key>, start with a letter, letters digits _ - only, at most 64 characters."""
    for key, allowed in TOOL_KEYS.items():
        see.equal(repr(key), tool_named(key)[0], [f"{SLOT}__{key}"] if allowed else [])
    longest = "k" * (64 - len(f"{SLOT}__"))
    see.equal("64 characters", [len(name) for name in tool_named(longest)[0]], [64])
    offered, logged = tool_named(longest + "k")
    see.equal("65 characters", (offered, len(logged)), ([], 1))


@claim("7.6")
def a_tool_keeps_its_scope(see: Evidence) -> None:
    """A provider's tool is bound to the turn's locked scope: no argument of the model redirects it elsewhere."""
    recorder = Recorder()
    session = recorder.session(call(f"{SLOT}__note", tenant="globex"), "ok")
    turn = session.send("write it into globex")
    see.equal("what the tool did", turn.results[-1].value, "written into ('acme', 'u_42')")
    see.equal("in a session of globex", _written_by_globex(), "written into ('globex', 'u_42')")
    made = recorder.seen("tools")
    see.true("tools() ran again for the call, as in the package", len(made) > 1)
    see.equal("each time with the locked key", {ctx.memory.scope.key for ctx in made}, {turn.locks[SLOT].scope.key})


def _written_by_globex() -> object:
    session = Recorder().session(call(f"{SLOT}__note", tenant="acme"), "ok", caller=GLOBEX)
    return session.send("write it").results[-1].value


def messages_in_phases() -> dict[str, list[str]]:
    """What ``messages`` holds in each phase of a second turn and the compaction after it."""
    recorder = Recorder(messages=[{"id": "fact", "content": "a fact"}])
    session = recorder.session("first answer", "second answer", "a summary")
    session.send("first words")
    recorder.calls.clear()
    session.send("second words")
    session.compact()
    return {phase: [m.text for m in recorder.seen(phase)[0].messages] for phase in PHASES}


@claim("7.8")
def what_messages_holds(see: Evidence) -> None:
    """What messages holds in each of the four phases."""
    held = messages_in_phases()
    first, both = ["a fact", "first words", "first answer"], ["second words", "second answer"]
    see.equal("turn.started: the history before it, without the new input", held["turn.started"], first)
    see.equal("turn.completed: the settled history", held["turn.completed"], first + both)
    see.equal("compaction.requested: the history before it is rewritten", held["compaction.requested"], first + both)
    after = held["compaction.completed"]
    see.equal("compaction.completed: the recalled record first", after[0], "a fact")
    see.true("then the checkpoint, with the summary", any("a summary" in text for text in after))
    see.true("and not the talk", "first answer" not in after)


def _scope(value: Any, namespace: str = NAMESPACE) -> Any:
    return lambda: create_lock(namespace, value, slot=SLOT)


LIMITS: Mapping[str, tuple[Any, Any, int]] = {
    "namespace": (_scope("s", "n" * 1024), _scope("s", "n" * 1025), 1024),
    "a component of a scope": (_scope(("é" * 512, "b")), _scope(("é" * 512 + "a", "b")), 1024),
    "components of a scope": (_scope(("a",) * 16), _scope(("a",) * 17), 16),
    "both encoded": (_scope(("a" * 1000,) * 4, "n" * 44), _scope(("a" * 1000,) * 4, "n" * 45), 4096),
}
"""What is limited: a call that just fits, one that is over, and the limit."""


@claim("7.11")
def the_limits_are_errors(see: Evidence) -> None:
    """Namespace 1024 bytes, a scope component 1024, 16 components, 4096 encoded, recall id 1024: errors, no cutting."""
    for what, (fits, over, limit) in LIMITS.items():
        see.true(f"{what}: {limit} fits", fits().scope.key)
        refused = see.raises(f"{what}: one more", ScopeError, over)
        see.true(f"{what}: the error names the limit", refused is not None and f"{limit:,}" in str(refused))
    see.equal("a recall id of 1024 bytes", ids_in_history([{"id": "i" * 1024, "content": "x"}]), ["x"])
    long_id = [{"id": "i" * 1025, "content": "x"}]
    see.raises("a recall id of 1025 bytes", SessionFailedError, lambda: ids_in_history(long_id))
