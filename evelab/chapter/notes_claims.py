"""Claims of 8.7 about the notes provider: its rows, and where the partition stands in the search."""

from __future__ import annotations

from evelab.agent import Agent
from evelab.chapter.callers import LI_SI, ZHANG_SAN, Caller
from evelab.chapter.claims import Evidence, claim
from evelab.chapter.notes_in_dict import LIMIT, NoFilter, Notes, SearchFirst
from evelab.chapter.values import PRINTED_KEYS
from evelab.chapter.workbench import NAMESPACE, SLOT
from evelab.model import Reply, RuleModel, ScriptedModel, call
from evelab.provider import Handler, MemoryProvider, define_memory
from evelab.scope import by_principal
from evelab.session import Session

QUESTION = "Who changes the on-call rota, and when?"


def talk(notes: Notes, caller: Caller, *replies: Reply | str, scope: Handler = by_principal) -> Session:
    """A new session of a caller with the notes in one slot."""
    memory = define_memory(provider=notes.provider(), scope=scope, namespace=NAMESPACE)
    return Session(Agent({SLOT: memory}, ScriptedModel(replies)), caller.principal, environ={})


@claim("7.7")
def the_notes_provider(see: Evidence) -> None:
    """The notes provider: search in the partition, idempotent capture, a forget tool; its three stored rows."""
    notes = Notes()
    said = (ZHANG_SAN, "用户偏好中文回答"), (ZHANG_SAN, "值班表每周三更新"), (LI_SI, "另一份，完全隔离")
    for caller, text in said:
        talk(notes, caller).send(text)
    key = next(row.key for row in PRINTED_KEYS if row.experiment == "C")
    rows = notes.rows()
    see.equal(
        "stored texts", [row["text"] for row in rows], ["用户偏好中文回答", "值班表每周三更新", "另一份，完全隔离"]
    )
    see.equal("the first two lie under 张三's key", [row["partition"] == key for row in rows], [True, True, False])
    session = talk(notes, ZHANG_SAN, "ok")
    before = session.checkpoint()
    recalled = [item.content for item in session.send("值班表什么时候更新？").recalled[SLOT]]
    see.equal("the search finds the note that fits best first", recalled[0], "值班表每周三更新")
    stored = len(notes.rows())
    session.restore(before)
    session.send("值班表什么时候更新？")
    see.equal("the same operation again writes nothing", len(notes.rows()), stored)
    other = talk(notes, LI_SI, call(f"{SLOT}__forget", id=rows[1]["id"]), "ok").send("删掉")
    see.equal("李四 cannot forget 张三's note", other.results[-1].value, {"deleted": False})
    own = talk(notes, ZHANG_SAN, call(f"{SLOT}__forget", id=rows[1]["id"]), "ok").send("删掉")
    see.equal("张三 can", own.results[-1].value, {"deleted": True})
    see.true("it is gone", "值班表每周三更新" not in [row["text"] for row in notes.rows()])


def in_a_slot(provider: MemoryProvider) -> dict[str, str]:
    """A provider in 张三's slot: he says something, and a new session asks for it.

    Returns:
        the namespace and the key that the slot has locked, and whether it was recalled.
    """
    memory = define_memory(provider=provider, scope=by_principal, namespace=NAMESPACE)
    agent = Agent({SLOT: memory}, RuleModel())
    Session(agent, ZHANG_SAN.principal, environ={}).send("remember payment-api broke on Monday")
    turn = Session(agent, ZHANG_SAN.principal, environ={}).send("what broke, payment-api?")
    found = any("broke on Monday" in item.content for item in turn.recalled[SLOT])
    scope = turn.locks[SLOT].scope
    return {"namespace": scope.namespace, "key": scope.key, "recalled": "yes" if found else "no"}


def crowded(notes: Notes) -> dict[str, list[str]]:
    """张三 has one note about the rota, and 李四 has written twenty that fit the same question better.

    Returns:
        caller's label -> what each recalls when asked.
    """
    talk(notes, ZHANG_SAN).send("The rota changes on Wednesday.")
    for day in range(20):
        talk(notes, LI_SI).send(f"Who changes the on-call rota, and when? Rule {day}.")
    found = {}
    for caller in (ZHANG_SAN, LI_SI):
        recalled = talk(notes, caller).send(QUESTION).recalled[SLOT]
        found[caller.label] = [item.content for item in recalled]
    return found


@claim("7.10")
def the_partition_is_in_the_query(see: Evidence) -> None:
    """The partition is in the query itself, not a filter after a global search."""
    right, late, none = (crowded(kind()) for kind in (Notes, SearchFirst, NoFilter))
    zhang, li = ZHANG_SAN.label, LI_SI.label
    see.equal("in the query: 张三 recalls", right[zhang], ["The rota changes on Wednesday."])
    see.equal("in the query: 李四 recalls", len(right[li]), LIMIT)
    see.equal("a filter afterwards: 张三 recalls", late[zhang], [])
    see.true("no filter at all: 张三 recalls what 李四 wrote", any("Rule" in text for text in none[zhang]))
