"""How a namespace and a scope become one key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.figure import Figure

from evelab.chapter.key_steps import KeySteps, readable
from evelab.lab.colours import COLOURS
from evelab.lab.figures.drawing import INK, STYLE, Drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDE = 46
"""Characters of a line in a box; longer bytes go on in the next line."""
PAPER = "#f4f4f4"


def key(steps: KeySteps) -> Drawing:
    """Two columns, namespace and scope: their bytes, the digests, and below them the key of both.

    Args:
        steps: the steps, as computed.
    """
    look = COLOURS.look(steps.key)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9.2, 4.4), facecolor="white")
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, 1), ylim=(0, 1))
        axes.set_axis_off()
        for left, name, data, digest in (
            (0.01, "namespace", steps.namespace_bytes, steps.namespace_key),
            (0.51, "scope", steps.scope_bytes, steps.scope_key),
        ):
            axes.text(left, 0.95, f"{name}, {len(data)} bytes", fontsize=10, color=INK, weight="bold")
            _box(axes, left, 0.70, _lines(data), PAPER)
            axes.text(left + 0.235, 0.635, "sha256, base64url", fontsize=9, color=INK, ha="center")
            _box(axes, left, 0.50, [digest[:WIDE], digest[WIDE:]], PAPER)
            _arrow(axes, left + 0.235, 0.485, 0.5, 0.385)
        axes.text(
            0.5, 0.30, f"both together, {len(steps.both_bytes)} bytes: sha256, base64url", fontsize=9, ha="center"
        )
        _box(axes, 0.265, 0.10, [steps.key[:WIDE], steps.key[WIDE:]], look.background, ink=look.text)
        axes.text(0.5, 0.05, "memory.scope.key", fontsize=10, color=INK, weight="bold", ha="center")
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
    axes.add_patch(mpl.patches.FancyBboxPatch((left, bottom), 0.47, 0.17 if len(lines) > 2 else 0.12,
        boxstyle="round,pad=0.004", facecolor=colour, edgecolor=INK, linewidth=0.8))  # fmt: skip
    axes.text(left + 0.01, bottom + (0.085 if len(lines) > 2 else 0.06), "\n".join(lines), fontsize=8,
        family="DejaVu Sans Mono", color=ink, va="center")  # fmt: skip


def _arrow(axes: Axes, x: float, y: float, to_x: float, to_y: float) -> None:
    axes.annotate("", (to_x, to_y), (x, y), arrowprops={"arrowstyle": "->", "color": INK, "linewidth": 0.8})
