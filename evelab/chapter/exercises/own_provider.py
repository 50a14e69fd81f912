"""12.5: a provider of one's own, in a dict: recall, capture, a delete tool, deduplicated, printing each scope.key."""

from __future__ import annotations

import inspect
import io
import itertools
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from evelab.agent import Agent
from evelab.chapter.callers import LI_SI, ZHANG_SAN, Caller
from evelab.chapter.exercises.answers import Play, recalled_text, sample
from evelab.chapter.exercises.requirement import AnswerError, Exercise, Requirement, Seen, quoted
from evelab.chapter.policies import tenant_principal
from evelab.model import Call
from evelab.provider import MemoryProvider, define_memory, define_memory_provider
from evelab.tools import Tool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evelab.message import ToolResult
    from evelab.turn import Turn

SLOT = "notes"
FACT = "payment-api broke on Monday"
CROWD = 60
"""How many notes of somebody else match the search as well."""
_DOMAINS = itertools.count()


@dataclass(slots=True)
class Bench:
    """An answer's provider in a slot, in a domain that no check before has used.

    Attributes:
        printed: what the provider has printed, by operation: ``"recall"``, ``"capture"``, ``"tool"``.
        ids: the ids of the messages that it recalled last.
    """

    answer: MemoryProvider
    printed: dict[str, str] = field(default_factory=dict)
    ids: list[Any] = field(default_factory=list)
    agent: Agent = field(init=False)

    def __post_init__(self) -> None:
        watched = define_memory_provider(
            recall={phase: self._watch("recall", handler) for phase, handler in self.answer.recall.items()},
            capture={phase: self._watch("capture", handler) for phase, handler in self.answer.capture.items()},
            tools=None if self.answer.tools is None else self._tools,
        )
        namespace = f"exercise-{next(_DOMAINS)}"
        slot = define_memory(provider=watched, scope=tenant_principal, namespace=namespace)
        self.agent = Agent({SLOT: slot})

    async def _tools(self, ctx: Any) -> Any:
        made = await _settled(self.answer.tools(ctx) if self.answer.tools else None)
        if not isinstance(made, dict):
            return made
        return {
            key: replace(tool, execute=self._watch("tool", tool.execute)) if isinstance(tool, Tool) else tool
            for key, tool in made.items()
        }

    def _watch(self, what: str, handler: Callable[..., Any]) -> Callable[..., Any]:
        async def watched(*args: Any, **fields: Any) -> Any:
            out = io.StringIO()
            try:
                with redirect_stdout(out):
                    made = await _settled(handler(*args, **fields))
            finally:
                sys.stdout.write(out.getvalue())
                self.printed[what] = self.printed.get(what, "") + out.getvalue()
            if what == "recall" and isinstance(made, dict):
                self.ids = [message.get("id") for message in made.get("messages", [])]
            return made

        return watched

    def says(self, caller: Caller, text: str = FACT) -> Turn:
        """A new session of a caller, and one sentence."""
        return Play(self.agent, caller.principal).say(text)

    def recalled(self, caller: Caller) -> str:
        """What a new session of a caller recalls when it asks about the fact."""
        return recalled_text(self.says(caller, "what broke: payment-api?"))

    def delete(self, caller: Caller, id: object, key: str) -> list[ToolResult]:  # noqa: A002
        """Each tool of the slot, called by a caller with the id in one field and the key in the others."""
        play = Play(self.agent, caller.principal)
        calls = [
            Call(name, fields)
            for name, tool in play.say("?").tools.items()
            for fields in _fillings(tool.input_schema.get("properties", {}), id, key)
        ]
        return [play.say("delete it", call).results[-1] for call in calls]


