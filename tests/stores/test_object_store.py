"""Object stores: eve's paths and reading of conflicts, what a failing store gives, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest

from evelab import document_path, object_store
from evelab.errors import DefinitionError, MemoryDocumentConflictError, OptionError, StoreError
from evelab.file_memory import parse_document
from evelab.keys import memory_key
from evelab.object_store import PROBE_NAME, ObjectStore
from tests.stores.fake_server import IMPATIENT, LAST_MODIFIED, OPTIONS, Answer, Asked, FakeServer, fake_server, keeper
from tests.stores.writer import saver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

A, B = memory_key("n", "a"), memory_key("n", "b")
E1 = {"etag": '"e1"', "last-modified": LAST_MODIFIED}
RECORDED = [
    json.loads(line)
    for line in Path(__file__).with_name("vercel_blob.jsonl").read_text(encoding="utf-8").split("\n")
    if line
]


@pytest.fixture(scope="module")
def server() -> Iterator[FakeServer]:
    with fake_server() as fake:
        yield fake


@pytest.fixture
def store(server: FakeServer) -> ObjectStore:
    """A store at the fake server that has shown that it keeps conditions."""
    return proven(server)


def proven(server: FakeServer, **options: Any) -> ObjectStore:
    store = object_store("s3://b", **{**server.options, **options})
    server.answer = keeper()
    store.write("first", "", expected_version=None)
    server.asked.clear()
    return store


def create(store: ObjectStore) -> object:
    return store.write(A, "x", expected_version=None)


def replace(store: ObjectStore) -> object:
    return store.write(A, "x", expected_version='"e1"')


def read(store: ObjectStore) -> object:
    return store.read(A)


def recorded_answer(response: dict[str, Any]) -> Answer:
    """A response of Vercel's store as S3 would give it: the ETag of a write is a header."""
    headers = dict(response.get("headers", {}))
    headers.pop("content-length", None)
    body = response.get("body", "")
    if headers.get("content-type") == "application/json" and response["status"] == 200:
        headers, body = {"etag": json.loads(body)["etag"]}, ""
    return Answer(response["status"], headers, body.encode())


def path_of(request: dict[str, Any]) -> str:
    address = urlsplit(request["url"])
    path: str = parse_qs(address.query)["pathname"][0] if request["method"] == "PUT" else address.path[1:]
    return path


KINDS = {"MemoryDocumentConflictError": MemoryDocumentConflictError, "Error": StoreError}


def outcome(store: ObjectStore, key: str, operation: dict[str, Any]) -> object:
    try:
        if operation["op"] == "read":
            found = store.read(key)
        else:
            found = store.write(key, operation["content"], expected_version=operation.get("expectedVersion"))
    except (MemoryDocumentConflictError, StoreError) as error:
        return type(error)
    return None if found is None else {"content": found.content, "version": found.version}


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in RECORDED])
def test_recorded_case_of_eves_blob_store(case: dict[str, Any], server: FakeServer) -> None:
    request, reply = case["request"], case["reply"]
    options = {name: value for name, value in request["options"].items() if name == "prefix"}
    options["retry_config"] = {"max_retries": 0}
    if case["id"] == "vb/prefix-inner-slashes":
        with pytest.raises(OptionError, match="one / between them"):  # obstore has no such path
            object_store("s3://b", **options)
        return
    if not reply["ok"]:
        with pytest.raises(OptionError) as refused:
            object_store("s3://b", **options)
        assert refused.value.eve_name == reply["error"]["name"]
        return
    store = proven(server, **options)
    if request["responses"]:
        server.say(*map(recorded_answer, request["responses"]))
    for operation, wanted in zip(request["ops"], reply["value"], strict=True):
        seen = outcome(store, request["key"], operation)
        assert seen == (wanted["value"] if wanted["ok"] else KINDS[wanted["error"]["name"]])
        requests = [(asked.method, asked.path) for asked in server.asked]
        assert requests == [(one["method"], f"/b/{path_of(one)}") for one in wanted["requests"]]
        for asked, one in zip(server.asked, wanted["requests"], strict=True):
            if asked.method == "PUT":
                assert asked.headers["content-type"] == one["headers"]["x-content-type"]
                assert (condition(asked) == {"if-none-match": "*"}) == (one["headers"]["x-allow-overwrite"] == "0")


