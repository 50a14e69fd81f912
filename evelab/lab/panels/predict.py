"""A question before the run, and its answer after it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from evelab.lab import html
from evelab.lab.panels.live import LiveHTML, Panel, bundle, buttons

if TYPE_CHECKING:
    from collections.abc import Sequence


_ASKED: dict[str, Prediction] = {}
"""Question -> its prediction, in the order of asking. It lives as long as the kernel."""


class Prediction(Panel):
    """What will happen? The reader chooses; ``reveal`` tells, once it has happened.

    Asked again, a question begins anew.

    Args:
        question: one sentence.
        options: two to four answers.
    """

    def __init__(self, question: str, options: Sequence[str]) -> None:
        self.question = question
        self.right: bool | None = None
        self._told_once = False
        _ASKED.pop(question, None)
        _ASKED[question] = self
        self._answers = tuple(options)
        self._choice = buttons("Predict", options)
        super().__init__([widgets.HTML(html.paragraph(question)), self._choice])

    @property
    def chosen(self) -> str | None:
        """The reader's answer, or None."""
        value = self._choice.value
        return None if value is None else str(value)

    def choose(self, option: str) -> None:
        """Choose as the reader would."""
        self._choice.value = option

    def reveal(self, happened: str, why: str) -> LiveHTML:
        """Say whether the prediction was right, and why. What it says follows a choice that is made later;
        only one that was made before counts for the score.

        Args:
            happened: the option that the run has shown.
            why: one or two sentences.

        Raises:
            ValueError: ``happened`` is not one of the options.
        """
        if happened not in self._answers:
            raise ValueError(f"{happened!r} is not one of the options of the question.")
        if not self._told_once:
            self._told_once = True
            self.right = None if self.chosen is None else self.chosen == happened
        told = LiveHTML(lambda: self._told(happened, why))
        self._choice.observe(lambda _: told.redraw(), "value")
        return told

    def _told(self, happened: str, why: str) -> tuple[str, str]:
        if self.chosen is None:
            verdict = "No prediction was made."
        elif self.chosen == happened:
            verdict = "Right."
        else:
            verdict = f"You chose: {self.chosen}."
        lines = [verdict, f"What happened: {happened}.", why]
        return "".join(html.paragraph(line) for line in lines), "\n".join(lines)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        options = "\n".join(f"( ) {option}" for option in self._answers)
        markup = html.paragraph(self.question) + "".join(html.paragraph(f"( ) {o}") for o in self._answers)
        return bundle(self, f"{self.question}\n{options}", markup, **kwargs)


def score() -> LiveHTML:
    """How many predictions of this notebook were right, as far as their answers are known."""
    return LiveHTML(_scored)


def _scored() -> tuple[str, str]:
    known = [asked for asked in _ASKED.values() if asked.right is not None]
    right = sum(asked.right is True for asked in known)
    lines = [f"You predicted {len(known)} of {len(_ASKED)}; {right} right."]
    if not known:
        lines = ["No prediction was made. Choose an answer before you run the cell below a question."]
    lines += [f"Have another look at: {asked.question}" for asked in known if not asked.right]
    return "".join(html.paragraph(line) for line in lines), "\n".join(lines)
