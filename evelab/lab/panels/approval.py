"""Approve or refuse a deletion that waits."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from evelab.lab.approval_model import ApprovalModel
from evelab.lab.frames import plain
from evelab.lab.panels.live import LiveHTML, Panel, bundle


class ApprovalPanel(Panel):
    """A held turn, and two buttons that let it go on.

    Args:
        model: what the panel shows; a new one when None.
    """

    def __init__(self, model: ApprovalModel | None = None) -> None:
        self.model = ApprovalModel() if model is None else model
        self.approve = widgets.Button(description="Approve", tooltip="Let the deletion run")
        self.refuse = widgets.Button(description="Refuse", tooltip="Keep the note")
        self.again = widgets.Button(description="Ask again", tooltip="Put the notes back and let the model ask anew")
        self.shown = LiveHTML(lambda: (self.model.markup(), self._text()))
        self.approve.on_click(lambda _: self._decide(approve=True))
        self.refuse.on_click(lambda _: self._decide(approve=False))
        self.again.on_click(lambda _: self._restart())
        super().__init__([self.shown, widgets.HBox([self.approve, self.refuse, self.again])])

    def _decide(self, *, approve: bool) -> None:
        self.model.decide(approve=approve)
        self._redraw()

    def _restart(self) -> None:
        self.model.again()
        self._redraw()

    def _redraw(self) -> None:
        self.approve.disabled = self.refuse.disabled = self.model.decision is not None
        self.shown.redraw()

    def _text(self) -> str:
        return f"{self.model.status}\n{plain(self.model.view())}"

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        return bundle(self, self._text(), self.model.markup(), **kwargs)
