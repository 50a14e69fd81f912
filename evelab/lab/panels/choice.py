"""Four questions that choose between nothing, a state, a memory slot and a connection."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from evelab.chapter.choice import QUESTIONS
from evelab.lab.choice_model import ChoiceModel
from evelab.lab.frames import plain
from evelab.lab.panels.live import LiveHTML, Panel, bundle, buttons

ANSWERS = [("yes", True), ("no", False)]


class ChoicePanel(Panel):
    """The four questions, each with yes and no, and the advice below them.

    Args:
        model: what the panel shows; a new one when None.
    """

    def __init__(self, model: ChoiceModel | None = None) -> None:
        self.model = ChoiceModel() if model is None else model
        self.questions = [buttons(f"{place + 1}. {question.text}", ANSWERS) for place, question in enumerate(QUESTIONS)]
        for question in self.questions:
            question.style.description_width = "100%"
        self.again = widgets.Button(description="Start again", tooltip="Take every answer back")
        self.shown = LiveHTML(lambda: (self.model.markup(), self.model.status))
        for place, question in enumerate(self.questions):
            question.observe(lambda change, place=place: self._answered(place, change["new"]), "value")
        self.again.on_click(lambda _: self._start_again())
        super().__init__([*self.questions, self.shown, self.again])
        self._redraw()

    def _answered(self, place: int, yes: bool | None) -> None:
        self.model.answer(place, yes)
        self._redraw()

    def _start_again(self) -> None:
        for question in self.questions:
            question.value = None
        self.model.start_again()
        self._redraw()

    def _redraw(self) -> None:
        for place, question in enumerate(self.questions):
            question.disabled = not self.model.is_open(place)
        self.shown.redraw()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        view = self.model.view()
        return bundle(self, f"{self.model.status}\n{plain(view)}", self.model.markup() + view.html, **kwargs)
