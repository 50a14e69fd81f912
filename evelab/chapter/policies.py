"""Scope policies of the chapter: the right ones, and the ones that leak."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evelab.scope import Scope, ScopeContext, by_principal

if TYPE_CHECKING:
    from evelab.provider import Handler


@dataclass(frozen=True, slots=True)
class Policy:
    """A way to choose who shares a memory.

    Attributes:
        name: short, for a menu.
        scope: a string, None, or a resolver, as ``define_memory`` takes it.
        about: what it does, in one sentence.
    """

    name: str
    scope: str | Handler | None
    about: str


def tenant_principal(ctx: ScopeContext) -> Scope | None:
    """``(tenant, principal)`` for a user with a tenant, None for everybody else."""
    caller = ctx.session.auth.current
    tenant = None if caller is None else caller.attributes.get("tenantId")
    if caller is None or caller.principal_type != "user" or not isinstance(tenant, str):
        return None
    return (tenant, caller.principal_id or "")


def tenant_only(ctx: ScopeContext) -> Scope | None:
    """``(tenant,)``: one memory for a whole tenant."""
    caller = ctx.session.auth.current
    tenant = None if caller is None else caller.attributes.get("tenantId")
    return (tenant,) if isinstance(tenant, str) else None


def principal_id_only(ctx: ScopeContext) -> Scope | None:
    """The bare principal id: joins everyone who has the same id in any system."""
    caller = ctx.session.auth.current
    return None if caller is None else caller.principal_id


def tenant_or_public(ctx: ScopeContext) -> Scope:
    """The tenant, or "public": everybody without a tenant shares one memory."""
    caller = ctx.session.auth.current
    tenant = None if caller is None else caller.attributes.get("tenantId")
    return tenant if isinstance(tenant, str) else "public"


FIXED = Policy("fixed string", "acme", "Everyone shares one memory.")
TENANT_PRINCIPAL = Policy("[tenant, principal]", tenant_principal, "One memory per user of a tenant.")
TENANT = Policy("[tenant]", tenant_only, "One memory per tenant.")
BY_PRINCIPAL = Policy("by_principal", by_principal, "One memory per principal of an authentication system.")
PRINCIPAL_ID = Policy("principal id only", principal_id_only, "Joins equal ids of different systems. It leaks.")
PUBLIC = Policy('tenant or "public"', tenant_or_public, "Everybody without a tenant shares one memory. It leaks.")
OFF = Policy("None", None, "The slot is off for everyone.")

POLICIES = (TENANT_PRINCIPAL, FIXED, TENANT, BY_PRINCIPAL, PRINCIPAL_ID, PUBLIC, OFF)


def policy_of(name: str) -> Policy:
    """The policy with this name.

    Raises:
        KeyError: there is none.
    """
    return {policy.name: policy for policy in POLICIES}[name]
