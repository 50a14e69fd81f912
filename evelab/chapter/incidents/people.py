"""Incidents with people: a missing id, a reused address, a changed name, a scope that the model chooses."""

from __future__ import annotations

from typing import Any

from evelab.auth import Principal
from evelab.chapter.callers import ANONYMOUS, NOBODY, user
from evelab.chapter.incidents.incident import Incident, Outcome
from evelab.chapter.incidents.listed import Listed, recalled, send
from evelab.model import call
from evelab.tools import define_tool

LINE = "my badge is lost"


def or_default(ctx: Any) -> str | None:
    """Faulty."""
    caller = ctx.session.auth.current
    return (caller and caller.attributes.get("userId")) or "default-user"


def or_none(ctx: Any) -> str | None:
    """Right."""
    caller = ctx.session.auth.current
    return (caller and caller.attributes.get("userId")) or None


def _without_an_id(scope: Any) -> Outcome:
    notes = Listed()
    send(notes.provider(), ANONYMOUS, LINE, scope=scope)
    seen = recalled(send(notes.provider(), NOBODY, scope=scope))
    return Outcome(f"an anonymous caller said a line; another one recalls: {seen}", LINE in seen)


def by_mail(ctx: Any) -> str:
    """Faulty."""
    return str(ctx.session.auth.current.attributes["mail"])


def by_id(ctx: Any) -> str:
    """Right."""
    return str(ctx.session.auth.current.principal_id)


def _person(number: int, **claims: str) -> Principal:
    return Principal("user", "app", f"u_{number}", "opsbot", claims)


def _reused_address(scope: Any) -> Outcome:
    notes = Listed()
    send(notes.provider(), _person(1, mail="li@acme.example"), LINE, scope=scope)
    seen = recalled(send(notes.provider(), _person(2, mail="li@acme.example"), scope=scope))
    return Outcome(f"u_1 has left; u_2 got the address and recalls: {seen}", LINE in seen)


def by_name(ctx: Any) -> str:
    """Faulty."""
    return str(ctx.session.auth.current.attributes["name"])


def by_principal_id(ctx: Any) -> str:
    """Right."""
    return str(ctx.session.auth.current.principal_id)


def _renamed(scope: Any) -> Outcome:
    notes = Listed()
    send(notes.provider(), _person(1, name="Li"), LINE, scope=scope)
    seen = recalled(send(notes.provider(), _person(1, name="Li-Wang"), scope=scope))
    return Outcome(f"u_1 said a line and then changed her name; she recalls: {seen}", LINE not in seen)


def from_the_model(notes: Listed, ctx: Any, tenant: str) -> str:
    """Faulty."""
    return "; ".join(text for partition, text in notes.notes if partition == tenant)


def from_the_turn(notes: Listed, ctx: Any, tenant: str) -> str:
    """Right."""
    return "; ".join(text for partition, text in notes.notes if partition == ctx.memory.scope.value)


FIELD = {"type": "object", "properties": {"tenant": {"type": "string"}}, "required": ["tenant"]}


def _chosen_by_the_model(lookup: Any) -> Outcome:
    def tools(notes: Listed, ctx: Any) -> Any:
        search = define_tool(description="?", input_schema=FIELD, execute=lambda tenant: lookup(notes, ctx, tenant))
        return {"search": search}

    notes = Listed(partition=lambda ctx: ctx.memory.scope.value, tools=tools)

    def scope(ctx: Any) -> str:
        return str(ctx.session.auth.current.attributes["tenantId"])

    send(notes.provider(), user("u_1", "globex"), LINE, scope=scope)
    asks = call("notes__search", tenant="globex")
    turn = send(notes.provider(), user("u_2", "acme"), "search the notes of globex", asks, "done", scope=scope)
    seen = turn.results[-1].value or "nothing"
    return Outcome(f"a user of acme has the model search globex; it finds: {seen}", LINE in seen)


INCIDENTS = (
    Incident("default", "A missing id, and a default user", "leak", or_default, or_none, _without_an_id),
    Incident("mail", "An address that a new person gets", "leak", by_mail, by_id, _reused_address),
    Incident("renamed", "A scope from a profile that changes", "loss", by_name, by_principal_id, _renamed),
    Incident("model", "A scope that the model chooses", "leak", from_the_model, from_the_turn, _chosen_by_the_model),
)
