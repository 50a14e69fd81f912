from __future__ import annotations

import sqlite3
import subprocess
import sys
import traceback
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from evelab import (
    Agent,
    Call,
    Principal,
    Reply,
    ScriptedModel,
    Session,
    by_principal,
    define_memory,
    notes,
    open_notes,
)
from evelab.errors import MemoryLimitError, OptionError, StoreError
from evelab.note_words import QUESTION_WORDS_MAX, words_of_note, words_of_question
from evelab.notes_store import Draft, Ingested, Note
from evelab.provider import define_memory_provider
from tests.stores.callers import capture, forget, key, operation, recall, store, where
from tests.stores.postgres import postgres, postgres_url

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evelab.notes_store import NoteStore

__all__ = ["postgres", "postgres_url", "store", "where"]


def said(*texts: str) -> Any:
    return lambda ctx: [Draft(text) for text in texts]


def texts(messages: Sequence[dict[str, Any]]) -> list[str]:
    return [message["content"].partition(": ")[2] for message in messages]


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


# Words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("值班表每周三更新", ["值班", "班表", "表每", "每周", "周三", "三更", "更新"]),
        ("猫", ["猫"]),
        ("payment-api 的负责人", ["payment", "api", "的负", "负责", "责人"]),
        ("ＰＡＹＭＥＮＴ Straße U_42", ["payment", "strasse", "u", "42"]),
        ('" OR NEAR(x* -y', ["or", "near", "x", "y"]),
        ("🙂 !? \ud800 \0", []),
        ("a" * 70, ["a" * 64]),
    ],
)
def test_a_question_is_cut_into_words_and_pairs(text: str, words: list[str]) -> None:
    assert words_of_question(text) == words


def test_a_note_is_found_by_every_word_of_a_question_with_its_text() -> None:
    for text in ("值班表每周三更新", "猫", "payment-api 的负责人是李四", "カタカナ と ひらがな 한국어", "x" * 100):
        assert set(words_of_question(text)) <= set(words_of_note(text))


def test_a_long_question_is_bounded() -> None:
    assert len(words_of_question(" ".join(map(str, range(1000))))) == QUESTION_WORDS_MAX


# The provider in a session


def talk(provider: Any, *replies: Any) -> Session:
    agent = Agent(
        {"notes": define_memory(provider=provider, scope=by_principal, namespace="n")},
        model=ScriptedModel(replies or ["ok"] * 9),
    )
    return Session(agent, Principal("user", "app", "zhang"), environ={})


def test_what_was_said_in_one_session_is_recalled_in_another(store: NoteStore) -> None:
    provider = notes(store)
    talk(provider).send("值班表每周三更新")
    turn = talk(provider).send("周三有什么事？")
    (found,) = turn.recalled["notes"]
    assert found.content.endswith(": 值班表每周三更新")
    assert [message.text for message in turn.context][-2:] == [found.content, "周三有什么事？"]
    other = talk(provider)
    assert other.send("周三呢", caller=Principal("user", "app", "li")).recalled["notes"] == ()


def test_a_model_forgets_a_note_by_the_id_that_it_read(store: NoteStore) -> None:
    provider = notes(store)
    talk(provider).send("the rota changes on Wednesday")
    (note,) = store.notes()
    asked = talk(provider, Reply(calls=(Call("notes__forget", {"id": note.id}),)), "done")
    turn = asked.send("forget the rota")
    assert note.id in turn.context[-2].text
    assert turn.results[0].value == {"deleted": True}
    assert [one.text for one in store.notes()] == ["forget the rota"]


def test_recall_is_asked_again_after_a_compaction(store: NoteStore) -> None:
    session = talk(notes(store))
    session.send("the rota changes on Wednesday")
    session.send("the rota?")
    done = session.compact()
    assert done.error is None
    assert "the rota changes on Wednesday" in done.recalled["notes"][0].content + done.recalled["notes"][1].content


def test_a_note_that_is_too_long_is_logged_and_nothing_is_cut(store: NoteStore) -> None:
    provider = notes(store, max_note_bytes=10)
    turn = talk(provider).send("值班表每周三更新")
    assert turn.status == "completed"
    (log,) = turn.logs
    assert isinstance(log.error, MemoryLimitError)
    assert (log.error.limit, log.error.actual, log.error.unit) == (10, 24, "UTF-8 bytes")
    assert store.notes() == []


def test_the_default_keeps_no_note_of_what_was_recalled_or_answered(store: NoteStore) -> None:
    session = talk(notes(store))
    session.send("rota one", context=["be brief"])
    session.send("rota two")
    assert [note.text for note in store.notes()] == ["rota one", "rota two"]


