"""A figure as SVG that is the same on every machine: its text stays text, and the reader's browser draws it."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import matplotlib as mpl

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK = "#202020"
STYLE: Any = {
    "font.family": "DejaVu Sans",
    "svg.fonttype": "none",
    "svg.hashsalt": "evelab",
}
"""What a figure is made under: ``with mpl.rc_context(STYLE)``. Labels are ASCII: no Chinese font is needed."""


FONTS = {
    "'DejaVu Sans'": "'DejaVu Sans', Verdana, sans-serif",
    "'DejaVu Sans Mono'": "'DejaVu Sans Mono', Menlo, Consolas, monospace",
}
"""The font that matplotlib names, and what a browser takes where there is none of that name: letters as wide."""
FITTING = "max-width: 100%; height: auto"
"""A figure that is wider than the page shrinks, where a viewer puts it into the page; JupyterLab scrolls."""


class Drawing:
    """A figure in a notebook.

    Attributes:
        svg: the picture.
        text: what it says, for those who cannot see it.
    """

    def __init__(self, figure: Figure, text: str) -> None:
        target = io.StringIO()
        with mpl.rc_context(STYLE):
            figure.savefig(target, format="svg", metadata={"Date": None, "Creator": None})
        svg = target.getvalue().replace("<svg ", f'<svg style="{FITTING}" ', 1)
        for name, names in FONTS.items():
            svg = svg.replace(name, names)
        self.svg = svg
        self.text = text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"image/svg+xml": self.svg, "text/plain": self.text}
