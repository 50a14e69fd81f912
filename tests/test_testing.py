"""``check_provider`` lets good providers through, and says of each faulty one what is wrong with it."""

from __future__ import annotations

import html
import itertools
import re
import sqlite3
import weakref
from typing import TYPE_CHECKING, Any

import pytest

from evelab import check_provider, define_memory_provider, define_tool, in_memory, notes, open_notes
from evelab.file_memory import file_memory
from evelab.provider_checks import CHECKS
from evelab.testing import Line, Report
from tests.stores.postgres import empty_database, postgres_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from evelab.notes_store import NoteStore
    from evelab.provider import MemoryProvider, OperationContext, ToolsContext

__all__ = ["postgres_url"]

MANY = 600


def said(ctx: OperationContext) -> str:
    assert ctx.turn is not None
    return ctx.turn.input[0].text


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", text.lower())) | {
        pair for run in re.findall("[\u4e00-\u9fff]+", text) for pair in (run[i : i + 2] for i in range(len(run) - 1))
    }


class Dicts:
    """A good provider of plain dicts. The faulty ones change one method each."""

    def __init__(self) -> None:
        self.notes: dict[str, dict[str, str]] = {}
        self.done: set[tuple[str, str]] = set()

    def partition(self, ctx: OperationContext | ToolsContext) -> str:
        return ctx.memory.scope.key

    def here(self, partition: str) -> dict[str, str]:
        return self.notes.setdefault(partition, {})

    def search(self, partition: str, question: str) -> list[tuple[str, str]]:
        asked = words(question)
        here = self.here(partition).items()
        found = [(len(asked & words(text)), name, text) for name, text in here if asked & words(text)]
        return [(name, text) for _, name, text in sorted(found, key=lambda one: -one[0])[:5]]

    def message(self, name: str, text: str) -> dict[str, str]:
        return {"id": name, "content": text}

    def recall(self, ctx: OperationContext) -> Any:
        found = self.search(self.partition(ctx), said(ctx))
        return {"messages": [self.message(name, text) for name, text in found]} if found else None

    def recall_after(self, ctx: OperationContext) -> Any:
        return self.recall(ctx)

    def capture(self, ctx: OperationContext) -> None:
        operation = (self.partition(ctx), ctx.operation_id)
        if operation not in self.done:
            self.done.add(operation)
            self.here(operation[0])[f"n{len(self.done)}"] = said(ctx)

    def tools(self, ctx: ToolsContext) -> Any:
        def forget(id: str) -> dict[str, bool]:  # noqa: A002
            return {"deleted": self.here(self.partition(ctx)).pop(id, None) is not None}

        return {"forget": tool(forget, {"id": {"type": "string"}})}

    def provider(self) -> MemoryProvider:
        return define_memory_provider(
            recall={"turn.started": self.recall, "compaction.completed": self.recall_after},
            capture={"turn.completed": self.capture},
            tools=self.tools,
        )


def tool(execute: Callable[..., Any], fields: dict[str, Any], *, open: bool = False) -> Any:  # noqa: A002
    schema = {"type": "object", "properties": fields, "required": ["id"], "additionalProperties": open}
    return define_tool(description="Delete a note.", input_schema=schema, execute=execute)


class Awaited(Dicts):
    """The same with coroutine functions."""

    async def recall(self, ctx: OperationContext) -> Any:
        return super().recall(ctx)

    async def recall_after(self, ctx: OperationContext) -> Any:
        return super().recall(ctx)

    async def tools(self, ctx: ToolsContext) -> Any:
        return super().tools(ctx)


class WithoutForget(Dicts):
    def tools(self, ctx: ToolsContext) -> Any:
        return None


# Good ones


@pytest.mark.parametrize("kind", [Dicts, Awaited, WithoutForget])
def test_a_good_provider_has_no_faults(kind: type[Dicts]) -> None:
    report = check_provider(lambda: kind().provider(), many=MANY)
    assert report.ok, str(report)
    assert len(report.lines) == len(CHECKS) == 16
    assert not report.faults
    unchecked = [line for line in report.lines if line.words]
    assert len(unchecked) == (2 if kind is WithoutForget else 0)
    assert all(line.words == "It has no tool forget: not checked." for line in unchecked)


