"""The benchmark of stores runs and leaves documents of the size it measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evelab.file_memory import read_document
from tests.bench.stores import TEXTS, measure

if TYPE_CHECKING:
    from tests.stores.places import Store


@pytest.mark.parametrize("place", ["in_memory", "memory", "directory"], indirect=True)
def test_documents_keep_ten_entries(store: Store) -> None:
    speed = measure(store, 3, 0.02)
    assert speed.saves > 0
    assert speed.recalls > 0
    keys = list(store.keys())
    documents = [document for document, _ in filter(None, (read_document(store, key) for key in keys))]
    assert len(documents) == 3
    assert all(list(document.entries.values()) == TEXTS for document in documents)
    assert max(document.last_index for document in documents) >= len(TEXTS)
