"""Messages of a session's history, and the mark that a recalled message carries."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from evelab.text import to_json

if TYPE_CHECKING:
    from collections.abc import Mapping

RECALL_KIND = "memory.load"
"""The kind of a recalled message. The model sees an ordinary user message: the kind is not sent."""


@dataclass(frozen=True, slots=True)
class Attribution:
    """Where a recalled message came from: digests only, never a raw scope.

    Attributes:
        batch_index: its place in the handler's result.
        namespace_key: digest of the namespace.
        operation_id: the recall that brought it.
        scope_key: digest of the scope (not ``memory.scope.key``).
        slot: the memory slot.
        item_key: digest of the provider's id, or None for a message without one.
    """

    batch_index: int
    namespace_key: str
    operation_id: str
    scope_key: str
    slot: str
    item_key: str | None = None

    @property
    def identity(self) -> tuple[str, str, str, str | None]:
        """What a later message must share to replace this one."""
        return (self.slot, self.namespace_key, self.scope_key, self.item_key)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the model asks for."""

    id: str
    name: str
    input: Mapping[str, Any]

    def __str__(self) -> str:
        return f"<call {self.name} {to_json(dict(self.input))}>"


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool call gave: a JSON value, or the text of an error.

    Attributes:
        type: ``"json"`` or ``"error-text"``.
    """

    id: str
    name: str
    type: str
    value: Any

    def __str__(self) -> str:
        return "<result " + to_json({"type": self.type, "value": self.value}) + ">"


Content: TypeAlias = "str | tuple[str | ToolCall | ToolResult, ...]"


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a history or of a prompt.

    Attributes:
        role: ``"system"``, ``"user"``, ``"assistant"`` or ``"tool"``.
        content: text, or parts: texts, tool calls and tool results.
        kind: ``"user"`` for a turn's input, ``"memory.load"`` for a recalled message, None otherwise.
        memory: the mark of a recalled message, in history only.
        metadata: further metadata, carried along.
    """

    role: str
    content: Content
    kind: str | None = None
    memory: Attribution | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The content as one string; calls and results in angle brackets."""
        return self.content if isinstance(self.content, str) else "".join(map(str, self.content))


@dataclass(frozen=True, slots=True)
class TurnInfo:
    """A turn as a provider sees it.

    Attributes:
        id: ``turn_<sequence>``.
        input: the messages that the turn begins with.
        sequence: 0 for a session's first turn.
    """

    id: str
    input: tuple[Message, ...]
    sequence: int
