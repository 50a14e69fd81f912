"""How a long history is made short: token estimates, and a summary in place of the older messages.

The estimate is a quarter token a UTF-8 byte of the messages' JSON. The newest messages stay as they are, as
many as fit; the older ones become a checkpoint. The prompt for the summary is eve's own text (eve 0.80.1,
``harness/compaction``, Apache-2.0, by Vercel), so that estimates agree with it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evelab.errors import SummaryError
from evelab.message import CHECKPOINT_KIND, Message, ToolCall, ToolResult, json_bytes, message_parts
from evelab.text import is_blank, to_json, trim, utf8_length
from evelab.transcript import cap, prompt_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evelab.tools import Tool

CHECKPOINT_MARKER = "Summary of our conversation so far:"
CONTINUE_KIND = "execution.continuation"
SUMMARY_RESERVE_TOKENS = (64, 2048)
TOOL_RESULT_MAX = 2000
SYSTEM_PROMPT = """You are performing a CONTEXT CHECKPOINT COMPACTION. \
Create a handoff summary for another LLM that will resume the task.

Include:

- Current progress and key decisions made
- Important context, constraints, or user preferences
- What remains to be done, with clear next steps
- Any critical data, examples, or references needed to continue

Be concise, structured, and focused on helping the next LLM seamlessly continue the work. \
Write in the same language as the conversation. \
Do not continue the conversation, answer its questions, or invent facts. Only output the handoff summary."""
_REDUCED = (
    "[Truncated by eve: tool result reduced during context compaction. Re-run the tool if you need the full output.]"
    "\n\n"
)


@dataclass(frozen=True, slots=True)
class CompactionPolicy:
    """When a history is compacted.

    Attributes:
        threshold: estimated tokens of a prompt above which its history is compacted.
        recent_window: how many of the newest messages stay as they are, at most.
    """

    threshold: float = 100_000
    recent_window: int = 10


@dataclass(frozen=True, slots=True)
class KnownTokens:
    """A prompt's size by the model's own count.

    Attributes:
        tokens: input tokens.
        messages: how many messages that prompt had, the system message aside.
    """

    tokens: float
    messages: int


def estimate_tokens(messages: Sequence[Message]) -> float:
    """A quarter of the UTF-8 bytes of the messages' JSON."""
    return (1 + sum(json_bytes(message) + 1 for message in messages) + (not messages)) / 4


def envelope_tokens(instructions: str, tools: Mapping[str, Tool]) -> float:
    """The estimate of what a prompt holds beside its messages."""
    offered = [
        {"name": name, "description": tool.description, "inputSchema": _closed(dict(tool.input_schema))}
        for name, tool in tools.items()
    ]
    return (utf8_length(to_json({"instructions": instructions, "messages": [], "tools": offered})) - 2) / 4


def input_tokens(
    prompt: Sequence[Message], known: KnownTokens | None, envelope: float, known_envelope: float | None
) -> float:
    """The estimate of a whole prompt, from the model's own last count where there is one."""
    if known is None or known.messages > len(prompt):
        return estimate_tokens(prompt) + envelope
    grown = max(0, envelope - (known_envelope or 0))
    return known.tokens + estimate_tokens(prompt[known.messages :]) + grown


def is_too_long(tokens: float, prompt: Sequence[Message], policy: CompactionPolicy) -> bool:
    """Whether a prompt must be compacted: with room for the prompt that asks for the summary."""
    return bool(prompt) and tokens + _PROMPT_OVERHEAD > policy.threshold


