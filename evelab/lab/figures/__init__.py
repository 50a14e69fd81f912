"""Figures, each drawn from what a run has shown. The only place that imports matplotlib."""

from evelab.lab.figures.drawing import Drawing
from evelab.lab.figures.gauge import gauge
from evelab.lab.figures.key import key
from evelab.lab.figures.knowledge import knowledge
from evelab.lab.figures.matrix import sharing
from evelab.lab.figures.timeline import timeline

__all__ = ["Drawing", "gauge", "key", "knowledge", "sharing", "timeline"]