# Capture


def test_a_replay_of_a_capture_changes_nothing(store: NoteStore) -> None:
    provider = notes(store)
    assert capture(provider, "a", "rota", "op1") == Ingested(added=1)
    assert capture(provider, "a", "rota", "op1") == Ingested(replayed=True)
    assert capture(provider, "a", "something else", "op1") == Ingested(replayed=True)
    assert [note.text for note in store.notes()] == ["rota"]


def test_a_replay_does_not_bring_back_what_was_forgotten(store: NoteStore) -> None:
    provider = notes(store)
    capture(provider, "a", "rota", "op1")
    assert forget(provider, "a", store.notes()[0].id) == {"deleted": True}
    assert capture(provider, "a", "rota", "op1").replayed
    assert store.notes() == []


def test_the_same_operation_in_another_partition_is_another_one(store: NoteStore) -> None:
    provider = notes(store)
    capture(provider, "a", "rota", "op1")
    assert capture(provider, "b", "rota", "op1") == Ingested(added=1)
    assert [note.partition for note in store.notes()] == [key("a"), key("b")]


def test_a_note_with_a_name_replaces_the_older_one(store: NoteStore) -> None:
    chapter = notes(store, extract=lambda ctx: [Draft(ctx.turn.input[0].text, "preferred-language")])  # type: ignore[union-attr]
    capture(chapter, "a", "user prefers English", "op1")
    assert capture(chapter, "a", "用户偏好中文回答", "op2") == Ingested(added=0, replaced=1)
    assert capture(chapter, "b", "another", "op2") == Ingested(added=1)
    assert store.notes(key("a")) == [Note("preferred-language", "用户偏好中文回答", key("a"))]
    assert recall(chapter, "a", "English") == []


def test_all_notes_of_a_capture_are_kept_or_none(store: NoteStore) -> None:
    provider = notes(store, max_note_bytes=10, extract=said("short", "much too long for it"))
    with pytest.raises(MemoryLimitError):
        capture(provider, "a", "x", "op1")
    assert store.notes() == []
    assert capture(notes(store), "a", "x", "op1") == Ingested(added=1)


