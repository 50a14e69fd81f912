"""Claims of 8.12: each exercise has an answer that meets its requirements, and an empty one that does not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evelab.agent import Agent
from evelab.chapter.claims import Evidence, claim
from evelab.chapter.exercises import EXERCISES
from evelab.chapter.incident import incident_tools
from evelab.chapter.notes_in_dict import Notes
from evelab.chapter.policies import tenant_principal
from evelab.chapter.workbench import SLOT
from evelab.file_memory import file_memory
from evelab.provider import Handler, MemoryProvider, define_memory, define_memory_provider
from evelab.scope import by_principal

if TYPE_CHECKING:
    from collections.abc import Callable

    from evelab.backends import InMemory
    from evelab.provider import OperationContext, ToolsContext
    from evelab.tools import Tool


def _meets(see: Evidence, id: str, answer: object, nothing: object) -> None:  # noqa: A002
    exercise = EXERCISES[id]
    for finding in exercise.check(answer).findings:
        see.equal(f"{finding.requirement.text} ({finding.seen.what})", finding.seen.ok, True)
    see.equal("an empty answer is enough", exercise.check(nothing).passed, False)


def _with_slot(scope: str | Handler) -> Callable[[InMemory], Agent]:
    return lambda store: Agent({SLOT: define_memory(provider=file_memory(backend=store), scope=scope)})


def _empty(store: InMemory) -> Agent:
    return Agent()


@claim("12.1")
def an_incident_state(see: Evidence) -> None:
    """Incident state with two tools: kept across turns, fresh in a new session."""
    tools = incident_tools()
    two = {name: tools[name] for name in ("start_incident", "show_incident")}
    _meets(see, "12.1", lambda: Agent(tools=two), Agent)


@claim("12.2")
def a_profile_that_remembers(see: Evidence) -> None:
    """A profile slot with file_memory and by_principal that remembers "I watch payment-api"."""
    _meets(see, "12.2", _with_slot(by_principal), _empty)


@claim("12.3")
def one_scope_for_two_users(see: Evidence) -> None:
    """The scope "acme", and two users' sessions that share one memory."""
    _meets(see, "12.3", _with_slot("acme"), _empty)


@claim("12.4")
def no_tools_for_the_anonymous(see: Evidence) -> None:
    """An anonymous session: the memory tools do not exist."""
    _meets(see, "12.4", _with_slot(tenant_principal), _empty)


@dataclass(slots=True)
class PrintingNotes(Notes):
    """The notes in a dict as 12.5 wants them: every note of the partition is recalled, and each call prints its key."""

    def recall(self, ctx: OperationContext) -> dict[str, Any] | None:
        """Every note of this partition."""
        print(ctx.memory.scope.key)  # noqa: T201 - the exercise asks for it
        mine = self.partitions.get(ctx.memory.scope.key, {})
        return {"messages": [{"id": name, "content": text} for name, text in mine.items()]} if mine else None

    def capture(self, ctx: OperationContext) -> None:
        """Keep what was said, once an operation."""
        print(ctx.memory.scope.key)  # noqa: T201
        Notes.capture(self, ctx)

    def tools(self, ctx: ToolsContext) -> dict[str, Tool]:
        """``forget``; a call prints its key."""
        (forget,) = Notes.tools(self, ctx).values()

        def printing(id: str) -> Any:  # noqa: A002
            print(ctx.memory.scope.key)  # noqa: T201
            return forget.execute(id)

        return {"forget": replace(forget, execute=printing)}


@claim("12.5")
def a_minimal_provider(see: Evidence) -> None:
    """A minimal provider in a dict: recall, capture, a delete tool, deduplicated by operationId, printing each key."""
    nothing = define_memory_provider(recall={"turn.started": lambda ctx: None})
    answer: MemoryProvider = PrintingNotes().provider()
    _meets(see, "12.5", answer, nothing)
