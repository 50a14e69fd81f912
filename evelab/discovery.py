"""Which memory slots a folder holds: found by file name, checked, put in eve's order.

A folder has one slot in ``memory.py``, or named ones in ``memory/<slot>.py``, never both.
Source: eve 0.80.1, ``discover/memory``. The sentences of the diagnostics are eve's.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

SLOT_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]{0,63}")
EXTENSIONS = (".py",)
_PUNCTUATION = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$"


@dataclass(frozen=True, slots=True)
class Source:
    """A file that defines something.

    Attributes:
        name: the slot's or tool's name.
        path: the file's path under the agent's folder, such as ``memory/profile.py``.
    """

    name: str
    path: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """What is wrong with a folder. Every diagnostic is an error.

    Attributes:
        code: ``discover/memory-slot-ambiguous``, ``discover/module-slot-collision``,
            ``discover/memory-name-invalid`` or ``discover/memory-directory-invalid``.
        message: the sentence.
    """

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Discovery:
    """The slots of a folder, in order, and what is wrong with it."""

    slots: tuple[Source, ...]
    diagnostics: tuple[Diagnostic, ...]


def path_order(path: str) -> tuple[list[tuple[int, str]], list[str], str]:
    """A sort key that orders paths as JavaScript's ``localeCompare`` does in English.

    Accents and case are ignored at first (punctuation, digits, letters, in this order); then a letter
    without an accent comes first, then lower case. Exact for ASCII.
    """
    letters = unicodedata.normalize("NFD", path)
    base = [char for char in letters if not unicodedata.combining(char)]
    ranks = [(_PUNCTUATION.find(char), "") if char in _PUNCTUATION else (99, char.lower()) for char in base]
    return ranks, [char for char in letters if unicodedata.combining(char)], path.swapcase()


def discover_slots(
    entries: Mapping[str, Sequence[str] | None],
    *,
    root: str = "",
    extensions: Sequence[str] = EXTENSIONS,
) -> Discovery:
    """The memory slots of a folder, from its listing.

    Args:
        entries: name -> None for a file, or the names of the files in a folder.
        root: the folder's path, for the diagnostics.
        extensions: what a definition's file name ends in.
    """
    diagnostics: list[Diagnostic] = []
    flat = _stems([name for name, inside in entries.items() if inside is None], extensions).get("memory", [])
    if len(flat) > 1:
        diagnostics.append(_collision("memory", flat))
    if "memory" not in entries:
        return Discovery((Source("memory", flat[0]),) if len(flat) == 1 else (), tuple(diagnostics))
    inside = entries["memory"]
    if inside is None:
        diagnostics.append(
            Diagnostic(
                "discover/memory-directory-invalid",
                f'Expected "{root}/memory" to be a directory of authored memory slots.',
            )
        )
        return Discovery((Source("memory", flat[0]),) if len(flat) == 1 else (), tuple(diagnostics))
    named, wrong = _named_slots(inside, extensions)
    diagnostics += wrong
    if flat:
        diagnostics.append(
            Diagnostic(
                "discover/memory-slot-ambiguous",
                f'Memory must use either the flat "memory{extensions[0]}" form or the named "memory/" directory form, '
                "not both.",
            )
        )
    return Discovery(() if flat else tuple(named), tuple(diagnostics))


def _named_slots(files: Sequence[str], extensions: Sequence[str]) -> tuple[list[Source], list[Diagnostic]]:
    """The slots of a ``memory`` folder, and its names that are wrong."""
    slots: list[Source] = []
    diagnostics: list[Diagnostic] = []
    for name, found in sorted(_stems(files, extensions).items(), key=lambda item: path_order(item[0])):
        if SLOT_NAME.fullmatch(name) is None:
            diagnostics.append(
                Diagnostic(
                    "discover/memory-name-invalid",
                    f'Memory slot "{name}" must start with an ASCII letter and contain only letters, digits, '
                    "underscores, or dashes (64 characters maximum).",
                )
            )
        elif len(found) > 1:
            diagnostics.append(_collision(f"memory/{name}", found))
        else:
            slots.append(Source(name, f"memory/{found[0]}"))
    return slots, diagnostics


def list_folder(folder: Path) -> dict[str, tuple[str, ...] | None]:
    """A folder's listing, one level deep, as ``discover_slots`` takes it."""
    return {
        entry.name: tuple(inner.name for inner in entry.iterdir() if inner.is_file()) if entry.is_dir() else None
        for entry in folder.iterdir()
    }


def module_names(names: Sequence[str], extensions: Sequence[str] = EXTENSIONS) -> list[str]:
    """The names that a folder's files define, in order: ``save.py`` is ``save``; tests are left out."""
    return sorted(_stems(names, extensions), key=path_order)


def _stems(names: Sequence[str], extensions: Sequence[str]) -> dict[str, list[str]]:
    """Stem -> the files that have it, in order."""
    found: dict[str, list[str]] = {}
    for name in sorted(names, key=path_order):
        extension = next((end for end in extensions if name.endswith(end) and name != end), None)
        if extension is None:
            continue
        stem = name.removesuffix(extension)
        declares = extension.endswith("ts") and stem.endswith(".d")
        if not declares and not stem.endswith((".test", ".spec")) and stem != "__init__":
            found.setdefault(stem, []).append(name)
    return found


def _collision(slot: str, files: Sequence[str]) -> Diagnostic:
    listed = ", ".join(f'"{name}"' for name in files)
    return Diagnostic(
        "discover/module-slot-collision", f'Found multiple authored module sources for "{slot}": {listed}.'
    )
