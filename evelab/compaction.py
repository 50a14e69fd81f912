"""When recalled records have grown too many, and which of them a compaction keeps.

A compaction summarises the ordinary messages only. Recalled records are kept: those without an id all, of
those with an id the last of each. Source: eve 0.80.1, ``shared/memory-state``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evelab.message import Message, json_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

RECORDS_MAX = 512
RECORDS_MAX_BYTES = 262_144


@dataclass(frozen=True, slots=True)
class Split:
    """A history in two.

    Attributes:
        memory: the recalled records that stay, in order, hidden scopes included.
        ordinary: everything else, in order.
    """

    memory: tuple[Message, ...]
    ordinary: tuple[Message, ...]


def canonicalise(history: Sequence[Message]) -> Split:
    """Keep the last record of each identity, every record without an id, and the rest apart."""
    last = {
        message.memory.identity: index
        for index, message in enumerate(history)
        if message.memory is not None and message.memory.item_key is not None
    }
    memory = tuple(
        message
        for index, message in enumerate(history)
        if message.memory is not None and (message.memory.item_key is None or last[message.memory.identity] == index)
    )
    return Split(memory, tuple(message for message in history if message.memory is None))


def record_bytes(history: Iterable[Message]) -> int:
    """UTF-8 bytes of all recalled records, as JSON with their marks."""
    return sum(json_bytes(message) for message in history if message.memory is not None)


def should_canonicalise(history: Sequence[Message]) -> bool:
    """Whether there are more than 512 recalled records, or more than 262,144 bytes of them.

    All records count, also those that a later one has replaced.
    """
    count = sum(message.memory is not None for message in history)
    return count > RECORDS_MAX or (count > 0 and record_bytes(history) > RECORDS_MAX_BYTES)


def place(history: Sequence[Message], appended: Sequence[Message], *, between_turns: bool) -> tuple[Message, ...]:
    """Put the records of a compaction into the new history: before the turn's input, or at the end."""
    inputs = [index for index, message in enumerate(history) if message.kind == "user"]
    at = inputs[-1] if inputs and not between_turns else len(history)
    return (*history[:at], *appended, *history[at:])
