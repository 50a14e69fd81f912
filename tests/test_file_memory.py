"""The document, its two tools and every limit at its border and one beyond."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evelab import create_lock, file_memory, in_memory
from evelab.auth import Auth
from evelab.backends import Backend, StoredDocument
from evelab.errors import (
    DocumentError,
    EvelabError,
    MemoryDocumentConflictError,
    MemoryLimitError,
    MemoryTextError,
    OptionError,
    ToolInputError,
)
from evelab.file_memory import (
    DOCUMENT_MAX_BYTES,
    MAX_SAFE_INTEGER,
    Document,
    format_document,
    parse_document,
    read_document,
    recall_text,
    with_entry,
)
from evelab.message import TurnInfo
from evelab.provider import MemoryContext, MemoryProvider, SessionInfo, ToolsContext
from evelab.text import normalise, utf8_length, utf16_length
from evelab.tools import check_input
from tests.strategies import units

HEADER = "<!-- eve-memory-file-v1 lastAllocatedIndex={} -->\n"
LOCK = create_lock("acme-support-v1", "acme", slot="profile")
KEY = LOCK.scope.key

texts = units.map(normalise).filter(lambda text: 0 < utf8_length(text) <= 2048)


class Memory:
    """File memory without a session: its tools and its recall, called by hand."""

    def __init__(self, backend: Backend | None = None, *, slot: str = "profile", **options: Any) -> None:
        self.backend = in_memory() if backend is None else backend
        self.provider: MemoryProvider = file_memory(backend=self.backend, **options)
        turn = TurnInfo("turn_0", (), 0)
        self.context = ToolsContext(MemoryContext(LOCK.scope, slot), (), SessionInfo("s", Auth()), turn)
        assert self.provider.tools is not None
        self.tools = self.provider.tools(self.context)

    def save(self, text: str) -> None:
        assert self.tools["save_memory"].execute(text=text) is None

    def remove(self, index: Any) -> None:
        assert self.tools["remove_memory"].execute(index=index) is None

    def recall(self) -> str | None:
        result = self.provider.recall["turn.started"](self.context)
        return None if result is None else result["messages"][0]["content"]

    @property
    def document(self) -> str | None:
        stored = self.backend.read(KEY)
        return None if stored is None else stored.content


@given(st.dictionaries(st.integers(0, 200), texts, max_size=12), st.integers(0, 50))
def test_documents_parse_and_format_back(entries: dict[int, str], more: int) -> None:
    document = Document(max(entries, default=-1) + more, dict(sorted(entries.items())))
    assert parse_document(format_document(document)) == document
    assert format_document(parse_document(format_document(document))) == format_document(document)


def parsed(content: str) -> Document | DocumentError:
    try:
        return parse_document(content)
    except DocumentError as error:
        return error


@given(units)
def test_any_content_parses_or_says_which_line_is_wrong(content: str) -> None:
    for text in (content, HEADER.format(3) + content):
        found = parsed(text)
        if isinstance(found, DocumentError):
            assert found.line in range(1, text.count("\n") + 2)
        else:
            assert parse_document(format_document(found)) == found


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("", 1),
        ("hand edited", 1),
        ("\ufeff" + HEADER.format(0), 1),
        ("\n" + HEADER.format(0), 1),
        (HEADER.format("01"), 1),
        (HEADER.format("-2"), 1),
        (HEADER.format("-0"), 1),
        (HEADER.format("+1"), 1),
        (HEADER.format("1.0"), 1),
        (HEADER.format("٣"), 1),
        (HEADER.format(2**53), 1),
        (HEADER.format("9" * 400), 1),
        (HEADER.format(0).rstrip("\n"), 1),
        (HEADER.format(0) + "0: a", 2),
        (HEADER.format(0) + "\n", 2),
        (HEADER.format(0) + "0: a\n\n", 3),
        (HEADER.format(1) + "0: a\n\n1: b\n", 3),
        (HEADER.format(1) + "0: a\r\n1: b\r\n", 2),
        (HEADER.format(0) + "# notes\n0: a\n", 2),
        (HEADER.format(-1) + "0: a\n", 2),
        (HEADER.format(0) + "1: a\n", 2),
        (HEADER.format(7) + "7: a\n07: b\n", 3),
        (HEADER.format(MAX_SAFE_INTEGER) + "9007199254740993: a\n", 2),
        (HEADER.format(9) + "٣: a\n", 2),
        (HEADER.format(9) + "1e0: a\n", 2),
        (HEADER.format(0) + " 0: a\n", 2),
        (HEADER.format(0) + "0:a\n", 2),
        (HEADER.format(0) + "0: \n", 2),
        (HEADER.format(0) + "0:  a\n", 2),
        (HEADER.format(0) + "0: a \n", 2),
        (HEADER.format(0) + "0: a\tb\n", 2),
        (HEADER.format(0) + "0: a\u00a0b\n", 2),
        (HEADER.format(0) + "0: a\u2028b\n", 2),
        (HEADER.format(0) + f"0: {'a' * 2049}\n", 2),
    ],
)
def test_a_broken_document_is_refused_with_its_line(content: str, line: int) -> None:
    with pytest.raises(DocumentError, match="invalid versioned memory document") as caught:
        parse_document(content)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("content", "entries"),
    [
        (HEADER.format(-1), {}),
        (HEADER.format(9) + "9: i\n2: c\n0: a\n", {0: "a", 2: "c", 9: "i"}),
        (HEADER.format(0) + "0000: a\n", {0: "a"}),
        (HEADER.format(0) + "0" * 5000 + ": a\n", {0: "a"}),
        (HEADER.format(1) + "0: same\n1: same\n", {0: "same", 1: "same"}),
        (HEADER.format(0) + "0: 1: b\n", {0: "1: b"}),
        (HEADER.format(0) + "0: a\x85b\x1cc\u200b\n", {0: "a\x85b\x1cc\u200b"}),
        (HEADER.format(0) + "0: \ud800\n", {0: "\ud800"}),
        (HEADER.format(0) + f"0: {'a' * 2048}\n", {0: "a" * 2048}),
        (HEADER.format(MAX_SAFE_INTEGER), {}),
    ],
)
def test_an_odd_but_valid_document_is_read(content: str, entries: dict[int, str]) -> None:
    assert parse_document(content).entries == entries


@pytest.mark.parametrize(
    ("stored", "words"),
    [
        (StoredDocument(1, "v"), "invalid document"),  # type: ignore[arg-type]
        (StoredDocument("x", None), "invalid document"),  # type: ignore[arg-type]
        (StoredDocument("broken", ""), "empty document version"),
        (StoredDocument("x" * 65537, "v"), "larger than 65,536"),
        (StoredDocument(HEADER.format(-1) + "x" * 100, "v"), "invalid versioned"),
    ],
)
def test_what_a_backend_returns_is_checked_in_order(stored: StoredDocument, words: str) -> None:
    class Odd:
        def read(self, key: str) -> StoredDocument:
            return stored

        def write(self, key: str, content: str, *, expected_version: str | None) -> StoredDocument:
            raise AssertionError("nothing is written")

    with pytest.raises(DocumentError, match=words):
        read_document(Odd(), KEY)


def test_saving_appends_and_collapses_white_space() -> None:
    memory = Memory()
    memory.save("\ufeff a\u00a0\u00a0b\r\n\tc\u2028d\u3000e \ufeff")
    memory.save("b")
    assert memory.document == HEADER.format(1) + "0: a b c d e\n1: b\n"


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 8), texts), max_size=25))
def test_saves_and_removals_follow_a_plain_model(steps: list[tuple[bool, int, str]]) -> None:
    memory, model, last = Memory(max_characters=10**6), dict[int, str](), -1
    for is_save, index, text in steps:
        if is_save:
            memory.save(text)
            if text not in model.values():
                last += 1
                model[last] = text
        else:
            memory.remove(index)
            model.pop(index, None)
        if last >= 0:
            assert memory.document is not None
            assert parse_document(memory.document) == Document(last, model)
    assert memory.recall() == (None if last < 0 else recall_text("profile", Document(last, model)))


def test_removing_what_is_not_there_writes_nothing() -> None:
    memory = Memory()
    memory.remove(0)
    assert memory.document is None
    memory.save("a")
    before = memory.backend.read(KEY)
    for index in (5, None, "0", True, False, float("nan"), 0.5):
        memory.remove(index)
    assert memory.backend.read(KEY) == before
    memory.remove(0.0)
    assert memory.document == HEADER.format(0)


@pytest.mark.parametrize("text", ["", "  ", "\ufeff", "\u2028\u3000\u00a0"])
def test_a_blank_text_is_refused_before_anything_is_read(text: str) -> None:
    with pytest.raises(MemoryTextError, match=r"^Memory text cannot be empty\.$"):
        Memory(_Unreadable()).save(text)


class _Unreadable:
    def read(self, key: str) -> StoredDocument | None:
        raise AssertionError("nothing is read")

    def write(self, key: str, content: str, *, expected_version: str | None) -> StoredDocument:
        raise AssertionError("nothing is written")


@pytest.mark.parametrize(("text", "size"), [("é" * 1024, 2048), ("é" * 1024 + "a", 2049), ("a" * 2047 + "é", 2049)])
def test_an_entry_has_2048_bytes(text: str, size: int) -> None:
    if size <= 2048:
        Memory().save(text)
        return
    with pytest.raises(MemoryLimitError, match="2,048-byte limit after whitespace normalization") as caught:
        Memory(_Unreadable()).save(text)
    assert (caught.value.limit, caught.value.actual, caught.value.unit) == (2048, size, "UTF-8 bytes")


@given(st.sampled_from(["a", "🙂", "家", "é🙂"]), st.integers(0, 60), st.sampled_from(["p", "profile", "workspace"]))
def test_max_characters_counts_utf16_units_of_the_whole_recall(char: str, count: int, slot: str) -> None:
    text = "x" + char * count
    size = utf16_length(recall_text(slot, Document(0, {0: text})))
    assert size == 186 + 2 * len(slot) + len("0: ") + utf16_length(text)
    Memory(slot=slot, max_characters=size).save(text)
    with pytest.raises(MemoryLimitError) as caught:
        Memory(slot=slot, max_characters=size - 1).save(text)
    assert (caught.value.limit, caught.value.actual, caught.value.unit) == (size - 1, size, "UTF-16 units")
    assert str(caught.value) == (
        f"Memory would exceed the configured {size - 1:,}-character limit. "
        "Remove an outdated memory by index, then retry this save."
    )


def test_the_default_limit_is_4000_characters() -> None:
    room = 4000 - len(recall_text("profile", Document(1, {0: "a" * 2000, 1: ""})))
    for over in (0, 1):
        memory = Memory()
        memory.save("a" * 2000)
        if over:
            with pytest.raises(MemoryLimitError, match="4,000-character"):
                memory.save("b" * (room + 1))
        else:
            memory.save("b" * room)


@pytest.mark.parametrize("over", [0, 1])
def test_a_document_has_65536_bytes(over: int) -> None:
    entries = {index: f"{index} " + "a" * 2000 for index in range(32)}
    document = Document(31, entries)
    room = DOCUMENT_MAX_BYTES - utf8_length(format_document(document)) - len("32: \n")
    entry = "é" * (room // 2) + "z" * (room % 2 + over)
    if not over:
        longer = with_entry(document, entry, slot="profile", max_characters=10**6)
        assert longer is not None
        assert utf8_length(format_document(longer)) == DOCUMENT_MAX_BYTES
        return
    with pytest.raises(MemoryLimitError, match="65,536-byte limit") as caught:
        with_entry(document, entry, slot="profile", max_characters=10**6)
    assert caught.value.actual == DOCUMENT_MAX_BYTES + 1


def test_limits_are_checked_in_order() -> None:
    full = Document(MAX_SAFE_INTEGER, {3: "known"})
    assert with_entry(full, "known", slot="profile", max_characters=1) is None
    with pytest.raises(MemoryLimitError, match=r"^Memory has no available index\.$"):
        with_entry(full, "new", slot="profile", max_characters=1)
    with pytest.raises(MemoryLimitError, match="1-character"):
        with_entry(Document(-1, {}), "x" * 70_000, slot="profile", max_characters=1)
    last = with_entry(Document(MAX_SAFE_INTEGER - 1, {}), "x", slot="profile", max_characters=4000)
    assert last == Document(MAX_SAFE_INTEGER, {MAX_SAFE_INTEGER: "x"})


def test_recall_and_removal_mind_no_limit() -> None:
    backend = in_memory()
    Memory(backend).save("a" * 2000)
    tight = Memory(backend, max_characters=1)
    assert "0: aaa" in (tight.recall() or "")
    tight.remove(0)
    assert tight.recall() == "# Persistent memories for profile\n\nNo memories are saved."


@pytest.mark.parametrize("bad", [0, -1, 1.5, float("nan"), float("inf"), "4000", True, 2**53])
def test_max_characters_is_a_positive_safe_integer(bad: Any) -> None:
    with pytest.raises(OptionError, match="max_characters"):
        file_memory(backend=in_memory(), max_characters=bad)


@pytest.mark.parametrize("good", [None, 1, 4000.0, MAX_SAFE_INTEGER])
def test_other_max_characters_are_taken(good: Any) -> None:
    file_memory(backend=in_memory(), max_characters=good)


class Contested:
    """A backend in which every write meets a conflict, a set number of times; a rival may write first."""

    def __init__(self, conflicts: int, rivals: tuple[str, ...] = ()) -> None:
        self.inner = in_memory()
        self.conflicts, self.rivals = conflicts, list(rivals)
        self.reads = self.writes = 0

    def read(self, key: str) -> StoredDocument | None:
        self.reads += 1
        return self.inner.read(key)

    def write(self, key: str, content: str, *, expected_version: str | None) -> StoredDocument:
        self.writes += 1
        if self.conflicts:
            self.conflicts -= 1
            if self.rivals:
                current = self.inner.read(key)
                self.inner.write(key, self.rivals.pop(0), expected_version=None if current is None else current.version)
            raise MemoryDocumentConflictError(key)
        return self.inner.write(key, content, expected_version=expected_version)


def test_eight_conflicts_are_retried_and_the_ninth_is_an_error() -> None:
    backend = Contested(8)
    Memory(backend).save("a")
    assert (backend.reads, backend.writes) == (9, 9)
    backend = Contested(9)
    with pytest.raises(MemoryDocumentConflictError) as caught:
        Memory(backend).save("a")
    assert caught.value.key == KEY
    assert (backend.reads, backend.writes, backend.inner.documents()) == (9, 9, {})


def test_a_rivals_entry_is_kept_and_its_index_is_not_taken() -> None:
    backend = Contested(1, (HEADER.format(0) + "0: theirs\n",))
    memory = Memory(backend)
    memory.save("mine")
    assert memory.document == HEADER.format(1) + "0: theirs\n1: mine\n"


def test_a_rival_that_saved_the_same_text_ends_the_retry() -> None:
    backend = Contested(1, (HEADER.format(0) + "0: mine\n",))
    Memory(backend).save("mine")
    assert (backend.reads, backend.writes) == (2, 1)


def test_limits_are_checked_again_after_a_conflict() -> None:
    backend = Contested(1, (HEADER.format(0) + f"0: {'a' * 2000}\n",))
    with pytest.raises(MemoryLimitError, match="1,000-character"):
        Memory(backend, max_characters=1000).save("mine")


def test_a_removal_retries_too() -> None:
    backend = Contested(0)
    memory = Memory(backend)
    memory.save("a")
    backend.conflicts, backend.rivals = 1, [HEADER.format(0)]
    memory.remove(0)
    assert memory.document == HEADER.format(0)
    assert backend.writes == 2


@pytest.mark.parametrize(
    ("tool", "value", "fits"),
    [
        ("save_memory", {"text": " "}, True),
        ("save_memory", {"text": ""}, False),
        ("save_memory", {}, False),
        ("save_memory", {"text": "a", "key": "memscope1_x"}, False),
        ("save_memory", {"text": 1}, False),
        ("save_memory", "a", False),
        ("remove_memory", {"index": 0}, True),
        ("remove_memory", {"index": 1.0}, True),
        ("remove_memory", {"index": MAX_SAFE_INTEGER}, True),
        ("remove_memory", {"index": MAX_SAFE_INTEGER + 1}, False),
        ("remove_memory", {"index": -1}, False),
        ("remove_memory", {"index": "0"}, False),
        ("remove_memory", {"index": True}, False),
        ("remove_memory", {"index": 0.5}, False),
    ],
)
def test_tool_inputs_are_checked_against_the_schema(tool: str, value: Any, fits: bool) -> None:
    made = Memory().tools[tool]
    if fits:
        assert check_input(tool, made, value) == value
        return
    with pytest.raises(ToolInputError, match=f"Invalid input for tool {tool}: ") as caught:
        check_input(tool, made, value)
    assert caught.value.tool == tool
    assert caught.value.path.startswith("input")


def test_every_error_is_an_evelab_error() -> None:
    for error in (DocumentError, MemoryLimitError, MemoryTextError, OptionError, MemoryDocumentConflictError):
        assert issubclass(error, EvelabError)
