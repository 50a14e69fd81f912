"""Providers and agents that tests are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evelab import Agent, Principal, ScriptedModel, define_memory, define_memory_provider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from evelab.model import Reply
    from evelab.provider import MemoryDefinition


def person(name: str, tenant: str = "acme") -> Principal:
    return Principal("user", "app", name, attributes={"tenantId": tenant})


def texts(*contents: str) -> dict[str, Any]:
    """A recall result of messages without ids."""
    return {"messages": [{"content": content} for content in contents]}


def keyed(**contents: str) -> dict[str, Any]:
    """A recall result of messages with ids."""
    return {"messages": [{"id": name, "content": content} for name, content in contents.items()]}


class Script:
    """A handler that gives one entry after the other and keeps what it was called with; the last repeats."""

    def __init__(self, *entries: Any) -> None:
        self.entries = list(entries)
        self.calls: list[Any] = []

    def __call__(self, ctx: Any, *_: Any) -> Any:
        self.calls.append(ctx)
        entry = self.entries.pop(0) if len(self.entries) > 1 else self.entries[0]
        if isinstance(entry, BaseException):
            raise entry
        return entry


def slot(
    recall: Callable[[Any], Any] | None = None,
    *,
    scope: Any = "acme",
    namespace: Any = "n",
    after_compaction: Callable[[Any], Any] | None = None,
    capture: Callable[[Any], Any] | None = None,
    before_compaction: Callable[[Any], Any] | None = None,
    tools: Callable[[Any], Any] | None = None,
    **fields: Any,
) -> MemoryDefinition:
    """A slot of scripted handlers."""
    recalls = {"turn.started": recall or Script(None)}
    if after_compaction is not None:
        recalls["compaction.completed"] = after_compaction
    captures = {}
    if capture is not None:
        captures["turn.completed"] = capture
    if before_compaction is not None:
        captures["compaction.requested"] = before_compaction
    provider = define_memory_provider(recall=recalls, capture=captures, tools=tools)
    return define_memory(provider=provider, scope=scope, namespace=namespace, **fields)


def agent(replies: Iterable[str | Reply | Exception] = (), **slots: MemoryDefinition) -> Agent:
    """An agent with a scripted model."""
    return Agent(slots, model=ScriptedModel(replies))
