"""One colour a key: two callers who share a partition are seen to share it.

Colours come from the palette of Okabe and Ito, which people with colour blindness can tell apart. A key
keeps its colour for as long as the kernel runs. The chapter's six keys come first, so that they look the
same in every notebook. A colour never stands alone: a chip always carries the key's short label.
"""

from __future__ import annotations

from dataclasses import dataclass

from evelab.chapter.values import PRINTED_KEYS
from evelab.keys import SCOPE_PREFIX

PALETTE = ("#56B4E9", "#E69F00", "#009E73", "#CC79A7", "#0072B2", "#F0E442", "#D55E00", "#999999")
BORDERS = ("solid", "dashed", "dotted")
SHORT_LENGTH = 6


@dataclass(frozen=True, slots=True)
class Look:
    """How a key is drawn.

    Attributes:
        background: a colour, ``#rrggbb``.
        text: black or white, whichever is easier to read on it.
        border: a CSS border style; it changes when the colours are used up.
    """

    background: str
    text: str
    border: str


def short(key: str) -> str:
    """The key's label in a chip: its first six characters after the prefix."""
    return key.removeprefix(SCOPE_PREFIX)[:SHORT_LENGTH]


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours, from 1 to 21 (WCAG 2)."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


class KeyColours:
    """Gives each key the next free colour, and keeps it."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def look(self, key: str) -> Look:
        """How this key is drawn."""
        place = self._places.setdefault(key, len(self._places))
        background = PALETTE[place % len(PALETTE)]
        text = max(("#000000", "#ffffff"), key=lambda colour: contrast(background, colour))
        return Look(background, text, BORDERS[place // len(PALETTE) % len(BORDERS)])


COLOURS = KeyColours()
for _printed in PRINTED_KEYS:
    COLOURS.look(_printed.key)
