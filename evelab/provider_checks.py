"""The checks of ``check_provider``, one a rule. Each gets a provider with an empty store."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from evelab.auth import Auth, Principal
from evelab.awaiting import resolve
from evelab.compaction import RECORDS_MAX, RECORDS_MAX_BYTES
from evelab.keys import create_lock
from evelab.message import Message, TurnInfo
from evelab.provider import (
    OPERATION_TAG,
    CompactionInfo,
    MemoryContext,
    MemoryProvider,
    OperationContext,
    SessionInfo,
    ToolsContext,
)
from evelab.recall import validate_recall
from evelab.text import utf8_length
from evelab.tools import check_input, slot_tools

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evelab.keys import Lock
    from evelab.tools import Tool

SLOT = "notes"
NOTE = "The rota changes on Wednesday, 值班表每周三更新"
"""What most checks capture: found by ``rota`` and by 周三."""
HOSTILE = (
    "rota'; DROP TABLE notes; --",
    "rota' OR '1'='1",
    'rota" OR "1"="1',
    "rota' OR 1=1 --",
    "rota') OR 1=1 --",
    "rota' OR '1' LIKE '1",
    "rota%'OR'1'LIKE'%1",
    "rota%')OR('1'LIKE'%1",
    "%",
    "_",
    "rota' UNION SELECT * FROM notes --",
)
SYNTAX = (
    '"', 'rota"', "rota AND", "rota OR", "NOT rota", "rota NEAR(", "rota*", "*", "-rota", "rota:x", "(rota", "rota)",
    "^rota", "rota + ", "{rota}", "rota\\", "[rota", "rota ~ 2", "& | ! <->", "rota:*",
)  # fmt: skip
ODD = ("", " ", "🙂", "\0", "\ud800", "?", "的", "x" * 100_000, "rota " * 20_000, "\n\n")


class Fault(Exception):  # noqa: N818
    """What is wrong with a provider, in words."""


class Subject:
    """A provider under test, and the callers who use it."""

    def __init__(self, provider: MemoryProvider, forget: str, many: int) -> None:
        self.provider = provider
        self.forget_key = forget
        self.many = many
        self._turns = 0

    def capture(self, caller: str, text: str, *, replay: int | None = None) -> int:
        """Capture a turn in which the caller said this. Its number, by which it can be replayed."""
        number = self._next() if replay is None else replay
        context = _context(_lock(caller, text, number), "turn.completed", number)
        resolve(self.provider.capture["turn.completed"](context))
        return number

    def recall(self, caller: str, text: str, *, phase: str = "turn.started", replay: int | None = None) -> Any:
        """What a turn that begins with this text recalls, as the handler returned it."""
        number = self._next() if replay is None else replay
        result = resolve(self.provider.recall[phase](_context(_lock(caller, text, number), phase, number)))
        validate_recall(result, SLOT)
        return result

    def found(self, caller: str, text: str) -> list[dict[str, Any]]:
        """The messages of ``recall``."""
        result = self.recall(caller, text)
        return [] if result is None else list(result["messages"])

    def holding(self, caller: str, text: str, question: str) -> list[dict[str, Any]]:
        """The recalled messages that contain a text."""
        return [message for message in self.found(caller, question) if text in message["content"]]

    def forget_tool(self, caller: str) -> Tool | None:
        """The tool that forgets, bound to the caller's partition; None when there is none."""
        if self.provider.tools is None:
            return None
        lock = _lock(caller, "forget it", self._next())
        if lock.turn is None:
            raise AssertionError("a lock of a turn has a turn")
        session = SessionInfo("evelab-check", _auth(caller), lock.turn)
        made = resolve(self.provider.tools(ToolsContext(MemoryContext(lock.scope, SLOT), (), session, lock.turn)))
        return slot_tools(made, slot=SLOT, description=None).get(f"{SLOT}__{self.forget_key}")

    def call(self, tool: Tool, given: Mapping[str, Any]) -> Any:
        """Call a tool as the engine does: an input that does not fit its schema does not reach it."""
        return resolve(tool.execute(**check_input(self.forget_key, tool, dict(given))))

    def _next(self) -> int:
        self._turns += 1
        return self._turns


