"""A namespace and a scope that the reader types, and the key that they make; without a widget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evelab.chapter.key_steps import KeySteps, changed_letters, key_steps, readable
from evelab.errors import ScopeError
from evelab.keys import SCOPE_PREFIX
from evelab.lab import html, views

if TYPE_CHECKING:
    from evelab.scope import Scope

STRING, TUPLE = "one string", "a tuple"
FORMS = (STRING, TUPLE)


class KeyModel:
    """The last good key, and what changed since the one before it.

    Attributes:
        steps: how the present key came about.
        before: the key before it, or None.
        error: what is wrong with the last input, or None.
    """

    def __init__(self, namespace: str = "acme-support-v1", scope: Scope = ("acme", "u_42")) -> None:
        self.steps: KeySteps = key_steps(namespace, scope)
        self.before: str | None = None
        self.error: str | None = None

    def change(self, namespace: str, form: str, text: str) -> bool:
        """Take an input. One that breaks a rule leaves the last key in place.

        Args:
            namespace: the namespace, as typed.
            form: ``"one string"`` or ``"a tuple"``.
            text: the scope; of a tuple, one component a comma, white space and all.
        """
        try:
            steps = key_steps(namespace, text if form == STRING else tuple(text.split(",")))
        except ScopeError as error:
            self.error = str(error)
            return False
        self.error = None
        if steps != self.steps:
            self.before, self.steps = self.steps.key, steps
        return True

    @property
    def status(self) -> str:
        """What changed, in one sentence."""
        if self.before is None:
            return "Change one letter of the namespace or of the scope."
        if self.before == self.steps.key:
            return "The key is the same."
        changed = changed_letters(self.before, self.steps.key)
        return f"{changed} of the {len(self.steps.key) - len(SCOPE_PREFIX)} characters after the prefix have changed."

    def view(self) -> views.View:
        """The steps, each with its bytes."""
        steps = self.steps
        return views.records_view(
            [
                {"step": "bytes of the namespace", "value": readable(steps.namespace_bytes)},
                {"step": "bytes of the scope", "value": readable(steps.scope_bytes)},
                {"step": "key of the namespace", "value": steps.namespace_key},
                {"step": "key of the scope", "value": steps.scope_key},
                {"step": "memory.scope.key", "value": steps.key},
            ]
        )

    def markup(self) -> str:
        """Chip and key, what changed, the error, and the steps, in HTML."""
        wrong = "" if self.error is None else html.error(self.error)
        return html.whole_key(self.steps.key) + html.paragraph(self.status) + wrong + self.view().html
