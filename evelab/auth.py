"""Who is speaking: the principal that a session's authentication has established."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Principal:
    """An authenticated caller, as the channel's authentication describes it.

    Attributes:
        principal_type: ``"user"``, ``"service"``, ``"anonymous"``, ``"runtime"``, ``"local-dev"`` or another.
        authenticator: the authentication system that vouches for the caller.
        principal_id: the caller's id in that system.
        issuer: who issued the identity, if the system names one.
        attributes: further claims, by their names in the token, such as ``tenantId``.
    """

    principal_type: str
    authenticator: str
    principal_id: str | None = None
    issuer: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", MappingProxyType(dict(self.attributes)))

    def __reduce__(self) -> tuple[type[Principal], tuple[Any, ...]]:
        """A checkpoint holds its caller and must pickle; a mapping proxy does not."""
        fields = (self.principal_type, self.authenticator, self.principal_id, self.issuer)
        return (Principal, (*fields, dict(self.attributes)))


@dataclass(frozen=True, slots=True)
class Auth:
    """A session's authentication.

    Attributes:
        current: who speaks in this turn, or None when nobody is authenticated.
        initiator: who opened the session.
    """

    current: Principal | None = None
    initiator: Principal | None = None
