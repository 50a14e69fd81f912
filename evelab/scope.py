"""Scope and namespace: who shares a memory, and in which domain.

A scope is a string or a tuple of strings; None turns the slot off. A namespace is a string.
Source of the rules: eve 0.80.1, ``shared/memory-state`` and ``public/memory``.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from evelab.auth import Auth
from evelab.errors import NamespaceTypeError, ScopeError
from evelab.text import WHITE_SPACE, is_blank, to_json, trim, utf8, utf8_length

if TYPE_CHECKING:
    from collections.abc import Mapping

Scope: TypeAlias = str | tuple[str, ...]

NAMESPACE_MAX_BYTES = 1024
COMPONENT_MAX_BYTES = 1024
TUPLE_MAX_COMPONENTS = 16
DEFAULT_NAMESPACE_TAG = "eve-memory-default-namespace-v1"
ROOT_NODE = "__root__"


@dataclass(frozen=True, slots=True)
class ScopeSession:
    """What a scope resolver sees of the session."""

    id: str
    auth: Auth
    schedule: str | None = None
    predecessor: str | None = None


@dataclass(frozen=True, slots=True)
class Channel:
    """The channel that the turn came through."""

    kind: str = "lab"
    continuation_token: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScopeContext:
    """The argument of a scope resolver. Nothing in it comes from the model."""

    session: ScopeSession
    channel: Channel = field(default_factory=Channel)

    @classmethod
    def of(cls, current: Any, *, session_id: str = "preview") -> ScopeContext:
        """A context for a caller outside any session, to try a resolver on.

        Args:
            current: the Principal, or None.
            session_id: the id that the context shows.
        """
        return cls(ScopeSession(session_id, Auth(current, current)))


@dataclass(frozen=True, slots=True)
class NamespaceContext:
    """The argument of a namespace resolver."""

    app_root: str
    node: str
    slot: str


def by_principal(ctx: ScopeContext) -> str | None:
    """One memory per principal: eve's ``byPrincipal``.

    Returns:
        None for nobody, ``anonymous`` and ``runtime``; ``"local-dev"`` for local development; otherwise the
        JSON text of ``[principal_type, authenticator, issuer or null, principal_id]``. It is one string
        scope, so it must fit 1,024 UTF-8 bytes.
    """
    caller = ctx.session.auth.current
    if caller is None or caller.principal_type in ("anonymous", "runtime"):
        return None
    if caller.principal_type == "local-dev":
        return "local-dev"
    return to_json([caller.principal_type, caller.authenticator, caller.issuer, caller.principal_id])


def check_namespace(namespace: object) -> str:
    """The namespace, if it can be part of a key.

    Raises:
        NamespaceTypeError: it is not a string.
        ScopeError: it is blank or longer than 1,024 UTF-8 bytes.
    """
    if not isinstance(namespace, str):
        raise NamespaceTypeError(
            f"The memory namespace must be a string, not {type(namespace).__name__}.", place="namespace"
        )
    if is_blank(namespace):
        raise ScopeError("The memory namespace must not be blank.", place="namespace")
    if utf8_length(namespace) > NAMESPACE_MAX_BYTES:
        raise _length_error("namespace", "The memory namespace", namespace, NAMESPACE_MAX_BYTES)
    return namespace


def check_scope(scope: object) -> Scope:
    """The scope, a list turned into a tuple, if it can be part of a key.

    A component is checked whole before the next one is looked at.

    Raises:
        ScopeError: more than 16 components, none, or one that is not a string, is blank, or is longer than
            1,024 UTF-8 bytes.
    """
    parts = scope if isinstance(scope, list | tuple) else (scope,)
    if len(parts) > TUPLE_MAX_COMPONENTS:
        raise ScopeError(
            f"The memory scope has {len(parts)} components; the limit is {TUPLE_MAX_COMPONENTS}.",
            place="scope",
            limit=TUPLE_MAX_COMPONENTS,
            actual=len(parts),
        )
    if not parts:
        raise ScopeError("The memory scope is an empty tuple; it needs at least one component.", place="scope")
    for part in parts:
        if not isinstance(part, str) or not part.strip(WHITE_SPACE) or utf8_length(part) > COMPONENT_MAX_BYTES:
            raise _component_error(scope, part)
    return scope if isinstance(scope, str) else tuple(parts)


def _component_error(scope: object, part: object) -> ScopeError:
    """Why this part of a scope, the first wrong one, is refused."""
    place, name = "scope", "The memory scope"
    if isinstance(scope, list | tuple):
        index = next(index for index, other in enumerate(scope) if other is part)
        place, name = f"scope[{index}]", f"Component {index} of the memory scope"
    if not isinstance(part, str):
        return ScopeError(f"{name} must be a string, not {type(part).__name__}.", place=place)
    if is_blank(part):
        return ScopeError(f"{name} must not be blank.", place=place)
    return _length_error(place, name, part, COMPONENT_MAX_BYTES)


def _length_error(place: str, name: str, value: str, limit: int) -> ScopeError:
    actual = utf8_length(value)
    return ScopeError(
        f"{name} is {actual:,} UTF-8 bytes long; the limit is {limit:,}.", place=place, limit=limit, actual=actual
    )


def default_namespace(
    slot: str,
    *,
    app_root: str,
    node: str = ROOT_NODE,
    environ: Mapping[str, str] | None = None,
) -> str:
    """The namespace of a slot that does not set one: eve's ``defaultNamespace``.

    With a Vercel project it names the project, the environment and, in a preview, the branch. Without one it
    names the digest of the application's folder ("local" means no project id, not "running locally").

    Args:
        slot: the slot's name.
        app_root: the application's folder, as a string; only its digest is used.
        node: the agent's node: ``__root__``, or a subagent's source id.
        environ: the environment to read; the process's own when None.
    """
    env = os.environ if environ is None else environ
    project = trim(env.get("VERCEL_PROJECT_ID", "")) or _project_of_token(env.get("VERCEL_OIDC_TOKEN", ""))
    if project is None:
        digest = base64.urlsafe_b64encode(hashlib.sha256(utf8(app_root)).digest()).rstrip(b"=").decode()
        return to_json([DEFAULT_NAMESPACE_TAG, "local", digest, node, slot])
    environment = _first_set(env, "VERCEL_TARGET_ENV", "VERCEL_ENV") or "production"
    branch = None
    if environment == "preview":
        names = ("VERCEL_GIT_COMMIT_REF", "VERCEL_DEPLOYMENT_ID", "VERCEL_URL")
        branch = _first_set(env, *names) or "unknown-preview"
    prefix = _workspace_prefix(env)
    member = [] if prefix is None else [prefix]
    return to_json([DEFAULT_NAMESPACE_TAG, "vercel", project, environment, branch, *member, node, slot])


def _first_set(env: Mapping[str, str], *names: str) -> str | None:
    return next((value for name in names if (value := trim(env.get(name, "")))), None)


def _project_of_token(token: str) -> str | None:
    """The ``project_id`` claim of an OIDC token, unverified; None for any token that has none."""
    parts = trim(token).split(".")
    if len(parts) < 2:
        return None
    try:
        body = base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))
        claims = json.loads(body)
    except ValueError:
        return None
    project = claims.get("project_id") if isinstance(claims, dict) else None
    return project if isinstance(project, str) else None


def _workspace_prefix(env: Mapping[str, str]) -> str | None:
    if env.get("EVE_INTERNAL_AGENT_WORKSPACE_MEMBER") != "1":
        return None
    prefix = trim(env.get("EVE_PUBLIC_ROUTE_PREFIX", "")).rstrip("/")
    if not prefix:
        return None
    return prefix if prefix.startswith("/") else "/" + prefix
