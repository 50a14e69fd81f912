"""Generated memory documents and what is done to them: saves, removes, conflicts, other writers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evelab.eve.samples.texts import SPECIAL, any_text, name, one_in, piece, some_text, text_near
from evelab.file_memory import Document, format_document
from evelab.text import normalise

if TYPE_CHECKING:
    from random import Random

LARGEST_INDEX = 2**53 - 1
HEADERS = ("-2", "-1", "0", "1", "00", "01", "+1", "1.0", "", "9007199254740991", "9007199254740992", "٣")


def valid_document(rng: Random) -> str:
    """A document that eve wrote, or could read: entries in any order, leading zeros, gaps between indexes."""
    entries: dict[int, str] = {}
    index = -1
    for _ in range(rng.randrange(6)):
        index += 1 + (rng.randrange(4) if one_in(rng, 3) else 0)
        entries[index] = normalise(some_text(rng)) or "a"
    last = index + (rng.randrange(3) if one_in(rng, 3) else 0)
    if one_in(rng, 12):
        last = LARGEST_INDEX - rng.randrange(3)
    text = format_document(Document(last, entries))
    if not one_in(rng, 4):
        return text
    header, *lines = text.split("\n")[:-1]
    for at in range(len(lines)):
        other = rng.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    if lines and one_in(rng, 2):
        lines[0] = "0" * (1 + rng.randrange(3)) + lines[0]
    return "\n".join([header, *lines, ""])


def broken_document(rng: Random) -> str:
    """A valid document with something changed; it may still be valid."""
    text = valid_document(rng)
    match rng.randrange(8):
        case 0:
            return text[:-1]
        case 1:
            return text.replace("\n", "\r\n")
        case 2:
            return "\ufeff" + text
        case 3:
            lines = text.split("\n")
            lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
            return "\n".join(lines)
        case 4:
            header = f"<!-- eve-memory-file-v1 lastAllocatedIndex={rng.choice(HEADERS)} -->\n"
            return header + "".join(text.partition("\n")[2:])
        case 5:
            return text + f"{rng.randrange(12)}:{rng.choice((' ', '', '  '))}{any_text(rng)}\n"
        case 6:
            at = rng.randrange(len(text))
            return text[:at] + piece(rng) + text[at + 1 :]
        case _:
            at = rng.randrange(len(text) + 1)
            return text[:at] + rng.choice(SPECIAL) + text[at:]


def large_document(rng: Random) -> str:
    """A document within a few bytes of 65,536."""
    lines = [f"{index}: {'x' * 2044}" for index in range(31)]
    head = "\n".join(["<!-- eve-memory-file-v1 lastAllocatedIndex=31 -->", *lines, "31: "])
    return head + "y" * (65_536 - len(head) - 1 - 3 + rng.randrange(7)) + "\n"


def any_document(rng: Random) -> str:
    """Mostly a valid document, sometimes a broken or a large one."""
    match rng.randrange(10):
        case 7 | 8:
            return broken_document(rng)
        case 9 if one_in(rng, 8):
            return large_document(rng)
        case _:
            return valid_document(rng)


def document_request(rng: Random) -> dict[str, Any]:
    """Reading one document, valid or broken."""
    text = valid_document(rng) if one_in(rng, 3) else broken_document(rng)
    return {"op": "file_memory", "document": text, "ops": [{"op": "recall"}]}


def file_memory_request(rng: Random) -> dict[str, Any]:
    """A document and some operations on it."""
    request: dict[str, Any] = {"op": "file_memory", "ops": [], "showWrites": True}
    if rng.randrange(4) > 0:
        request["document"] = any_document(rng)
    if one_in(rng, 3):
        request["maxCharacters"] = _max_characters(rng)
    if one_in(rng, 6):
        request["slot"] = name(rng)
    if one_in(rng, 10):
        request["duckConflict"] = True
    request["ops"] = [_operation(rng) for _ in range(1 + rng.randrange(6))]
    return request


def _max_characters(rng: Random) -> Any:
    if one_in(rng, 8):
        return rng.choice((0, -1, 1.5, True, "4000", None, {"$number": "NaN"}, {"$number": "Infinity"}, 2**53, 4000.0))
    return 200 + rng.randrange(60)


def _operation(rng: Random) -> dict[str, Any]:
    match rng.randrange(10):
        case 0 | 1 | 2 | 3 | 4:
            made: dict[str, Any] = {"op": "save", "text": _entry(rng)}
        case 5 | 6 | 7:
            made = {"op": "remove", "index": _index(rng)}
        case 8:
            return {"op": "recall"}
        case _:
            return {"op": "put", "content": any_document(rng)}
    if one_in(rng, 4):
        made["conflicts"] = 7 + rng.randrange(4) if one_in(rng, 3) else 1 + rng.randrange(3)
        made["race"] = [any_document(rng) for _ in range(rng.randrange(3))]
    return made


def _entry(rng: Random) -> str:
    match rng.randrange(12):
        case 10:
            return any_text(rng)
        case 11:
            return text_near(rng, 2048)
        case _:
            return some_text(rng)


def _index(rng: Random) -> Any:
    if one_in(rng, 8):
        return rng.choice((-1, 1.5, "0", None, True, {"$number": "NaN"}, {"$number": "-0"}, LARGEST_INDEX))
    return rng.randrange(8)


def in_memory_request(rng: Random) -> dict[str, Any]:
    """Reads and conditional writes on two keys, with versions that are right, stale or made up."""
    operations: list[dict[str, Any]] = []
    for _ in range(1 + rng.randrange(8)):
        key = rng.choice(("k", "l"))
        if one_in(rng, 3):
            operations.append({"read": key})
            continue
        version = None if rng.randrange(3) == 0 else f"mem_<uuid>_{rng.randrange(6)}"
        operations.append({"write": {"key": key, "content": any_text(rng), "expectedVersion": version}})
    return {"op": "in_memory", "ops": operations}
