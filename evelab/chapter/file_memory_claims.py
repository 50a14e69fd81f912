"""Claims of 8.6: the one small document, its two tools and its limits."""

from __future__ import annotations

from itertools import count
from threading import Barrier, Thread
from typing import TYPE_CHECKING

from evelab.agent import Agent
from evelab.backends import InMemory, StoredDocument, check_prefix, default_backend, document_path, in_memory
from evelab.chapter.callers import LI_SI, ZHANG_SAN
from evelab.chapter.claims import Evidence, claim
from evelab.chapter.policies import TENANT_PRINCIPAL
from evelab.chapter.values import FILE_MEMORY, ONE_SAVE, PRINTED_KEYS
from evelab.chapter.workbench import NAMESPACE, SLOT, Workbench
from evelab.errors import DefinitionError, OptionError
from evelab.file_memory import (
    file_memory,
    format_document,
    parse_document,
    recall_text,
    with_entry,
)
from evelab.keys import memory_key
from evelab.message import ToolCall, ToolResult
from evelab.model import Reply, ScriptedModel, call
from evelab.provider import MemoryProvider, ToolsContext, define_memory, define_memory_provider
from evelab.session import Session, Turn
from evelab.text import utf8_length, utf16_length

if TYPE_CHECKING:
    from collections.abc import Mapping

SAVE, REMOVE = f"{SLOT}__save_memory", f"{SLOT}__remove_memory"
KEY = memory_key(NAMESPACE, "acme")
MAX_CHARACTERS: int = FILE_MEMORY["max_characters"]
ENTRY_MAX_BYTES: int = FILE_MEMORY["entry_max_bytes"]
DOCUMENT_MAX_BYTES: int = FILE_MEMORY["document_max_bytes"]
U_42, U_99 = (row.key for row in PRINTED_KEYS if row.experiment == "B" and row.caller.startswith("acme"))


def _text(value: str) -> str:
    """A block of the data file, without the line break that TOML needs before it."""
    return value.removeprefix("\n")


def _run(backend: InMemory, *calls: Reply, max_characters: int | None = None) -> Turn:
    """One turn in a new session whose model makes these calls, one a step."""
    memory = define_memory(
        provider=file_memory(backend=backend, max_characters=max_characters), scope="acme", namespace=NAMESPACE
    )
    return Session(Agent({SLOT: memory}, ScriptedModel([*calls, "done"]))).send("go")


def _save(backend: InMemory, *texts: str, max_characters: int | None = None) -> list[ToolResult]:
    return _run(backend, *(call(SAVE, text=text) for text in texts), max_characters=max_characters).results


def _remove(backend: InMemory, *indexes: int) -> list[ToolResult]:
    return _run(backend, *(call(REMOVE, index=index) for index in indexes)).results


def _recalled(backend: InMemory) -> list[str]:
    return [item.content for item in _run(backend).recalled[SLOT]]


def _outcomes(results: list[ToolResult]) -> list[object]:
    return [result.value for result in results]


@claim("6.1")
def the_document_byte_for_byte(see: Evidence) -> None:
    """The stored document, byte for byte: a header with lastAllocatedIndex, then "index: text" lines."""
    backend = in_memory()
    see.equal("what the model gets back", _outcomes(_save(backend, *FILE_MEMORY["texts"])), [None, None])
    see.equal("document", backend.documents()[KEY].encode(), _text(FILE_MEMORY["document"]).encode())


@claim("6.2")
def the_recalled_text_word_for_word(see: Evidence) -> None:
    """The recalled text, word for word."""
    backend = in_memory()
    _save(backend, *FILE_MEMORY["texts"])
    turn = _run(backend)
    see.equal("recalled", [item.content.encode() for item in turn.recalled[SLOT]], [_wanted_recall()])
    block = turn.context[-2]
    see.equal("the model's message before the input", (block.role, block.text.encode()), ("user", _wanted_recall()))


def _wanted_recall() -> bytes:
    return _text(FILE_MEMORY["recall"]).encode()


@claim("6.3")
def never_saved_and_emptied_differ(see: Evidence) -> None:
    """Never saved: recall is null and nothing is inserted; emptied: heading and "No memories are saved."."""
    backend = in_memory()
    turn = _run(backend)
    see.equal("recalled when nothing was ever saved", turn.recalled[SLOT], ())
    see.equal("roles in the context", [message.role for message in turn.context], ["system", "user"])
    _save(backend, "x")
    _remove(backend, 0)
    see.equal("recalled when emptied", _recalled(backend), [_text(FILE_MEMORY["emptied"])])


