"""Messages of a session's history, and the mark that a recalled message carries."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from evelab.errors import HistoryError
from evelab.text import to_json, utf8_length

if TYPE_CHECKING:
    from collections.abc import Mapping

RECALL_KIND = "memory.load"
"""The kind of a recalled message. The model sees an ordinary user message: the kind is not sent."""
CHECKPOINT_KIND = "context.compaction"
"""The kind of the two messages that a compaction puts in place of the older ones."""
MEMORY_FIELD = "eve.memory"
ATTRIBUTION_VERSION = 1
NOTHING: Mapping[str, Any] = {}


class Attribution(NamedTuple):
    """Where a recalled message came from: digests only, never a raw scope.

    A named tuple, since a commit makes hundreds of them and a frozen dataclass takes twice the time.

    Attributes:
        batch_index: its place in the handler's result.
        namespace_key: digest of the namespace.
        operation_id: the recall that brought it.
        scope_key: digest of the scope (not ``memory.scope.key``).
        slot: the memory slot.
        item_key: digest of the provider's id, or None for a message without one.
    """

    batch_index: float
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
    """What a tool call gave: a JSON value, a text, the text of an error, or why it was not run.

    Attributes:
        type: ``"json"``, ``"text"``, ``"error-text"`` or ``"execution-denied"``.
        value: the value; when it was not run, the reason, or None where eve gives none.
    """

    id: str
    name: str
    type: str
    value: Any

    @property
    def output(self) -> dict[str, Any]:
        """The result as eve stores it."""
        if self.type == "execution-denied":
            return {"type": self.type} if self.value is None else {"reason": self.value, "type": self.type}
        return {"type": self.type, "value": self.value}

    def __str__(self) -> str:
        return f"<result {to_json(self.output)}>"


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
        size: what ``json_bytes`` has counted; 0 when it has not.
    """

    role: str
    content: Content
    kind: str | None = None
    memory: Attribution | None = None
    metadata: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    size: int = field(default=0, init=False, compare=False, repr=False)

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


def attribution_json(mark: Attribution) -> dict[str, Any]:
    """A mark as eve stores it."""
    item = {} if mark.item_key is None else {"itemKey": mark.item_key}
    return {
        "batchIndex": mark.batch_index,
        **item,
        "namespaceKey": mark.namespace_key,
        "operationId": mark.operation_id,
        "scopeKey": mark.scope_key,
        "slot": mark.slot,
        "version": ATTRIBUTION_VERSION,
    }


def read_attribution(value: object) -> Attribution:
    """A stored mark.

    Raises:
        HistoryError: a field is missing or of a wrong kind, or the version is another.
    """
    fields = value if isinstance(value, dict) else {}
    match fields:
        case {
            "batchIndex": int() | float() as index,
            "namespaceKey": str() as namespace_key,
            "operationId": str() as operation_id,
            "scopeKey": str() as scope_key,
            "slot": str() as slot,
            "version": 1 as version,
        } if not isinstance(index, bool) and version is not True:
            item = fields.get("itemKey", _NO_ITEM)
            if item is _NO_ITEM:
                return Attribution(index, namespace_key, operation_id, scope_key, slot)
            if isinstance(item, str):
                return Attribution(index, namespace_key, operation_id, scope_key, slot, item)
    raise HistoryError("The history holds a memory mark that cannot be read.")


_NO_ITEM = object()


def message_json(message: Message) -> dict[str, Any]:
    """A message as eve stores it, field by field in eve's order; text content only."""
    kind = {} if message.kind is None else {"kind": message.kind}
    mark = {} if message.memory is None else {MEMORY_FIELD: attribution_json(message.memory)}
    metadata = {**message.metadata, **mark}
    stored = {"content": message.text, **kind, "role": message.role}
    return {**stored, "metadata": metadata} if metadata else stored


def read_message(stored: Mapping[str, Any]) -> Message:
    """A stored message with text content.

    Raises:
        HistoryError: its mark cannot be read.
    """
    metadata = dict(stored.get("metadata") or {})
    marked = metadata.get(MEMORY_FIELD) is not None
    mark = read_attribution(metadata.pop(MEMORY_FIELD)) if marked else None
    return Message(stored["role"], stored["content"], stored.get("kind"), mark, metadata or NOTHING)


def json_bytes(message: Message) -> int:
    """UTF-8 bytes of a message's JSON: as it is stored with its mark, without one as the model has it.

    The first count is kept: a message never changes, and a long history is measured at every step.
    """
    if not message.size:
        whole = message_json(message) if message.memory is not None else model_json(message)
        object.__setattr__(message, "size", utf8_length(to_json(whole)))
    return message.size


def model_json(message: Message) -> dict[str, Any]:
    """A message as eve's model layer has it: the model's own messages are lists of parts."""
    if message.role == "assistant" and message.kind is None:
        return {"role": "assistant", "content": [_part_json(part) for part in message_parts(message.content)]}
    if message.role == "tool":
        return {"role": "tool", "content": [_part_json(part) for part in message_parts(message.content)]}
    if message.role == "assistant":
        return {"role": "assistant", "content": message.text}
    return message_json(message)


def message_parts(content: Content) -> tuple[str | ToolCall | ToolResult, ...]:
    """The content as parts, one text when it is a string."""
    return (content,) if isinstance(content, str) else content


def _part_json(part: str | ToolCall | ToolResult) -> dict[str, Any]:
    match part:
        case str():
            return {"type": "text", "text": part}
        case ToolCall():
            return {"type": "tool-call", "toolCallId": part.id, "toolName": part.name, "input": dict(part.input)}
    return {"type": "tool-result", "toolCallId": part.id, "toolName": part.name, "output": part.output}
