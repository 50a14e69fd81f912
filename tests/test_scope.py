"""Who shares a memory: by_principal, and the default namespace in each environment."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evelab import Principal, by_principal, default_namespace
from evelab.errors import NamespaceTypeError, ScopeError
from evelab.scope import ScopeContext, check_namespace, check_scope
from tests.strategies import units

TAG = "eve-memory-default-namespace-v1"


def resolve(principal: Principal | None) -> str | None:
    return by_principal(ScopeContext.of(principal))


@pytest.mark.parametrize("principal_type", ["anonymous", "runtime"])
def test_strangers_and_the_runtime_have_no_scope(principal_type: str) -> None:
    assert resolve(None) is None
    assert resolve(Principal(principal_type, "app", "u_42")) is None


def test_local_development_shares_one_scope() -> None:
    assert resolve(Principal("local-dev", "a", "b")) == "local-dev"


def test_everybody_else_is_type_authenticator_issuer_and_id() -> None:
    assert resolve(Principal("user", "app", "u_42", "opsbot")) == '["user","app","opsbot","u_42"]'
    assert resolve(Principal("user", "app", "u_42")) == '["user","app",null,"u_42"]'
    assert resolve(Principal("user", "app", "u_42", "")) == '["user","app","","u_42"]'
    assert resolve(Principal("user", "app")) == '["user","app",null,null]'
    assert resolve(Principal("Anonymous", "app", "u_42")) == '["Anonymous","app",null,"u_42"]'


@given(units, units, st.none() | units, st.none() | units)
def test_different_principals_never_meet(kind: str, authenticator: str, issuer: str | None, name: str | None) -> None:
    if kind in ("anonymous", "runtime", "local-dev"):
        return
    scope = resolve(Principal(kind, authenticator, name, issuer))
    assert scope is not None
    parts = json.loads(scope)
    given_parts = [kind, authenticator, issuer, name]
    assert [p and p.encode("utf-16", "surrogatepass") for p in parts] == [
        p and p.encode("utf-16", "surrogatepass") for p in given_parts
    ]


def test_attributes_cannot_be_changed_after_authentication() -> None:
    claims: dict[str, Any] = {"tenantId": "acme"}
    principal = Principal("user", "app", "u_42", attributes=claims)
    claims["tenantId"] = "globex"
    assert principal.attributes["tenantId"] == "acme"
    with pytest.raises(TypeError):
        principal.attributes["tenantId"] = "globex"  # type: ignore[index]


@pytest.mark.parametrize(
    ("namespace", "words"),
    [
        ("", "must not be blank"),
        (" \u3000", "must not be blank"),
        ("n" * 1025, "1,025 UTF-8 bytes long; the limit is 1,024"),
    ],
)
def test_a_namespace_that_cannot_be_is_refused(namespace: str, words: str) -> None:
    with pytest.raises(ScopeError, match=words) as caught:
        check_namespace(namespace)
    assert caught.value.place == "namespace"


def test_a_namespace_that_is_no_string_is_a_type_error() -> None:
    with pytest.raises(NamespaceTypeError, match="not int"):
        check_namespace(7)


@pytest.mark.parametrize(
    ("scope", "place", "limit", "actual"),
    [
        ((), "scope", None, None),
        ([" "] * 17, "scope", 16, 17),
        ("", "scope", None, None),
        (None, "scope", None, None),
        ({"tenant": "acme"}, "scope", None, None),
        (("acme", 42), "scope[1]", None, None),
        (("acme", " \u2028"), "scope[1]", None, None),
        (("x" * 1025, ""), "scope[0]", 1024, 1025),
        ("é" * 513, "scope", 1024, 1026),
        ("\ud800" * 342, "scope", 1024, 1026),
    ],
)
def test_the_first_broken_rule_of_a_scope_decides(
    scope: object, place: str, limit: int | None, actual: int | None
) -> None:
    with pytest.raises(ScopeError) as caught:
        check_scope(scope)
    assert (caught.value.place, caught.value.limit, caught.value.actual) == (place, limit, actual)


@pytest.mark.parametrize("scope", ["x" * 1024, "é" * 512, "🙂" * 256, "\ud800" * 341, ["c"] * 16])
def test_a_scope_at_its_limit_is_accepted(scope: object) -> None:
    check_scope(scope)


def test_an_error_never_shows_the_scope() -> None:
    with pytest.raises(ScopeError) as caught:
        check_scope(("acme", "secret" * 200))
    assert "secret" not in str(caught.value)


def namespace_of(environ: dict[str, str], **options: str) -> list[Any]:
    options = {"app_root": "/srv/opsbot", **options}
    found: list[Any] = json.loads(default_namespace("profile", environ=environ, **options))
    return found


def test_without_a_project_the_folders_digest_stands_in() -> None:
    digest = base64.urlsafe_b64encode(hashlib.sha256(b"/srv/opsbot").digest()).decode().rstrip("=")
    assert namespace_of({}) == [TAG, "local", digest, "__root__", "profile"]
    assert namespace_of({}, node="researcher")[3] == "researcher"
    assert "/srv" not in default_namespace("profile", app_root="/srv/opsbot", environ={})


@pytest.mark.parametrize(
    ("environ", "wanted"),
    [
        ({}, ["prj_1", "production", None]),
        ({"VERCEL_ENV": " "}, ["prj_1", "production", None]),
        ({"VERCEL_ENV": "preview"}, ["prj_1", "preview", "unknown-preview"]),
        ({"VERCEL_ENV": "preview", "VERCEL_GIT_COMMIT_REF": " ", "VERCEL_URL": "u"}, ["prj_1", "preview", "u"]),
        ({"VERCEL_ENV": "preview", "VERCEL_TARGET_ENV": "staging"}, ["prj_1", "staging", None]),
        ({"VERCEL_ENV": "Preview", "VERCEL_GIT_COMMIT_REF": "r"}, ["prj_1", "Preview", None]),
        (
            {"EVE_INTERNAL_AGENT_WORKSPACE_MEMBER": "1", "EVE_PUBLIC_ROUTE_PREFIX": " a/b// "},
            ["prj_1", "production", None, "/a/b"],
        ),
        ({"EVE_INTERNAL_AGENT_WORKSPACE_MEMBER": "1", "EVE_PUBLIC_ROUTE_PREFIX": "///"}, ["prj_1", "production", None]),
        (
            {"EVE_INTERNAL_AGENT_WORKSPACE_MEMBER": "true", "EVE_PUBLIC_ROUTE_PREFIX": "/a"},
            ["prj_1", "production", None],
        ),
    ],
)
def test_a_project_names_environment_branch_and_member(environ: dict[str, str], wanted: list[Any]) -> None:
    assert namespace_of({"VERCEL_PROJECT_ID": " prj_1 ", **environ}) == [TAG, "vercel", *wanted, "__root__", "profile"]


def token(claims: object) -> str:
    return "h." + base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=") + ".s"


@pytest.mark.parametrize("bad", ["", "abc", "h.!.s", token(None), token({"project_id": 7}), token([1])])
def test_a_bad_token_is_ignored(bad: str) -> None:
    assert namespace_of({"VERCEL_OIDC_TOKEN": bad})[1] == "local"


def test_a_token_names_the_project_when_nothing_else_does() -> None:
    environ = {"VERCEL_OIDC_TOKEN": f" {token({'project_id': 'prj_oidc'})} "}
    assert namespace_of(environ)[1:4] == ["vercel", "prj_oidc", "production"]
    assert namespace_of({**environ, "VERCEL_PROJECT_ID": "prj_1"})[2] == "prj_1"


def test_the_process_environment_is_read_when_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERCEL_PROJECT_ID", "prj_env")
    assert "prj_env" in default_namespace("profile", app_root="/")
