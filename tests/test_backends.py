"""Conditional writes, object paths, and the backend that an environment chooses."""

from __future__ import annotations

from threading import Barrier, Thread

import pytest

from evelab import default_backend, document_path, file_memory, in_memory
from evelab.backends import check_prefix
from evelab.errors import DefinitionError, MemoryDocumentConflictError, OptionError


def test_a_write_names_the_version_that_it_replaces() -> None:
    backend = in_memory()
    first = backend.write("k", "one", expected_version=None)
    assert backend.read("k") == first
    second = backend.write("k", "two", expected_version=first.version)
    for stale in (None, first.version, "other"):
        with pytest.raises(MemoryDocumentConflictError) as caught:
            backend.write("k", "three", expected_version=stale)
        assert caught.value.key == "k"
    assert backend.read("k") == second
    with pytest.raises(MemoryDocumentConflictError):
        backend.write("absent", "x", expected_version=first.version)
    assert backend.read("absent") is None


def test_versions_count_the_writes_of_the_whole_backend() -> None:
    backend = in_memory()
    versions = [backend.write(key, "x", expected_version=None).version for key in ("a", "b")]
    assert [version.rpartition("_")[2] for version in versions] == ["1", "2"]
    assert versions[0].rpartition("_")[0] == versions[1].rpartition("_")[0]
    assert versions[0].startswith("mem_")
    assert in_memory().write("a", "x", expected_version=None).version != versions[0]


def test_of_threads_that_write_one_version_one_wins() -> None:
    backend = in_memory()
    wins: list[int] = []
    start = Barrier(8)

    def write(number: int) -> None:
        start.wait()
        try:
            backend.write("k", str(number), expected_version=None)
        except MemoryDocumentConflictError:
            return
        wins.append(number)

    threads = [Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(wins) == 1
    assert backend.documents() == {"k": str(wins[0])}


@pytest.mark.parametrize(
    ("prefix", "wanted"),
    [("eve/memory/opsbot", "eve/memory/opsbot"), ("/a/", "a"), ("//a//b//", "a//b"), (" ", " ")],
)
def test_a_prefix_loses_the_slashes_at_its_ends(prefix: str, wanted: str) -> None:
    assert document_path("memscope1_k", prefix=prefix) == f"{wanted}/memscope1_k/MEMORY.md"


@pytest.mark.parametrize("prefix", ["", "/", "///"])
def test_an_empty_prefix_is_refused(prefix: str) -> None:
    with pytest.raises(OptionError, match="prefix"):
        check_prefix(prefix)


def test_a_key_is_percent_encoded_in_its_path() -> None:
    assert document_path("a/b c!~*'()", prefix="p") == "p/a%2Fb%20c!~*'()/MEMORY.md"


def test_eve_dev_shares_one_backend_in_the_process() -> None:
    assert default_backend({"EVE_DEV": "1"}) is default_backend({"EVE_DEV": "1"})


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({}, "explicit backend outside Vercel and eve dev"),
        ({"EVE_DEV": "true"}, "explicit backend"),
        ({"EVE_DEV": " 1"}, "explicit backend"),
        ({"BLOB_READ_WRITE_TOKEN": "t"}, "explicit backend"),
        ({"VERCEL": "0", "EVE_DEV": "1"}, "EVE_MEMORY_BLOB_STORE_ID"),
        ({"VERCEL": "1", "BLOB_STORE_ID": " "}, "EVE_MEMORY_BLOB_STORE_ID"),
        ({"VERCEL": "1", "BLOB_READ_WRITE_TOKEN": "t"}, "no Blob backend"),
    ],
)
def test_other_environments_say_what_to_do(environ: dict[str, str], words: str) -> None:
    with pytest.raises(DefinitionError, match=words) as caught:
        default_backend(environ)
    assert "file_memory(backend=...)" in str(caught.value)


def test_the_default_backend_is_chosen_at_first_use() -> None:
    file_memory()