def _auth(caller: str) -> Auth:
    principal = Principal("user", "evelab-check", caller)
    return Auth(principal, principal)


def _lock(caller: str, text: str, number: int) -> Lock:
    turn = TurnInfo(f"turn_{number}", (Message("user", text, "user"),), number)
    return create_lock("evelab-check", caller, slot=SLOT, turn=turn)


def partition(caller: str) -> str:
    """The partition of a caller: ``memory.scope.key``."""
    return _lock(caller, "", 0).scope.key


def _context(lock: Lock, phase: str, number: int) -> OperationContext:
    turn = lock.turn
    caller = str(lock.scope.value)
    said = () if turn is None else turn.input
    messages = (*said, Message("assistant", "Noted.")) if phase == "turn.completed" else ()
    return OperationContext(
        memory=MemoryContext(lock.scope, SLOT),
        messages=messages,
        operation_id=f"{OPERATION_TAG}:evelab-check:{number}:turn_{number}:{phase}:{SLOT}",
        session=SessionInfo("evelab-check", _auth(caller), turn),
        turn=turn,
        compaction=CompactionInfo("model") if phase == "compaction.completed" else None,
    )


def has_its_handlers(subject: Subject) -> None:
    """A provider, made with the library's function, that captures."""
    if not isinstance(subject.provider, MemoryProvider):
        raise Fault("make() gave something that define_memory_provider() did not make.")
    if "turn.completed" not in subject.provider.capture:
        raise Fault('It has no capture["turn.completed"], so nothing that is said can be recalled.')


def recalls_nothing_of_nothing(subject: Subject) -> None:
    """An empty partition."""
    found = _without_raising(lambda: subject.found("zhang", "rota"), "Recall of an empty partition")
    if found:
        raise Fault(f"An empty partition recalled {len(found)} messages.")


def finds_what_was_said(subject: Subject) -> None:
    """One word of a note finds it, in English and in Chinese."""
    subject.capture("zhang", NOTE)
    for question in ("rota?", "When does the rota change?", "周三有什么事？"):
        found = _without_raising(partial(subject.holding, "zhang", NOTE, question), f"Recall of {question!r}")
        if not found:
            raise Fault(f"{question!r} did not recall the note {NOTE!r}.")


def gives_ids(subject: Subject) -> None:
    """An id, the same each time: a message without one is added to the history at every turn."""
    subject.capture("zhang", NOTE)
    first, second = (subject.holding("zhang", NOTE, "rota") for _ in range(2))
    if not first or not second:
        raise Fault("The note was not recalled.")
    if any("id" not in message for message in first):
        raise Fault("A recalled note has no id: every turn adds it to the history again.")
    if [message["id"] for message in first] != [message["id"] for message in second]:
        raise Fault("A recalled note has another id each time: every turn adds it to the history again.")


def recalls_the_same_again(subject: Subject) -> None:
    """The same operation id, the same result: eve refuses a committed recall that changes."""
    subject.capture("zhang", NOTE)
    subject.capture("zhang", "The rota of the payment team")
    if subject.recall("zhang", "rota", replay=90_001) != subject.recall("zhang", "rota", replay=90_001):
        raise Fault("A replayed recall gave another result, though nothing was written in between.")


def captures_once(subject: Subject) -> None:
    """The same operation id again adds nothing."""
    number = subject.capture("zhang", NOTE)
    for _ in range(2):
        _without_raising(lambda: subject.capture("zhang", NOTE, replay=number), "A replayed capture")
    if (count := len(subject.holding("zhang", NOTE, "rota"))) != 1:
        raise Fault(f"One capture, replayed twice, is recalled {count} times: use operation_id as an idempotency key.")
    subject.capture("li", NOTE, replay=number)
    if not subject.holding("li", NOTE, "rota"):
        raise Fault("A capture was lost because another partition had used its operation id.")


def isolates_partitions(subject: Subject) -> None:
    """What one caller said is not recalled to another."""
    subject.capture("zhang", NOTE)
    _nothing_of_zhangs(subject, "rota")
    subject.capture("li", "The rota is mine, and says lunch")
    _nothing_of_zhangs(subject, "rota")
    if not subject.holding("zhang", NOTE, "rota"):
        raise Fault("A capture of another partition made a note vanish.")


