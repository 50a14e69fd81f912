"""Recalled messages: checked, committed as records, projected to what a reader may see.

Records are never taken back. A record with an id is replaced by a later one with the same id in the same
slot, namespace and scope; the older one stays in history and is hidden. Source: eve 0.80.1,
``shared/memory-state``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evelab.errors import RecallError
from evelab.keys import digest, item_key
from evelab.message import RECALL_KIND, Attribution, Message
from evelab.text import is_blank, text_to_json, utf8, utf8_length

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evelab.keys import Lock

ITEM_ID_MAX_BYTES = 1024
DIGESTS_KEPT = 1024


@dataclass(frozen=True, slots=True)
class Recalled:
    """One message of a recall result, after validation.

    Attributes:
        content: the text, verbatim.
        item_key: digest of the provider's id, or None.
    """

    content: str
    item_key: str | None = None


@dataclass(frozen=True, slots=True)
class RecallBatch:
    """What one slot recalled in one operation."""

    operation_id: str
    lock: Lock
    messages: tuple[Recalled, ...]


@dataclass(frozen=True, slots=True)
class MemoryState:
    """What a session keeps about its memory between turns.

    Attributes:
        locks: slot -> the lock of the last commit.
        operation_digests: operation id -> digest of what it recalled; the last 1,024.
    """

    locks: Mapping[str, Lock] = field(default_factory=dict)
    operation_digests: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Commit:
    """The result of applying recall batches.

    Attributes:
        appended: the new records, in order.
        state: the memory state after them.
    """

    appended: tuple[Message, ...]
    state: MemoryState


def validate_recall(result: object, slot: str) -> tuple[Recalled, ...]:
    """Check what a recall handler returned.

    Args:
        result: None, or a dict with the one key ``messages``: a list of dicts ``{"content": str}`` or
            ``{"id": str, "content": str}``.
        slot: the slot, for the error.

    Raises:
        RecallError: the first rule that is broken, message by message.
    """
    if result is None:
        return ()

    def refuse(what: str) -> RecallError:
        return RecallError(f'Memory slot "{slot}": {what}', slot=slot)

    if not isinstance(result, dict):
        raise refuse(f"recall must return a dict with messages, or None, not {type(result).__name__}.")
    if unknown := [key for key in result if key != "messages"]:
        raise refuse(f"recall returned unknown keys: {', '.join(map(str, unknown))}.")
    messages = result.get("messages")
    if not isinstance(messages, list | tuple):
        raise refuse(f"recall's messages must be a list, not {type(messages).__name__}.")
    seen: set[str] = set()
    recalled = []
    for index, message in enumerate(messages):
        if not isinstance(message, dict):
            raise refuse(f"recall message {index} must be a dict, not {type(message).__name__}.")
        if unknown := [key for key in message if key not in ("content", "id")]:
            raise refuse(f"recall message {index} has unknown keys: {', '.join(map(str, unknown))}.")
        content = message.get("content")
        if not isinstance(content, str) or is_blank(content):
            raise refuse(f"the content of recall message {index} must be a text that is not blank.")
        if "id" not in message:
            recalled.append(Recalled(content))
            continue
        item_id = message["id"]
        if not isinstance(item_id, str) or not item_id:
            raise refuse(f"the id of recall message {index} must be a string that is not empty.")
        if (size := utf8_length(item_id)) > ITEM_ID_MAX_BYTES:
            raise refuse(
                f"the id of recall message {index} is {size:,} UTF-8 bytes long; the limit is {ITEM_ID_MAX_BYTES:,}."
            )
        if item_id in seen:
            raise refuse(f"recall returned the id of message {index} twice.")
        seen.add(item_id)
        recalled.append(Recalled(content, item_key(item_id)))
    return tuple(recalled)


def batch_digest(messages: Iterable[Recalled]) -> str:
    """The digest by which a replay of an operation is compared with its first result."""
    return digest(utf8(f"[{','.join([_to_json(message) for message in messages])}]"))


def _to_json(message: Recalled) -> str:
    content = text_to_json(message.content)
    if message.item_key is None:
        return f'{{"content":{content}}}'
    return f'{{"content":{content},"itemKey":"{message.item_key}"}}'


def apply_batches(batches: Sequence[RecallBatch], history: Sequence[Message], state: MemoryState) -> Commit:
    """Commit every batch or none: a raise leaves history and state as they were.

    A batch whose operation is known is skipped when its result is the same. A message with an id and the
    content that its identity has now adds nothing. The locks of the new state are those of these batches.

    Raises:
        RecallError: a known operation came back with another result.
    """
    digests = dict(state.operation_digests)
    latest: dict[tuple[str, str, str, str | None], Any] = {
        mark.identity: message.content
        for message in history
        if (mark := message.memory) is not None and mark.item_key is not None
    }
    appended: list[Message] = []
    for batch in batches:
        operation, lock = batch.operation_id, batch.lock
        checksum = batch_digest(batch.messages)
        known = digests.get(operation)
        if known == checksum:
            continue
        if known is not None:
            raise RecallError(
                f'Memory recall operation "{operation}" was replayed with a different result.',
                slot=None,
            )
        digests[operation] = checksum
        slot, namespace_key, scope_key = lock.slot, lock.namespace_key, lock.scope_key
        for index, message in enumerate(batch.messages):
            content, item = message.content, message.item_key
            if item is not None:
                identity = (slot, namespace_key, scope_key, item)
                if latest.get(identity) == content:
                    continue
                latest[identity] = content
            mark = Attribution(index, namespace_key, operation, scope_key, slot, item)
            appended.append(Message("user", content, RECALL_KIND, mark))
    kept = dict(list(digests.items())[-DIGESTS_KEPT:])
    return Commit(tuple(appended), MemoryState({batch.lock.slot: batch.lock for batch in batches}, kept))


def project(history: Sequence[Message], locks: Mapping[str, Lock]) -> tuple[Message, ...]:
    """The part of a history that the current locks let a model or a provider see.

    An ordinary message is kept. A recalled one is kept when its slot has a lock of the same namespace, and
    of the same scope unless the lock's visibility is ``"session"``, and when no later record has its id.
    The mark is taken off; the kind stays.
    """
    last = {
        mark.identity: index
        for index, message in enumerate(history)
        if (mark := message.memory) is not None and mark.item_key is not None
    }
    newest = set(last.values())
    seen: list[Message] = []
    for index, message in enumerate(history):
        mark = message.memory
        if mark is None:
            seen.append(message)
            continue
        lock = locks.get(mark.slot)
        if (
            (mark.item_key is None or index in newest)
            and lock is not None
            and lock.namespace_key == mark.namespace_key
            and (lock.visibility == "session" or lock.scope_key == mark.scope_key)
        ):
            seen.append(Message(message.role, message.content, message.kind, None, message.metadata))
    return tuple(seen)
