"""What the caller panel knows and does, without a widget: the panel only shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evelab.auth import Principal
from evelab.backends import InMemory, in_memory
from evelab.chapter.callers import CALLERS, Caller
from evelab.chapter.policies import FIXED, POLICIES, Policy
from evelab.chapter.workbench import NAMESPACE, SLOT, Look, Workbench
from evelab.errors import SessionFailedError
from evelab.lab import html, views
from evelab.text import is_blank

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evelab.lab.views import View
    from evelab.session import Turn

VIEWS = ("All callers", "Storage", "What the model sees", "Who recalls whom")


@dataclass(frozen=True, slots=True)
class Settings:
    """What the panel's controls say.

    Attributes:
        caller: the label of the caller who is looked at and speaks.
        policy: the name of the scope policy.
        fixed: the string that the policy "fixed string" uses.
        namespace: the namespace.
    """

    caller: str
    policy: str
    fixed: str
    namespace: str


class CallerModel:
    """Callers, policies and one store; the last settings that worked, and what they show.

    A setting that cannot be (a blank namespace, a scope that is too long) leaves the last good tables in
    place and its error's sentence in ``error``.

    Args:
        callers: the callers to choose from.
        policies: the scope policies to choose from.
        namespace: the first namespace.
        backend: the store; an empty one when None.
    """

    def __init__(
        self,
        callers: Iterable[Caller] = CALLERS,
        policies: Iterable[Policy] = POLICIES,
        *,
        namespace: str = NAMESPACE,
        backend: InMemory | None = None,
    ) -> None:
        self.callers = list(callers)
        self.policies = list(policies)
        self.backend = in_memory() if backend is None else backend
        self.error: str | None = None
        self.reply: str | None = None
        first = self.policies[0]
        fixed = first.scope if isinstance(first.scope, str) else "acme"
        self.settings = Settings(self.callers[0].label, first.name, fixed, namespace)
        self.bench = self._bench(self.settings)
        self.looks = self.bench.looks()

    @property
    def caller(self) -> Caller:
        """The current caller."""
        return self._caller(self.settings.caller)

    def apply(self, settings: Settings) -> bool:
        """Take new settings, if they work for every caller.

        A changed policy or namespace is a new deployment: every running session ends, the store stays.

        Returns:
            Whether they were taken. If not, ``error`` says why and nothing has changed.
        """
        old = self.settings
        same = (settings.policy, settings.fixed, settings.namespace) == (old.policy, old.fixed, old.namespace)
        bench = self.bench if same else self._bench(settings)
        looks = bench.looks()
        if failed := next((look for look in looks if look.error is not None), None):
            self.error = failed.error
            return False
        if settings.caller != old.caller or not same:
            self.reply = None
        self.settings, self.bench, self.looks, self.error = settings, bench, looks, None
        return True

    def say(self, text: str) -> Turn | None:
        """Say something as the current caller. Blank text, or a session that fails, leaves a sentence."""
        if is_blank(text):
            self.error = "There is nothing to say: the text is blank."
            return None
        try:
            turn = self.bench.say(self.caller, text)
        except SessionFailedError as failed:
            self.error = str(failed.__cause__ or failed)
            return None
        self.error, self.reply = None, turn.reply
        self.looks = self.bench.looks()
        return turn

    def new_session(self) -> None:
        """End the current caller's session; what is stored stays."""
        self.bench.new_session(self.caller)
        self.error = self.reply = None

    def add_caller(
        self,
        label: str,
        principal_type: str,
        authenticator: str,
        principal_id: str,
        *,
        issuer: str | None = None,
        tenant: str | None = None,
    ) -> Caller | None:
        """Add a caller of one's own, or leave a sentence in ``error``.

        Args:
            label: how the tables call it; it must be new.
            principal_type: ``"user"``, ``"service"``, ...
            authenticator: the authentication system.
            principal_id: the id there.
            issuer: who issued it; None or blank for nobody.
            tenant: the claim ``tenantId``; None or blank for none.
        """
        given = {"label": label, "type": principal_type, "authenticator": authenticator, "principal id": principal_id}
        if blank := next((name for name, value in given.items() if is_blank(value)), None):
            self.error = f"The new caller's {blank} is blank."
            return None
        if any(caller.label == label for caller in self.callers):
            self.error = f'There is already a caller "{label}": choose another label.'
            return None
        attributes = {} if tenant is None or is_blank(tenant) else {"tenantId": tenant}
        issued = None if issuer is None or is_blank(issuer) else issuer
        caller = Caller(label, Principal(principal_type, authenticator, principal_id, issued, attributes))
        look = self.bench.look(caller)
        if look.error is not None:
            self.error = look.error
            return None
        self.callers.append(caller)
        self.bench.callers.append(caller)
        self.looks = [*self.looks, look]
        self.error = None
        return caller

    def view(self, name: str) -> View:
        """One of the four tables, by its name in ``VIEWS``."""
        if name == "All callers":
            return views.callers_view(self.looks, current=self.caller)
        if name == "Storage":
            return views.documents_view(self.bench.documents())
        if name == "What the model sees":
            return views.context_view(self.bench.turns(self.caller), SLOT)
        return views.sharing_view(self.bench.sharing(), self.looks)

    def cards(self) -> str:
        """The current caller's way from identity to recall, in HTML."""
        look = self._look()
        principal = look.caller.principal
        who = "nobody" if principal is None else f"{principal.principal_type} · {principal.authenticator}"
        scope = html.quiet("null: off") if look.key is None else html.code(views.scope_text(look.scope))
        saved = next((stored for stored in self.bench.documents() if stored.key == look.key), None)
        held = 0 if saved is None or saved.document is None else len(saved.document.entries)
        document = html.quiet("none") if saved is None else html.paragraph(f"{held} saved")
        off = f"off ({look.off})" if look.off else "-"
        recall = html.quiet("null") if look.recall is None else html.block(views.entries(look.recall))
        return html.cards(
            [
                ("caller", html.paragraph(look.caller.title) + html.quiet(who)),
                ("scope", scope),
                ("key", html.quiet(off) if look.key is None else html.stacked_key(look.key)),
                ("document", document),
                ("recall", recall),
            ]
        )

    def status(self) -> str:
        """The last reply and the last error, in HTML."""
        said = "" if self.reply is None else html.paragraph(f"Reply: {self.reply}")
        return said if self.error is None else said + html.error(self.error)

    def _look(self) -> Look:
        return next(look for look in self.looks if look.caller.label == self.settings.caller)

    def _caller(self, label: str) -> Caller:
        return next(caller for caller in self.callers if caller.label == label)

    def _bench(self, settings: Settings) -> Workbench:
        policy = next(policy for policy in self.policies if policy.name == settings.policy)
        scope = settings.fixed if policy.name == FIXED.name else policy.scope
        return Workbench(scope, namespace=settings.namespace, callers=self.callers, backend=self.backend)
