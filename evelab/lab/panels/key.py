"""Type a namespace and a scope, and see the key that they make."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from evelab.lab.frames import plain
from evelab.lab.key_model import FORMS, STRING, TUPLE, KeyModel
from evelab.lab.panels.live import LiveHTML, Panel, bundle, buttons

LABEL = {"description_width": "90px"}


class KeyPanel(Panel):
    """Namespace and scope as text, and the key step by step.

    Args:
        model: what the panel shows; the chapter's example when None.
    """

    def __init__(self, model: KeyModel | None = None) -> None:
        self.model = KeyModel() if model is None else model
        scope = self.model.steps.scope
        wide = widgets.Layout(width="auto", min_width="260px", flex="1 1 260px")
        self.namespace = widgets.Text(
            description="Namespace", value=self.model.steps.namespace, style=LABEL, layout=wide
        )
        self.form = buttons("Scope is", FORMS, STRING if isinstance(scope, str) else TUPLE)
        text = scope if isinstance(scope, str) else ",".join(scope)
        self.scope = widgets.Text(description="Scope", value=text, style=LABEL, layout=wide)
        self.shown = LiveHTML(lambda: (self.model.markup(), self._text()))
        for control in (self.namespace, self.form, self.scope):
            control.observe(lambda _: self._changed(), "value")
        row = widgets.Box([self.namespace, self.scope], layout=widgets.Layout(flex_flow="row wrap"))
        super().__init__([self.form, row, self.shown])

    def _changed(self) -> None:
        self.model.change(self.namespace.value, self.form.value, self.scope.value)
        self.shown.redraw()

    def _text(self) -> str:
        wrong = [] if self.model.error is None else [self.model.error]
        return "\n".join([self.model.status, *wrong, plain(self.model.view())])

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        return bundle(self, self._text(), self.model.markup(), **kwargs)