def searches_inside_the_partition(subject: Subject) -> None:
    """A note is found although other partitions hold better matches: the key is in the query, no filter after it."""
    subject.capture("zhang", NOTE)
    for index in range(300):
        subject.capture("li", f"rota rota rota {index}")
    if not subject.holding("zhang", NOTE, "rota"):
        raise Fault(
            "A note was not found once another partition held 300 matches: the partition is filtered after a global "
            "search. Put memory.scope.key into the query."
        )


def forgets(subject: Subject) -> str | None:
    """The tool deletes the note, and a replay of its capture does not bring it back."""
    number = subject.capture("zhang", NOTE)
    tool = subject.forget_tool("zhang")
    if tool is None:
        return f"It has no tool {subject.forget_key}: not checked."
    subject.call(tool, {"id": _id_of(subject, "zhang")})
    if subject.holding("zhang", NOTE, "rota"):
        raise Fault(f"A note is still recalled after {subject.forget_key} deleted it.")
    subject.capture("zhang", NOTE, replay=number)
    if subject.holding("zhang", NOTE, "rota"):
        raise Fault("A replayed capture brought a forgotten note back.")
    return None


def forgets_only_its_own(subject: Subject) -> str | None:
    """The tool is bound to the turn's partition: no input of the model leads it to another."""
    subject.capture("zhang", NOTE)
    theirs = _id_of(subject, "zhang")
    tool = subject.forget_tool("li")
    if tool is None:
        return f"It has no tool {subject.forget_key}: not checked."
    _try_to_call(subject, tool, {"id": theirs})
    if not subject.holding("zhang", NOTE, "rota"):
        raise Fault(f"{subject.forget_key} deleted a note of another partition by its id.")
    fields = [name for name in tool.input_schema.get("properties", {}) if name != "id"]
    if tool.input_schema.get("additionalProperties", True):
        fields += ["partition", "key", "scope", "tenant", "user"]
    for value in (partition("zhang"), "zhang"):
        for chosen in [*[[name] for name in fields], fields]:
            _try_to_call(subject, tool, {"id": theirs, **dict.fromkeys(chosen, value)})
    if not subject.holding("zhang", NOTE, "rota"):
        raise Fault(
            f"{subject.forget_key} took the partition from its input ({', '.join(fields)}) and deleted a note of "
            "another one. Use ctx.memory.scope.key."
        )
    return None


def keeps_sql_as_text(subject: Subject) -> None:
    """SQL in a question, in a note or in an id is text: bind it."""
    subject.capture("zhang", NOTE)
    for text in HOSTILE:
        subject.capture("li", text)
        found = _without_raising(partial(subject.found, "li", text), f"Recall of {text!r}")
        if any(NOTE in message["content"] for message in found):
            raise Fault(f"{text!r} recalled a note of another partition: the input got into the SQL. Bind it.")
    tool = subject.forget_tool("li")
    for text in HOSTILE:
        if tool is not None:
            _try_to_call(subject, tool, {"id": text})
    if not subject.holding("zhang", NOTE, "rota"):
        raise Fault("A note vanished after inputs with SQL in them: they got into a statement. Bind them.")
    if not subject.holding("li", HOSTILE[0], "drop table rota"):
        raise Fault(f"The note {HOSTILE[0]!r} is gone or changed: an input got into a statement. Bind it.")


def keeps_search_syntax_as_text(subject: Subject) -> None:
    """The syntax of a full-text search in a question is text: quote it."""
    subject.capture("zhang", NOTE)
    for text in SYNTAX:
        found = _without_raising(
            partial(subject.holding, "zhang", NOTE, text),
            f"Recall of {text!r}, which is syntax of a full-text search,",
        )
        if "rota" in text and "NOT" not in text and "-" not in text and not found:
            raise Fault(f"{text!r} did not recall the note with the word rota: quote what a user writes.")


def survives_odd_input(subject: Subject) -> None:
    """A recall that raises fails the session, so it raises on no input."""
    subject.capture("zhang", NOTE)
    for text in ODD:
        shown = repr(text if len(text) < 20 else f"{text[:10]}... ({len(text):,} characters)")
        _without_raising(partial(subject.found, "zhang", text), f"Recall of {shown}")
    if not subject.holding("zhang", NOTE, "rota"):
        raise Fault("A note vanished after recalls of odd inputs.")


