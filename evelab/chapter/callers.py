"""The callers of the experiments: who they are, as authentication describes them."""

from __future__ import annotations

from dataclasses import dataclass

from evelab.auth import Principal


@dataclass(frozen=True, slots=True)
class Caller:
    """Someone who talks to the agent.

    Attributes:
        label: short and plain, for tables and figures.
        principal: what ``auth.current`` is; None for nobody.
        name: the person's name, where the chapter gives one.
    """

    label: str
    principal: Principal | None
    name: str | None = None

    @property
    def title(self) -> str:
        """Label and name, for people."""
        return self.label if self.name is None else f"{self.label} ({self.name})"

    @property
    def tenant(self) -> str | None:
        """The tenant that authentication vouches for, or None."""
        tenant = None if self.principal is None else self.principal.attributes.get("tenantId")
        return tenant if isinstance(tenant, str) else None


def user(
    principal_id: str, tenant: str | None = None, *, authenticator: str = "app", issuer: str | None = "opsbot"
) -> Principal:
    """A signed-in user of the example application."""
    attributes = {} if tenant is None else {"tenantId": tenant}
    return Principal("user", authenticator, principal_id, issuer, attributes)


ZHANG_SAN = Caller("acme u_42", user("u_42", "acme"), "张三")
LI_SI = Caller("acme u_99", user("u_99", "acme"), "李四")
GLOBEX = Caller("globex u_42", user("u_42", "globex"))
PARTNER = Caller("partner u_42", user("u_42", authenticator="partner-sso", issuer="https://sso.partner.example"))
NO_TENANT = Caller("no tenant u_7", user("u_7"))
ANONYMOUS = Caller("anonymous", Principal("anonymous", "app", "anonymous"))
RUNTIME = Caller("runtime", Principal("runtime", "eve", "schedule"))
LOCAL_DEV = Caller("local-dev", Principal("local-dev", "local-dev", "local-dev"))
NOBODY = Caller("nobody", None)

CALLERS = (ZHANG_SAN, LI_SI, GLOBEX, PARTNER, NO_TENANT, ANONYMOUS, RUNTIME, LOCAL_DEV, NOBODY)


def caller_of(label: str) -> Caller:
    """The example caller with this label.

    Raises:
        KeyError: there is none.
    """
    return {caller.label: caller for caller in CALLERS}[label]


def may_share(reader: Caller, writer: Caller) -> bool:
    """Whether authentication puts both into one tenant. Nobody vouches for a caller without a tenant."""
    return reader.tenant is not None and reader.tenant == writer.tenant
