"""How full a document is, beside its three limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.figure import Figure

from evelab.file_memory import (
    DEFAULT_MAX_CHARACTERS,
    DOCUMENT_MAX_BYTES,
    ENTRY_MAX_BYTES,
    format_document,
    recall_text,
)
from evelab.lab.figures.drawing import INK, STYLE, Drawing
from evelab.text import utf8_length, utf16_length

if TYPE_CHECKING:
    from evelab.file_memory import Document

BAR, ROOM = "#56B4E9", "#ededed"


def measures(
    document: Document, *, slot: str = "profile", max_characters: int = DEFAULT_MAX_CHARACTERS
) -> list[tuple[str, int, int]]:
    """What is measured, how much of it there is, and its limit.

    The recalled text in UTF-16 units, the longest entry in UTF-8 bytes, the document in UTF-8 bytes.
    """
    longest = max((utf8_length(text) for text in document.entries.values()), default=0)
    return [
        ("recalled text, characters", utf16_length(recall_text(slot, document)), max_characters),
        ("longest entry, bytes", longest, ENTRY_MAX_BYTES),
        ("document, bytes", utf8_length(format_document(document)), DOCUMENT_MAX_BYTES),
    ]


def gauge(document: Document, *, slot: str = "profile", max_characters: int = DEFAULT_MAX_CHARACTERS) -> Drawing:
    """A bar for each limit, filled as far as the document has come.

    Args:
        document: the document.
        slot: the slot's name, which stands twice in the recalled text.
        max_characters: the limit of the recalled text.
    """
    found = measures(document, slot=slot, max_characters=max_characters)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(5, 1.8), facecolor="white")
        axes = figure.add_axes((0, 0, 1, 1))
        for place, (what, size, limit) in enumerate(found):
            axes.barh(place + 0.2, 1, color=ROOM, height=0.4)
            axes.barh(place + 0.2, size / limit, color=BAR, height=0.4)
            axes.text(0, place - 0.2, f"{what}: {size:,} of {limit:,}", va="center", fontsize=9, color=INK)
        axes.set(xlim=(0, 1), ylim=(len(found) - 0.5, -0.5))
        axes.set_axis_off()
    return Drawing(figure, "\n".join(f"{what}: {size:,} of {limit:,}" for what, size, limit in found))
