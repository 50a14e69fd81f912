"""What every backend does: conditional writes, partitions that do not touch, documents byte for byte."""

from __future__ import annotations

from threading import Barrier, Thread
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evelab.errors import MemoryDocumentConflictError, MemoryLimitError, OptionError
from evelab.file_memory import (
    DOCUMENT_MAX_BYTES,
    Document,
    format_document,
    parse_document,
    read_document,
    with_entry,
)
from evelab.keys import memory_key
from tests.stores.writer import SLOT, saver, tools_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from evelab.backends import StoredDocument
    from tests.stores.places import Place, Store

A, B = memory_key("n", "a"), memory_key("n", "b")


def test_a_write_names_the_version_that_it_replaces(store: Store) -> None:
    assert store.read(A) is None
    first = store.write(A, "one", expected_version=None)
    assert store.read(A) == first
    second = store.write(A, "two", expected_version=first.version)
    assert second.version != first.version
    for stale in (None, first.version):
        with pytest.raises(MemoryDocumentConflictError) as caught:
            store.write(A, "three", expected_version=stale)
        assert caught.value.key == A
    assert store.read(A) == second
    assert second.content == "two"


def test_a_replacement_of_what_is_not_there_is_a_conflict(store: Store) -> None:
    version = store.write(A, "one", expected_version=None).version
    with pytest.raises(MemoryDocumentConflictError):
        store.write(B, "x", expected_version=version)
    assert store.read(B) is None


@pytest.mark.parametrize("content", ["", "张三 🙂\n\u2028\u0085\x00", "a\r\nb\rc", "x" * DOCUMENT_MAX_BYTES])
def test_a_content_comes_back_as_it_was_written(content: str, store: Store) -> None:
    written = store.write(A, content, expected_version=None)
    assert written.content == content
    assert store.read(A) == written


def test_two_openings_of_one_place_see_one_document(shared_place: Place) -> None:
    first = shared_place.open().write(A, "one", expected_version=None)
    other = shared_place.open()
    assert other.read(A) == first
    assert other.write(A, "two", expected_version=first.version).content == "two"


def test_the_keys_are_those_of_the_documents(store: Store) -> None:
    assert list(store.keys()) == []
    for key in (B, A):
        store.write(key, "x", expected_version=None)
    assert sorted(store.keys()) == sorted([A, B])


@pytest.mark.parametrize(
    "key", ["", ".", "..", "../x", "a/b", "a\\b", "/etc", "a\0", "a b", "é", "C:", "a.", "k" * 201, "a%2Fb", "a\n"]
)
def test_a_key_that_could_leave_the_folder_is_refused(key: str, shared_place: Place) -> None:
    store = shared_place.open()
    attempts: list[Callable[[], object]] = [
        lambda: store.read(key),
        lambda: store.write(key, "x", expected_version=None),
    ]
    for attempt in attempts:
        with pytest.raises(OptionError, match="document's key") as caught:
            attempt()
        assert caught.value.place.startswith("key")
    assert list(store.keys()) == []


def test_of_threads_that_create_one_document_one_wins(store: Store) -> None:
    wins: list[int] = []
    problems: list[Exception] = []
    start = Barrier(8)

    def write(number: int) -> None:
        start.wait()
        try:
            store.write(A, str(number), expected_version=None)
        except MemoryDocumentConflictError:
            return
        except Exception as error:
            problems.append(error)
            return
        wins.append(number)

    threads = [Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert len(wins) == 1
    found = store.read(A)
    assert found is not None
    assert found.content == str(wins[0])


class Contested:
    """A backend in which somebody else writes first, a set number of times."""

    def __init__(self, inner: Store, times: int) -> None:
        self.inner = inner
        self.times = times

    def read(self, key: str) -> StoredDocument | None:
        return self.inner.read(key)

    def write(self, key: str, content: str, *, expected_version: str | None) -> StoredDocument:
        if self.times:
            self.times -= 1
            saver(self.inner, key, 10**6)(f"rival {self.times}")
        return self.inner.write(key, content, expected_version=expected_version)


def test_a_save_gives_up_after_nine_tries_and_its_caller_can_try_again(store: Store) -> None:
    contested = Contested(store, 9)
    save = saver(contested, A, 10**6)
    with pytest.raises(MemoryDocumentConflictError):
        save("mine")
    assert contested.times == 0
    save("mine")
    found = read_document(store, A)
    assert found is not None
    assert dict(found[0].entries) == dict(enumerate([*(f"rival {n}" for n in reversed(range(9))), "mine"]))


def test_a_save_over_the_limit_leaves_the_document(store: Store) -> None:
    saver(store, A, 250)("first")
    before = store.read(A)
    with pytest.raises(MemoryLimitError):
        saver(store, A, 250)("second" * 20)
    assert store.read(A) == before


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["save", "save", "save", "remove", "stale", "create"]),
        st.sampled_from(["acme/u_42", "acme/u_99", "globex/u_42"]),
        st.integers(0, 5),
    ),
    max_size=12,
)


def test_random_operations_of_random_callers_agree_with_a_plain_dict(place: Place) -> None:
    store, run = place.open(), iter(range(10**6))

    @settings(deadline=None, database=None, max_examples=30, suppress_health_check=list(HealthCheck))
    @given(OPERATIONS)
    def agrees(operations: list[tuple[str, str, int]]) -> None:
        namespace = f"run {next(run)}"
        keys = {caller: memory_key(namespace, tuple(caller.split("/"))) for _, caller, _ in operations}
        model: dict[str, Document] = {}
        versions: dict[str, str] = {}
        for what, caller, number in operations:
            key = keys[caller]
            apply_to_store(store, what, key, caller, number, versions)
            apply_to_model(model, what, key, caller, number)
            if (stored := store.read(key)) is not None:
                versions.setdefault(key, stored.version)
        for key in keys.values():
            found = store.read(key)
            assert (found and found.content) == (format_document(model[key]) if key in model else None)
        assert set(store.keys()) & set(keys.values()) == set(model)

    agrees()


def apply_to_store(store: Store, what: str, key: str, caller: str, number: int, versions: dict[str, str]) -> None:
    tools = tools_of(store, key, 10**6)
    if what == "save":
        tools["save_memory"].execute(text=f"{caller} {number}")
    elif what == "remove":
        tools["remove_memory"].execute(index=number)
    elif what == "create" and store.read(key) is not None:
        with pytest.raises(MemoryDocumentConflictError):
            store.write(key, "overwritten", expected_version=None)
    elif what == "stale" and (found := store.read(key)) is not None and versions[key] != found.version:
        with pytest.raises(MemoryDocumentConflictError):
            store.write(key, "overwritten", expected_version=versions[key])


def apply_to_model(model: dict[str, Document], what: str, key: str, caller: str, number: int) -> None:
    document = model.get(key)
    if what == "save":
        longer = with_entry(document or Document(-1, {}), f"{caller} {number}", slot=SLOT, max_characters=10**6)
        model[key] = longer or document or Document(-1, {})
    elif what == "remove" and document is not None:
        entries = {index: text for index, text in document.entries.items() if index != number}
        model[key] = Document(document.last_index, entries)
    assert all(parse_document(format_document(held)) == held for held in model.values())
