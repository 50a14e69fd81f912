"""Figures, as SVG that is the same on every machine: its text stays text, and the reader's browser draws it."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

if TYPE_CHECKING:
    from evelab.chapter.workbench import Sharing, Workbench

FILL = {"own": "#cfe8f7", "shared": "#cfeee0", "LEAK": "#ffffff", "off": "#e6e6e6", "": "#ffffff"}
INK = "#202020"
STYLE: Any = {
    "font.family": "DejaVu Sans",
    "svg.fonttype": "none",
    "svg.hashsalt": "evelab",
}


class Drawing:
    """A figure in a notebook.

    Attributes:
        svg: the picture.
        text: what it says, for those who cannot see it.
    """

    def __init__(self, svg: str, text: str) -> None:
        self.svg = svg
        self.text = text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"image/svg+xml": self.svg, "text/plain": self.text}


def sharing(bench: Workbench) -> Drawing:
    """Who recalls whose memory, as a matrix: readers down, writers across.

    A cell across tenants that recalls is a leak: a heavy border and the word.
    """
    found = bench.sharing()
    return Drawing(_svg(_matrix(found)), _words(found))


def _matrix(found: Sharing) -> Figure:
    labels = [caller.label for caller in found.callers]
    size = len(labels)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(2.4 + 0.95 * size, 1.4 + 0.42 * size))
        width, height = figure.get_size_inches()
        axes = figure.add_axes((1.7 / width, 0.03, 0.95 * size / width, 0.42 * size / height))
        axes.set(xlim=(0, size), ylim=(size, 0))
        axes.xaxis.tick_top()
        places = [place + 0.5 for place in range(size)]
        axes.set_xticks(places, labels, rotation=30, ha="left", color=INK)
        axes.set_yticks(places, labels, color=INK)
        axes.tick_params(length=0)
        axes.set_ylabel("reader", color=INK)
        axes.set_title("writer", color=INK, fontsize=10)
        for reader in range(size):
            for writer in range(size):
                _cell(axes, reader, writer, found.word(reader, writer))
        for side in axes.spines.values():
            side.set_visible(False)
    figure.set_facecolor("white")
    return figure


def _cell(axes: Any, reader: int, writer: int, word: str) -> None:
    axes.add_patch(Rectangle((writer, reader), 1, 1, facecolor=FILL[word], edgecolor="#b0b0b0", linewidth=0.8))
    if word == "LEAK":
        inner = Rectangle((writer + 0.06, reader + 0.1), 0.88, 0.8, fill=False, edgecolor="#b00020", linewidth=2.5)
        axes.add_patch(inner)
    weight = "bold" if word == "LEAK" else "normal"
    axes.text(writer + 0.5, reader + 0.52, word, ha="center", va="center", fontsize=9, color=INK, fontweight=weight)


def _words(found: Sharing) -> str:
    """The matrix in sentences: who recalls whose memory, besides everybody's own."""
    lines = []
    places = range(len(found.callers))
    for reader in places:
        by_word: dict[str, list[str]] = {}
        for writer in places:
            by_word.setdefault(found.word(reader, writer), []).append(found.callers[writer].label)
        told = [f"{word}: {', '.join(by_word[word])}" for word in ("own", "shared", "LEAK") if word in by_word]
        lines.append(f"{found.callers[reader].label}: " + ("; ".join(told) if told else "the slot is off"))
    return "Who recalls whose memory\n" + "\n".join(lines)


def _svg(figure: Figure) -> str:
    target = io.StringIO()
    with mpl.rc_context(STYLE):
        figure.savefig(target, format="svg", metadata={"Date": None, "Creator": None})
    return target.getvalue()
