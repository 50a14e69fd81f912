"""Who owns a name among the tools: a file of the application, a memory slot, or the framework.

A slot ``profile`` brings a source ``tools/profile`` of its own. A file at the same place wins over it,
whatever the file exports, and both win over a built-in tool. Source: eve 0.80.1, ``compiler/source-graph``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evelab.discovery import path_order
from evelab.errors import DefinitionError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file that wants a place.

    Attributes:
        place: the path without its extension, such as ``tools/profile``.
        source: the file's id.
    """

    place: str
    source: str


@dataclass(frozen=True, slots=True)
class Note:
    """Why a source is not used.

    Attributes:
        kind: ``"shadowed"`` or ``"disabled"``.
        source: the source.
        winner: what took its place, or None when it was disabled.
    """

    kind: str
    source: str
    winner: str | None = None


@dataclass(frozen=True, slots=True)
class Composition:
    """Place -> the source that owns it, and the losers."""

    selected: Mapping[str, str]
    notes: tuple[Note, ...]


def wrapper(memory: Candidate, extension: str) -> Candidate:
    """The source that a memory slot brings for its tools."""
    place = "tools/" + memory.place.rpartition("/")[2]
    return Candidate(place, f"eve:memory-wrapper:{place}{extension}:from:{memory.source}")


def compose(layers: Sequence[Sequence[Candidate]], *, disable: Sequence[str] = ()) -> Composition:
    """Give each place to the first layer that wants it.

    Args:
        layers: the application's files, then what its memory slots bring, then the framework's own.
        disable: sources that hold ``disable_tool()``: they win their place and leave it empty. A
            framework tool of the same name is gone too.

    Raises:
        DefinitionError: there is nothing to disable below such a source.
    """
    selected: dict[str, str] = {}
    notes: list[Note] = []
    candidates = [candidate for layer in layers for candidate in layer]
    for candidate in sorted(candidates, key=lambda candidate: path_order(candidate.place)):
        if candidate.place in selected:
            notes.append(Note("shadowed", candidate.source, selected[candidate.place]))
        else:
            selected[candidate.place] = candidate.source
    for source in disable:
        place = next(place for place, owner in selected.items() if owner == source)
        if not any(note.winner == source for note in notes):
            raise DefinitionError(
                f'"{source}" disables a tool that is not there: no memory slot and no built-in tool has its name.',
                place=place,
            )
        del selected[place]
        notes.append(Note("disabled", source))
    return Composition(selected, tuple(notes))
