"""Generated namespaces, scopes and callers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evelab.eve.samples.texts import any_text, name, one_in, some_text, text_near

if TYPE_CHECKING:
    from random import Random

NOT_TEXTS: tuple[Any, ...] = (None, 0, 1.5, True, {}, {"a": "b"}, {"$undefined": True}, {"$number": "NaN"})
PRINCIPAL_TYPES = ("user", "service", "anonymous", "runtime", "local-dev", "User", "local-dev ", "")


def key_request(rng: Random) -> dict[str, Any]:
    """A namespace and a scope: mostly a valid pair, else one near a limit or of a wrong kind."""
    request: dict[str, Any] = {"op": "key", "namespace": _namespace(rng), "scope": _scope(rng)}
    if one_in(rng, 8):
        request["slot"] = name(rng)
    if one_in(rng, 8):
        request["visibility"] = "session"
    return request


def _namespace(rng: Random) -> Any:
    match rng.randrange(12):
        case 9:
            return any_text(rng)
        case 10:
            return text_near(rng, 1024)
        case 11:
            return [rng.choice(NOT_TEXTS), [name(rng)]][rng.randrange(2)]
        case _:
            return some_text(rng)


def _scope(rng: Random) -> Any:
    match rng.randrange(14):
        case 0 | 1 | 2:
            return some_text(rng)
        case 3 | 4 | 5 | 6 | 7:
            return [some_text(rng) for _ in range(1 + rng.randrange(3))]
        case 8:
            return any_text(rng)
        case 9:
            return [any_text(rng) for _ in range(rng.randrange(5))]
        case 10:
            return [name(rng) for _ in range(14 + rng.randrange(5))]
        case 11:
            return text_near(rng, 1024) if rng.randrange(2) == 0 else [name(rng), text_near(rng, 1024)]
        case 12:
            return [text_near(rng, 1000) for _ in range(3)] + [text_near(rng, 1024 - rng.randrange(64))]
        case _:
            wrong = rng.choice(NOT_TEXTS)
            return wrong if rng.randrange(2) == 0 else [name(rng), wrong]


def principal(rng: Random) -> dict[str, Any]:
    """A caller as a channel's authentication gives it."""
    caller: dict[str, Any] = {
        "principalType": rng.choice(PRINCIPAL_TYPES) if one_in(rng, 3) else "user",
        "authenticator": some_text(rng),
        "principalId": some_text(rng),
        "attributes": {},
    }
    if rng.randrange(2) == 1:
        caller["issuer"] = [some_text(rng), "", None, {"$undefined": True}][rng.randrange(4)]
    if one_in(rng, 10):
        del caller["principalId"]
    return caller


def by_principal_request(rng: Random) -> dict[str, Any]:
    """A caller, or nobody."""
    return {"op": "by_principal", "current": None if one_in(rng, 20) else principal(rng)}


def namespace_request(rng: Random) -> dict[str, Any]:
    """An environment, a folder, a node and a slot."""
    env: dict[str, str] = {}
    for variable in (
        "VERCEL_PROJECT_ID",
        "VERCEL_TARGET_ENV",
        "VERCEL_ENV",
        "VERCEL_GIT_COMMIT_REF",
        "VERCEL_DEPLOYMENT_ID",
        "VERCEL_URL",
        "EVE_PUBLIC_ROUTE_PREFIX",
        "EVE_INTERNAL_AGENT_WORKSPACE_MEMBER",
    ):
        if rng.randrange(2) == 1:
            env[variable] = rng.choice(("1", "preview", "production", " preview ", "", " ", "/a/", "a//", "prj_1", "0"))
    return {
        "op": "default_namespace",
        "env": env,
        "appRoot": some_text(rng),
        "node": rng.choice(("__root__", "research", "a::b")),
        "slot": name(rng),
    }
