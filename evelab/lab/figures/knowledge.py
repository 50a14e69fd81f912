"""Who sees which fact, as a matrix of callers and facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from evelab.lab.figures.drawing import INK, STYLE, Drawing

if TYPE_CHECKING:
    from collections.abc import Mapping

SEEN, NOT = "#cfeee0", "#ffffff"


def knowledge(seen: Mapping[str, Mapping[str, bool]]) -> Drawing:
    """Callers down, facts across; a cell says whether the caller's session sees the fact.

    Args:
        seen: caller's label -> fact -> whether it is seen.
    """
    callers = list(seen)
    facts = list(next(iter(seen.values()), {}))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(1.9 + 1.3 * len(facts), 0.5 + 0.34 * len(callers)), facecolor="white")
        width, height = figure.get_size_inches()
        axes = figure.add_axes((1.5 / width, 0.02, 1.3 * len(facts) / width, 0.34 * len(callers) / height))
        axes.set(xlim=(0, len(facts)), ylim=(len(callers), 0))
        axes.set_axis_off()
        for across, fact in enumerate(facts):
            axes.text(across + 0.5, -0.25, fact, ha="center", va="bottom", fontsize=9, color=INK, weight="bold")
        for down, caller in enumerate(callers):
            axes.text(-0.08, down + 0.5, caller, ha="right", va="center", fontsize=9, color=INK)
            for across, fact in enumerate(facts):
                fill, word = (SEEN, "sees it") if seen[caller][fact] else (NOT, "-")
                axes.add_patch(Rectangle((across, down), 1, 1, facecolor=fill, edgecolor="#b0b0b0", linewidth=0.8))
                axes.text(across + 0.5, down + 0.52, word, ha="center", va="center", fontsize=9, color=INK)
    lines = [
        f"{caller} sees: {', '.join(fact for fact in facts if seen[caller][fact]) or 'nothing'}" for caller in callers
    ]
    return Drawing(figure, "\n".join(lines))
