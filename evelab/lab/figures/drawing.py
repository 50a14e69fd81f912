"""A figure as SVG that is the same on every machine: its text stays text, and the reader's browser draws it."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import matplotlib as mpl

from evelab.lab.html import escape

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
PLAIN = " !'()*,/:;=@[]"
"""What may stand in an address within quotes as it is, so that a stored figure can be searched."""
LEAST = 0.6
"""A figure shrinks with the page to this part of its width, so that it can still be read; then it scrolls."""
PIXELS_OF_A_POINT = 96 / 72


class Drawing:
    """A figure in a notebook.

    Attributes:
        svg: the picture.
        text: what it says, for those who cannot see it.
    """

    def __init__(self, figure: Figure, text: str) -> None:
        target = io.StringIO()
        with mpl.rc_context(STYLE):
            metadata = {"Date": None, "Creator": None}
            figure.savefig(target, format="svg", metadata=metadata, bbox_inches="tight", pad_inches=0.08)
        svg = target.getvalue()
        for name, names in FONTS.items():
            svg = svg.replace(name, names)
        self.svg = svg
        self.text = text

    @property
    def _width(self) -> float:
        """The picture's own width in CSS pixels."""
        points = self.svg.partition(' width="')[2].partition("pt")[0]
        return float(points) * PIXELS_OF_A_POINT

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        # An image: JupyterLab shows an SVG without words for those who cannot see it, and does not shrink it.
        shape = f"max-width: 100%; min-width: {round(self._width * LEAST)}px; height: auto"
        source = f"data:image/svg+xml,{quote(self.svg, safe=PLAIN)}"
        image = f'<img alt="{escape(self.text)}" style="{shape}" src="{source}">'
        return {"text/html": f'<div style="overflow-x: auto">{image}</div>', "text/plain": self.text}
