"""What a step adds to a conversation in eve's words, and what it leaves out of a prompt."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from evelab.message import CHECKPOINT_KIND, Message
from evelab.text import is_blank, to_json, utf8

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evelab.message import ToolCall

IGNORED = "Ignored because the user continued without responding."
DENIED = "Tool execution was denied."
BOUNDARY = Message("assistant", "…", CHECKPOINT_KIND)
"""Stands between a tool's result and the user's next message."""


def without_blanks(message: Message) -> tuple[Message, ...]:
    """The message without blank texts; nothing when nothing is left."""
    if isinstance(message.content, str):
        return () if is_blank(message.content) else (message,)
    parts = tuple(part for part in message.content if not isinstance(part, str) or not is_blank(part))
    if len(parts) == len(message.content):
        return (message,)
    return (replace(message, content=parts),) if parts else ()


def following(history: Sequence[Message], inputs: tuple[Message, ...]) -> tuple[Message, ...]:
    """The input, set apart from a tool's result that it follows."""
    last = next((message for message in reversed(history) if message.role != "user"), None)
    said = any(message.kind == "user" for message in inputs)
    return (BOUNDARY, *inputs) if said and last is not None and last.role == "tool" else inputs


def pending(waiting: Sequence[ToolCall]) -> str:
    """What the history says of calls that wait for a person."""
    requests = [to_json({"requestId": _request_id(call), "toolName": call.name}) for call in waiting]
    return "\n".join(
        ["[Pending approvals]", "The following tool calls are awaiting approval and have not executed:", *requests]
    )


def _request_id(call: ToolCall) -> str:
    """As long as eve's, which is random: the estimate of a history's size counts it (eve 0.80.1, ``aitxt-`` and 24)."""
    return f"aitxt-{sha256(utf8(call.id)).hexdigest()[:24]}"


def denial(answer: str | None) -> str:
    """Why a call was not run: nobody decided, or a person refused and perhaps said why."""
    if answer is None:
        return IGNORED
    reason = answer.partition(" ")[2].strip()
    return f"{DENIED} The person who denied it wrote: {to_json(reason)}" if reason else DENIED
