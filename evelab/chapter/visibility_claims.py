"""Claims of 8.8: which domain a memory belongs to, and what stays visible when the caller changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evelab.agent import Agent
from evelab.backends import in_memory
from evelab.chapter.callers import LI_SI, ZHANG_SAN, Caller
from evelab.chapter.claims import Evidence, claim
from evelab.chapter.policies import TENANT_PRINCIPAL
from evelab.chapter.values import PRINTED_KEYS
from evelab.chapter.workbench import NAMESPACE, SLOT
from evelab.file_memory import file_memory
from evelab.message import RECALL_KIND
from evelab.model import ScriptedModel, call
from evelab.provider import Default, Handler, define_memory
from evelab.session import Session, Turn

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evelab.backends import InMemory

PRODUCTION = {"VERCEL_PROJECT_ID": "prj_opsbot", "VERCEL_ENV": "production"}
PREVIEW = {"VERCEL_PROJECT_ID": "prj_opsbot", "VERCEL_ENV": "preview"}
MEMBER = {**PRODUCTION, "EVE_INTERNAL_AGENT_WORKSPACE_MEMBER": "1"}
ROOT = "/srv/opsbot"
ENVIRONMENTS: Mapping[str, Mapping[str, str]] = {
    "production": PRODUCTION,
    "production, deployed again": {**PRODUCTION, "VERCEL_DEPLOYMENT_ID": "dpl_2"},
    "preview of branch feature-a": {**PREVIEW, "VERCEL_GIT_COMMIT_REF": "feature-a"},
    "preview without a branch": {**PREVIEW, "VERCEL_DEPLOYMENT_ID": "dpl_1"},
    "workspace member /a": {**MEMBER, "EVE_PUBLIC_ROUTE_PREFIX": "/a"},
    "no project: local": {},
}
"""Where an application may run, by name."""


def namespace_in(environ: Mapping[str, str], *, slot: str = SLOT, app_root: str = ROOT) -> str:
    """The namespace that a session locks for a slot that sets none."""
    return _lock(environ, Default.NAMESPACE, slot=slot, app_root=app_root)[0]


def _lock(
    environ: Mapping[str, str],
    namespace: str | Default,
    *,
    slot: str = SLOT,
    app_root: str = ROOT,
) -> tuple[str, str]:
    """Namespace and key that a session locks in an environment."""
    memory = define_memory(provider=file_memory(backend=in_memory()), scope="acme", namespace=namespace)
    agent = Agent({slot: memory}, ScriptedModel(), app_root=app_root)
    scope = Session(agent, ZHANG_SAN.principal, environ=environ).send("?").locks[slot].scope
    return scope.namespace, scope.key


@claim("8.1")
def the_default_namespace_follows_the_deployment(see: Evidence) -> None:
    """Default namespace: production, preview (branch or deployment), local (digest of the root), workspace member."""
    live = namespace_in(PRODUCTION)
    see.equal(
        "production",
        live,
        '["eve-memory-default-namespace-v1","vercel","prj_opsbot","production",null,"__root__","profile"]',
    )
    redeployed = {
        **PRODUCTION,
        "VERCEL_DEPLOYMENT_ID": "dpl_2",
        "VERCEL_GIT_COMMIT_REF": "main",
        "VERCEL_URL": "b.example",
    }
    see.equal("production, deployed again", namespace_in(redeployed), live)
    see.true("another environment is another namespace", namespace_in({**PRODUCTION, "VERCEL_ENV": "staging"}) != live)
    branches = [namespace_in({**PREVIEW, "VERCEL_GIT_COMMIT_REF": name}) for name in ("feature-a", "feature-b")]
    see.equal("branches in preview", len({*branches, live}), 3)
    see.true("a preview names its branch", '"preview","feature-a"' in branches[0])
    deployed = namespace_in({**PREVIEW, "VERCEL_DEPLOYMENT_ID": "dpl_1"})
    see.true("a preview without a branch names its deployment", '"preview","dpl_1"' in deployed)
    local = namespace_in({})
    see.true("without a project it is local", '"local"' in local)
    see.true("the root's path is not in it", "srv" not in local and "opsbot" not in local)
    see.true("another root is another namespace", namespace_in({}, app_root="/srv/other") != local)
    members = [namespace_in({**MEMBER, "EVE_PUBLIC_ROUTE_PREFIX": prefix}) for prefix in ("/a", "/b")]
    see.equal("workspace members", len({*members, live}), 3)
    see.true("another slot is another namespace", namespace_in(PRODUCTION, slot="workspace") != live)


@claim("8.2")
def a_custom_namespace_is_complete(see: Evidence) -> None:
    """A custom namespace is complete: no suffix, the same domain in production, preview and local."""
    printed = next(row.key for row in PRINTED_KEYS if row.experiment == "A")
    for name, environ in (("production", PRODUCTION), ("preview", PREVIEW), ("local", {}), ("member", MEMBER)):
        see.equal(f"namespace and key in {name}", _lock(environ, NAMESPACE), (NAMESPACE, printed))
    see.equal("two slots share it as well", _lock({}, NAMESPACE, slot="workspace"), (NAMESPACE, printed))


class SharedThread:
    """One session in which 张三 and 李四 both speak; each has saved one line before.

    Args:
        visibility: ``"scope"`` or ``"session"``.
        namespace: the slot's namespace, or a resolver.
    """

    def __init__(self, visibility: str, namespace: str | Handler = NAMESPACE) -> None:
        self.backend: InMemory = in_memory()
        self._definition = define_memory(
            provider=file_memory(backend=self.backend),
            scope=TENANT_PRINCIPAL.scope,
            namespace=namespace,
            visibility=visibility,
        )
        for caller, text in ((ZHANG_SAN, "zhang's line"), (LI_SI, "li's line")):
            model = ScriptedModel([call(f"{SLOT}__save_memory", text=text)])
            Session(Agent({SLOT: self._definition}, model), caller.principal).send("save")
        self.session = Session(Agent({SLOT: self._definition}), ZHANG_SAN.principal)

    def say(self, caller: Caller) -> Turn:
        """One turn of a caller."""
        return self.session.send("?", caller=caller.principal)


def recalled_in(turn: Turn) -> list[str]:
    """The last line of each recalled message that the model saw."""
    return [message.text.split("\n")[-1] for message in turn.context if message.kind == RECALL_KIND]


@claim("8.3")
def visibility_decides_what_the_next_caller_sees(see: Evidence) -> None:
    """Visibility "scope" hides messages recalled under the earlier scope; "session" keeps them in the namespace."""
    thread = SharedThread("scope")
    see.equal("scope: 张三 sees", recalled_in(thread.say(ZHANG_SAN)), ["0: zhang's line"])
    see.equal("scope: 李四 sees", recalled_in(thread.say(LI_SI)), ["0: li's line"])
    back = thread.say(ZHANG_SAN)
    see.equal("scope: 张三 again sees", recalled_in(back), ["0: zhang's line"])
    see.equal("records added for that", len(back.committed), 0)
    thread = SharedThread("session")
    thread.say(ZHANG_SAN)
    see.equal("session: 李四 sees", recalled_in(thread.say(LI_SI)), ["0: zhang's line", "0: li's line"])
    see.equal("session: 张三 again sees", recalled_in(thread.say(ZHANG_SAN)), ["0: zhang's line", "0: li's line"])


def _changing(*namespaces: str) -> Handler:
    """A namespace resolver that gives the next of these each time."""
    left = iter(namespaces)
    return lambda ctx: next(left)


@claim("8.4")
def what_was_said_cannot_be_unsaid(see: Evidence) -> None:
    """Visibility cannot take back what is in an assistant's reply; the namespace isolates in both modes."""
    thread = SharedThread("scope")
    thread.say(ZHANG_SAN)
    turn = thread.say(LI_SI)
    replies = [message.text for message in turn.context if message.role == "assistant"]
    see.true("李四's context holds the reply that quotes 张三's line", "zhang's line" in replies[0])
    see.true("but no recalled message does", "zhang's line" not in "".join(recalled_in(turn)))
    for visibility in ("scope", "session"):
        thread = SharedThread(visibility, _changing("first", "first", "first", "second"))
        see.equal(
            f"{visibility}: in the first namespace 张三 sees", recalled_in(thread.say(ZHANG_SAN)), ["0: zhang's line"]
        )
        see.equal(f"{visibility}: in the second namespace 张三 sees", recalled_in(thread.say(ZHANG_SAN)), [])
