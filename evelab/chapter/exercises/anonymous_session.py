"""12.4: in an anonymous session the memory tools do not exist."""

from __future__ import annotations

from evelab.backends import in_memory
from evelab.chapter.callers import ANONYMOUS, GLOBEX, LI_SI, NO_TENANT, NOBODY, PARTNER, RUNTIME, ZHANG_SAN
from evelab.chapter.exercises.answers import agent_of, recalls, told
from evelab.chapter.exercises.requirement import Exercise, Requirement, Seen, quoted
from evelab.errors import SessionFailedError

FACT = "I watch payment-api"
OFF = (ANONYMOUS, RUNTIME, NO_TENANT, NOBODY)
"""Who has no memory: nobody vouches for their tenant."""


def _signed_in(answer: object) -> Seen:
    store = in_memory()
    agent = agent_of(answer, store)
    try:
        tools = list(told(agent, ZHANG_SAN, "?").tools)
    except SessionFailedError as failed:
        return _ended("session of a signed-in user", failed)
    if not tools:
        hint = "A user of a tenant keeps the tools. Only the scope decides: no disable_tool(), no None for everyone."
        return Seen(False, "a signed-in user is offered no tool", hint)
    told(agent, ZHANG_SAN, f"remember {FACT}")
    if recalls(agent, ZHANG_SAN, FACT) and store.documents():
        return Seen(True, f"a signed-in user is offered {', '.join(tools)}, and is remembered")
    return Seen(False, "what a signed-in user saves is not recalled", "Use file_memory(backend=store), with the store.")


def _ended(which: str, failed: SessionFailedError) -> Seen:
    cause = failed.__cause__
    return Seen(
        False,
        f"the {which} ended: {type(cause).__name__}: {quoted(str(cause))}",
        "An error ends the session, and a blank scope is an error. To turn the slot off, return None.",
    )


def _no_tools(answer: object) -> Seen:
    agent = agent_of(answer, in_memory())
    try:
        tools = list(told(agent, ANONYMOUS, "?").tools)
    except SessionFailedError as failed:
        return _ended("anonymous session", failed)
    if not tools:
        return Seen(True, "the anonymous session is offered none of them")
    shared = {caller.label for caller in OFF if set(told(agent, caller, "?").locks)}
    keys = {lock.scope.key for caller in OFF for lock in told(agent, caller, "?").locks.values()}
    hint = (
        'A fallback such as "public" is one memory for all who are not known. Return None instead.'
        if len(shared) > 1 and len(keys) == 1
        else "The resolver makes a scope of a caller whom nobody vouches for. Return None for one."
    )
    return Seen(False, f"the anonymous session is offered {', '.join(tools)}", hint)


def _nothing_stored(answer: object) -> Seen:
    store = in_memory()
    agent = agent_of(answer, store)
    told(agent, ANONYMOUS, f"remember {FACT}")
    if not store.documents():
        return Seen(True, "asked to remember, it stores nothing")
    return Seen(False, "something was stored for an anonymous caller", "Turn the slot off: return None.")


def _others_off(answer: object) -> Seen:
    agent = agent_of(answer, in_memory())
    on = [caller.label for caller in (RUNTIME, NO_TENANT, NOBODY, PARTNER) if told(agent, caller, "?").locks]
    if not on:
        return Seen(True, "off for runtime, for nobody, and for users without a tenant")
    return Seen(
        False,
        f"on for: {', '.join(on)}",
        "by_principal knows no tenant, and a missing tenant is no tenant: check that it is a string.",
    )


def _apart(answer: object) -> Seen:
    agent = agent_of(answer, in_memory())
    told(agent, ZHANG_SAN, f"remember {FACT}")
    if recalls(agent, GLOBEX, FACT):
        return Seen(
            False,
            "u_42 of another company recalls what u_42 of acme has saved",
            "The tuple lacks the tenant: return (tenant, principal_id).",
        )
    if recalls(agent, LI_SI, FACT):
        return Seen(False, "a colleague recalls it", "The tuple lacks the principal: return (tenant, principal_id).")
    return Seen(True, "a colleague and another company's u_42 recall nothing of it")


EXERCISE = Exercise(
    "12.4",
    "No memory for those who are not known",
    (
        Requirement("A user of a tenant has the memory tools.", "8.5 B", _signed_in, is_basis=True),
        Requirement("An anonymous session has none.", "8.5 D", _no_tools),
        Requirement("Nothing is stored for it.", "8.5 D", _nothing_stored),
        Requirement("The slot is off for everyone without a tenant.", "8.5 D", _others_off),
        Requirement("Two users, and two companies, are apart.", "8.5 B", _apart),
    ),
)
