"""12.3: the scope "acme". Two users share one memory, and the danger is seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evelab.backends import in_memory
from evelab.chapter.callers import ANONYMOUS, GLOBEX, LI_SI, ZHANG_SAN, Caller
from evelab.chapter.exercises.answers import agent_of, recalls, told
from evelab.chapter.exercises.requirement import Exercise, Requirement, Seen

if TYPE_CHECKING:
    from evelab.agent import Agent

FACT = "I watch payment-api"


def _saved(answer: object) -> Agent:
    agent = agent_of(answer, in_memory())
    told(agent, ZHANG_SAN, f"remember {FACT}")
    return agent


def _key(agent: Agent, caller: Caller) -> set[str]:
    return {lock.scope.key for lock in told(agent, caller, "?").locks.values()}


def _colleague_recalls(answer: object) -> Seen:
    agent = _saved(answer)
    if recalls(agent, LI_SI, FACT):
        return Seen(True, "李四 recalls what 张三 has saved")
    turn = told(agent, ZHANG_SAN, "?")
    if turn.locks and not turn.tools:
        hint = "Nobody can save: leave the slot its tools. Who shares a memory can also write to it and remove from it."
    elif not recalls(agent, ZHANG_SAN, FACT):
        hint = "Not even 张三 recalls it: give the agent a slot with file_memory(backend=store), with the store given."
    else:
        hint = "Each has a memory of their own: the scope asks who the caller is. A fixed string asks nobody."
    return Seen(False, "李四 recalls nothing of it", hint)


def _colleague_removes(answer: object) -> Seen:
    agent = _saved(answer)
    removed = told(agent, LI_SI, "forget 0")
    if removed.results and not recalls(agent, ZHANG_SAN, FACT):
        return Seen(True, "李四 removes it, and 张三 recalls nothing any more")
    return Seen(
        False,
        "李四 cannot remove it",
        "Whoever shares a memory can also remove from it: leave the slot its tools.",
    )


def _everyone(answer: object) -> Seen:
    agent = _saved(answer)
    without = [caller.label for caller in (GLOBEX, ANONYMOUS) if not recalls(agent, caller, FACT)]
    if not without:
        return Seen(True, "another company recalls it, and so does an anonymous caller")
    return Seen(
        False,
        f"recalled nothing: {', '.join(without)}",
        'The scope still asks for the tenant. "acme" is a string like any other: it names no company.',
    )


def _one_string(answer: object) -> Seen:
    agent = _saved(answer)
    values = {lock.scope.value for lock in told(agent, ZHANG_SAN, "?").locks.values()}
    if values == {"acme"}:
        keys = _key(agent, ZHANG_SAN) | _key(agent, LI_SI)
        return Seen(len(keys) == 1, 'both sessions lock the string "acme" and one key')
    return Seen(
        False,
        f"the scope that is locked: {', '.join(sorted(map(repr, values))) or 'none'}",
        'A tuple of one string has another key than the string: scope="acme".',
    )


EXERCISE = Exercise(
    "12.3",
    'The scope "acme", and its danger',
    (
        Requirement("What 张三 saves, 李四 recalls.", "8.5 A", _colleague_recalls, is_basis=True),
        Requirement("李四 can remove it.", "8.5 A", _colleague_removes),
        Requirement("So can everyone else: another company, and a caller who is not signed in.", "8.5 A", _everyone),
        Requirement('The scope is the string "acme".', "8.5 A", _one_string),
    ),
)
