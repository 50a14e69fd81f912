"""What happens in a session, in order: a lane for each who does something."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.figure import Figure

from evelab.lab.figures.drawing import INK, STYLE, Drawing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evelab.chapter.turn_claims import Moment

COLOURS_OF = {"lock": "#E69F00", "recall": "#56B4E9", "tools": "#CC79A7", "capture": "#009E73"}
OTHER = "#bbbbbb"


def timeline(moments: Sequence[Moment], *, failed: str | None = None) -> Drawing:
    """A box for each moment, from left to right.

    Args:
        moments: in the order in which they happened.
        failed: a moment that failed, such as ``"recall workspace"``; it has a heavy border and says so.
    """
    lanes = list(dict.fromkeys(moment.lane for moment in moments))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8.6, 0.7 + 0.55 * len(lanes)), facecolor="white")
        axes = figure.add_axes((0.11, 0.02, 0.88, 0.96))
        for place, moment in enumerate(moments):
            lane = lanes.index(moment.lane)
            broke = failed == f"{moment.what} {moment.lane}"
            label = f"{moment.what}\nFAILS" if broke else moment.what
            axes.barh(
                lane,
                0.92,
                left=place + 0.04,
                height=0.62,
                color=COLOURS_OF.get(moment.what, OTHER),
                edgecolor=INK,
                linewidth=3 if broke else 0.6,
            )
            axes.text(place + 0.5, lane, label, ha="center", va="center", fontsize=8, color=INK)
        for lane, name in enumerate(lanes):
            axes.axhline(lane, color="#e0e0e0", linewidth=0.8, zorder=0)
            axes.text(-0.1, lane, name, ha="right", va="center", fontsize=9, color=INK)
        axes.set(xlim=(0, max(len(moments), 1)), ylim=(len(lanes) - 0.4, -0.6))
        axes.set_axis_off()
    lines = [f"{place + 1}. {moment.what} {moment.lane}" for place, moment in enumerate(moments)]
    return Drawing(figure, "\n".join(f"{line} FAILS" if failed and line.endswith(failed) else line for line in lines))
