"""``evelab inspect``: it lists, checks and names owners, and changes nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from evelab import directory, memory_key
from evelab.auth import Principal
from evelab.errors import DefinitionError, ScopeError, StoreError
from evelab.file_memory import Document, format_document
from evelab.inspection import Finding, inspect, inspection_lines, inspection_rows
from evelab.owners import POLICIES, Owner, owners_of, read_callers
from evelab.scope import ScopeContext
from tests.test_cli import evelab

if TYPE_CHECKING:
    from pathlib import Path
    from subprocess import CompletedProcess

    from evelab.directory import Directory

NAMESPACE = "acme-support-v1"
U_42, U_99, ACME = (memory_key(NAMESPACE, scope) for scope in (("acme", "u_42"), ("acme", "u_99"), "acme"))
SECRET = "only-payment-api"
CALLERS = """label,type,authenticator,issuer,id,tenant
Zhang San,user,app,opsbot,u_42,acme
Li Si,user,app,opsbot,u_99,acme
night job,runtime,eve,,schedule,
"""


@pytest.fixture
def store(tmp_path: Path) -> Directory:
    """Two documents of known callers, one of nobody that is known, and three that are broken."""
    store = directory(tmp_path / "store")
    for key, texts in ((U_42, [SECRET, "张三"]), (U_99, []), (memory_key("other", "acme"), ["a"])):
        content = format_document(Document(len(texts) + 4, dict(enumerate(texts))))
        store.write(key, content, expected_version=None)
    store.write(ACME, f"<!-- eve-memory-file-v1 lastAllocatedIndex=0 -->\n0: a\n0: {SECRET}\n", expected_version=None)
    store.write("too-large", "x" * 65_537, expected_version=None)
    store.write("not-utf8", "", expected_version=None)
    (store.root / "not-utf8" / "MEMORY.md").write_bytes(b"\n\n\xff")
    return store


@pytest.fixture
def callers(tmp_path: Path) -> Path:
    path = tmp_path / "callers.csv"
    path.write_text(CALLERS, encoding="utf-8")
    return path


def run(store: Directory, *words: str) -> CompletedProcess[str]:
    return evelab("inspect", str(store.root.parents[2]), *words)


OWNED = ("--policy", "tenant_principal", "--namespace", NAMESPACE)


def test_each_document_is_listed_with_its_sizes_and_a_broken_one_with_its_reason(store: Directory) -> None:
    done = run(store)
    assert (done.returncode, done.stderr) == (1, "")
    rows = {line.split()[0]: line.split(maxsplit=1)[1] for line in done.stdout.splitlines() if " " in line}
    assert rows[U_42].split() == ["2", "79", "(0%)", "225", "(6%)", "16", "(1%)", "6"]
    assert rows[U_99].split() == ["0", "49", "(0%)", "57", "(1%)", "0", "(0%)", "4"]
    assert rows[ACME] == "BROKEN: line 3: the index stands there twice"
    assert rows["too-large"] == "BROKEN: too large"
    assert rows["not-utf8"] == "BROKEN: line 3: it is not UTF-8"
    assert done.stdout.endswith("\n\n6 documents, 3 broken.\n")
    assert SECRET not in done.stdout


def test_a_store_without_a_broken_document_exits_with_0(store: Directory) -> None:
    for key in (ACME, "too-large", "not-utf8"):
        (store.root / key / "MEMORY.md").unlink()
    done = run(store)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "3 documents, 0 broken.")


def test_keys_get_their_owners_and_the_rest_are_orphans(store: Directory, callers: Path) -> None:
    done = run(store, "--callers", str(callers), *OWNED, "--policy", "fixed", "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 1
    owners = {row["key"]: [(one["label"], one["policy"]) for one in row["owners"]] for row in report["documents"]}
    assert owners[U_42] == [("Zhang San", "tenant_principal")]
    assert owners[U_99] == [("Li Si", "tenant_principal")]
    assert owners[ACME] == [("Zhang San", "fixed"), ("Li Si", "fixed"), ("night job", "fixed")]
    assert set(report["orphans"]) == {memory_key("other", "acme"), "too-large", "not-utf8"}
    assert report["broken"] == 3
    broken = next(row for row in report["documents"] if row["key"] == ACME)
    assert (broken["valid"], broken["line"], broken["reason"]) == (False, 3, "the index stands there twice")
    valid = next(row for row in report["documents"] if row["key"] == U_42)
    names = ("entries", "bytes", "characters", "longest_entry", "last_index")
    assert [valid[name] for name in names] == [2, 79, 225, 16, 6]
    for raw in (SECRET, "u_42", "opsbot"):
        assert raw not in done.stdout


def test_the_table_names_owners_and_orphans(store: Directory, callers: Path) -> None:
    done = run(store, "--callers", str(callers), *OWNED, "--namespace", "other", "--policy", "fixed")
    assert f"Zhang San (tenant_principal, {NAMESPACE})" in done.stdout
    assert "Zhang San (fixed, other), Li Si (fixed, other)" in done.stdout
    assert "BROKEN: too large; orphan" in done.stdout
    assert done.stdout.endswith("6 documents, 3 broken, 2 without an owner.\n")


def test_nothing_is_changed(store: Directory, callers: Path) -> None:
    def state() -> dict[str, tuple[int, int]]:
        folder = store.root.parents[2]
        return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in [folder, *folder.rglob("*")]}

    before = state()
    run(store, "--callers", str(callers), *OWNED)
    assert state() == before


def test_the_slot_and_the_limit_change_how_full_a_document_is(store: Directory) -> None:
    done = run(store, "--slot", "p", "--max-characters", "212", "--json")
    assert json.loads(done.stdout)["limits"]["characters"] == 212
    assert next(row for row in json.loads(done.stdout)["documents"] if row["key"] == U_42)["characters"] == 213
    assert "213 (100%)" in run(store, "--slot", "p", "--max-characters", "212").stdout


def test_another_prefix_is_looked_at_when_it_is_named(tmp_path: Path) -> None:
    directory(tmp_path, prefix="eve/memory/opsbot").write(
        U_42, format_document(Document(-1, {})), expected_version=None
    )
    assert evelab("inspect", str(tmp_path)).stdout.startswith(
        "No documents. They are looked for under eve/memory/file;"
    )
    done = evelab("inspect", str(tmp_path), "--prefix", "eve/memory/opsbot")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "1 document, 0 broken.")


def test_what_cannot_be_read_and_what_has_a_terminals_orders_in_its_name_is_a_row(tmp_path: Path) -> None:
    store = directory(tmp_path)
    store.write(U_42, format_document(Document(-1, {})), expected_version=None)
    (store.root / "folder" / "MEMORY.md").mkdir(parents=True)
    loop = store.root / "loop" / "MEMORY.md"
    loop.parent.mkdir()
    loop.symlink_to(loop)
    (store.root / "a\x1b[31m").mkdir()
    (store.root / "a\x1b[31m" / "MEMORY.md").touch()
    (store.root / "no document").mkdir()
    found = {one.key: one for one in inspect(store)}
    assert set(found) == {U_42, "folder", "loop", "a\x1b[31m"}
    assert found["folder"].reason == "A memory document could not be read: Is a directory"
    assert found["loop"].sizes is None
    lines = "\n".join(inspection_lines(list(found.values())))
    assert "\x1b" not in lines
    assert "a\\x1b[31m" in lines


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "Missing argument 'PATH_OR_URL'"),
        (("nowhere",), "There is no such folder."),
        (("callers.csv",), "must be a folder"),
        (("ftp://user:secret@host",), "give s3://bucket"),
        ((".", "--prefix", "../.."), "none of them . or .."),
        ((".", "--callers", "callers.csv"), "go together"),
        ((".", "--policy", "fixed"), "go together"),
        (
            (".", "--callers", "callers.csv", "--policy", "mine", "--namespace", "n"),
            "There is no policy mine; there are",
        ),
        ((".", "--callers", "nowhere.csv", *OWNED), "No such file"),
        ((".", "--callers", "callers.csv", "--policy", "fixed", "--namespace", " "), "namespace must not be blank"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_status_2(
    words: tuple[str, ...], sentence: str, tmp_path: Path, callers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = evelab("inspect", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("evelab inspect: ")
    assert done.stderr.count("\n") == 1
    assert sentence in done.stderr
    assert "secret" not in done.stderr


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("", "callers[1]", "missing: label, type, authenticator, id"),
        ("label,type\n", "callers[1]", "missing: authenticator, id; unknown: 0"),
        ("label,type,authenticator,id,secret\n", "callers[1]", "missing: none; unknown: 1"),
        ("label,type,authenticator,id,id\n", "callers[1]", "each once"),
        ("label,type,authenticator,id\na,user,app,1\nsecret,user\n", "callers[3]", "Line 3 .* not as many cells"),
        ("label,type,authenticator,id\na,user,app,1,secret\n", "callers[2]", "Line 2 .* not as many cells"),
        ("label,type,authenticator,id\na,,app,secret\n", "callers[2]", "Line 2 .* has no type"),
        ('label,type,authenticator,id\n"a"b,user,app,1\n', "callers", "not a CSV file in UTF-8"),
        ("label,type,authenticator,id\n\udcff,user,app,1\n", "callers", "not a CSV file in UTF-8"),
    ],
)
def test_a_callers_file_that_is_wrong_is_named_with_its_line(text: str, place: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "callers.csv"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(DefinitionError, match=words) as caught:
        read_callers(path)
    assert caught.value.place == place
    assert "secret" not in str(caught.value)


def test_callers_are_read_as_authentication_describes_them(tmp_path: Path) -> None:
    path = tmp_path / "callers.csv"
    path.write_text("\ufefflabel,id,type,authenticator,tenant\nZhang,u_42,user,app,acme\n\nnobody,,anonymous,app,\n")
    callers = read_callers(path)
    assert [(caller.line, caller.label) for caller in callers] == [(2, "Zhang"), (4, "nobody")]
    assert callers[0].principal == Principal("user", "app", "u_42", None, {"tenantId": "acme"})
    assert callers[1].principal == Principal("anonymous", "app")


def test_a_caller_whose_scope_cannot_be_a_key_is_named_by_line_not_by_value(tmp_path: Path) -> None:
    path = tmp_path / "callers.csv"
    path.write_text(f"label,type,authenticator,id,tenant\na,user,app,1,acme\nb,user,app,{'s' * 1025},acme\n")
    with pytest.raises(ScopeError, match=r"Line 3 .* under tenant_principal: Component 1 .* 1,025") as caught:
        owners_of(read_callers(path), ["tenant_principal"], ["n"])
    assert "sss" not in str(caught.value)


@pytest.mark.parametrize("name", POLICIES)
def test_owners_are_found_under_every_policy(name: str, callers: Path) -> None:
    known = read_callers(callers)
    owners = owners_of(known, [name], [NAMESPACE])
    for caller in known:
        policy = POLICIES[name].scope
        scope = policy(ScopeContext.of(caller.principal)) if callable(policy) else policy
        if scope is not None:
            assert Owner(caller.label, name, NAMESPACE) in owners[memory_key(NAMESPACE, scope)]
    assert owners


class Unlistable:
    def keys(self) -> object:
        raise StoreError("The object store could not list a memory document: HTTP status 403.", store="object store")


def test_a_store_that_cannot_be_listed_is_an_error() -> None:
    with pytest.raises(StoreError):
        list(inspect(Unlistable()))  # type: ignore[arg-type]


def test_a_document_that_is_deleted_meanwhile_is_left_out(store: Directory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(store), "read", lambda self, key: None)
    assert list(inspect(store)) == []


def test_findings_of_one_store_can_be_written_without_owners() -> None:
    lines = inspection_lines([Finding("k", None, "too large")])
    assert lines[-1] == "1 document, 1 broken."


def test_rows_for_a_table_say_what_is_held_or_why_it_is_broken(tmp_path: Path) -> None:
    store = directory(tmp_path / "store")
    store.write(U_42, format_document(Document(0, {0: SECRET})), expected_version=None)
    store.write(ACME, "no header", expected_version=None)
    owners = {U_42: [Owner("Zhang", "fixed", "n")]}
    rows = {row["key"]: row for row in inspection_rows(list(inspect(store, owners=owners)))}
    assert rows[U_42]["document"] == "entries 1, bytes 69 (0%), characters 219 (5%)"
    assert rows[U_42]["owner"] == "Zhang (fixed)"
    assert rows[ACME]["document"].startswith("BROKEN: line 1: ")
    assert rows[ACME]["owner"] == "orphan"
    assert SECRET not in str(rows)
    assert [row["owner"] for row in inspection_rows(list(inspect(store)))] == ["", ""]
