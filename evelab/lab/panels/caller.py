"""The caller panel: pick who speaks and who shares; see scope, key, document and recall change at once."""

from __future__ import annotations

from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from evelab.chapter.policies import FIXED, POLICIES, Policy
from evelab.lab import html
from evelab.lab.caller_model import VIEWS, CallerModel
from evelab.lab.frames import plain
from evelab.lab.panels.live import LiveHTML, Panel, bundle, buttons

if TYPE_CHECKING:
    from evelab.provider import Handler

LABEL = {"description_width": "90px"}
ENTER_SECONDS = 2.0
"""How long after Enter a text may arrive and still count as entered."""
OWN = "A caller of your own"
OWN_TYPES = ("user", "service", "anonymous", "runtime", "local-dev")


def _show(box: Any, *, is_shown: bool) -> None:
    box.layout.display = None if is_shown else "none"


class CallerPanel(Panel):
    """Every caller, one memory slot, one store.

    Args:
        scope: a resolver of the reader's own; it becomes the first policy, "your scope".
        model: what the panel shows; the chapter's callers and policies when None.
        **options: passed to ``CallerModel`` when no model is given.
    """

    def __init__(self, scope: str | Handler | None = None, *, model: CallerModel | None = None, **options: Any) -> None:
        if model is None:
            if scope is not None:
                mine = Policy("your scope", scope, "The resolver of the cell above.")
                options["policies"] = [mine, *options.get("policies", POLICIES)]
            model = CallerModel(**options)
        self.model = model
        self._quiet = False
        self._enter_pressed = -ENTER_SECONDS
        self._make_controls()
        self.cards = LiveHTML(lambda: (self.model.cards(), ""))
        self.status = LiveHTML(lambda: (self.model.status(), ""))
        self.table = LiveHTML(lambda: (self._table_html(), ""))
        row = widgets.Layout(flex_flow="row wrap")
        super().__init__(
            [
                self.caller,
                self.policy,
                widgets.Box([self.namespace, self.fixed], layout=row),
                self.cards,
                widgets.Box([self.text, self.send, self.fresh], layout=row),
                self.status,
                self.views,
                self.table,
                self.own,
            ]
        )

    def _make_controls(self) -> None:
        settings = self.model.settings
        wide = widgets.Layout(width="auto", min_width="260px")
        self.caller = buttons("Caller")
        self._list_callers()
        self.policy = buttons("Scope", [policy.name for policy in self.model.policies], settings.policy)
        self.fixed = widgets.Text(description="Fixed string", value=settings.fixed, style=LABEL, layout=wide)
        self.namespace = widgets.Text(description="Namespace", value=settings.namespace, style=LABEL, layout=wide)
        self.text = widgets.Text(
            description="Say",
            placeholder="remember: I only watch payment-api",
            continuous_update=False,
            style=LABEL,
            layout=widgets.Layout(width="auto", flex="1 1 300px"),
        )
        self.send = widgets.Button(description="Send", tooltip="Say it as this caller")
        self.fresh = widgets.Button(description="New session", tooltip="End this caller's session; memory stays")
        self.views = buttons("Show", VIEWS, VIEWS[0])
        self.own = self._make_own()
        for control in (self.caller, self.policy, self.fixed, self.namespace):
            control.observe(self._settings_changed, "value")
        self.views.observe(lambda _: self.table.redraw(), "value")
        self.send.on_click(lambda _: self.say())
        self.text.on_msg(lambda _widget, content, _buffers: self._entered(content))
        self.text.observe(lambda _: self._text_arrived(), "value")
        self.fresh.on_click(lambda _: self.new_session())
        self._show_fixed()

    def _make_own(self) -> Any:
        def field(description: str, **options: Any) -> Any:
            return widgets.Text(description=description, style=LABEL, **options)

        self.own_label = field("Label", placeholder="initech u_1")
        self.own_type = buttons("Type", OWN_TYPES, OWN_TYPES[0])
        self.own_authenticator = field("Authenticator", value="app")
        self.own_issuer = field("Issuer", value="opsbot")
        self.own_id = field("Principal id")
        self.own_tenant = field("Tenant")
        self.add = widgets.Button(description="Add caller", tooltip="Add this caller and speak as it")
        self.add.on_click(lambda _: self.add_caller())
        fields = [self.own_label, self.own_authenticator, self.own_issuer, self.own_id, self.own_tenant]
        row = widgets.Layout(flex_flow="row wrap")
        form = widgets.VBox([self.own_type, widgets.Box(fields, layout=row), self.add])
        # Not an accordion: Tab does not lead to its heading.
        self.own_opener = widgets.ToggleButton(
            description=OWN, tooltip="Describe somebody who is not listed", layout=widgets.Layout(width="auto")
        )
        self.own_opener.observe(lambda _: _show(form, is_shown=self.own_opener.value), "value")
        _show(form, is_shown=False)
        return widgets.VBox([self.own_opener, form])

    def say(self) -> None:
        """Send what stands in the text field."""
        if self.model.say(self.text.value) is not None:
            self.text.value = ""
        self.redraw()

    def new_session(self) -> None:
        """End the current caller's session."""
        self.model.new_session()
        self.redraw()

    def add_caller(self) -> None:
        """Add the caller that the fields describe, and make it the current one."""
        caller = self.model.add_caller(
            self.own_label.value,
            self.own_type.value,
            self.own_authenticator.value,
            self.own_id.value,
            issuer=self.own_issuer.value,
            tenant=self.own_tenant.value,
        )
        if caller is None:
            self.redraw()
            return
        self.model.apply(replace(self.model.settings, caller=caller.label))
        self._quiet = True
        self._list_callers()
        self._quiet = False
        self.own_label.value = ""
        self.redraw()

    def redraw(self) -> None:
        """Show what the model holds now."""
        for part in (self.cards, self.status, self.table):
            part.redraw()

    def _list_callers(self) -> None:
        self.caller.options = [(caller.title, caller.label) for caller in self.model.callers]
        self.caller.value = self.model.settings.caller

    def _settings_changed(self, _change: object) -> None:
        if self._quiet:
            return
        self.model.apply(
            replace(
                self.model.settings,
                caller=self.caller.value,
                policy=self.policy.value,
                fixed=self.fixed.value,
                namespace=self.namespace.value,
            )
        )
        self._show_fixed()
        self.redraw()

    def _show_fixed(self) -> None:
        self.fixed.disabled = self.policy.value != FIXED.name

    def _entered(self, content: object) -> None:
        """Enter was pressed. The browser tells so before it sends the text: what arrives next is sent."""
        if isinstance(content, dict) and content.get("event") == "submit":
            self._enter_pressed = monotonic()

    def _text_arrived(self) -> None:
        if monotonic() - self._enter_pressed < ENTER_SECONDS and self.text.value:
            self._enter_pressed = -ENTER_SECONDS
            self.say()

    def _table_html(self) -> str:
        return self.model.view(self.views.value).html

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        shown = [(name, self.model.view(name)) for name in VIEWS]
        text = "\n\n".join(f"{name}\n{plain(view)}" for name, view in shown)
        markup = "".join(html.paragraph(name) + view.html for name, view in shown)
        return bundle(self, text, markup, **kwargs)