@claim("6.4")
def an_index_is_never_given_again(see: Evidence) -> None:
    """save_memory appends at a growing index, remove_memory deletes by index, and no index is given twice."""
    backend = in_memory()
    _save(backend, "a", "b", "c")
    see.equal("after three saves", _entries(backend), {0: "a", 1: "b", 2: "c"})
    _remove(backend, 2, 0)
    see.equal("after removing 2 and 0", _entries(backend), {1: "b"})
    _save(backend, "d")
    see.equal("after one more save", _entries(backend), {1: "b", 3: "d"})
    _remove(backend, 1, 3)
    _save(backend, "e")
    see.equal("after emptying and one more save", _entries(backend), {4: "e"})


def _entries(backend: InMemory) -> dict[int, str]:
    return dict(parse_document(backend.documents()[KEY]).entries)


@claim("6.5")
def the_description_stands_first(see: Evidence) -> None:
    """The slot's description stands before both tools' descriptions."""
    about = "个人偏好。"
    plain, described = (
        Session(
            Agent(
                {
                    SLOT: define_memory(
                        provider=file_memory(backend=in_memory()), scope="acme", namespace="n", description=text
                    )
                }
            )
        )
        .send("在吗")
        .tools
        for text in (None, about)
    )
    see.equal("tools", sorted(described), [REMOVE, SAVE])
    for name, tool in described.items():
        see.equal(name, tool.description, f"{about}\n\n{plain[name].description}")


@claim("6.6")
def max_characters_counts_the_whole_recall(see: Evidence) -> None:
    """max_characters (default 4000) limits the recalled message, heading and guidance included, on saving."""
    for limit in (None, 300):
        allowed = MAX_CHARACTERS if limit is None else limit
        room = allowed - utf16_length(recall_text(SLOT, parse_document(_document("x")))) + 1
        texts = ["a" * 2000, "b" * (room - 2000 - 4)] if room > ENTRY_MAX_BYTES else ["a" * room]
        backend = in_memory()
        see.equal(
            f"{allowed}: saves up to the limit",
            _outcomes(_save(backend, *texts, max_characters=limit)),
            [None] * len(texts),
        )
        see.equal(f"{allowed}: length of the recall", utf16_length(_recalled(backend)[0]), allowed)
        texts[-1] += "c"
        results = _save(in_memory(), *texts, max_characters=limit)
        see.true(f"{allowed}: one more is refused", f"{allowed:,}-character limit" in str(results[-1].value))
    emoji = _save(in_memory(), "🙂", max_characters=204)
    see.true("an emoji counts two", "204-character limit" in str(emoji[0].value))
    see.equal("and fits where two fit", _outcomes(_save(in_memory(), "🙂", max_characters=205)), [None])
    full = in_memory()
    _save(full, "a" * 100)
    see.equal("recall itself is not limited", len(_run(full, max_characters=1).recalled[SLOT]), 1)


def _document(*texts: str) -> str:
    backend = in_memory()
    _save(backend, *texts)
    return backend.documents()[KEY]