@pytest.fixture
def opened() -> Iterator[list[NoteStore]]:
    stores: list[NoteStore] = []
    yield stores
    for store in stores:
        store.close()


def test_notes_on_sqlite_keep_the_contract_with_ten_thousand_notes(tmp_path: Path, opened: list[NoteStore]) -> None:
    numbers = itertools.count()

    def make() -> MemoryProvider:
        opened.append(open_notes(tmp_path / f"{next(numbers)}.db"))
        return notes(opened[-1])

    report = check_provider(make)
    assert report.ok, str(report)


def test_notes_on_postgresql_keep_the_contract(postgres_url: str, opened: list[NoteStore]) -> None:
    def make() -> MemoryProvider:
        opened.append(open_notes(empty_database(postgres_url)))
        return notes(opened[-1])

    report = check_provider(make, many=MANY)
    assert report.ok, str(report)


# Faulty ones


class NoPartition(Dicts):
    def partition(self, ctx: OperationContext | ToolsContext) -> str:
        return "all"


class PartitionedByNamespace(Dicts):
    def partition(self, ctx: OperationContext | ToolsContext) -> str:
        return ctx.memory.scope.namespace


class FilterAfterSearch(Dicts):
    def search(self, partition: str, question: str) -> list[tuple[str, str]]:
        asked = words(question)
        every = [(key, name, text) for key, here in self.notes.items() for name, text in here.items()]
        best = sorted(every, key=lambda one: -sum(one[2].count(word) for word in asked))[:50]
        return [(name, text) for key, name, text in best if key == partition and asked & words(text)][:5]


class CapturesTwice(Dicts):
    def capture(self, ctx: OperationContext) -> None:
        self.done.add(("again", f"{len(self.done)}"))
        self.here(self.partition(ctx))[f"n{len(self.done)}"] = said(ctx)


class OperationsOfAll(Dicts):
    def capture(self, ctx: OperationContext) -> None:
        if ("", ctx.operation_id) not in self.done:
            self.done.add(("", ctx.operation_id))
            self.here(self.partition(ctx))[f"n{len(self.done)}"] = said(ctx)


class BringsBack(Dicts):
    def capture(self, ctx: OperationContext) -> None:
        self.here(self.partition(ctx))[ctx.operation_id] = said(ctx)


class ForgetTakesAKey(Dicts):
    def tools(self, ctx: ToolsContext) -> Any:
        def forget(id: str, partition: str | None = None) -> None:  # noqa: A002
            self.here(partition or self.partition(ctx)).pop(id, None)

        return {"forget": tool(forget, {"id": {"type": "string"}, "partition": {"type": "string"}})}


class ForgetTakesAnything(Dicts):
    def tools(self, ctx: ToolsContext) -> Any:
        def forget(id: str, **more: Any) -> None:  # noqa: A002
            self.here(more.get("scope", self.partition(ctx))).pop(id, None)

        return {"forget": tool(forget, {"id": {"type": "string"}}, open=True)}


class ForgetsEverywhere(Dicts):
    def tools(self, ctx: ToolsContext) -> Any:
        def forget(id: str) -> None:  # noqa: A002
            for here in self.notes.values():
                here.pop(id, None)

        return {"forget": tool(forget, {"id": {"type": "string"}})}


class ForgetsNothing(Dicts):
    def tools(self, ctx: ToolsContext) -> Any:
        return {"forget": tool(lambda id: {"deleted": True}, {"id": {"type": "string"}})}  # noqa: A006


class RaisesOnEmpty(Dicts):
    def search(self, partition: str, question: str) -> list[tuple[str, str]]:
        return super().search(partition, question) if partition in self.notes else [self.notes[partition].popitem()]


class NotAMessage(Dicts):
    def recall(self, ctx: OperationContext) -> Any:
        return [text for _, text in self.search(self.partition(ctx), said(ctx))]


class Unbounded(Dicts):
    def search(self, partition: str, question: str) -> list[tuple[str, str]]:
        asked = words(question)
        return [(name, text) for name, text in self.here(partition).items() if asked & words(text)]


class TooLate(Dicts):
    """It looks only at the hundred newest notes."""

    def search(self, partition: str, question: str) -> list[tuple[str, str]]:
        asked = words(question)
        return [one for one in list(self.here(partition).items())[:100] if asked & words(one[1])][:5]


