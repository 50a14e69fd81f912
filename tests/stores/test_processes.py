"""Eight processes, or threads, save into one document: nothing is lost, no index is given twice, the limit holds."""

from __future__ import annotations

import json
import subprocess
import sys
from threading import Barrier, Thread
from typing import TYPE_CHECKING

import pytest

from evelab.file_memory import Document, read_document, recall_text
from evelab.keys import memory_key
from evelab.text import utf16_length
from tests.stores.writer import SLOT, Told, save_all, saver, texts

if TYPE_CHECKING:
    from tests.stores.places import Place, Store

KEY = memory_key("acme-support-v1", ("acme", "u_42"))
NAMES = "abcdefgh"
SAVES = 50
FIT = len(NAMES) * SAVES


def room() -> int:
    """The limit under which exactly the wanted number of texts fit."""
    [text, *_] = texts("a", 1)
    return utf16_length(recall_text(SLOT, Document(FIT - 1, dict.fromkeys(range(FIT), text))))


def test_eight_processes_save_into_one_document_and_nothing_is_lost(shared_place: Place) -> None:
    """Each tries one text more than there is room for, so eight saves in all are refused."""
    words = [sys.executable, "-m", "tests.stores.writer", shared_place.to_json(), KEY]
    writers = [
        subprocess.Popen(
            [*words, name, str(SAVES + 1), str(room())], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
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
    assert_nothing_is_lost(shared_place.open(), told)


@pytest.mark.parametrize("place", ["in_memory", "memory", "directory"], indirect=True)
def test_eight_threads_save_into_one_document_and_nothing_is_lost(store: Store) -> None:
    """As with processes, over one open store: the only way to share one in memory."""
    told: list[Told] = []
    gate = Barrier(len(NAMES))

    def work(name: str) -> None:
        gate.wait()
        told.append(save_all(saver(store, KEY, room()), texts(name, SAVES + 1)))

    threads = [Thread(target=work, args=(name,)) for name in NAMES]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert_nothing_is_lost(store, told)


def assert_nothing_is_lost(store: Store, told: list[Told]) -> None:
    found = read_document(store, KEY)
    assert found is not None
    saved = [text for report in told for text in report["saved"]]
    refused = [text for report in told for text in report["refused"]]
    assert len(refused) == len(NAMES)
    assert sorted(saved + refused) == sorted(text for name in NAMES for text in texts(name, SAVES + 1))
    assert sorted(found[0].entries.values()) == sorted(saved)
    assert list(found[0].entries) == list(range(FIT))
    assert found[0].last_index == FIT - 1
