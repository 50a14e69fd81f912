"""One folder, two programs: what evelab writes, the real eve reads, extends and prunes, and the other way."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from evelab import directory, document_path, in_memory, memory_key
from evelab.errors import EvelabError
from evelab.eve.bridge import Bridge
from evelab.eve.install import FOLLOWED_VERSION, fetch_eve
from evelab.eve.node import find_node
from evelab.file_memory import read_document, recall_text
from tests.stores.writer import SLOT, tools_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evelab.backends import Backend

KEY = memory_key("acme-support-v1", ("acme", "u_42"))
LIMIT = 900
OPERATIONS = 500
WORDS = (
    *("只看 payment-api", "🙂", "  short   answers ", "0: 1: b", "\u200bzero", "a\u2028b", "\ufffd", " "),
    *("x" * 300, "y" * 2050),
)


@pytest.fixture(scope="module")
def real(eve: Bridge) -> Iterator[Bridge]:
    """The real eve over files. ``eve`` has fetched it, or skipped."""
    assert eve.eve_version == FOLLOWED_VERSION
    node = find_node()
    with Bridge(fetch_eve(FOLLOWED_VERSION, node), node, program=Path(__file__).with_name("interchange.mjs")) as bridge:
        yield bridge


def operation(choices: Random, number: int) -> dict[str, Any]:
    match choices.choice(["save", "save", "save", "remove", "remove", "recall"]):
        case "save":
            return {"op": "save", "text": choices.choice([f"{choices.choice(WORDS)} {number}", *WORDS])}
        case "remove":
            return {"op": "remove", "index": choices.randrange(max(1, number // 3))}
    return {"op": "recall"}


def ours(backend: Backend, request: dict[str, Any]) -> dict[str, Any]:
    """evelab's reply to an operation, as ``interchange.mjs`` gives the real one's."""
    tools = tools_of(backend, KEY, LIMIT)
    try:
        match request["op"]:
            case "save":
                tools["save_memory"].execute(text=request["text"])
            case "remove":
                tools["remove_memory"].execute(index=request["index"])
            case "recall":
                found = read_document(backend, KEY)
                return {"ok": True, "value": found and recall_text(SLOT, found[0])}
    except EvelabError as error:
        return {"ok": False, "error": {"name": error.eve_name, "message": str(error)}}
    return {"ok": True, "value": None}


def test_five_hundred_operations_in_turn_over_one_folder(tmp_path: Path, real: Bridge) -> None:
    """Every reply and every byte is what evelab alone would have given and written."""
    choices, store, alone = Random(8), directory(tmp_path), in_memory()
    path = tmp_path / document_path(KEY)
    shared = {"folder": str(tmp_path), "key": KEY, "slot": SLOT, "maxCharacters": LIMIT}
    seen = {(who, what): 0 for who in ("ours", "real") for what in ("read", "refused", "written")}
    for number in range(OPERATIONS):
        request = operation(choices, number)
        before = path.read_bytes() if path.exists() else None
        who = "real" if number % 2 else "ours"
        reply = real.ask({**shared, **request}) if who == "real" else ours(store, request)
        assert reply == ours(alone, request), (number, request)
        content = alone.read(KEY)
        bytes_now = path.read_bytes() if path.exists() else None
        assert bytes_now == (None if content is None else content.content.encode()), (number, request)
        seen[who, "written"] += bytes_now != before
        seen[who, "refused"] += not reply["ok"]
        seen[who, "read"] += request["op"] == "recall" and reply["value"] is not None
    assert min(seen.values()) > OPERATIONS // 50, seen


def test_a_lone_surrogate_is_the_same_bytes_from_both(tmp_path: Path, real: Bridge) -> None:
    request = {"op": "save", "text": "a\ud800b"}
    shared = {"folder": str(tmp_path / "real"), "key": KEY, "slot": SLOT, "maxCharacters": LIMIT}
    assert real.ask({**shared, **request}) == ours(directory(tmp_path / "ours"), request) == {"ok": True, "value": None}
    written = [(tmp_path / name / document_path(KEY)).read_bytes() for name in ("ours", "real")]
    assert written[0] == written[1]
    assert "a\ufffdb".encode() in written[0]