def test_importing_evelab_imports_no_stores_library() -> None:
    code = (
        "import sys, evelab; print([name for name in ('obstore', 'filelock') if name in sys.modules])\n"
        "evelab.object_store('memory://'); print('obstore' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]", "True"]


def test_without_obstore_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(DefinitionError, match=r"pip install 'evelab\[stores\]'"):
        object_store("memory://")


@pytest.mark.parametrize(
    ("url", "options", "words"),
    [
        ("file:///tmp", {}, r"evelab\.directory"),
        ("https://example.org/x", {}, "no conditional writes"),
        ("ftp://user:secret@host", {}, "give s3://bucket"),
        ("az://container", {}, "Account must be specified"),
        ("s3://b", {"foo": "1"}, "'foo' is not valid"),
        ("memory://", {"region": "r"}, "does not accept any configuration"),
        ("memory://", {"prefix": "//"}, "must not be empty"),
        ("memory://", {"prefix": "a//b"}, "one / between them"),
        ("memory://", {"prefix": "a/../b"}, r"\. or \.\."),
    ],
)
def test_what_cannot_be_used_safely_is_refused_with_a_sentence(url: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=words) as caught:
        object_store(url, **options)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("heeds", [{"create_only": False}, {"if_match": False}])
def test_a_store_that_ignores_the_condition_of_a_write_is_refused(heeds: dict[str, bool], server: FakeServer) -> None:
    server.answer = keeper(**heeds)
    store = object_store("s3://b", **server.options)
    for _ in range(2):
        with pytest.raises(StoreError, match="ignores the condition"):
            create(store)
    assert store.read(A) is None


def test_a_store_whose_conditional_writes_are_turned_off_is_refused(server: FakeServer) -> None:
    server.answer = keeper()
    store = object_store("s3://b", **server.options, conditional_put="disabled")
    with pytest.raises(StoreError, match="ignores the condition"):
        create(store)


def test_a_store_is_tried_once_and_the_trial_is_no_document(server: FakeServer) -> None:
    server.answer = keeper()
    server.asked.clear()
    for text in ("one", "two"):
        store = object_store("s3://b", **server.options)
        for key in (A, B):
            saver(store, key, 1000)(text)
    trials = [asked for asked in server.asked if asked.path.endswith(PROBE_NAME)]
    assert [(asked.method, sorted(condition(asked))) for asked in trials] == [
        *[("PUT", ["if-none-match"]), ("PUT", ["if-none-match"]), ("PUT", ["if-match"])],
        *[("PUT", ["if-none-match"]), ("PUT", ["if-match"])],
    ]


def condition(asked: Asked) -> dict[str, str]:
    names = ("if-match", "if-none-match", "x-goog-if-generation-match")
    return {name: asked.headers[name] for name in names if name in asked.headers}


def test_a_write_carries_its_condition_and_its_type(server: FakeServer, store: ObjectStore) -> None:
    server.say(Answer(200, {"etag": '"e2"'}))
    create(store)
    replace(store)
    assert [(asked.method, asked.path, condition(asked)) for asked in server.asked] == [
        ("PUT", f"/b/{document_path(A)}", {"if-none-match": "*"}),
        ("PUT", f"/b/{document_path(A)}", {"if-match": '"e1"'}),
    ]
    assert {asked.headers["content-type"] for asked in server.asked} == {"text/markdown; charset=utf-8"}


