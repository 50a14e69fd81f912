"""Claims of 8.3: slots from files, one provider in two of them, who owns what, and the key."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evelab.agent import Agent
from evelab.backends import in_memory
from evelab.chapter.callers import LI_SI, ZHANG_SAN
from evelab.chapter.claims import Evidence, claim
from evelab.chapter.policies import tenant_principal
from evelab.chapter.workbench import NAMESPACE
from evelab.errors import DefinitionError, FolderError
from evelab.file_memory import file_memory
from evelab.folder import load_agent
from evelab.keys import create_lock
from evelab.model import ScriptedModel, call
from evelab.provider import MemoryProvider, OperationContext, ToolsContext, define_memory, define_memory_provider
from evelab.session import Session
from evelab.tools import Tool, define_tool

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evelab.model import Reply

SLOT_FILE = (
    "from evelab import define_memory, file_memory, in_memory\n"
    "memory = define_memory(provider=file_memory(backend=in_memory()), scope='acme')\n"
)


def slots_of(files: Iterable[str]) -> list[str]:
    """The slots of an agent whose folder holds these files, such as ``memory/profile.py``. The folder is a real one.

    Raises:
        FolderError: the folder is ambiguous, or a name is wrong.
    """
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            path = Path(folder) / "agent" / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(SLOT_FILE, encoding="utf-8")
        return list(load_agent(Path(folder) / "agent").memory)


@claim("3.1")
def a_slot_is_a_file(see: Evidence) -> None:
    """agent/memory.ts gives slot "memory"; agent/memory/<name>.ts gives slot <name>; having both is an error."""
    see.equal("memory.py", slots_of(["memory.py"]), ["memory"])
    see.equal("two files in memory/", slots_of(["memory/workspace.py", "memory/profile.py"]), ["profile", "workspace"])
    both = see.raises("both forms", FolderError, lambda: slots_of(["memory.py", "memory/profile.py"]))
    see.true("the error says so", both is not None and "not both" in str(both))
    see.raises("a name that begins with a digit", FolderError, lambda: slots_of(["memory/1st.py"]))


def two_slots(model: Any = None, *, scope: Any = "acme", app_root: str = "opsbot") -> Agent:
    """Two slots, ``profile`` and ``workspace``, on one provider and one store."""
    memory = define_memory(provider=file_memory(backend=in_memory()), scope=scope)
    return Agent({"profile": memory, "workspace": memory}, model or ScriptedModel(), app_root=app_root)


@claim("3.2")
def a_slots_name_is_in_its_namespace_and_its_tools(see: Evidence) -> None:
    """The slot name is part of the default namespace and the prefix of the provider's tools (profile__save_memory)."""
    turn = Session(two_slots(), environ={}).send("?")
    for slot, lock in turn.locks.items():
        see.true(f"{slot}: the default namespace ends with it", lock.scope.namespace.endswith(f',"{slot}"]'))
    see.equal(
        "the tools",
        list(turn.tools),
        [f"{slot}__{key}" for slot in ("profile", "workspace") for key in ("remove_memory", "save_memory")],
    )


@claim("3.3")
def two_slots_do_not_merge(see: Evidence) -> None:
    """Two slots with one provider merge neither recall nor tools."""
    agent = two_slots(ScriptedModel([call("profile__save_memory", text="I watch payment-api"), "ok"]))
    Session(agent, environ={}).send("remember it")
    turn = Session(agent, environ={}).send("?")
    recalled = {slot: "payment-api" in "".join(item.content for item in items) for slot, items in turn.recalled.items()}
    see.equal("who recalls what profile has saved", recalled, {"profile": True, "workspace": False})
    see.equal("keys", len({lock.scope.key for lock in turn.locks.values()}), 2)
    see.equal("tools", len(turn.tools), 4)


@dataclass(slots=True)
class Owner:
    """A provider that notes what it is told, keeps words its own way, and recalls them in a form of its own.

    Attributes:
        notes: key -> the words it has chosen to keep.
        told: what each call told it: the call's name, the slot and the key.
    """

    notes: dict[str, list[str]] = field(default_factory=dict)
    told: list[tuple[str, str, str]] = field(default_factory=list)

    def provider(self) -> MemoryProvider:
        """The provider."""
        return define_memory_provider(
            recall={"turn.started": self._recall, "compaction.completed": self._recall},
            capture={"turn.completed": self._capture},
            tools=self._tools,
        )

    def _note(self, name: str, ctx: OperationContext | ToolsContext) -> str:
        self.told.append((name, ctx.memory.slot, ctx.memory.scope.key))
        return ctx.memory.scope.key

    def _recall(self, ctx: OperationContext) -> dict[str, Any] | None:
        words = self.notes.get(self._note("recall", ctx), [])
        return {"messages": [{"id": "words", "content": " / ".join(sorted(words))}]} if words else None

    def _capture(self, ctx: OperationContext) -> None:
        key = self._note("capture", ctx)
        said = "" if ctx.turn is None else ctx.turn.input[0].text
        self.notes.setdefault(key, []).extend(word for word in said.split() if word.endswith("-api"))

    def _tools(self, ctx: ToolsContext) -> dict[str, Tool]:
        key = self._note("tools", ctx)

        def forget(**fields: Any) -> str:
            self.told.append(("forget", ctx.memory.slot, key))
            self.notes.pop(key, None)
            return "forgotten"

        schema = {"type": "object", "properties": {"scope": {"type": "string"}}}
        return {"forget": define_tool(description="Forget.", input_schema=schema, execute=forget)}

    def session(self, *replies: Reply | str, slot: str = "profile", caller: Any = ZHANG_SAN) -> Session:
        """A new session of a caller with this provider in one slot."""
        memory = define_memory(provider=self.provider(), scope=tenant_principal, namespace=NAMESPACE)
        return Session(Agent({slot: memory}, ScriptedModel(replies)), caller.principal, environ={})


