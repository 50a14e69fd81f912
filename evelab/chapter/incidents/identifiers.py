"""Incidents with identifiers: compared by prefix, joined with a separator, matched with a wildcard, folded in case."""

from __future__ import annotations

import sqlite3
from typing import Any

from evelab.chapter.callers import user
from evelab.chapter.incidents.incident import Incident, Outcome
from evelab.chapter.incidents.listed import Listed, recalled, send
from evelab.chapter.policies import tenant_principal

LINE = "the launch is on Monday"


def starts_with(mine: str, other: str) -> bool:
    """Faulty."""
    return other.startswith(mine)


def is_equal(mine: str, other: str) -> bool:
    """Right."""
    return other == mine


def _two_applications(same: Any) -> Outcome:
    notes = Listed(partition=lambda ctx: ctx.memory.scope.namespace, same=same)
    send(notes.provider(), user("u_1"), LINE, namespace="foobar")
    seen = recalled(send(notes.provider(), user("u_2"), namespace="foo"))
    return Outcome(f'"foobar" saved a line; "foo" recalls: {seen}', LINE in seen)


def joined(ctx: Any) -> str:
    """Faulty."""
    return ":".join(ctx.memory.scope.value)


def by_key(ctx: Any) -> str:
    """Right."""
    return str(ctx.memory.scope.key)


def _two_companies(partition: Any) -> Outcome:
    notes = Listed(partition=partition)
    send(notes.provider(), user("c", "a:b"), LINE, scope=tenant_principal)
    seen = recalled(send(notes.provider(), user("b:c", "a"), scope=tenant_principal))
    return Outcome(f'user c of company "a:b" saved a line; user b:c of company "a" recalls: {seen}', LINE in seen)


def with_like() -> str:
    """Faulty."""
    return "SELECT text FROM notes WHERE tenant LIKE ?"


def with_equals() -> str:
    """Right."""
    return "SELECT text FROM notes WHERE tenant = ?"


def _wildcard(query: Any) -> Outcome:
    database = sqlite3.connect(":memory:")
    try:
        database.execute("CREATE TABLE notes (tenant TEXT, text TEXT)")
        database.execute("INSERT INTO notes VALUES ('team-a', ?)", (LINE,))
        rows = [text for (text,) in database.execute(query(), ("team_a",))]
    finally:
        database.close()
    seen = "; ".join(rows) or "nothing"
    return Outcome(f'"team-a" saved a line; "team_a" finds: {seen}', LINE in seen)


def folded(ctx: Any) -> str:
    """Faulty."""
    return str(ctx.session.auth.current.principal_id).casefold()


def as_it_is(ctx: Any) -> str:
    """Right."""
    return str(ctx.session.auth.current.principal_id)


def _look_alikes(scope: Any) -> Outcome:
    notes = Listed()
    send(notes.provider(), user("STRASSE"), LINE, scope=scope)
    seen = {name: recalled(send(notes.provider(), user(name), scope=scope)) for name in ("straße", "SТRASSE")}
    told = ", ".join(f"{name!r}: {text}" for name, text in seen.items())
    return Outcome(f"'STRASSE' saved a line. Recalled by {told}", LINE in told)


INCIDENTS = (
    Incident("prefix", "Namespaces compared by their beginning", "leak", starts_with, is_equal, _two_applications),
    Incident("separator", "A separator inside an identifier", "leak", joined, by_key, _two_companies),
    Incident("wildcard", "A wildcard in a tenant's name", "leak", with_like, with_equals, _wildcard),
    Incident("lookalike", "Names that look alike", "leak", folded, as_it_is, _look_alikes),
)
