"""Generated requests: from a seed, or from anything else that chooses like ``random.Random``."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any, TypeAlias

from evelab.eve.samples.documents import document_request, file_memory_request, in_memory_request
from evelab.eve.samples.records import batches_request, recall_request
from evelab.eve.samples.scopes import by_principal_request, key_request, namespace_request
from evelab.eve.samples.sessions import session_request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Generator: TypeAlias = "Callable[[Random], dict[str, Any]]"

SAMPLES: Mapping[str, Generator] = {
    "keys": key_request,
    "by_principal": by_principal_request,
    "default namespace": namespace_request,
    "recall results": recall_request,
    "documents": document_request,
    "save and remove": file_memory_request,
    "in_memory": in_memory_request,
    "batches": batches_request,
    "sessions": session_request,
}
"""What is generated, by the name that a report shows."""


def seeded(name: str, count: int, seed: int) -> Iterator[dict[str, Any]]:
    """So many requests of one kind, the same for the same seed."""
    rng = Random(f"{name} {seed}")  # noqa: S311
    for _ in range(count):
        yield SAMPLES[name](rng)