class NoIds(Dicts):
    def message(self, name: str, text: str) -> dict[str, str]:
        return {"content": text}


class NewIds(Dicts):
    numbers = itertools.count()

    def message(self, name: str, text: str) -> dict[str, str]:
        return {"id": f"{name}-{next(self.numbers)}", "content": text}


class Escapes(Dicts):
    def message(self, name: str, text: str) -> dict[str, str]:
        return {"id": name, "content": html.escape(text, quote=False)}


class WordsBySpaces(Dicts):
    def search(self, partition: str, question: str) -> list[tuple[str, str]]:
        asked = set(re.findall(r"\w+", question.lower()))
        return [one for one in self.here(partition).items() if asked & set(re.findall(r"\w+", one[1].lower()))][:5]


class CompactionOfAll(Dicts):
    def recall_after(self, ctx: OperationContext) -> Any:
        everything = [one for here in self.notes.values() for one in here.items()]
        return {"messages": [self.message(*one) for one in everything]}


class RefusesOddInput(Dicts):
    def search(self, partition: str, question: str) -> list[tuple[str, str]]:
        question.encode()
        return super().search(partition, question)


class Injectable(Dicts):
    """SQL made of what the user wrote."""

    def __init__(self) -> None:
        super().__init__()
        self.sql = sqlite3.connect(":memory:", check_same_thread=False)
        weakref.finalize(self, self.sql.close)
        self.sql.execute("CREATE TABLE notes (partition TEXT, id TEXT, text TEXT)")

    def search(self, partition: str, question: str) -> list[tuple[str, str]]:
        likes = " OR ".join(f"text LIKE '%{word}%'" for word in re.findall(r"[^\s?]+", question)[:50]) or "0"
        pairs = " OR ".join(f"text LIKE '%{word}%'" for word in words(question) if word > "z") or "0"
        sql = f"SELECT id, text FROM notes WHERE partition = '{partition}' AND ({likes} OR {pairs}) LIMIT 5"
        try:
            found: list[tuple[str, str]] = self.sql.execute(sql).fetchall()
        except (sqlite3.Error, UnicodeEncodeError, ValueError):
            return []
        return found

    def capture(self, ctx: OperationContext) -> None:
        operation = (self.partition(ctx), ctx.operation_id)
        if operation not in self.done:
            self.done.add(operation)
            row = (operation[0], f"n{len(self.done)}", said(ctx))
            self.sql.execute("INSERT INTO notes VALUES (?, ?, ?)", row)

    def tools(self, ctx: ToolsContext) -> Any:
        return None


class InjectableForget(Injectable):
    """A deletion made of what the model wrote."""

    def search(self, partition: str, question: str) -> list[tuple[str, str]]:
        self.notes[partition] = dict(
            self.sql.execute("SELECT id, text FROM notes WHERE partition = ?", (partition,)).fetchall()
        )
        return Dicts.search(self, partition, question)

    def tools(self, ctx: ToolsContext) -> Any:
        partition = self.partition(ctx)

        def forget(id: str) -> None:  # noqa: A002
            self.sql.execute(f"DELETE FROM notes WHERE partition = '{partition}' AND id = '{id}'")

        return {"forget": tool(forget, {"id": {"type": "string"}})}


class FullText(Injectable):
    """SQLite's full-text search, the question handed on as it is."""

    def search(self, partition: str, question: str) -> list[tuple[str, str]]:
        here = self.sql.execute("SELECT id, text FROM notes WHERE partition = ?", (partition,)).fetchall()
        index = sqlite3.connect(":memory:")
        index.execute("CREATE VIRTUAL TABLE t USING fts5(id UNINDEXED, text UNINDEXED, words)")
        index.executemany("INSERT INTO t VALUES (?, ?, ?)", [(*one, " ".join(words(one[1]))) for one in here])
        plain = " OR ".join(words(question)) if re.fullmatch(r"[\w\s?',.;-]*", question) else question
        try:
            found = (
                index.execute("SELECT id, text FROM t WHERE t MATCH ? LIMIT 5", (plain,)).fetchall() if plain else []
            )
        finally:
            index.close()
        return found


class NoCapture(Dicts):
    def provider(self) -> MemoryProvider:
        return define_memory_provider(recall={"turn.started": self.recall})


