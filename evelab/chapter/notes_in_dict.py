"""The notes provider of 8.7 over a dict: small enough to read, with the four rules that a real one keeps.

Every look-up begins with the partition. A capture is done once for each operation. Size and age are the
provider's own business. A note is data that a user wrote.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evelab.provider import MemoryProvider, OperationContext, ToolsContext, define_memory_provider
from evelab.tools import Tool, define_tool

if TYPE_CHECKING:
    from collections.abc import Iterable

LIMIT = 5
ID = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}


@dataclass(slots=True)
class Notes:
    """Notes by partition, and the provider that keeps them.

    Attributes:
        partitions: ``memory.scope.key`` -> id -> text, in the order in which they were written.
        done: the operations that were captured, each with its partition.
        limit: how many notes a turn recalls at most.
    """

    partitions: dict[str, dict[str, str]] = field(default_factory=dict)
    done: set[tuple[str, str]] = field(default_factory=set)
    limit: int = LIMIT

    def provider(self) -> MemoryProvider:
        """The provider."""
        return define_memory_provider(
            recall={"turn.started": self.recall}, capture={"turn.completed": self.capture}, tools=self.tools
        )

    def recall(self, ctx: OperationContext) -> dict[str, Any] | None:
        """The notes of this partition that share most words with the turn's input."""
        asked = "" if ctx.turn is None else ctx.turn.input[-1].text
        found = self.search(self.partitions.get(ctx.memory.scope.key, {}).items(), asked)
        return {"messages": [{"id": name, "content": text} for name, text in found]} if found else None

    def search(self, notes: Iterable[tuple[str, str]], asked: str) -> list[tuple[str, str]]:
        """The best of some notes, at most ``limit``; the newest first among equals."""
        wanted = words(asked)
        ranked = [(len(wanted & words(text)), place, name, text) for place, (name, text) in enumerate(notes)]
        best = sorted((row for row in ranked if row[0]), reverse=True)[: self.limit]
        return [(name, text) for _, _, name, text in best]

    def capture(self, ctx: OperationContext) -> None:
        """Keep what the user said in this turn, once."""
        operation = (ctx.memory.scope.key, ctx.operation_id)
        if ctx.turn is None or operation in self.done:
            return
        self.done.add(operation)
        notes = self.partitions.setdefault(ctx.memory.scope.key, {})
        for message in ctx.turn.input:
            notes[f"note_{len(self.done)}"] = message.text

    def tools(self, ctx: ToolsContext) -> dict[str, Tool]:
        """``forget``, bound to the partition that the turn has locked."""
        notes = self.partitions.get(ctx.memory.scope.key, {})

        def forget(id: str) -> dict[str, bool]:  # noqa: A002
            return {"deleted": notes.pop(id, None) is not None}

        return {"forget": define_tool(description="Delete a note by its id.", input_schema=ID, execute=forget)}

    def rows(self) -> list[dict[str, str]]:
        """What is stored, a row a note."""
        return [
            {"partition": key, "id": name, "text": text}
            for key, notes in self.partitions.items()
            for name, text in notes.items()
        ]


@dataclass(slots=True)
class SearchFirst(Notes):
    """The same notes with the fault that the chapter warns of: it searches everybody's, and filters afterwards."""

    def recall(self, ctx: OperationContext) -> dict[str, Any] | None:
        """The best notes of all partitions; of these, the caller's own."""
        asked = "" if ctx.turn is None else ctx.turn.input[-1].text
        everything = [((key, name), text) for key, notes in self.partitions.items() for name, text in notes.items()]
        mine = []
        for place, text in self.search([(str(at), text) for at, (_, text) in enumerate(everything)], asked):
            key, name = everything[int(place)][0]
            if key == ctx.memory.scope.key:
                mine.append({"id": name, "content": text})
        return {"messages": mine} if mine else None


@dataclass(slots=True)
class NoFilter(Notes):
    """The search of ``SearchFirst`` with the filter forgotten."""

    def recall(self, ctx: OperationContext) -> dict[str, Any] | None:
        """The best notes of all partitions."""
        asked = "" if ctx.turn is None else ctx.turn.input[-1].text
        everything = [(f"{key}/{name}", text) for key, notes in self.partitions.items() for name, text in notes.items()]
        found = self.search(everything, asked)
        return {"messages": [{"id": name, "content": text} for name, text in found]} if found else None


def words(text: str) -> set[str]:
    """The words of a text: runs of ASCII letters, digits and dashes; every other character by itself."""
    found: list[str] = [""]
    for char in text.lower():
        if char.isascii() and (char.isalnum() or char == "-"):
            found[-1] += char
        elif not char.isspace() and not char.isascii():
            found += [char, ""]
        else:
            found.append("")
    return {word for word in found if word}
