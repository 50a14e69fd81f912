"""A key, step by step: the bytes of a namespace and a scope, their digests, and the key of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evelab.keys import create_lock, encode_composite, encode_namespace, encode_scope

if TYPE_CHECKING:
    from evelab.scope import Scope


@dataclass(frozen=True, slots=True)
class KeySteps:
    """How a key comes about.

    Attributes:
        namespace: the namespace.
        scope: the scope.
        namespace_bytes: what is digested for the namespace.
        scope_bytes: what is digested for the scope.
        namespace_key: that digest, with its prefix.
        scope_key: likewise for the scope.
        both_bytes: the two keys together, as digested for the key.
        key: ``memory.scope.key``.
    """

    namespace: str
    scope: Scope
    namespace_bytes: bytes
    scope_bytes: bytes
    namespace_key: str
    scope_key: str
    both_bytes: bytes
    key: str


def key_steps(namespace: str, scope: Scope) -> KeySteps:
    """The steps from a namespace and a scope to their key.

    Raises:
        ScopeError: one of them breaks a rule.
    """
    lock = create_lock(namespace, scope, slot="any")
    return KeySteps(
        namespace,
        lock.scope.value,
        encode_namespace(namespace),
        encode_scope(lock.scope.value),
        lock.namespace_key,
        lock.scope_key,
        encode_composite(lock.namespace_key, lock.scope_key),
        lock.scope.key,
    )


def readable(data: bytes) -> str:
    """Bytes for people: printable ASCII as it is, every other byte as two hexadecimal digits in brackets."""
    return "".join(chr(byte) if 0x21 <= byte < 0x7F else f"[{byte:02x}]" for byte in data)


def changed_letters(one: str, other: str) -> int:
    """At how many places two keys of one length differ."""
    return sum(a != b for a, b in zip(one, other, strict=True))
