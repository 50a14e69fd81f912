"""Widgets: thin, and made of the models beside them. The only place that imports ipywidgets."""

from evelab.lab.panels.approval import ApprovalPanel
from evelab.lab.panels.caller import CallerPanel
from evelab.lab.panels.choice import ChoicePanel
from evelab.lab.panels.exercise import ExercisePanel
from evelab.lab.panels.key import KeyPanel
from evelab.lab.panels.live import LiveHTML
from evelab.lab.panels.predict import Prediction, score

__all__ = [
    "ApprovalPanel",
    "CallerPanel",
    "ChoicePanel",
    "ExercisePanel",
    "KeyPanel",
    "LiveHTML",
    "Prediction",
    "score",
]
