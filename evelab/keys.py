"""A namespace and a scope become one opaque key. Pure: no I/O, every label and limit a named constant.

Byte layout (eve 0.80.1, ``shared/memory-state``), with ``LP(b)`` a 4-byte big-endian length and then b::

    N = "namespace-v1\\0"  LP(namespace)
    S = "scope-scalar-v1\\0" LP(scope)                      for a string
        "scope-tuple-v1\\0" u32(count) LP(c0) LP(c1) ...    for a tuple
    namespace_key = "memns1_"    base64url(sha256(N))
    scope_key     = "memscope1_" base64url(sha256(S))
    key           = "memscope1_" base64url(sha256("eve-memory-composite-v1\\0" LP(namespace_key) LP(scope_key)))

The slot's name, its visibility and the turn are not in the key.
"""

from __future__ import annotations

from binascii import b2a_base64
from dataclasses import dataclass
from hashlib import sha256
from struct import Struct
from typing import TYPE_CHECKING

from evelab.errors import ScopeError
from evelab.scope import Scope, check_namespace, check_scope
from evelab.text import utf8

if TYPE_CHECKING:
    from collections.abc import Callable

    from evelab.message import TurnInfo

NAMESPACE_LABEL = b"namespace-v1\0"
SCALAR_LABEL = b"scope-scalar-v1\0"
TUPLE_LABEL = b"scope-tuple-v1\0"
COMPOSITE_LABEL = b"eve-memory-composite-v1\0"
ITEM_LABEL = b"item-v1\0"

NAMESPACE_PREFIX = "memns1_"
SCOPE_PREFIX = "memscope1_"
ITEM_PREFIX = "memitem1_"

ENCODED_MAX_BYTES = 4096
KEY_LENGTH = 53
"""Characters of a key: the prefix ``memscope1_`` and 43 of base64url."""

_u32 = Struct(">I").pack
_URL_SAFE = bytes.maketrans(b"+/", b"-_")


@dataclass(frozen=True, slots=True)
class MemoryScope:
    """What a provider sees as ``ctx.memory.scope``.

    Attributes:
        key: the partition: 53 characters, the only part to store data by.
        namespace: the resolved namespace.
        value: the resolved scope, raw. It names people: keep it out of logs.
    """

    key: str
    namespace: str
    value: Scope


@dataclass(frozen=True, slots=True)
class Lock:
    """A slot's scope, fixed for one turn.

    Attributes:
        slot: the slot's name.
        scope: key, namespace and value.
        namespace_key: digest of the namespace alone.
        scope_key: digest of the scope alone. It begins like the key and is not the key.
        visibility: ``"scope"`` or ``"session"``.
        turn: the turn that the lock was made for, or None outside one.
    """

    slot: str
    scope: MemoryScope
    namespace_key: str
    scope_key: str
    visibility: str = "scope"
    turn: TurnInfo | None = None


def digest(data: bytes) -> str:
    """SHA-256 in base64url without padding: 43 characters."""
    return b2a_base64(sha256(data).digest())[:43].translate(_URL_SAFE).decode()


def _sized(data: bytes) -> bytes:
    return _u32(len(data)) + data


def encode_namespace(namespace: str) -> bytes:
    """The bytes that the namespace's key is the digest of."""
    return NAMESPACE_LABEL + _sized(utf8(namespace))


def encode_scope(scope: Scope) -> bytes:
    """The bytes that the scope's key is the digest of. A string and a 1-tuple of it differ."""
    if isinstance(scope, str):
        return SCALAR_LABEL + _sized(utf8(scope))
    encoded = [TUPLE_LABEL, _u32(len(scope))]
    for part in scope:
        data = utf8(part)
        encoded += _u32(len(data)), data
    return b"".join(encoded)


def encode_composite(namespace_key: str, scope_key: str) -> bytes:
    """The bytes that the memory key is the digest of: the two keys as text, which are always 50 and 53 bytes long."""
    return b"%b\0\0\0\x32%b\0\0\0\x35%b" % (COMPOSITE_LABEL, namespace_key.encode(), scope_key.encode())