async def _settled(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


def _fillings(fields: Mapping[str, Any], id: object, key: str) -> list[dict[str, Any]]:  # noqa: A002
    """The inputs to try: the id in each field, and the key in the fields beside it."""
    return [
        {name: _typed(schema, id) if name == chosen else sample(schema, key) for name, schema in fields.items()}
        for chosen in fields
    ] or [{}]


def _typed(schema: Mapping[str, Any], id: object) -> Any:  # noqa: A002
    return id if schema.get("type") in ("integer", "number") else sample(schema, str(id))


def _bench(answer: object) -> Bench:
    if not isinstance(answer, MemoryProvider):
        raise AnswerError(f"The answer is a {type(answer).__name__}, not a provider of define_memory_provider().")
    return Bench(answer)


def _captured(answer: object) -> Seen:
    bench = _bench(answer)
    turn = bench.says(ZHANG_SAN)
    raised = [log.fields.get("error", "") for log in turn.logs if log.level == "error"]
    if raised:
        return Seen(False, f"capture raised: {raised[0]}", "An error in capture is only logged: nobody would notice.")
    if FACT in bench.recalled(ZHANG_SAN):
        return Seen(True, "a new session recalls what was said in the session before")
    return Seen(
        False,
        "a new session recalls nothing of it",
        'Capture on "turn.completed" keeps the text of ctx.turn.input; recall returns {"messages": [...]}.',
    )


def _apart(answer: object) -> Seen:
    bench = _bench(answer)
    bench.says(ZHANG_SAN)
    if FACT in bench.recalled(LI_SI):
        return Seen(
            False, "李四 recalls what 张三 has said", "Keep and look up the notes by ctx.memory.scope.key, each time."
        )
    return Seen(True, "李四 recalls nothing of it")


def _not_crowded_out(answer: object) -> Seen:
    bench = _bench(answer)
    bench.says(ZHANG_SAN)
    crowd = Play(bench.agent, LI_SI.principal)
    for number in range(CROWD):
        crowd.say(f"{FACT} and on day {number}")
    if FACT in bench.recalled(ZHANG_SAN):
        return Seen(True, f"{CROWD} notes of 李四 do not push 张三's out")
    return Seen(
        False,
        f"after {CROWD} notes of 李四, 张三 recalls nothing",
        "The search runs over everybody's notes and is filtered afterwards. Search inside the partition.",
    )


def _once(answer: object) -> Seen:
    bench = _bench(answer)
    play = Play(bench.agent, ZHANG_SAN.principal)
    before = play.session.checkpoint()
    play.say(FACT)
    again = Play(bench.agent, ZHANG_SAN.principal, id=play.session.id)
    again.session.restore(before)
    again.say(FACT)
    times = bench.recalled(ZHANG_SAN).count(FACT)
    if times == 1:
        return Seen(True, "a turn that is run again is written once")
    hint = "The same operation came twice: remember ctx.operation_id, and write nothing when it is known."
    return Seen(False, f"a turn that is run again is written {times} times", hint)


def _twice_said(answer: object) -> Seen:
    bench = _bench(answer)
    bench.says(ZHANG_SAN)
    bench.says(ZHANG_SAN)
    times = bench.recalled(ZHANG_SAN).count(FACT)
    if times == 2:
        return Seen(True, "said in two turns, it is there twice")
    hint = "Two turns are two operations, whatever they say: compare ctx.operation_id, not the text."
    return Seen(False, f"said in two turns, it is there {times} times", hint)


def _deletes(answer: object) -> Seen:
    bench = _bench(answer)
    key = bench.says(ZHANG_SAN).locks[SLOT].scope.key
    bench.recalled(ZHANG_SAN)
    if not bench.ids or bench.ids[0] is None:
        hint = 'Give each recalled message an "id": the tool takes the id of the note to delete.'
        return Seen(False, "no recalled message has an id", hint)
    results = bench.delete(ZHANG_SAN, bench.ids[0], key)
    if FACT not in bench.recalled(ZHANG_SAN):
        return Seen(True, "a tool deletes the note by its id")
    said = f"the tool answered: {quoted(str(results[0].value))}" if results else "the slot offers no tool"
    hint = "tools(ctx) returns {name: define_tool(...)}; the tool takes the id of a note."
    return Seen(False, f"the note is still there; {said}", hint)


def _bound(answer: object) -> Seen:
    bench = _bench(answer)
    key = bench.says(ZHANG_SAN).locks[SLOT].scope.key
    bench.recalled(ZHANG_SAN)
    mine = bench.ids[0] if bench.ids else None
    bench.delete(LI_SI, mine, "somebody")
    if FACT not in bench.recalled(ZHANG_SAN):
        hint = "The tool looks in everybody's notes. Look in those of ctx.memory.scope.key only."
        return Seen(False, "李四 deletes 张三's note by its id", hint)
    bench.delete(LI_SI, mine, key)
    if FACT not in bench.recalled(ZHANG_SAN):
        hint = "The tool reads the key from its arguments, and the model chooses those. Use the key of tools(ctx)."
        return Seen(False, "李四 deletes 张三's note by passing his key", hint)
    return Seen(True, "李四 cannot delete 张三's note, whatever the model passes")


def _prints(answer: object) -> Seen:
    bench = _bench(answer)
    key = bench.says(ZHANG_SAN).locks[SLOT].scope.key
    bench.recalled(ZHANG_SAN)
    bench.delete(ZHANG_SAN, bench.ids[0] if bench.ids else "0", key)
    silent = [what for what in ("recall", "capture", "tool") if key not in bench.printed.get(what, "")]
    principal = ZHANG_SAN.principal
    raw = "" if principal is None or principal.principal_id is None else principal.principal_id
    if any(raw in text for text in bench.printed.values()):
        hint = "A log must not name people: print ctx.memory.scope.key, not scope.value."
        return Seen(False, f"the raw scope is printed ({raw})", hint)
    if not silent:
        return Seen(True, "recall, capture and the tool each print scope.key")
    return Seen(False, f"no scope.key printed by: {', '.join(silent)}", "print(ctx.memory.scope.key) in each of them.")


EXERCISE = Exercise(
    "12.5",
    "A provider of your own",
    (
        Requirement("What is said in one session is recalled in the next.", "8.7", _captured, is_basis=True),
        Requirement("Nobody else recalls it.", "8.7", _apart),
        Requirement("Many notes of others do not push it out.", "8.7", _not_crowded_out),
        Requirement("A turn that is run again is written once.", "8.7", _once),
        Requirement("The same words in two turns are two notes.", "8.7", _twice_said),
        Requirement("A tool deletes a note by its id.", "8.7", _deletes),
        Requirement("It deletes in the caller's own memory only.", "8.7", _bound),
        Requirement("Each call prints scope.key.", "8.5", _prints),
    ),
)
