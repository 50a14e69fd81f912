"""Keys, against the chapter's values and an independent restatement of the byte layout."""

from __future__ import annotations

import base64
import hashlib
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evelab import create_lock, item_key, memory_key
from evelab.chapter.values import PRINTED_KEYS, PrintedKey
from evelab.errors import NamespaceTypeError, ScopeError
from tests.strategies import units
from tests.test_text import bytes_of


def restated(prefix: str, data: bytes) -> str:
    return prefix + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


def sized(text: str) -> bytes:
    return struct.pack(">I", len(bytes_of(text))) + bytes_of(text)


def restated_key(namespace: str, scope: str | tuple[str, ...]) -> str:
    if isinstance(scope, str):
        encoded = b"scope-scalar-v1\0" + sized(scope)
    else:
        encoded = b"scope-tuple-v1\0" + struct.pack(">I", len(scope)) + b"".join(map(sized, scope))
    namespace_key = restated("memns1_", b"namespace-v1\0" + sized(namespace))
    scope_key = restated("memscope1_", encoded)
    return restated("memscope1_", b"eve-memory-composite-v1\0" + sized(namespace_key) + sized(scope_key))


filled = units.map(lambda text: f"x{text}")


@given(filled, st.one_of(filled, st.lists(filled, min_size=1, max_size=16).map(tuple)))
def test_keys_follow_the_byte_layout(namespace: str, scope: str | tuple[str, ...]) -> None:
    assert memory_key(namespace, scope) == restated_key(namespace, scope)


@pytest.mark.parametrize("printed", PRINTED_KEYS, ids=lambda p: f"{p.experiment} {p.caller}")
def test_the_chapters_keys_come_out(printed: PrintedKey) -> None:
    scope = printed.scope if isinstance(printed.scope, str) else tuple(printed.scope)
    assert memory_key(printed.namespace, scope) == printed.key
    assert restated_key(printed.namespace, scope) == printed.key


def test_there_are_six_of_them() -> None:
    assert len({printed.key for printed in PRINTED_KEYS}) == 6


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("acme", ("acme",)),
        ('["a","b"]', ("a", "b")),
        (("a", "b"), ("ab",)),
        (("a:b", "c"), ("a", "b:c")),
        ("acme", " acme"),
        ("é", "e\u0301"),
        ("acme", "Acme"),
    ],
)
def test_scopes_that_look_alike_have_different_keys(one: str | tuple[str, ...], other: str | tuple[str, ...]) -> None:
    assert memory_key("n", one) != memory_key("n", other)


def test_lone_surrogates_share_the_key_of_the_replacement_character() -> None:
    assert memory_key("n", "\ud800") == memory_key("n", "\udfff") == memory_key("n", "\ufffd")


def test_a_pair_written_as_two_surrogates_is_one_character() -> None:
    assert memory_key("n", "\ud83d\ude42") == memory_key("n", "🙂")


def test_a_list_counts_as_a_tuple_and_the_lock_holds_a_tuple() -> None:
    lock = create_lock("n", ["a", "b"], slot="profile")
    assert lock.scope.value == ("a", "b")
    assert lock.scope.key == memory_key("n", ("a", "b"))


def test_slot_and_visibility_are_not_in_the_key() -> None:
    locks = [create_lock("n", "s", slot=slot, visibility=seen) for slot in ("a", "b") for seen in ("scope", "session")]
    assert len({lock.scope.key for lock in locks}) == 1


def test_the_scope_key_is_not_the_key() -> None:
    lock = create_lock("n", "s", slot="profile")
    assert lock.scope_key.startswith("memscope1_")
    assert lock.scope_key != lock.scope.key


@pytest.mark.parametrize(("last", "fits"), [(971, True), (972, False)])
def test_both_encodings_together_have_4096_bytes(last: int, fits: bool) -> None:
    scope = ("a" * 1024, "b" * 1024, "c" * 1024, "d" * last)
    if fits:
        assert memory_key("n", scope) == restated_key("n", scope)
        return
    with pytest.raises(ScopeError, match="4,097 bytes long when encoded; the limit is 4,096") as caught:
        create_lock("n", scope, slot="workspace")
    assert (caught.value.limit, caught.value.actual, caught.value.slot) == (4096, 4097, "workspace")


def test_the_namespace_is_checked_before_the_scope() -> None:
    with pytest.raises(ScopeError) as caught:
        create_lock(" ", "", slot="profile")
    assert caught.value.place == "namespace"
    with pytest.raises(NamespaceTypeError):
        create_lock(None, "", slot="profile")


@pytest.mark.parametrize("size", [1024, 1025])
def test_a_namespace_has_1024_bytes(size: int) -> None:
    if size == 1024:
        assert memory_key("n" * size, "s") == restated_key("n" * size, "s")
    else:
        with pytest.raises(ScopeError):
            memory_key("n" * size, "s")


@given(units)
def test_item_keys_follow_the_byte_layout(item: str) -> None:
    assert item_key(item) == restated("memitem1_", b"item-v1\0" + sized(item))
