"""What stands in for a language model. Nothing here is clever, and nothing uses a network."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from evelab.message import CHECKPOINT_KIND, Message, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evelab.tools import Tool


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call that a model asks for: the tool's name and its input."""

    name: str
    input: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answers: text, tool calls, or both. A reply without calls ends the turn.

    Attributes:
        text: what it says.
        calls: the tools that it calls.
        input_tokens: the prompt's size by the model's own count, or None; eve then estimates.
    """

    text: str | None = None
    calls: tuple[Call, ...] = ()
    input_tokens: int | None = None


class Model(Protocol):
    """What a session needs of a model. A real one fits behind the same method."""

    def respond(self, prompt: Sequence[Message], tools: Mapping[str, Tool]) -> Reply:
        """Answer a prompt.

        Args:
            prompt: system message, history, recalled messages and input, in the order the model reads them.
            tools: name -> tool, as offered in this turn.
        """
        ...


def call(name: str, /, **fields: Any) -> Reply:
    """A reply that calls one tool, for a ``ScriptedModel``."""
    return Reply(calls=(Call(name, fields),))


class ScriptedModel:
    """A model that is told what to answer.

    Each entry is a text, a ``Reply`` or an exception to raise. After the last one it answers ``"ok"``.
    """

    def __init__(self, replies: Iterable[str | Reply | Exception] = ()) -> None:
        self._replies = list(replies)

    def respond(self, prompt: Sequence[Message], tools: Mapping[str, Tool]) -> Reply:
        """The next entry of the script."""
        entry = self._replies.pop(0) if self._replies else "ok"
        if isinstance(entry, Exception):
            raise entry
        return Reply(entry) if isinstance(entry, str) else entry


RECALL_HEADING = "# Persistent memories for "
_SAVE = re.compile(r"\s*(?:记住|remember)\s*(?:[,，:：]\s*)?(?:that\s+)?(?P<text>.*)", re.IGNORECASE | re.DOTALL)
_FORGET = re.compile(r"\s*(?:忘掉|forget)\s*(?P<index>[0-9]{1,15})\s*[.。]?\s*", re.IGNORECASE)
_CHINESE = re.compile(r"[\u4e00-\u9fff]")


class RuleModel:
    """Five rules in place of a model.

    - "记住，…" or "remember …" calls the first ``save_memory`` tool with the rest of the message.
    - "忘掉 N" or "forget N" calls the first ``remove_memory`` tool with index N.
    - After a tool has run, the reply says what it gave.
    - Asked for a summary of a long conversation, it lists what the user said.
    - Anything else is answered with the memories that stand in the context, or with "none".

    It answers in Chinese when the message holds Chinese.
    """

    def respond(self, prompt: Sequence[Message], tools: Mapping[str, Tool]) -> Reply:
        """Answer by the rules above."""
        if prompt[-1].kind == CHECKPOINT_KIND:
            return Reply(_summary(prompt[-1].text))
        last = next(index for index in range(len(prompt) - 1, -1, -1) if prompt[index].role == "user")
        said = prompt[last].text
        say = _Phrases(chinese=_CHINESE.search(said) is not None)
        results = [part for message in prompt[last + 1 :] for part in message.content if isinstance(part, ToolResult)]
        if results:
            return Reply(say.done(results[-1], _call_of(results[-1], prompt)))
        if found := _FORGET.fullmatch(said):
            return self._call("remove_memory", {"index": int(found["index"])}, tools, say)
        if (found := _SAVE.fullmatch(said)) and found["text"]:
            return self._call("save_memory", {"text": found["text"]}, tools, say)
        return Reply(say.seen(recalled_entries(prompt[:last])))

    @staticmethod
    def _call(key: str, fields: Mapping[str, Any], tools: Mapping[str, Tool], say: _Phrases) -> Reply:
        name = next((name for name in tools if name.endswith(f"__{key}")), None)
        return Reply(say.no_tool(key)) if name is None else Reply(calls=(Call(name, fields),))


def _summary(asked: str) -> str:
    """What the user said, from the transcript in the prompt for a summary, after the summary before it."""
    before, _, rest = asked.removeprefix("<previous-checkpoint>\n").partition("\n</previous-checkpoint>")
    transcript = rest.partition("\n</conversation>")[0]
    said = [part for part in transcript.split("### ") if part.startswith("user\n")]
    texts = [" ".join(part.removeprefix("user\n").split()) for part in said]
    kept = [] if before == "(none)" else [before]
    return "\n".join([*kept, *(f"- The user said: {text}" for text in texts)]) or "Nothing was said."


def recalled_entries(prompt: Iterable[Message]) -> list[str]:
    """The memories that stand in a prompt, found by eve's heading, one string each: ``"profile 0: ..."``."""
    entries = []
    for message in prompt:
        if message.role == "user" and message.text.startswith(RECALL_HEADING):
            heading, _, body = message.text.partition("\n\n")
            slot = heading.removeprefix(RECALL_HEADING)
            lines = body.partition("\n\n")[2].split("\n")
            entries += [f"{slot} {line}" for line in lines if line]
    return entries


def _call_of(result: ToolResult, prompt: Sequence[Message]) -> ToolCall:
    calls = (part for message in prompt for part in message.content if isinstance(part, ToolCall))
    return next(found for found in calls if found.id == result.id)


@dataclass(frozen=True, slots=True)
class _Phrases:
    chinese: bool

    def done(self, result: ToolResult, made: ToolCall) -> str:
        if result.type == "error-text":
            return f"没有成功。{result.value}" if self.chinese else f"That failed. {result.value}"
        fields = ", ".join(f"{key}={value!r}" for key, value in made.input.items())
        return f"已调用 {result.name}（{fields}）。" if self.chinese else f"I called {result.name} ({fields})."

    def no_tool(self, key: str) -> str:
        if self.chinese:
            return f"这一轮没有 {key} 工具，什么也没有改变。"
        return f"This turn has no {key} tool. Nothing was changed."

    def seen(self, entries: Sequence[str]) -> str:
        if not entries:
            return "我的上下文里没有记忆。" if self.chinese else "I see no memory in my context."
        listed = "; ".join(entries)
        return f"我的上下文里有这些记忆：{listed}" if self.chinese else f"I see these memories in my context: {listed}"
