"""The four questions of 8.1, answered one after the other, without a widget."""

from __future__ import annotations

from evelab.chapter.choice import QUESTIONS, Advice, advise
from evelab.lab import html, views


class ChoiceModel:
    """The answers so far, and where the fact goes.

    Attributes:
        answers: one a question: True, False, or None while it is open.
    """

    def __init__(self) -> None:
        self.answers: list[bool | None] = [None] * len(QUESTIONS)

    def answer(self, place: int, yes: bool | None) -> None:
        """Answer a question, from 0; None takes the answer back."""
        self.answers[place] = yes

    def start_again(self) -> None:
        """Take every answer back."""
        self.answers = [None] * len(QUESTIONS)

    @property
    def advice(self) -> Advice:
        """Where the fact goes, as far as the answers tell."""
        return advise(self.answers)

    def is_open(self, place: int) -> bool:
        """Whether a question, from 0, still matters: the ones before it have not settled the choice."""
        advice = self.advice
        return place <= advice.asked if advice.kind is None else place < advice.asked

    @property
    def status(self) -> str:
        """The advice in one line."""
        advice = self.advice
        return advice.reason if advice.kind is None else f"Use: {advice.kind}. {advice.reason}"

    def view(self) -> views.View:
        """The questions with their answers."""
        words = {True: "yes", False: "no", None: ""}
        later = "" if self.advice.kind is None else "not needed"
        return views.records_view(
            [
                {"question": question.text, "answer": words[given] if self.is_open(place) else later}
                for place, (question, given) in enumerate(zip(QUESTIONS, self.answers, strict=True))
            ]
        )

    def markup(self) -> str:
        """The advice in HTML."""
        return html.paragraph(self.status)