def item_key(item_id: str) -> str:
    """The key of one recalled item, by which a later recall replaces it."""
    return ITEM_PREFIX + digest(ITEM_LABEL + _sized(utf8(item_id)))


def create_lock(
    namespace: object,
    scope: object,
    *,
    slot: str,
    visibility: str = "scope",
    turn: TurnInfo | None = None,
) -> Lock:
    """Check a namespace and a scope and derive their keys.

    The first rule that is broken decides: the namespace, then the scope's components in order, then the
    length of both encodings together.

    Args:
        namespace: a string of at most 1,024 UTF-8 bytes, not blank.
        scope: a string, or 1 to 16 strings in a tuple or list; each at most 1,024 UTF-8 bytes, not blank.
        slot: the slot's name; it is not part of the key.
        visibility: carried along for projection.
        turn: carried along for the provider.

    Raises:
        ScopeError: what is wrong, where, and the limit.
    """
    try:
        space, value, namespace_key, scope_key, key = _derive(namespace, scope, slot)
    except ScopeError as error:
        error.slot = slot
        raise
    return Lock(slot, MemoryScope(key, space, value), namespace_key, scope_key, visibility, turn)


def _derive(namespace: object, scope: object, slot: str) -> tuple[str, Scope, str, str, str]:
    """Namespace, scope, and the keys of the namespace, of the scope and of both."""
    space = check_namespace(namespace)
    value = check_scope(scope)
    encoded_namespace = encode_namespace(space)
    encoded_scope = encode_scope(value)
    if (size := len(encoded_namespace) + len(encoded_scope)) > ENCODED_MAX_BYTES:
        raise _size_error(size, slot)
    namespace_key = NAMESPACE_PREFIX + digest(encoded_namespace)
    scope_key = SCOPE_PREFIX + digest(encoded_scope)
    key = SCOPE_PREFIX + digest(encode_composite(namespace_key, scope_key))
    return space, value, namespace_key, scope_key, key


def _size_error(size: int, slot: str) -> ScopeError:
    return ScopeError(
        f'The namespace and scope of memory slot "{slot}" are {size:,} bytes long when encoded; '
        f"the limit is {ENCODED_MAX_BYTES:,}.",
        place="namespace and scope",
        limit=ENCODED_MAX_BYTES,
        actual=size,
        slot=slot,
    )


def memory_key(namespace: str, scope: Scope) -> str:
    """The key of a namespace and a scope: ``memory.scope.key``, 53 characters.

    >>> memory_key("acme-support-v1", ("acme", "u_42"))
    'memscope1_b0FC72WbYodyaFzGo_6VTLZTtB1HxUfyEYZrEdbxVZA'

    Raises:
        ScopeError: as ``create_lock``.
    """
    return _derive(namespace, scope, "memory")[-1]


def keys_in(namespace: str) -> Callable[[Scope], str]:
    """A function that gives the key of each scope in one namespace: for many keys, as when looking one up.

    >>> keys_in("acme-support-v1")(("acme", "u_42"))
    'memscope1_b0FC72WbYodyaFzGo_6VTLZTtB1HxUfyEYZrEdbxVZA'

    Raises:
        ScopeError: as ``create_lock``; for the namespace at once, for a scope when it is asked for.
    """
    encoded_namespace = encode_namespace(check_namespace(namespace))
    room = ENCODED_MAX_BYTES - len(encoded_namespace)
    namespace_key = NAMESPACE_PREFIX + digest(encoded_namespace)

    def key_of(scope: Scope) -> str:
        encoded_scope = encode_scope(check_scope(scope))
        if len(encoded_scope) > room:
            raise _size_error(len(encoded_namespace) + len(encoded_scope), "memory")
        return SCOPE_PREFIX + digest(encode_composite(namespace_key, SCOPE_PREFIX + digest(encoded_scope)))

    return key_of
