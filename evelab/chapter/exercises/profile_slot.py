"""12.2: a slot with file memory and by_principal that remembers "I watch payment-api"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evelab.backends import in_memory
from evelab.chapter.callers import ANONYMOUS, LI_SI, LOCAL_DEV, NO_TENANT, PARTNER, RUNTIME, ZHANG_SAN
from evelab.chapter.exercises.answers import agent_of, recalls, told
from evelab.chapter.exercises.requirement import Exercise, Requirement, Seen

if TYPE_CHECKING:
    from evelab.agent import Agent

FACT = "I watch payment-api"


def _saved(answer: object) -> tuple[Agent, bool]:
    """The agent, after 张三 has said the sentence; and whether the store then holds it."""
    store = in_memory()
    agent = agent_of(answer, store)
    told(agent, ZHANG_SAN, f"remember {FACT}")
    return agent, any(FACT in document for document in store.documents().values())


def _is_saved(answer: object) -> Seen:
    _, saved = _saved(answer)
    if saved:
        return Seen(True, "the store holds it")
    return Seen(
        False,
        "the store holds nothing of it",
        "Give the agent a slot: define_memory(provider=file_memory(backend=store), scope=...), with the store given. "
        "(A state would not do: a state ends with its session.)",
    )


def _is_recalled(answer: object) -> Seen:
    agent, _ = _saved(answer)
    if recalls(agent, ZHANG_SAN, FACT):
        return Seen(True, "a new session of the same caller recalls it")
    return Seen(
        False,
        "a new session of the same caller recalls nothing of it",
        "The scope must not change from session to session: ask who the caller is, nothing else.",
    )


def _colleague(answer: object) -> Seen:
    agent, _ = _saved(answer)
    if not recalls(agent, LI_SI, FACT):
        return Seen(True, "李四 of the same company recalls nothing")
    return Seen(
        False,
        "李四 recalls what 张三 has said",
        "One scope for both: a fixed string, or the tenant alone. A profile belongs to one person.",
    )


def _other_system(answer: object) -> Seen:
    agent, _ = _saved(answer)
    if not recalls(agent, PARTNER, FACT):
        return Seen(True, "the partner's u_42 recalls nothing")
    return Seen(
        False,
        "u_42 of another authentication system recalls it",
        "The principal id alone joins two authentication systems: by_principal also takes authenticator and issuer.",
    )


def _everyone_known(answer: object) -> Seen:
    agent, _ = _saved(answer)
    without = [caller.label for caller in (NO_TENANT, LOCAL_DEV) if not told(agent, caller, "?").locks]
    if not without:
        return Seen(True, "a user without a tenant and a local developer have a profile of their own")
    return Seen(
        False,
        f"no profile for: {', '.join(without)}",
        "by_principal asks for no tenant. A scope of tenant and principal is experiment B.",
    )


def _nobody(answer: object) -> Seen:
    agent, _ = _saved(answer)
    with_one = [caller.label for caller in (ANONYMOUS, RUNTIME) if told(agent, caller, "?").locks]
    if not with_one:
        return Seen(True, "anonymous and runtime callers have none")
    return Seen(
        False,
        f"a profile for: {', '.join(with_one)}",
        'Nobody vouches for them: a fallback such as "public" gives all of them one profile. Return None.',
    )


EXERCISE = Exercise(
    "12.2",
    "A profile that outlives the session",
    (
        Requirement('"remember I watch payment-api" is saved in the store.', "8.6", _is_saved, is_basis=True),
        Requirement("A new session of the same caller recalls it.", "8.5 C", _is_recalled, is_basis=True),
        Requirement("A colleague does not.", "8.5 C", _colleague),
        Requirement("The same id in another authentication system does not.", "8.5 C", _other_system),
        Requirement("Everyone who is signed in has a profile.", "8.5 C", _everyone_known),
        Requirement("Anonymous and runtime callers have none.", "8.5 D", _nobody),
    ),
)