def keeps_text_as_it_is(subject: Subject) -> None:
    """A note comes back as it was said."""
    for text in (f"rota 1 {HOSTILE[0]}", "rota 2 <script>alert('&amp;')</script>", "rota 3 🙂 é e\u0301 %s {} \\n $1"):
        subject.capture("zhang", text)
        if not subject.holding("zhang", text, " ".join(text.split()[:2])):
            raise Fault(f"The note {text!r} was not recalled as it was said.")


def recalls_after_a_compaction(subject: Subject) -> str | None:
    """The handler of the other phase keeps the same rules."""
    if "compaction.completed" not in subject.provider.recall:
        return "It has no such handler: what was recalled is gone from the prompt for the rest of that turn."
    subject.capture("zhang", NOTE)
    result = subject.recall("zhang", "rota", phase="compaction.completed")
    if not any(NOTE in message["content"] for message in (result or {"messages": ()})["messages"]):
        raise Fault("A compaction in a turn about the rota did not recall the note.")
    other = subject.recall("li", "rota", phase="compaction.completed")
    if other is not None and any(NOTE in message["content"] for message in other["messages"]):
        raise Fault("A note of another partition was recalled after a compaction.")
    return None


def stays_bounded(subject: Subject) -> None:
    """With many notes a recall stays below the size at which eve compacts at every step."""
    for index in range(subject.many):
        subject.capture("zhang", f"rota number {index} of the payment team")
    subject.capture("zhang", NOTE)
    found = subject.found("zhang", "the rota of the payment team")
    size = sum(utf8_length(message["content"]) for message in found)
    if len(found) > RECORDS_MAX or size > RECORDS_MAX_BYTES:
        raise Fault(
            f"With {subject.many:,} notes a recall gave {len(found):,} messages of {size:,} bytes: eve compacts at "
            f"every step beyond {RECORDS_MAX} records or {RECORDS_MAX_BYTES:,} bytes. Search with a limit."
        )
    if not found:
        raise Fault(f"With {subject.many:,} notes about it a recall found nothing.")
    if not subject.holding("zhang", NOTE, "周三"):
        raise Fault(f"Among {subject.many:,} notes the one that matches was not recalled.")


def _nothing_of_zhangs(subject: Subject, question: str) -> None:
    if subject.holding("li", NOTE, question):
        raise Fault("A note was recalled in another partition. Read and write by memory.scope.key.")


def _id_of(subject: Subject, caller: str) -> str:
    found = subject.holding(caller, NOTE, "rota")
    if not found or "id" not in found[0]:
        raise Fault("The note was not recalled with an id, so it cannot be forgotten.")
    return str(found[0]["id"])


def _try_to_call(subject: Subject, tool: Tool, given: Mapping[str, Any]) -> None:
    """Call a tool; it may refuse."""
    try:
        subject.call(tool, given)
    except Exception:
        return


def _without_raising(work: Callable[[], Any], what: str) -> Any:
    try:
        return work()
    except Exception as error:
        raise Fault(f"{what} raised {type(error).__name__}: {error}") from error


CHECKS: Mapping[str, Callable[[Subject], str | None]] = {
    "It recalls and captures.": has_its_handlers,
    "An empty partition recalls nothing.": recalls_nothing_of_nothing,
    "What was said is found again by its words, Chinese ones too.": finds_what_was_said,
    "A recalled note has an id that stays.": gives_ids,
    "A replayed recall gives the same result.": recalls_the_same_again,
    "A replayed capture changes nothing.": captures_once,
    "Partitions are isolated.": isolates_partitions,
    "The search is inside the partition.": searches_inside_the_partition,
    "forget deletes a note for good.": forgets,
    "forget reaches no other partition.": forgets_only_its_own,
    "SQL in an input is text.": keeps_sql_as_text,
    "Search syntax in an input is text.": keeps_search_syntax_as_text,
    "No input makes a recall raise.": survives_odd_input,
    "A note comes back as it was said.": keeps_text_as_it_is,
    "A compaction recalls by the same rules.": recalls_after_a_compaction,
    "A recall stays bounded among many notes.": stays_bounded,
}