FAULTY = [
    (NoPartition, "Partitions are isolated.", "recalled in another partition"),
    (PartitionedByNamespace, "Partitions are isolated.", "Read and write by memory.scope.key"),
    (FilterAfterSearch, "The search is inside the partition.", "filtered after a global search"),
    (CapturesTwice, "A replayed capture changes nothing.", "replayed twice, is recalled 3 times"),
    (OperationsOfAll, "A replayed capture changes nothing.", "another partition had used its operation id"),
    (BringsBack, "forget deletes a note for good.", "brought a forgotten note back"),
    (ForgetTakesAKey, "forget reaches no other partition.", r"took the partition from its input \(partition\)"),
    (ForgetTakesAnything, "forget reaches no other partition.", r"took the partition from its input \(.*scope"),
    (ForgetsEverywhere, "forget reaches no other partition.", "deleted a note of another partition by its id"),
    (ForgetsNothing, "forget deletes a note for good.", "still recalled after forget"),
    (RaisesOnEmpty, "An empty partition recalls nothing.", "Recall of an empty partition raised KeyError"),
    (NotAMessage, "What was said is found again by its words, Chinese ones too.", "must return a dict with messages"),
    (Unbounded, "A recall stays bounded among many notes.", "gave 601 messages of .* Search with a limit"),
    (TooLate, "A recall stays bounded among many notes.", "the one that matches was not recalled"),
    (NoIds, "A recalled note has an id that stays.", "has no id"),
    (NewIds, "A recalled note has an id that stays.", "another id each time"),
    (NewIds, "A replayed recall gives the same result.", "gave another result"),
    (Escapes, "A note comes back as it was said.", "was not recalled as it was said"),
    (WordsBySpaces, "What was said is found again by its words, Chinese ones too.", "'周三有什么事？' did not recall"),
    (CompactionOfAll, "A compaction recalls by the same rules.", "another partition was recalled after a compaction"),
    (RefusesOddInput, "No input makes a recall raise.", r"Recall of '\\ud800' raised UnicodeEncodeError"),
    (Injectable, "SQL in an input is text.", "got into the SQL. Bind it"),
    (InjectableForget, "SQL in an input is text.", "vanished after inputs with SQL in them"),
    (FullText, "Search syntax in an input is text.", "is syntax of a full-text search, raised OperationalError"),
    (NoCapture, "It recalls and captures.", "nothing that is said can be recalled"),
]


@pytest.mark.parametrize(("kind", "check", "wrong"), FAULTY)
def test_a_faulty_provider_is_told_what_is_wrong(kind: type[Dicts], check: str, wrong: str) -> None:
    report = check_provider(lambda: kind().provider(), many=MANY)
    assert not report.ok
    lines = {line.check: line for line in report.lines}
    assert not lines[check].ok, str(report)
    assert re.search(wrong, lines[check].words), lines[check].words


def test_each_fault_is_found_by_few_checks() -> None:
    """A planted fault turns its own line red and leaves lines that do not speak of it alone."""
    found = {kind: {line.check for line in check_provider(lambda: kind().provider(), many=MANY).faults}  # noqa: B023
             for kind in (FilterAfterSearch, ForgetTakesAKey, Unbounded, NoIds, Escapes, BringsBack)}  # fmt: skip
    assert found[FilterAfterSearch] == {"The search is inside the partition."}
    assert found[ForgetTakesAKey] == {"forget reaches no other partition."}
    assert found[Unbounded] == {"A recall stays bounded among many notes."}
    assert found[Escapes] == {"A note comes back as it was said."}
    assert found[BringsBack] == {"forget deletes a note for good."}


def test_something_that_is_no_provider_is_a_fault_and_no_crash() -> None:
    wrong: list[Any] = [None, {"recall": {}}, file_memory(backend=in_memory())]
    for thing in wrong:
        report = check_provider(lambda: thing, many=1)  # noqa: B023
        assert not report.lines[0].ok
    assert "define_memory_provider" in check_provider(lambda: wrong[0]).lines[0].words


def test_a_report_reads_as_text() -> None:
    report = Report(
        (Line("A rule.", True), Line("Another.", False, "It is broken."), Line("A third.", True, "Not checked."))
    )
    assert str(report) == "ok    A rule.\nWRONG Another. It is broken.\nok    A third. Not checked."
    assert report.faults == (report.lines[1],)
    assert not report.ok
