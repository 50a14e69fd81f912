"""opsbot, the chapter's example: two memory slots and one state.

What a person prefers belongs to the person, what a team has agreed belongs to the tenant, and what this session
is busy with belongs to the session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evelab.agent import Agent
from evelab.backends import InMemory, in_memory
from evelab.chapter.callers import CALLERS, ZHANG_SAN, Caller
from evelab.chapter.incident import incident_tools
from evelab.chapter.policies import tenant_only
from evelab.file_memory import file_memory
from evelab.model import RuleModel, ScriptedModel, call
from evelab.provider import Default, Handler, define_memory
from evelab.scope import by_principal
from evelab.session import Session

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evelab.model import Model

PROFILE, WORKSPACE = "profile", "workspace"
FACTS = {
    PROFILE: "用户偏好中文回答",
    WORKSPACE: "payment-api 的 SLO 是 99.9%",
    "incident": "INC-7",
}
"""One fact of each kind: in the profile, in the workspace, in the session's state."""


def opsbot(
    backend: InMemory,
    model: Model | None = None,
    *,
    namespace: str | Default = Default.NAMESPACE,
    profile_scope: Handler = by_principal,
    workspace_scope: Handler = tenant_only,
) -> Agent:
    """The agent: ``profile`` by principal, ``workspace`` by tenant, both on one store.

    Args:
        backend: the store of both slots.
        model: what answers; the plain rules when None.
        namespace: one namespace for both slots; each slot's own default when left out.
        profile_scope: who shares a profile.
        workspace_scope: who shares a workspace.
    """
    provider = file_memory(backend=backend)
    memory = {
        PROFILE: define_memory(
            provider=provider, scope=profile_scope, namespace=namespace, description="Personal preferences."
        ),
        WORKSPACE: define_memory(
            provider=provider, scope=workspace_scope, namespace=namespace, description="What the team has agreed."
        ),
    }
    return Agent(memory, model or RuleModel(), tools=incident_tools(), app_root="opsbot")


def recalled_by(agent: Agent, caller: Caller) -> dict[str, str]:
    """What a new session of a caller recalls: slot -> text. A slot that is off or empty is not in it."""
    turn = Session(agent, caller.principal, environ={}).send("?")
    return {slot: "\n".join(item.content for item in items) for slot, items in turn.recalled.items() if items}


def who_sees_what(callers: Iterable[Caller] = CALLERS) -> dict[str, dict[str, bool]]:
    """张三 notes one fact of each kind; then each caller opens a new session.

    Returns:
        caller's label -> kind of fact -> whether it is seen there.
    """
    store = in_memory()
    saves = [
        call(f"{PROFILE}__save_memory", text=FACTS[PROFILE]),
        call(f"{WORKSPACE}__save_memory", text=FACTS[WORKSPACE]),
        call("start_incident", id=FACTS["incident"]),
    ]
    Session(opsbot(store, ScriptedModel([*saves, "noted"])), ZHANG_SAN.principal, environ={}).send("note all")
    seen = {}
    for caller in callers:
        agent = opsbot(store, ScriptedModel([call("show_incident"), "done"]))
        session = Session(agent, caller.principal, environ={})
        turn = session.send("what do you know?")
        text = "\n".join(item.content for items in turn.recalled.values() for item in items)
        tracked = turn.results[0].value["id"]
        kinds = {kind: FACTS[kind] in text for kind in (PROFILE, WORKSPACE)}
        seen[caller.label] = {**kinds, "incident": tracked is not None}
    return seen