def test_operations_that_are_remembered_are_bounded(store: NoteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evelab.notes_store.OPERATIONS_KEPT", 5)
    for index in range(7):
        store.ingest("p", f"op{index}", [], now=0.0, max_notes=1)
        store.ingest("q", f"op{index}", [], now=0.0, max_notes=1)
    seen = [store.ingest("p", f"op{index}", [], now=0.0, max_notes=1).replayed for index in (6, 5, 4, 3, 2, 1, 0)]
    assert seen == [True, True, True, True, True, False, False]


def rows(where: str, sql: str) -> list[Any]:
    """What a program that is not evelab reads."""
    if "://" in where:
        import psycopg

        with psycopg.connect(where) as look:
            return list(look.execute(sql))
    connection = sqlite3.connect(where)
    found = connection.execute(sql).fetchall()
    connection.close()
    return found


def test_nothing_is_left_of_a_forgotten_note(store: NoteStore, where: str) -> None:
    provider = notes(store)
    capture(provider, "a", "rota", "op1")
    capture(provider, "a", "payroll zanzibar", "op2")
    assert rows(where, "SELECT count(*) FROM evelab_words WHERE word = 'zanzibar'") == [(1,)]
    forget(provider, "a", store.notes()[1].id)
    assert rows(where, "SELECT word FROM evelab_words") == [("rota",)]
    assert rows(where, "SELECT text FROM evelab_notes") == [("rota",)]
    store.close()
    if "://" not in where:
        assert b"zanzibar" not in Path(where).read_bytes()


# Size and age


def test_the_oldest_notes_make_room_and_are_counted(store: NoteStore) -> None:
    provider = notes(store, max_notes=3)
    for index in range(3):
        capture(provider, "a", f"rota {index}", f"op{index}")
    capture(provider, "b", "rota b", "op")
    assert capture(provider, "a", "rota 3", "op3") == Ingested(added=1, evicted=1)
    assert [note.text for note in store.notes(key("a"))] == ["rota 1", "rota 2", "rota 3"]
    assert [note.text for note in store.notes(key("b"))] == ["rota b"]
    assert sorted(texts(recall(provider, "a", "rota"))) == ["rota 1", "rota 2", "rota 3"]


def test_an_old_note_is_not_recalled_and_goes_with_the_next_capture(store: NoteStore) -> None:
    clock = Clock()
    provider = notes(store, retention=timedelta(days=1), clock=clock)
    capture(provider, "a", "rota old", "op1")
    clock.now += 86_400
    assert texts(recall(provider, "a", "rota")) == ["rota old"]
    clock.now += 1
    assert recall(provider, "a", "rota") == []
    assert capture(provider, "a", "rota new", "op2") == Ingested(added=1, expired=1)
    assert [note.text for note in store.notes()] == ["rota new"]


def test_a_sweep_removes_old_notes_of_every_partition(store: NoteStore) -> None:
    clock = Clock()
    provider = notes(store, clock=clock)
    capture(provider, "a", "rota", "op1")
    capture(provider, "b", "rota", "op1")
    clock.now += 10
    capture(provider, "c", "rota", "op1")
    assert store.sweep(clock.now - 5) == 2
    assert [note.partition for note in store.notes()] == [key("c")]
    assert recall(provider, "a", "rota") == []


# Search


def test_the_best_notes_come_first_and_no_more_than_the_limit(store: NoteStore) -> None:
    provider = notes(store, limit=2)
    for index, text in enumerate(["rota", "lunch menu", "rota of the payment team", "payment"]):
        capture(provider, "a", text, f"op{index}")
    assert texts(recall(provider, "a", "payment rota?")) == ["rota of the payment team", "payment"]


def test_the_order_does_not_depend_on_other_partitions(store: NoteStore) -> None:
    provider = notes(store)
    for index, text in enumerate(["alpha beta", "alpha gamma", "beta delta"]):
        capture(provider, "a", text, f"op{index}")
    before = recall(provider, "a", "alpha delta")
    for index in range(50):
        capture(provider, "b", "delta delta", f"op{index}")
    assert recall(provider, "a", "alpha delta") == before


@pytest.mark.parametrize("question", ["", " ", "🙂", '"', "%", "_", "'; --", "\0", "\ud800"])
def test_a_question_without_words_finds_nothing(store: NoteStore, question: str) -> None:
    provider = notes(store)
    capture(provider, "a", "rota", "op1")
    assert recall(provider, "a", question) == []


@pytest.mark.parametrize(
    "text",
    [
        "'; DROP TABLE evelab_notes; --",
        '" OR "1"="1',
        "rota NEAR(x, 2) AND y* : ^z -w",
        ":partition :word0 %(x)s $1 ?",
        "\\' \\x00 {} {{}}",
        "<script>alert(1)</script>",
    ],
)
def test_syntax_is_text(store: NoteStore, text: str) -> None:
    provider = notes(store)
    capture(provider, "a", "rota", "op0")
    capture(provider, "a", text, "op1")
    assert texts(recall(provider, "a", text))[0] == text
    assert recall(provider, "b", text) == []
    assert forget(provider, "a", text) == {"deleted": False}
    assert len(store.notes()) == 2


def test_what_a_database_cannot_hold_is_replaced_by_a_mark(store: NoteStore) -> None:
    provider = notes(store)
    capture(provider, "a", "rota \0 and \ud800", "op\0\ud800")
    assert texts(recall(provider, "a", "rota")) == ["rota \ufffd and \ufffd"]
    assert forget(provider, "a", "\0\ud800") == {"deleted": False}


def test_forget_reaches_no_other_partition(store: NoteStore) -> None:
    provider = notes(store)
    capture(provider, "a", "rota", "op1")
    (note,) = store.notes()
    assert forget(provider, "b", note.id) == {"deleted": False}
    assert store.notes() == [note]


# The store itself


def test_notes_outlive_the_store_that_wrote_them(store: NoteStore, where: str) -> None:
    capture(notes(store), "a", "rota", "op1")
    store.close()
    again = open_notes(where)
    try:
        assert texts(recall(notes(again), "a", "rota")) == ["rota"]
    finally:
        again.close()


FORKED = """
import os, signal, sys
from contextlib import nullcontext
from evelab import notes, open_notes
from tests.stores.callers import capture

def server():
    with store._database.work(write=False) as work:
        return work.rows("SELECT pg_backend_pid()") if "://" in sys.argv[1] else None

store = open_notes(sys.argv[1])
provider = notes(store)
capture(provider, "a", "rota one", "op1")
before = server()
with store._database.work(write=False) if sys.argv[2] == "busy" else nullcontext():
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        capture(provider, "a", "rota two", "op2")
        assert before is None or server() != before, "the child speaks over the parent's connection"
        store.close()
        os._exit(0)
    status = os.waitpid(child, 0)[1]
capture(provider, "a", "rota three", "op3")
assert server() == before, "the parent lost its connection"
print(status, len(store.notes()))
store.close()
"""


@pytest.mark.parametrize("parent", ["idle", "busy"])
def test_a_child_process_takes_a_connection_of_its_own(where: str, parent: str) -> None:
    """Also when a thread of the parent is at work at the moment of the fork."""
    done = subprocess.run([sys.executable, "-c", FORKED, where, parent], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("0 3\n", "")


def test_a_layout_of_another_version_is_refused(store: NoteStore, where: str) -> None:
    store.notes()
    store.close()
    if "://" in where:
        import psycopg

        with psycopg.connect(where) as changed:
            changed.execute("UPDATE evelab_layout SET number = 99")
    else:
        edited = sqlite3.connect(where)
        edited.execute("PRAGMA user_version = 99")
        edited.close()
    with pytest.raises(StoreError, match="layout 99"):
        store.notes()


def test_sqlite_leaves_the_file_of_another_program_alone(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    theirs = sqlite3.connect(path)
    theirs.execute("CREATE TABLE t (x)")
    theirs.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="something else than notes"):
        open_notes(path).notes()
    (tmp_path / "text.db").write_text("not a database, and longer than a header of SQLite needs to be, by far\n" * 20)
    with pytest.raises(StoreError, match="file is not a database"):
        open_notes(tmp_path / "text.db").notes()
    assert path.read_bytes() == before


def test_a_folder_that_is_not_there_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"SQLite could not use notes\.db: unable to open database file\."):
        open_notes(tmp_path / "nowhere" / "notes.db").notes()


def test_notes_in_memory_end_with_the_store() -> None:
    store = open_notes(":memory:")
    capture(notes(store), "a", "rota", "op1")
    assert len(store.notes()) == 1
    store.close()
    assert store.notes() == []
    store.close()


def test_errors_and_logs_of_postgresql_hold_no_text_of_a_user(postgres: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="sqlalchemy.engine")
    store = open_notes(postgres)
    capture(notes(store), "a", "rota", "op1")
    import psycopg

    with psycopg.connect(postgres) as broken:
        broken.execute("ALTER TABLE evelab_notes ADD CHECK (text <> 'secret')")
    text = "".join(["se", "cret"])  # a traceback shows the lines of this file
    with pytest.raises(StoreError) as raised:
        capture(notes(store), "a", text, "op2")
    store.close()
    assert "check constraint" in str(raised.value)
    assert text not in "".join(traceback.format_exception(raised.value))
    assert "INSERT INTO evelab_notes" in caplog.text
    assert text not in caplog.text


def test_a_server_that_is_not_there_is_one_clear_error() -> None:
    store = open_notes("postgresql://u:pass-word@127.0.0.1:1/x")
    with pytest.raises(StoreError, match="PostgreSQL could not use the notes") as raised:
        store.notes()
    assert "pass-word" not in str(raised.value)


# Options


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 101}, "limit"),
        ({"limit": True}, "limit"),
        ({"max_notes": -1}, "max_notes"),
        ({"max_note_bytes": 1.5}, "max_note_bytes"),
        ({"retention": timedelta(0)}, "retention"),
        ({"retention": 30}, "retention"),
    ],
)
def test_options_out_of_range(options: dict[str, Any], place: str) -> None:
    with pytest.raises(OptionError) as raised:
        notes(":memory:", **options)
    assert raised.value.place == place


@pytest.mark.parametrize("url", ["mysql://x/y", "https://x/y", "postgresql://h:port/x"])
def test_a_url_of_something_else(url: str) -> None:
    with pytest.raises(OptionError) as raised:
        open_notes(url)
    assert raised.value.place == "where"


def test_importing_evelab_opens_no_database_library() -> None:
    code = "import sys, evelab; evelab.notes('x.db'); print([n for n in ('sqlalchemy', 'psycopg') if n in sys.modules])"
    bare = "import sys, evelab; print([n for n in ('sqlite3', 'sqlalchemy', 'psycopg') if n in sys.modules])"
    for program in (code, bare):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert done.stdout == "[]\n"


def test_the_provider_fits_the_contract() -> None:
    provider = notes(":memory:")
    again = define_memory_provider(recall=provider.recall, capture=provider.capture, tools=provider.tools)
    assert (again.recall, again.capture, again.tools) == (provider.recall, provider.capture, provider.tools)
    assert operation("a", "x").memory.scope.key == key("a")
