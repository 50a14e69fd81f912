"""Eight processes save into one document: nothing is lost, no index is given twice, the limit holds."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

from evelab.file_memory import Document, read_document, recall_text
from evelab.keys import memory_key
from evelab.text import utf16_length
from tests.stores.writer import SLOT, texts

if TYPE_CHECKING:
    from tests.stores.places import Place

KEY = memory_key("acme-support-v1", ("acme", "u_42"))
NAMES = "abcdefgh"
SAVES = 50
FIT = len(NAMES) * SAVES


def test_eight_processes_save_into_one_document_and_nothing_is_lost(shared_place: Place) -> None:
    """Each tries one text more than there is room for, so eight saves in all are refused."""
    [text, *_] = texts("a", 1)
    limit = utf16_length(recall_text(SLOT, Document(FIT - 1, dict.fromkeys(range(FIT), text))))
    words = [sys.executable, "-m", "tests.stores.writer", shared_place.to_json(), KEY]
    writers = [
        subprocess.Popen(
            [*words, name, str(SAVES + 1), str(limit)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for name in NAMES
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    told = [json.loads(writer.communicate(timeout=300)[0]) for writer in writers]
    found = read_document(shared_place.open(), KEY)
    assert found is not None
    saved = [text for report in told for text in report["saved"]]
    refused = [text for report in told for text in report["refused"]]
    assert len(refused) == len(NAMES)
    assert sorted(saved + refused) == sorted(text for name in NAMES for text in texts(name, SAVES + 1))
    assert sorted(found[0].entries.values()) == sorted(saved)
    assert list(found[0].entries) == list(range(FIT))
    assert found[0].last_index == FIT - 1
