"""How a namespace and a scope become one key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from evelab.chapter.key_steps import KeySteps, readable
from evelab.lab.colours import COLOURS
from evelab.lab.figures.drawing import INK, STYLE, Drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDE = 54
"""Characters of a line in a box, so that a key is one line; longer bytes go on in the next line."""
PAPER = "#f4f4f4"
BOX_WIDTH, BOX_HEIGHT = 0.47, 0.17


def key(steps: KeySteps) -> Drawing:
    """Two columns, namespace and scope: their bytes, the digests, and below them the key of both.

    Args:
        steps: the steps, as computed.
    """
    look = COLOURS.look(steps.key)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8.6, 4.2), facecolor="white")
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, 1), ylim=(0, 1))
        axes.set_axis_off()
        for left, name, data, digest in (
            (0.01, "namespace", steps.namespace_bytes, steps.namespace_key),
            (0.51, "scope", steps.scope_bytes, steps.scope_key),
        ):
            middle = left + BOX_WIDTH / 2
            axes.text(left, 0.95, f"{name}, {len(data)} bytes", fontsize=10, color=INK, weight="bold")
            _box(axes, left, 0.73, _lines(data), PAPER)
            axes.text(middle, 0.66, "sha256, base64url", fontsize=9, color=INK, ha="center")
            _box(axes, left, 0.46, [digest], PAPER)
            _arrow(axes, middle, 0.45, 0.5, 0.34)
        both = f"both together, {len(steps.both_bytes)} bytes: sha256, base64url"
        axes.text(0.5, 0.30, both, fontsize=9, color=INK, ha="center")
        _box(axes, 0.265, 0.09, [steps.key], look.background, ink=look.text)
        axes.text(0.5, 0.03, "memory.scope.key", fontsize=10, color=INK, weight="bold", ha="center")
    return Drawing(
        figure,
        "\n".join(
            [
                f"namespace, {len(steps.namespace_bytes)} bytes: {readable(steps.namespace_bytes)}",
                f"scope, {len(steps.scope_bytes)} bytes: {readable(steps.scope_bytes)}",
                f"namespace key: {steps.namespace_key}",
                f"scope key: {steps.scope_key}",
                f"memory.scope.key: {steps.key}",
            ]
        ),
    )


def _lines(data: bytes) -> list[str]:
    """The bytes in three lines at most; a long middle is counted, not shown."""
    text = readable(data)
    lines = [text[start : start + WIDE] for start in range(0, len(text), WIDE)]
    if len(lines) <= 3:
        return lines
    hidden = len(text) - 2 * WIDE
    return [lines[0], f"... {hidden} more characters ...", text[-WIDE:]]


def _box(axes: Axes, left: float, bottom: float, lines: list[str], colour: str, *, ink: str = INK) -> None:
    shape = "round,pad=0.004"
    axes.add_patch(
        FancyBboxPatch((left, bottom), BOX_WIDTH, BOX_HEIGHT, boxstyle=shape, facecolor=colour, edgecolor=INK)
    )
    middle = bottom + BOX_HEIGHT / 2
    axes.text(left + 0.01, middle, "\n".join(lines), fontsize=8, family="DejaVu Sans Mono", color=ink, va="center")


def _arrow(axes: Axes, x: float, y: float, to_x: float, to_y: float) -> None:
    axes.annotate("", (to_x, to_y), (x, y), arrowprops={"arrowstyle": "->", "color": INK, "linewidth": 0.8})
