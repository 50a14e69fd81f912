"""Incidents with keeping and finding: deleted too much or too little, cut, crowded out, and nothing kept at all."""

from __future__ import annotations

from typing import Any

from evelab.agent import Agent
from evelab.backends import in_memory
from evelab.chapter.callers import LI_SI, ZHANG_SAN
from evelab.chapter.incidents.incident import Incident, Outcome
from evelab.chapter.incidents.listed import SLOT, Listed, recalled, send
from evelab.chapter.notes_claims import crowded
from evelab.chapter.notes_in_dict import Notes, SearchFirst
from evelab.chapter.policies import tenant_principal
from evelab.file_memory import file_memory
from evelab.model import RuleModel, ScriptedModel, call
from evelab.provider import define_memory, define_memory_provider
from evelab.session import Session
from evelab.tools import define_tool

FACT = "the rota changes on Wednesday"


def everything(notes: Listed, key: str) -> None:
    """Faulty."""
    notes.notes.clear()


def the_callers_own(notes: Listed, key: str) -> None:
    """Right."""
    notes.notes[:] = [note for note in notes.notes if note[0] != key]


def _delete_all(delete: Any) -> Outcome:
    def tools(notes: Listed, ctx: Any) -> Any:
        forget = define_tool(description="Forget me.", execute=lambda: delete(notes, ctx.memory.scope.key))
        return {"forget_me": forget}

    notes = Listed(tools=tools)
    send(notes.provider(), ZHANG_SAN, FACT, scope=tenant_principal)
    send(notes.provider(), LI_SI, "forget me", call(f"{SLOT}__forget_me"), "done", scope=tenant_principal)
    seen = recalled(send(notes.provider(), ZHANG_SAN, scope=tenant_principal))
    return Outcome(f"李四 asks to be forgotten; 张三 recalls: {seen}", FACT not in seen)


def always_appends(lines: list[str], text: str) -> None:
    """Faulty."""
    lines.append(text)


def once(lines: list[str], text: str) -> None:
    """Right."""
    if text not in lines:
        lines.append(text)


def _saved_twice(save: Any) -> Outcome:
    lines: list[str] = []
    for text in (FACT, FACT):
        save(lines, text)
    lines.remove(FACT)
    seen = "; ".join(lines) or "nothing"
    return Outcome(f"saved twice, deleted once; left: {seen}", FACT in seen)


RULE = "Pay invoices of Initech only after a second person has approved them"


def first_forty(text: str) -> str:
    """Faulty."""
    return text[:40]


def refuse_if_long(text: str) -> str:
    """Right."""
    if len(text) > 40:
        raise ValueError(f"the text has {len(text)} characters; the limit is 40")
    return text


def _cut(keep: Any) -> Outcome:
    store: list[str] = []
    fields = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    save = define_tool(description="Save.", input_schema=fields, execute=lambda text: store.append(keep(text)))
    model = ScriptedModel([call("save", text=RULE), "done"])
    result = Session(Agent(model=model, tools={"save": save})).send("remember it").results[-1]
    told = "saved" if result.type != "error-text" else str(result.value)
    return Outcome(
        f"the model is told: {told}. Kept: {'; '.join(store) or 'nothing'}", bool(store) and RULE not in store
    )


def search_then_filter() -> Notes:
    """Faulty."""
    return SearchFirst()


def search_in_the_partition() -> Notes:
    """Right."""
    return Notes()


def _crowded(notes: Any) -> Outcome:
    seen = "; ".join(crowded(notes())[ZHANG_SAN.label]) or "nothing"
    return Outcome(f"twenty notes of 李四 fit better; 张三 recalls: {seen}", seen == "nothing")


def reads_the_reply(session: Session) -> bool:
    """Faulty."""
    return session.turns[-1].status == "completed"


def asks_for_what_it_said(session: Session) -> bool:
    """Right."""
    again = Session(session.agent, ZHANG_SAN.principal, environ={}).send("?")
    return FACT in recalled(again)


def _stopped(check: Any) -> Outcome:
    def capture(ctx: Any) -> None:
        raise AttributeError("'OperationContext' object has no attribute 'conversation'")

    provider = define_memory_provider(recall={"turn.started": lambda ctx: None}, capture={"turn.completed": capture})
    memory = define_memory(provider=provider, scope=tenant_principal, namespace="notes-v1")
    session = Session(Agent({SLOT: memory}, RuleModel()), ZHANG_SAN.principal, environ={})
    turn = session.send(FACT)
    fine = check(session)
    logged = sum(log.level == "error" for log in turn.logs)
    return Outcome(f"the check says: {'fine' if fine else 'broken'}. Errors in the log: {logged}. Kept: nothing", fine)


def ignores_the_limit() -> dict[str, int]:
    """Faulty."""
    return {"max_characters": 1_000_000}


def keeps_the_limit() -> dict[str, int]:
    """Right."""
    return {"max_characters": 4_000}


def _prompt_that_grows(options: Any) -> Outcome:
    store = in_memory()
    memory = define_memory(provider=file_memory(backend=store, **options()), scope="acme", namespace="n")
    agent = Agent({SLOT: memory}, RuleModel())
    for day in range(20):
        Session(agent, ZHANG_SAN.principal, environ={}).send(f"remember day {day} {'x' * 900}")
    recall = Session(agent, ZHANG_SAN.principal, environ={}).send("?").recalled[SLOT][0].content
    return Outcome(
        f"after twenty saves every prompt begins with {len(recall):,} characters of memory", len(recall) > 4_000
    )


INCIDENTS = (
    Incident("delete-all", "Delete all, without whose", "loss", everything, the_callers_own, _delete_all),
    Incident("twice", "Saved twice, deleted once", "leak", always_appends, once, _saved_twice),
    Incident("cut", "A limit that cuts", "loss", first_forty, refuse_if_long, _cut),
    Incident("no-limit", "A limit that nobody keeps", "loss", ignores_the_limit, keeps_the_limit, _prompt_that_grows),
    Incident("crowd", "A filter after the search", "loss", search_then_filter, search_in_the_partition, _crowded),
    Incident("silent", "A capture that stopped", "loss", reads_the_reply, asks_for_what_it_said, _stopped),
)
