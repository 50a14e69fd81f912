"""The chapter's claims: each is checked, holds, and is seen to fail when the thing it speaks of is broken."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from evelab.chapter import CLAIMS, Claim, Evidence, run
from evelab.chapter.claims import Claims
from evelab.chapter.six_keys import six_keys
from tests.planted import BY_ID


def test_every_claim_of_these_sections_has_a_check() -> None:
    sizes = {1: 3, 2: 13, 3: 6, 4: 6, 5: 15, 6: 14, 7: 11, 8: 4, 9: 4, 10: 3, 11: 12, 12: 5}
    wanted = [f"{section}.{number}" for section, size in sizes.items() for number in range(1, size + 1)]
    assert [claim.id for claim in CLAIMS] == wanted


@pytest.mark.parametrize("claim", list(CLAIMS), ids=lambda claim: claim.id)
def test_claim_holds(claim: Claim) -> None:
    result = run(claim)
    assert result.holds, result.failures
    assert claim.text.endswith((".", '".'))


def test_the_six_keys_agree() -> None:
    assert [row.agrees for row in six_keys()] == [True] * 6


BREAKS: list[tuple[str, str, Any]] = [
    ("5.1", "evelab.keys.COMPOSITE_LABEL", b"eve-memory-composite-v2\0"),
    ("5.2", "evelab.backends.DOCUMENT_NAME", "memory.md"),
    ("5.4", "evelab.keys.TUPLE_LABEL", b"scope-tuple-v2\0"),
    ("5.7", "evelab.keys.SCALAR_LABEL", b"scope-scalar-v2\0"),
    ("5.12", "evelab.keys.NAMESPACE_LABEL", b"namespace-v2\0"),
    ("5.14", "evelab.keys.SCOPE_PREFIX", "memscope2_"),
    ("6.1", "evelab.file_memory.format_document", lambda document: "changed"),
    ("6.2", "evelab.file_memory.recall_text", lambda slot, document: "changed"),
    ("6.7", "evelab.file_memory.ENTRY_MAX_BYTES", 2049),
    ("6.7", "evelab.file_memory.ENTRY_MAX_BYTES", 2047),
    ("6.7", "evelab.file_memory.DOCUMENT_MAX_BYTES", 65_535),
    ("6.7", "evelab.file_memory.DOCUMENT_MAX_BYTES", 65_537),
    ("6.6", "evelab.file_memory.DEFAULT_MAX_CHARACTERS", 4001),
    ("6.6", "evelab.file_memory.utf16_length", len),
    ("6.8", "evelab.file_memory.normalise_entry", lambda text: text[:2048]),
    ("6.10", "evelab.file_memory.CONFLICT_RETRIES", 7),
    ("6.10", "evelab.file_memory.CONFLICT_RETRIES", 9),
    ("5.10", "evelab.steps.LogRecord", lambda *args, **kwargs: None),
    ("6.13", "evelab.keys.COMPOSITE_LABEL", b""),
]


@pytest.mark.parametrize(("id", "name", "value"), BREAKS, ids=lambda value: str(value)[:40])
def test_a_broken_rule_fails_the_claim_that_speaks_of_it(
    id: str,  # noqa: A002
    name: str,
    value: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module, _, attribute = name.rpartition(".")
    monkeypatch.setattr(sys.modules[module], attribute, value)
    result = run(BY_ID[id])
    assert not result.holds
    assert result.failures


def test_an_index_that_is_given_again_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    from evelab.file_memory import Document, without_entry

    def reuse(document: Document, index: float | None) -> Document | None:
        shorter = without_entry(document, index)
        return shorter and Document(max(shorter.entries, default=-1), shorter.entries)

    monkeypatch.setattr(sys.modules["evelab.file_memory"], "without_entry", reuse)
    assert not run(BY_ID["6.4"]).holds


def test_one_partition_for_all_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    from evelab import lifecycle
    from evelab.keys import Lock, create_lock

    def shared(namespace: object, scope: object, **options: Any) -> Lock:
        return create_lock(namespace, "everybody", **options)

    monkeypatch.setattr(lifecycle, "create_lock", shared)
    for name in ("5.1", "5.4", "5.5", "5.6", "5.7", "5.8", "5.11", "5.12", "5.15", "6.13"):
        assert not run(BY_ID[name]).holds, name


def test_a_slot_that_is_never_off_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    from evelab import lifecycle
    from evelab.keys import create_lock

    resolve = lifecycle._resolve

    def never_off(scene: Any, slot: str, memory: Any, turn: Any) -> Any:
        found = yield from resolve(scene, slot, memory, turn)
        return found if not isinstance(found, str) else create_lock("n", "public", slot=slot, turn=turn)

    monkeypatch.setattr(lifecycle, "_resolve", never_off)
    for name in ("5.6", "5.9", "5.10", "5.11"):
        assert not run(BY_ID[name]).holds, name


def test_a_check_that_raises_has_failed_and_says_so() -> None:
    def check(see: Evidence) -> None:
        """Something that breaks."""
        see.true("before", True)
        raise RuntimeError("boom")

    result = run(Claim("9.9", "Something that breaks.", check))
    assert not result.holds
    assert result.failures == ["RuntimeError: boom"]


def test_a_check_that_saw_nothing_has_failed() -> None:
    assert not run(Claim("9.9", "Nothing.", lambda see: None)).holds


def test_what_was_seen_is_compared_with_its_type() -> None:
    see = Evidence()
    see.equal("a number", 1, True)
    see.raises("no error", ValueError, lambda: None)
    assert [seen.holds for seen in see.observations] == [False, False]


def test_a_claim_is_registered_once() -> None:
    claims = Claims()
    claims.claim("1.1")(lambda see: None)
    with pytest.raises(ValueError, match=r"1\.1"):
        claims.claim("1.1")(lambda see: None)
