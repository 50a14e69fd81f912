"""An exercise: a check of the reader's answer, and a button that checks it again."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from evelab.chapter.exercises import EXERCISES
from evelab.chapter.exercises.requirement import quoted
from evelab.lab import html, views
from evelab.lab.frames import plain
from evelab.lab.panels.live import LiveHTML, Panel, bundle


class ExercisePanel(Panel):
    """What an answer does and what is still missing. The answer is checked at once, and at each press.

    Args:
        id: the exercise, such as ``"12.1"``.
        answer: what the reader has made: a function, or for 12.5 a provider.

    Raises:
        KeyError: there is no such exercise.
    """

    def __init__(self, id: str, answer: object) -> None:  # noqa: A002
        self.exercise = EXERCISES[id]
        self.answer = answer
        self.report = self.exercise.check(answer)
        self.button = widgets.Button(description="Check", tooltip="Check the answer again")
        self.button.on_click(lambda _: self.check())
        self.shown = LiveHTML(self._drawn)
        super().__init__([self.shown, self.button])

    def check(self) -> None:
        """Check the answer again."""
        self.report = self.exercise.check(self.answer)
        self.shown.redraw()

    @property
    def _lines(self) -> list[str]:
        """What stands above the table."""
        first = f"{self.exercise.id} {self.exercise.title}. {self.report.summary}"
        printed = self.report.printed.splitlines()
        if not printed:
            return [first]
        return [first, f"Your code printed {len(printed):,} lines. The first one: {quoted(printed[0])}"]

    def _drawn(self) -> tuple[str, str]:
        view = views.report_view(self.report)
        markup = "".join(html.paragraph(line) for line in self._lines) + view.html
        return markup, "\n".join([*self._lines, plain(view)])

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        markup, text = self._drawn()
        return bundle(self, text, markup, **kwargs)