def owners() -> list[dict[str, str]]:
    """The chapter's five rows, each side read off a run.

    Returns:
        rows of ``eve`` and ``provider``, each what that side has decided in the run.
    """
    owner = Owner()
    first = owner.session()
    turn = first.send("watch payment-api and checkout-api please")
    key = turn.locks["profile"].scope.key
    again = owner.session("ok", call("profile__forget"))
    recalled = again.send("?")
    item = recalled.recalled["profile"][0]
    record = next(message for message in again.history if message.memory is not None)
    calls = [name for name, *_ in owner.told[:3]]
    before = dict(owner.notes)
    again.clear()
    taken = "nothing" if owner.notes == before else "something"
    slot = None if record.memory is None else record.memory.slot
    scope = turn.locks["profile"].scope
    return [
        {"eve": f"the slot's name: {owner.told[0][1]}", "provider": f"what it stores: {before[key]}"},
        {
            "eve": f"namespace {scope.namespace}, scope {scope.value}",
            "provider": f"what it finds, and its form: {item.content}",
        },
        {"eve": f"when: {', '.join(calls)}", "provider": "what it takes from a turn: words that end in -api"},
        {
            "eve": f"whose a recalled message is: kind {record.kind}, slot {slot}",
            "provider": f"what it keeps: clear() took {taken} of it",
        },
        {"eve": f"the tool's full name: {', '.join(recalled.tools)}", "provider": "the tool: forget"},
    ]


@claim("3.4")
def who_owns_what(see: Evidence) -> None:
    """What eve owns and what the provider owns, five rows."""
    rows = owners()
    see.equal("rows", len(rows), 5)
    see.equal("eve: the slot's name", rows[0]["eve"], "the slot's name: profile")
    see.equal("the provider: storage", rows[0]["provider"], "what it stores: ['payment-api', 'checkout-api']")
    see.equal("eve: namespace and scope", rows[1]["eve"], "namespace acme-support-v1, scope ('acme', 'u_42')")
    see.equal(
        "the provider: search, order, form",
        rows[1]["provider"],
        "what it finds, and its form: checkout-api / payment-api",
    )
    see.equal("eve: when", rows[2]["eve"], "when: recall, tools, capture")
    see.equal("eve: attribution", rows[3]["eve"], "whose a recalled message is: kind memory.load, slot profile")
    see.equal("the provider: retention", rows[3]["provider"], "what it keeps: clear() took nothing of it")
    see.equal("eve: the tool's name", rows[4]["eve"], "the tool's full name: profile__forget")


@claim("3.5")
def what_a_scope_may_be(see: Evidence) -> None:
    """scope may be a string, or a resolver of the authentication that gives a string or a tuple of strings."""

    def locked(scope: Any) -> object:
        return Session(two_slots(scope=scope), ZHANG_SAN.principal).send("?").locks["profile"].scope.value

    see.equal("a string", locked("acme"), "acme")
    see.equal("a resolver that gives a string", locked(lambda ctx: ctx.session.auth.current.principal_id), "u_42")
    see.equal("a resolver that gives a tuple", locked(tenant_principal), ("acme", "u_42"))
    refused = see.raises("a literal tuple", DefinitionError, lambda: two_slots(scope=("acme", "u_42")))
    see.true("the error says what to do", refused is not None and "use a resolver" in str(refused))


@claim("3.6")
def the_key_goes_with_every_operation(see: Evidence) -> None:
    """namespace and scope give memory.scope.key; every operation gets it; the model neither sees nor changes it."""
    owner = Owner()
    key = create_lock(NAMESPACE, ("acme", "u_42"), slot="profile").scope.key
    session = owner.session(call("profile__forget", scope="globex"), "ok")
    owner.session(caller=LI_SI).send("watch other-api")
    owner.told.clear()
    turn = session.send("watch payment-api")
    see.equal("keys that the provider got", {got for *_, got in owner.told}, {key})
    see.equal("calls that got it", {name for name, *_ in owner.told}, {"recall", "tools", "forget", "capture"})
    seen = "".join(message.text for prompt in turn.prompts for message in prompt.messages)
    schemas = "".join(str(tool.input_schema) + tool.description for tool in turn.tools.values())
    see.true("the model does not see it", key not in seen + schemas)
    see.equal("what the tool did", turn.results[-1].value, "forgotten")
    others = [words for owned, words in owner.notes.items() if owned != key]
    see.equal("李四's words, whatever scope the model passed", others, [["other-api"]])