def test_googles_store_is_asked_by_generation(server: FakeServer) -> None:
    server.answer = keeper()
    server.asked.clear()
    account = {"gcs_base_url": f"http://127.0.0.1:{server.port}", "disable_oauth": True}
    account |= {"client_email": "", "private_key": "", "private_key_id": ""}
    store = object_store("gs://b", service_account_key=json.dumps(account), **OPTIONS)
    first = store.write(A, "one", expected_version=None)
    assert store.read(A) == first
    second = store.write(A, "two", expected_version=first.version)
    for stale in (None, first.version):
        with pytest.raises(MemoryDocumentConflictError):
            store.write(A, "three", expected_version=stale)
    assert store.read(A) == second
    conditions = [
        condition(asked) for asked in server.asked if asked.path.endswith("MEMORY.md") and asked.method == "PUT"
    ]
    assert conditions[:2] == [{"x-goog-if-generation-match": "0"}, {"x-goog-if-generation-match": first.version}]


@pytest.mark.parametrize("attempt", [create, replace])
@pytest.mark.parametrize("status", [409, 412])
def test_a_failed_condition_is_a_conflict(
    status: int, attempt: Callable[[ObjectStore], object], server: FakeServer, store: ObjectStore
) -> None:
    server.say(Answer(status))
    with pytest.raises(MemoryDocumentConflictError) as caught:
        attempt(store)
    assert caught.value.key == A


def test_a_replacement_of_what_is_gone_is_a_conflict(server: FakeServer, store: ObjectStore) -> None:
    server.say(Answer(404))
    with pytest.raises(MemoryDocumentConflictError):
        replace(store)


@pytest.mark.parametrize("attempt", [read, create, replace])
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(500), "HTTP status 500"),
        (Answer(503, {}, b"<Error><Code>SlowDown</Code></Error>"), "HTTP status 503"),
        (Answer(403, {}, b"<Error><Code>RequestTimeTooSkewed</Code></Error>"), "HTTP status 403"),
        (Answer(400), "HTTP status 400"),
    ],
    ids=["500", "503", "the clock has jumped", "400"],
)
def test_a_failing_store_is_a_sentence_without_its_address(
    answer: Answer, words: str, attempt: Callable[[ObjectStore], object], server: FakeServer, store: ObjectStore
) -> None:
    server.say(answer)
    assert_sentence(lambda: attempt(store), words)


@pytest.mark.parametrize("attempt", [read, create, replace])
def test_a_store_that_says_nothing_is_given_up(attempt: Callable[[ObjectStore], object], server: FakeServer) -> None:
    store = proven(server, **IMPATIENT)
    server.say(Answer(200, silent=True))
    assert_sentence(lambda: attempt(store), "no whole answer")


def assert_sentence(attempt: Callable[[], object], words: str) -> None:
    with pytest.raises(StoreError, match=words) as caught:
        attempt()
    assert "127.0.0.1" not in str(caught.value)
    assert "127.0.0.1" in str(caught.value.__cause__)
    assert (caught.value.store, caught.value.key) == ("object store", A)


def test_half_a_document_is_an_error_not_a_document(server: FakeServer, store: ObjectStore) -> None:
    server.say(Answer(200, E1, b"<!-- eve-memory-file-v1 lastAllocatedIndex=0 -->\n0: a\n" * 2, cut=True))
    with pytest.raises(StoreError, match="no whole answer"):
        read(store)


def test_a_document_without_a_version_is_an_error(server: FakeServer, store: ObjectStore) -> None:
    server.say(Answer(200, {"last-modified": LAST_MODIFIED}, b"x"))
    with pytest.raises(StoreError, match="no version"):
        read(store)


def test_a_save_whose_answer_was_lost_is_found_when_it_is_tried_again(server: FakeServer, store: ObjectStore) -> None:
    keep, lose = keeper(), iter([True, True])

    def answer(asked: Asked) -> Answer:
        kept = keep(asked)
        return Answer(500) if asked.method == "PUT" and next(lose, False) else kept

    server.answer = answer
    saver(store, A, 1000)("once")
    found = store.read(A)
    assert found is not None
    assert dict(parse_document(found.content).entries) == {0: "once"}


def test_threads_of_one_store_try_it_once(server: FakeServer) -> None:
    server.answer = keeper()
    server.asked.clear()
    store = object_store("s3://b", **server.options)
    threads = [threading.Thread(target=saver(store, key, 1000), args=("x",)) for key in "abcdefgh"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len([asked for asked in server.asked if asked.path.endswith(PROBE_NAME)]) == 3
