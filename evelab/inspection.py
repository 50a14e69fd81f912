"""Look at a store of file memory without changing it: which documents there are, how full, and whose they are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evelab.backends import DEFAULT_PREFIX
from evelab.directory import directory
from evelab.errors import DocumentError, EvelabError, OptionError
from evelab.file_memory import DEFAULT_MAX_CHARACTERS, DOCUMENT_MAX_BYTES, ENTRY_MAX_BYTES, check_stored, recall_text
from evelab.object_store import object_store
from evelab.text import utf8_length, utf16_length

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evelab.directory import Directory
    from evelab.object_store import ObjectStore
    from evelab.owners import Owner


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large a valid document is.

    Attributes:
        entries: how many texts it holds.
        last_index: the last index that was given out; -1 when none was.
        bytes: its UTF-8 bytes; the limit is 65,536.
        characters: the UTF-16 units of what is recalled; ``max_characters`` limits them when a text is saved.
        longest_entry: the UTF-8 bytes of its longest text; the limit is 2,048.
    """

    entries: int
    last_index: int
    bytes: int
    characters: int
    longest_entry: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One document of a store.

    Attributes:
        key: the name under which it is stored.
        sizes: None when it is broken.
        reason: why it is broken; None when it is valid.
        line: the line that is wrong, counted from 1, where the fault is in one.
        owners: whose it is; None when nobody was asked for.
    """

    key: str
    sizes: Sizes | None
    reason: str | None = None
    line: int | None = None
    owners: tuple[Owner, ...] | None = None


def open_store(target: str, *, prefix: str = DEFAULT_PREFIX) -> Directory | ObjectStore:
    """The store at a folder or an address such as ``s3://bucket``.

    Raises:
        OptionError: there is no such folder, or the address or the prefix cannot be used.
        DefinitionError: an address, and obstore is not installed.
    """
    if "://" in target:
        return object_store(target, prefix=prefix)
    if not Path(target).exists():
        raise OptionError("There is no such folder.", place="path")
    return directory(target, prefix=prefix)


def inspect(
    store: Directory | ObjectStore, *, slot: str = "profile", owners: Mapping[str, Sequence[Owner]] | None = None
) -> Iterator[Finding]:
    """Each document of a store, in the store's order. A broken one is a finding, not an error.

    Args:
        store: where to look. Nothing in it is changed.
        slot: the slot's name, which is a part of what is recalled.
        owners: key -> whose it is, from ``owners_of``.

    Raises:
        StoreError: the store cannot be listed.
    """
    keys = store.keys()
    for key in keys:
        whose = None if owners is None else tuple(owners.get(key, ()))
        try:
            stored = store.read(key)
            if stored is None:
                continue  # it was deleted since the listing
            document = check_stored(stored)
        except DocumentError as error:
            yield Finding(key, None, error.reason, error.line, whose)
        except EvelabError as error:
            yield Finding(key, None, str(error).rstrip("."), None, whose)
        else:
            sizes = Sizes(
                len(document.entries),
                document.last_index,
                utf8_length(stored.content),
                utf16_length(recall_text(slot, document)),
                max(map(utf8_length, document.entries.values()), default=0),
            )
            yield Finding(key, sizes, owners=whose)


def inspection_lines(findings: Sequence[Finding], *, max_characters: int = DEFAULT_MAX_CHARACTERS) -> list[str]:
    """A line a document and a last line that counts. No text of a memory is in it."""
    if not findings:
        return [f"No documents. They are looked for under {DEFAULT_PREFIX}; --prefix names another place."]
    asked = any(found.owners is not None for found in findings)
    heads = ["key", "entries", "bytes", "characters", "longest text", "last index", *(["owner"] if asked else [])]
    namespaces = {owner.namespace for found in findings for owner in found.owners or ()}
    rows = [_cells(found, max_characters, len(namespaces) > 1) for found in findings]
    whole = [row for row in rows if len(row) > 2]
    widths = [max(map(len, column)) for column in zip(heads, *whole, strict=True)]
    widths[0] = max(len(row[0]) for row in [heads, *rows])
    broken = sum(found.sizes is None for found in findings)
    ending = f"{len(findings):,} {'document' if len(findings) == 1 else 'documents'}, {broken:,} broken"
    if asked:
        ending += f", {sum(found.owners == () for found in findings):,} without an owner"
    return [_line(heads, widths), *(_line(row, widths) for row in rows), "", f"{ending}."]


def inspection_rows(findings: Sequence[Finding]) -> list[dict[str, str]]:
    """A row a document, for a narrow table: its key, what it holds or why it is broken, and whose it is."""
    rows = []
    for found in findings:
        key, *cells = _cells(found, DEFAULT_MAX_CHARACTERS, name_namespaces=False)
        held = cells[0] if found.sizes is None else f"entries {cells[0]}, bytes {cells[1]}, characters {cells[2]}"
        whose = "" if found.owners is None else _whose(found.owners, name_namespaces=False)
        rows.append({"key": key, "document": held.removesuffix(f"; {whose}"), "owner": whose})
    return rows


def _cells(found: Finding, max_characters: int, name_namespaces: bool) -> list[str]:
    whose = None if found.owners is None else _whose(found.owners, name_namespaces)
    if found.sizes is None:
        where = "" if found.line is None else f"line {found.line}: "
        reason = f"BROKEN: {where}{_visible(found.reason or '')}"
        return [_visible(found.key), reason if whose is None else f"{reason}; {whose}"]
    sizes = found.sizes
    return [
        _visible(found.key),
        f"{sizes.entries:,}",
        _share(sizes.bytes, DOCUMENT_MAX_BYTES),
        _share(sizes.characters, max_characters),
        _share(sizes.longest_entry, ENTRY_MAX_BYTES),
        f"{sizes.last_index}",
        *([] if whose is None else [whose]),
    ]


def _share(size: int, limit: int) -> str:
    return f"{size:,} ({size / limit:.0%})"


def _whose(owners: Sequence[Owner], name_namespaces: bool) -> str:
    named = [
        f"{_visible(owner.label)} ({owner.policy}{f', {_visible(owner.namespace)}' if name_namespaces else ''})"
        for owner in owners
    ]
    return ", ".join(named) or "orphan"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    key, *rest = cells
    if len(rest) > 1:
        rest = [*(cell.rjust(width) for cell, width in zip(rest[:5], widths[1:6], strict=True)), *rest[5:]]
    return "  ".join([key.ljust(widths[0]), *rest])


def _visible(text: str) -> str:
    """The text with what a terminal would obey written out: a folder may have any name."""
    return "".join(unit if unit.isprintable() else ascii(unit)[1:-1] for unit in text)


def inspection_json(findings: Sequence[Finding], *, max_characters: int = DEFAULT_MAX_CHARACTERS) -> dict[str, Any]:
    """The same as JSON-like data."""
    return {
        "limits": {"bytes": DOCUMENT_MAX_BYTES, "characters": max_characters, "longest_entry": ENTRY_MAX_BYTES},
        "documents": [_document_json(found) for found in findings],
        "broken": sum(found.sizes is None for found in findings),
        "orphans": [found.key for found in findings if found.owners == ()],
    }


def _document_json(found: Finding) -> dict[str, Any]:
    owners = None
    if found.owners is not None:
        owners = [
            {"label": owner.label, "policy": owner.policy, "namespace": owner.namespace} for owner in found.owners
        ]
    if found.sizes is None:
        return {"key": found.key, "valid": False, "reason": found.reason, "line": found.line, "owners": owners}
    sizes = found.sizes
    return {
        "key": found.key,
        "valid": True,
        "entries": sizes.entries,
        "last_index": sizes.last_index,
        "bytes": sizes.bytes,
        "characters": sizes.characters,
        "longest_entry": sizes.longest_entry,
        "owners": owners,
    }
