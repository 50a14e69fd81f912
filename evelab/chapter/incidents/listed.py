"""A provider over a plain list, whose partition and comparison can be chosen: made to be got wrong."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evelab.agent import Agent
from evelab.chapter.callers import Caller
from evelab.model import RuleModel, ScriptedModel
from evelab.provider import Default, Handler, MemoryProvider, define_memory, define_memory_provider
from evelab.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evelab.auth import Principal
    from evelab.model import Reply
    from evelab.provider import OperationContext, ToolsContext
    from evelab.tools import Tool
    from evelab.turn import Turn

SLOT = "notes"


def by_key(ctx: OperationContext | ToolsContext) -> str:
    """``memory.scope.key``: the partition that eve gives."""
    return ctx.memory.scope.key


@dataclass(slots=True)
class Listed:
    """Notes in a list.

    Attributes:
        partition: what a note is kept under.
        same: whether a note's partition, the second argument, is the reader's own.
        kept: what becomes of a text when it is kept.
        notes: partition and text, in the order of writing.
        tools: the slot's tools, or None.
    """

    partition: Callable[[Any], str] = by_key
    same: Callable[[str, str], bool] = str.__eq__
    kept: Callable[[str], str] = str
    notes: list[tuple[str, str]] = field(default_factory=list)
    tools: Callable[[Listed, ToolsContext], Mapping[str, Tool]] | None = None

    def provider(self) -> MemoryProvider:
        """The provider."""
        offered = None if self.tools is None else self._offered
        return define_memory_provider(
            recall={"turn.started": self._recall}, capture={"turn.completed": self._capture}, tools=offered
        )

    def _recall(self, ctx: OperationContext) -> dict[str, Any] | None:
        mine = self.partition(ctx)
        found = [text for partition, text in self.notes if self.same(mine, partition)]
        return {"messages": [{"content": text} for text in found]} if found else None

    def _capture(self, ctx: OperationContext) -> None:
        if ctx.turn is not None and ctx.turn.input[-1].text != ASK:
            self.notes.append((self.partition(ctx), self.kept(ctx.turn.input[-1].text)))

    def _offered(self, ctx: ToolsContext) -> dict[str, Tool]:
        return {} if self.tools is None else dict(self.tools(self, ctx))


ASK = "?"
"""A turn that only looks; it is not kept."""


def send(
    provider: MemoryProvider,
    caller: Caller | Principal | None,
    text: str = ASK,
    *replies: Reply | str,
    scope: str | Handler = "everyone",
    namespace: str | Default = "notes-v1",
    environ: Mapping[str, str] | None = None,
) -> Turn:
    """One sentence in a new session."""
    principal = caller.principal if isinstance(caller, Caller) else caller
    memory = define_memory(provider=provider, scope=scope, namespace=namespace)
    agent = Agent({SLOT: memory}, ScriptedModel(replies) if replies else RuleModel(), app_root="opsbot")
    return Session(agent, principal, environ={} if environ is None else environ).send(text)


def recalled(turn: Turn) -> str:
    """What the turn recalled, in one line."""
    return "; ".join(item.content.split("\n")[-1] for item in turn.recalled.get(SLOT, ())) or "nothing"