def shorten(
    messages: Sequence[Message],
    policy: CompactionPolicy,
    summarise: Callable[[tuple[Message, Message]], str],
    *,
    force: bool,
    extra: float,
) -> tuple[Message, ...]:
    """The messages made short enough.

    Args:
        messages: the ordinary messages, without recalled records.
        policy: the threshold, less what stands beside the messages, and the window.
        summarise: asks the model, with a system and a user message.
        force: summarise in any case, and keep one message.
        extra: tokens that the estimate of the messages alone misses.

    Raises:
        SummaryError: the model's summary is blank.
    """
    previous, conversation = _previous_checkpoint(messages)
    window = _window(conversation, policy.threshold, 1 if force else policy.recent_window)
    if not force:
        older, recent = _split(conversation, window)
        if not older and previous is None:
            return _without_tool_results(recent)
        kept = () if previous is None else _checkpoint(previous)
        capped = _guarded((*kept, *map(_capped, older), *recent), conversation, policy.threshold)
        if estimate_tokens(capped) + _PROMPT_OVERHEAD + extra <= policy.threshold:
            return capped
    while True:
        older, recent = _split(conversation, window)
        asked = prompt_text(older, previous, policy.threshold)
        summary = summarise((Message("system", SYSTEM_PROMPT), Message("user", asked, CHECKPOINT_KIND)))
        if is_blank(summary):
            raise SummaryError("The compaction model returned an empty summary. Finish reason: stop.")
        whole = _guarded((*_checkpoint(summary), *recent), conversation, policy.threshold)
        if estimate_tokens(whole) <= policy.threshold:
            return whole
        less = _guarded((*_checkpoint(summary), *_without_tool_results(recent)), conversation, policy.threshold)
        if estimate_tokens(less) <= policy.threshold or window == 0:
            return less
        window -= 1


def _closed(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema as a model is given it: an object takes no other fields."""
    return schema if "additionalProperties" in schema else {**schema, "additionalProperties": False}


def _checkpoint(summary: str) -> tuple[Message, Message]:
    return Message("user", CHECKPOINT_MARKER, CHECKPOINT_KIND), Message("assistant", summary, CHECKPOINT_KIND)


def _previous_checkpoint(messages: Sequence[Message]) -> tuple[str | None, tuple[Message, ...]]:
    if len(messages) < 2 or messages[1].role != "assistant":
        return None, tuple(messages)
    if messages[0].role != "user" or messages[0].content != CHECKPOINT_MARKER:
        return None, tuple(messages)
    return trim(_said(messages[1])), tuple(messages[2:])


def _said(message: Message) -> str:
    return "".join(part for part in message_parts(message.content) if isinstance(part, str))


def _window(messages: Sequence[Message], threshold: float, most: int) -> int:
    least, largest = SUMMARY_RESERVE_TOKENS
    room = threshold - min(largest, max(least, threshold // 4))
    window = 0
    for message in reversed(messages):
        room -= estimate_tokens([message])
        if window >= min(most, max(len(messages) - 1, 0)) or room < 0:
            break
        window += 1
    return window


def _split(messages: tuple[Message, ...], window: int) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    start = len(messages) - max(window, 0)
    while start < len(messages) and messages[start].role == "tool":
        start += 1
    return messages[:start], messages[start:]


def _without_tool_results(messages: Sequence[Message]) -> tuple[Message, ...]:
    kept = []
    for message in messages:
        if message.role == "assistant":
            if said := trim(_said(message)):
                kept.append(Message("assistant", said, CHECKPOINT_KIND))
        elif message.role != "tool":
            kept.append(message)
    return tuple(kept)


def _capped(message: Message) -> Message:
    """The message, long tool results cut in the middle."""
    if message.role != "tool":
        return message
    parts: list[str | ToolCall | ToolResult] = []
    for part in message_parts(message.content):
        if isinstance(part, ToolResult):
            text = part.value if part.type == "text" else to_json(part.output)
            if len(text) > TOOL_RESULT_MAX:
                part = replace(part, type="text", value=_REDUCED + cap(text, TOOL_RESULT_MAX - len(_REDUCED)))
        parts.append(part)
    return replace(message, content=tuple(parts))


def _guarded(messages: tuple[Message, ...], conversation: Sequence[Message], threshold: float) -> tuple[Message, ...]:
    """The messages, so ended that a model goes on: with the user's last message, or with "Continue."."""
    asked = next((message for message in reversed(conversation) if message.kind == "user"), None)
    there = asked is not None and any(
        message.role == "user" and message.content == asked.content for message in messages
    )
    if messages and messages[-1].role != "assistant":
        if messages[-1].role == "tool" and asked is not None and not there and estimate_tokens([asked]) <= threshold:
            return (*messages, asked)
        return messages
    if asked is not None and not there:
        return (*messages, asked)
    return (*messages, Message("user", "Continue.", CONTINUE_KIND))


_PROMPT_OVERHEAD = estimate_tokens(
    [Message("system", SYSTEM_PROMPT), Message("user", prompt_text((), "", None, empty=""), CHECKPOINT_KIND)]
)
