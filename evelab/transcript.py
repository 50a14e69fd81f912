"""A conversation as one text, for the model that summarises it. The wording around it is eve's.

Source: eve 0.80.1, ``harness/compaction/prompt`` (Apache-2.0, by Vercel).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evelab.message import Message, ToolCall, ToolResult
from evelab.text import normalise, to_json, trim, utf8_length, utf16_length

if TYPE_CHECKING:
    from collections.abc import Sequence

PAYLOAD_MAX = 2000
PAYLOAD_MAX_TIGHT = 280
TEXT_MAX_TIGHT = 2000
_PROMPT = """<previous-checkpoint>
{previous}
</previous-checkpoint>

<conversation>
Conversation transcript:
{transcript}
</conversation>

Update the previous checkpoint with the newer information in the conversation. \
If there is no previous checkpoint, create one from the conversation.

Make completed work explicit so the next model does not repeat it. \
Keep completed work separate from current and remaining work, \
and do not describe completed work as pending unless later messages show it must be redone. \
Preserve exact file paths, function names, commands, error messages, identifiers, and measured values \
when they are needed to continue.

Large tool outputs are the main thing to compress: reduce each to the findings the next model needs \
— what was searched or read, what it established, and the exact identifiers involved \
— rather than reproducing the output. \
The next model cannot see the originals, so nothing it would need to act on may be lost."""


def prompt_text(
    messages: Sequence[Message], previous: str | None, budget: float | None, *, empty: str = "(empty)"
) -> str:
    """The prompt that asks for a summary.

    Args:
        messages: what is to be summarised.
        previous: the summary before this one, or None.
        budget: tokens that the prompt may have; above it, messages are cut, oldest first. None: no limit.
        empty: what stands for a conversation without text.
    """
    texts = [_render(message, tight=False) for message in messages]
    before = "(none)" if previous is None else trim(previous)
    over = 0 if budget is None else utf8_length(to_json(_fill(before, messages, texts, empty))) / 4 - budget
    for index, message in enumerate(messages):
        if over <= 0:
            break
        tight = _render(message, tight=True)
        if utf16_length(tight) < utf16_length(texts[index]):
            over -= (utf8_length(texts[index]) - utf8_length(tight)) / 4
            texts[index] = tight
    return _fill(before, messages, texts, empty)


def _fill(previous: str, messages: Sequence[Message], texts: Sequence[str], empty: str) -> str:
    parts = [f"### {message.role}\n{trim(text)}" for message, text in zip(messages, texts, strict=True) if trim(text)]
    # The user's text may hold braces: it is put in, not formatted.
    head, _, rest = _PROMPT.partition("{previous}")
    middle, _, tail = rest.partition("{transcript}")
    return head + previous + middle + ("\n\n".join(parts) or empty) + tail


def _render(message: Message, *, tight: bool) -> str:
    if isinstance(message.content, str):
        return _text(message.content, tight=tight)
    return trim("\n".join(filter(None, (_part(part, tight=tight) for part in message.content))))


def _part(part: str | ToolCall | ToolResult, *, tight: bool) -> str:
    limit = PAYLOAD_MAX_TIGHT if tight else PAYLOAD_MAX
    match part:
        case str():
            return _text(part, tight=tight)
        case ToolCall():
            return f"Called {part.name} with {cap(normalise(to_json(dict(part.input))), limit)}"
    output = part.value if part.type == "text" else to_json(part.output)
    return trim(f"Tool {part.name} returned {cap(normalise(output), limit)}")


def _text(text: str, *, tight: bool) -> str:
    if not tight:
        return trim(text)
    flat = normalise(text)
    return flat if utf16_length(flat) <= TEXT_MAX_TIGHT else f"{_units(flat, 0, TEXT_MAX_TIGHT).rstrip()}…"


def cap(text: str, limit: int) -> str:
    """The text, its middle replaced by a note when it is longer than the limit, in UTF-16 units."""
    length = utf16_length(text)
    if length <= limit:
        return text
    room = limit - utf16_length(_omitted(length))
    head = _units(text, 0, -(-room * 6 // 10))
    start = length - (room - utf16_length(head))
    tail = _units(text, start, length)
    return f"{head}{_omitted(length - utf16_length(head) - utf16_length(tail))}{tail}"


def _omitted(count: int) -> str:
    return f" … [{count} chars omitted] … "


def _units(text: str, start: int, end: int) -> str:
    """A slice in UTF-16 units; a character that the slice would cut in two is left out."""
    data = text.encode("utf-16-le", "surrogatepass")

    def at(index: int) -> int:
        return int.from_bytes(data[2 * index : 2 * index + 2], "little")

    if start > 0 and 0xDC00 <= at(start) <= 0xDFFF:
        start += 1
    if 0 < end < len(data) // 2 and 0xD800 <= at(end - 1) <= 0xDBFF:
        end -= 1
    return data[2 * start : 2 * end].decode("utf-16-le", "surrogatepass")