@claim("6.7")
def entries_and_documents_have_limits(see: Evidence) -> None:
    """2048 UTF-8 bytes an entry after white-space normalisation; 65536 bytes a document."""
    border = "é" * (ENTRY_MAX_BYTES // 2)
    see.equal("an entry of 2,048 bytes", _outcomes(_save(in_memory(), border)), [None])
    see.true("2,049 bytes are refused", "2,048-byte limit" in str(_save(in_memory(), border + "a")[0].value))
    spaced = "  a" + " " * 5000 + "b  "
    see.true("white space is collapsed first", _document(spaced).endswith("\n0: a b\n"))
    for beyond, wanted in ((0, "None"), (1, "65,536-byte limit")):
        backend = in_memory()
        result = _fill(backend, beyond)
        see.true(f"a document {beyond} bytes over the limit gives {wanted}", wanted in str(result.value))
        see.equal("its size afterwards", _size(backend) == DOCUMENT_MAX_BYTES, beyond == 0)


def _fill(backend: InMemory, beyond: int) -> ToolResult:
    """Save until the document is full, the last text so long that it ends ``beyond`` bytes over the limit."""
    _save(backend, *(f"{number} " + "a" * 2000 for number in range(32)), max_characters=10**6)
    room = DOCUMENT_MAX_BYTES - _size(backend) - len("32: \n")
    return _save(backend, "z" * (room + beyond), max_characters=10**6)[0]


def _size(backend: InMemory) -> int:
    return utf8_length(backend.documents()[KEY])


@claim("6.8")
def over_a_limit_nothing_is_lost(see: Evidence) -> None:
    """Over a limit is an error: nothing is cut and no old entry is dropped."""
    backend = in_memory()
    _save(backend, "first", "second")
    before = backend.documents()
    for what, text, limit in (
        ("an entry that is too long", "x" * (ENTRY_MAX_BYTES + 1), None),
        ("a recall that would be too long", "third", 210),
        ("an empty text", "   ", None),
    ):
        result = _save(backend, text, max_characters=limit)[0]
        see.equal(f"{what}: the tool's answer", result.type, "error-text")
        see.equal(f"{what}: the document", backend.documents(), before)
    backend = in_memory()
    _fill(backend, 1)
    see.equal("a document that would be too large keeps its entries", list(_entries(backend)), list(range(32)))


@claim("6.9")
def a_known_text_changes_nothing(see: Evidence) -> None:
    """Saving a text that is already there changes nothing."""
    backend = in_memory()
    _save(backend, "a", "b")
    before = backend.read(KEY)
    see.equal("the tool's answer", _outcomes(_save(backend, " a ", "b")), [None, None])
    see.equal("document and version", backend.read(KEY), before)
    see.equal("even where no limit would allow it", _outcomes(_save(backend, "a", max_characters=1)), [None])


class Contested(InMemory):
    """A backend in which somebody else writes first, a set number of times."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times
        self.rivals = count()

    def write(self, key: str, content: str, *, expected_version: str | None) -> StoredDocument:
        """Write, after the rival has."""
        if self.times:
            self.times -= 1
            current = self.read(key)
            held = None if current is None else parse_document(current.content)
            rival = with_entry(
                held or parse_document(EMPTY), f"rival {next(self.rivals)}", slot=SLOT, max_characters=10**6
            )
            if rival is not None:
                version = None if current is None else current.version
                super().write(key, format_document(rival), expected_version=version)
        return super().write(key, content, expected_version=expected_version)


EMPTY = "<!-- eve-memory-file-v1 lastAllocatedIndex=-1 -->\n"


@claim("6.10")
def concurrent_writers_lose_nothing(see: Evidence) -> None:
    """Concurrent writers to one document: optimistic version, retry on conflict, nothing lost."""
    contested = Contested(8)
    see.equal("a save that meets eight rivals", _outcomes(_save(contested, "mine")), [None])
    texts = [*(f"rival {number}" for number in range(8)), "mine"]
    see.equal("entries afterwards", _entries(contested), dict(enumerate(texts)))
    result = _save(Contested(9), "mine")[0]
    see.true("a ninth rival makes it give up, with an error", "MemoryDocumentConflictError" in str(result.value))

    backend = in_memory()
    start = Barrier(2)

    def writer(name: str) -> None:
        start.wait()
        for number in range(20):
            while _save(backend, f"{name} {number}")[0].type == "error-text":
                pass

    threads = [Thread(target=writer, args=(name,)) for name in ("left", "right")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    entries = _entries(backend)
    see.equal("indexes that two threads were given", sorted(entries), list(range(40)))
    see.equal(
        "texts of both threads",
        sorted(entries.values()),
        sorted(f"{n} {i}" for n in ("left", "right") for i in range(20)),
    )


ENVIRONMENTS: Mapping[str, Mapping[str, str]] = {
    "Vercel, with Blob credentials": {"VERCEL": "1", "BLOB_READ_WRITE_TOKEN": "token"},
    "Vercel, without": {"VERCEL": "1"},
    "eve dev": {"EVE_DEV": "1"},
    "anywhere else": {},
}
"""Where file memory may run without a backend of its own, by name."""


def backend_in(environ: Mapping[str, str]) -> str:
    """The backend that an environment chooses, or the sentence that refuses it."""
    try:
        return type(default_backend(environ)).__name__
    except DefinitionError as error:
        return str(error)


@claim("6.11")
def the_environment_chooses_the_backend(see: Evidence) -> None:
    """Backend chosen by environment, four rows, two of them errors that say what to do; evelab has no Blob store."""
    blob = {"VERCEL": "1", "BLOB_READ_WRITE_TOKEN": "token"}
    for what, environ, words in (
        ("Vercel with credentials: private Blob", blob, "private Vercel Blob"),
        ("Vercel without them: an error", {"VERCEL": "1"}, "/add memory/file"),
        ("Vercel beats eve dev", {"VERCEL": "1", "EVE_DEV": "1"}, "/add memory/file"),
        ("anywhere else: an error", {}, "explicit backend"),
    ):
        error = see.raises(what, DefinitionError, lambda environ=environ: default_backend(environ))  # type: ignore[misc]
        see.true(f"{what}, and the sentence says what to do", words in str(error))
        see.true(f"{what}, and what to pass", "file_memory(backend=...)" in str(error))
    first, second = default_backend({"EVE_DEV": "1"}), default_backend({"EVE_DEV": "1"})
    see.true("eve dev: one store in the process", first is second and isinstance(first, InMemory))
    see.raises("EVE_DEV must be exactly 1", DefinitionError, lambda: default_backend({"EVE_DEV": "true"}))


@claim("6.12")
def the_object_path(see: Evidence) -> None:
    """Object path <prefix>/<scope key>/MEMORY.md, default prefix eve/memory/file, and a custom prefix."""
    see.equal("default prefix", document_path(KEY), FILE_MEMORY["path_of_a"])
    see.equal("custom prefix", document_path(KEY, prefix="eve/memory/opsbot"), f"eve/memory/opsbot/{KEY}/MEMORY.md")
    see.equal("slashes at its ends", document_path(KEY, prefix="/a//b/"), f"a//b/{KEY}/MEMORY.md")
    see.raises("an empty prefix", OptionError, lambda: check_prefix("//"))


@claim("6.13")
def one_save_in_six_steps(see: Evidence) -> None:
    """The six steps of one save, with the real key, the new document, the next recall, and u_99 who recalls nothing."""
    seen: list[tuple[str, object, str]] = []
    model = ScriptedModel([call(SAVE, text=ONE_SAVE["text"]), "好，记住了。", "payment-api 正常。"])

    def provider(backend: InMemory) -> MemoryProvider:
        inner = file_memory(backend=backend)

        def tools(ctx: ToolsContext) -> object:
            seen.append((ctx.memory.scope.key, ctx.memory.scope.value, ctx.memory.slot))
            return None if inner.tools is None else inner.tools(ctx)

        return define_memory_provider(recall=inner.recall, tools=tools)

    bench = Workbench(TENANT_PRINCIPAL.scope, model=model, provider=provider)
    turn = bench.say(ZHANG_SAN, ONE_SAVE["said"])
    asked = [part for message in turn.prompts[1].messages for part in message.content if isinstance(part, ToolCall)]
    see.equal(
        "1, 2: the model's call",
        [(made.name, dict(made.input)) for made in asked],
        [(SAVE, {"text": ONE_SAVE["text"]})],
    )
    see.equal("3: what the provider gets", seen[0], (U_42, ("acme", "u_42"), SLOT))
    see.equal("4: the new document", bench.backend.documents(), {U_42: _text(ONE_SAVE["document"])})
    see.equal("4: its path", [stored.path for stored in bench.documents()], [f"eve/memory/file/{U_42}/MEMORY.md"])
    turn = bench.say(ZHANG_SAN, "payment-api 现在正常吗？")
    block, said = turn.context[-2:]
    see.equal("5: the roles of the last two messages", (block.role, said.role), ("user", "user"))
    see.true("5: the recalled line", block.text.endswith(f"\n\n0: {ONE_SAVE['text']}"))
    other = bench.look(LI_SI)
    see.equal("6: the key of u_99", other.key, U_99)
    see.equal("6: what u_99 recalls", other.recall, None)


@claim("6.14")
def it_saves_only_what_the_model_saves(see: Evidence) -> None:
    """file_memory has no capture: it remembers only what the model saves."""
    see.equal("capture handlers", dict(file_memory(backend=in_memory()).capture), {})
    bench = Workbench(TENANT_PRINCIPAL.scope)
    bench.say(ZHANG_SAN, "我只看 payment-api")
    bench.say(ZHANG_SAN, "我的工单号是 A-17")
    see.equal("documents after two turns without a save", bench.backend.documents(), {})
    bench.say(ZHANG_SAN, "记住，我只看 payment-api")
    see.equal("documents after a save", len(bench.documents()), 1)
