"""A deletion that waits for a person: what the approval panel knows and does, without a widget."""

from __future__ import annotations

from evelab.chapter.trust_claims import asked_to_forget
from evelab.lab import html, views

NOTES = {"n1": "值班表每周三更新", "n2": "payment-api 的负责人是李四"}


class ApprovalModel:
    """Two notes, and a model that asks to delete the first one.

    Attributes:
        notes: the provider's notes, by id.
        decision: ``"approved"``, ``"refused"`` or None while the turn is held.
        reply: the model's reply once somebody has decided, or None.
    """

    def __init__(self) -> None:
        self.again()

    def again(self) -> None:
        """Put the notes back and let the model ask anew."""
        self.notes = dict(NOTES)
        self.decision: str | None = None
        self.reply: str | None = None
        self._session = asked_to_forget(self.notes)

    def decide(self, *, approve: bool) -> None:
        """Approve or refuse the call that waits. Once decided, nothing more happens."""
        if self.decision is not None:
            return
        turn = self._session.approve() if approve else self._session.refuse(reason="the person said no")
        self.decision = "approved" if approve else "refused"
        self.reply = turn.reply

    @property
    def status(self) -> str:
        """What happens now, in one sentence."""
        if self.decision is None:
            waiting = self._session.turns[-1].held[0]
            return f"The turn is held: {waiting.name} with {dict(waiting.input)} waits for a person."
        return f"The call was {self.decision}. The model replied: {self.reply}."

    def view(self) -> views.View:
        """The notes that the provider holds now."""
        return views.records_view([{"id": name, "note": text} for name, text in self.notes.items()])

    def markup(self) -> str:
        """Status and notes in HTML."""
        return html.paragraph(self.status) + self.view().html
