"""Claims of 8.10: opsbot's two slots and its state."""

from __future__ import annotations

from evelab.backends import in_memory
from evelab.chapter.callers import CALLERS, GLOBEX, LI_SI, ZHANG_SAN
from evelab.chapter.claims import Evidence, claim
from evelab.chapter.opsbot import FACTS, PROFILE, WORKSPACE, opsbot, recalled_by, who_sees_what
from evelab.chapter.policies import TENANT, TENANT_PRINCIPAL
from evelab.chapter.workbench import NAMESPACE, Workbench
from evelab.model import ScriptedModel, call
from evelab.session import Session


@claim("10.1")
def opsbot_tells_each_caller_what_is_theirs(see: Evidence) -> None:
    """Opsbot: profile by principal, workspace by tenant, incident in state; who sees what."""
    seen = who_sees_what()
    see.equal("张三, who noted all, in a new session", _kinds(seen, ZHANG_SAN.label), [PROFILE, WORKSPACE])
    see.equal("李四 of the same tenant", _kinds(seen, LI_SI.label), [WORKSPACE])
    see.equal("u_42 of another tenant shares a profile by principal", _kinds(seen, GLOBEX.label), [PROFILE])
    for caller in CALLERS[3:]:
        see.equal(caller.label, _kinds(seen, caller.label), [])
    model = ScriptedModel([call("start_incident", id=FACTS["incident"]), "on it", "ok", call("show_incident"), "done"])
    session = Session(opsbot(in_memory(), model), ZHANG_SAN.principal, environ={})
    session.send("we have an incident")
    started = session.send("go on")
    later = [message.text for message in started.context if message.role != "tool" and "<call" not in message.text]
    see.true(
        "the next turn's context names the incident only in the tool call", FACTS["incident"] not in "".join(later)
    )
    shown = session.send("what do we track?")
    see.equal("a tool that returns it shows it", shown.results[-1].value["id"], FACTS["incident"])


def _kinds(seen: dict[str, dict[str, bool]], label: str) -> list[str]:
    return [kind for kind, is_seen in seen[label].items() if is_seen]


@claim("10.2")
def a_tenant_shares_and_a_pair_does_not(see: Evidence) -> None:
    """[tenant] is shared in the tenant, [tenant, principal] is one each."""
    callers = (ZHANG_SAN, LI_SI, GLOBEX)
    for policy, between, words in (
        (TENANT, "shared", "[tenant]"),
        (TENANT_PRINCIPAL, "", "[tenant, principal]"),
    ):
        sharing = Workbench(policy.scope, callers=callers).sharing()
        see.equal(f"{words}: 李四 recalls 张三", sharing.word(1, 0), between)
        see.equal(f"{words}: 张三 recalls itself", sharing.word(0, 0), "own")
        see.equal(f"{words}: another tenant recalls 张三", sharing.word(2, 0), "")


@claim("10.3")
def two_slots_mix_only_in_one_namespace_and_scope(see: Evidence) -> None:
    """Profile and workspace do not mix by default, and do when both set one namespace and resolve one scope."""
    save = call(f"{PROFILE}__save_memory", text=FACTS[PROFILE])

    def scope(ctx: object) -> str:
        return "everyone"

    store = in_memory()
    agent = opsbot(store, ScriptedModel([save]), profile_scope=scope, workspace_scope=scope)
    Session(agent, ZHANG_SAN.principal, environ={}).send("note")
    apart = recalled_by(opsbot(store, profile_scope=scope, workspace_scope=scope), ZHANG_SAN)
    see.equal("default namespaces, one scope: slots that recall it", list(apart), [PROFILE])
    see.equal("documents then", len(store.documents()), 1)

    store = in_memory()
    Session(opsbot(store, ScriptedModel([save]), namespace=NAMESPACE), ZHANG_SAN.principal, environ={}).send("note")
    one = recalled_by(opsbot(store, namespace=NAMESPACE), ZHANG_SAN)
    see.equal("one namespace, two scopes: slots that recall it", list(one), [PROFILE])

    store = in_memory()
    agent = opsbot(store, ScriptedModel([save]), namespace=NAMESPACE, profile_scope=scope, workspace_scope=scope)
    Session(agent, ZHANG_SAN.principal, environ={}).send("note")
    mixed = recalled_by(opsbot(store, namespace=NAMESPACE, profile_scope=scope, workspace_scope=scope), LI_SI)
    see.equal("one namespace, one scope: slots that recall it", list(mixed), [PROFILE, WORKSPACE])
    see.true("the workspace recalls a person's preference", FACTS[PROFILE] in mixed.get(WORKSPACE, ""))
    see.equal("documents then, for both slots", len(store.documents()), 1)
