"""What each failure does, row by row as in the failure table of eve 0.80.1."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from evelab import Agent, CompactionPolicy, Session, define_tool, file_memory, in_memory
from evelab.errors import (
    DefinitionError,
    DocumentError,
    NamespaceTypeError,
    RecallError,
    ScopeError,
    SessionFailedError,
    SummaryError,
    TurnCancelledError,
)
from evelab.model import call
from evelab.provider import define_memory
from tests.providers import Script, agent, slot, texts

BOOM = ValueError("boom")


def failed(session: Session, said: str = "q") -> SessionFailedError:
    """The error of a session that ends."""
    with pytest.raises(SessionFailedError) as ended:
        session.send(said)
    return ended.value


def assert_ended_after_four_attempts(session: Session, cause: type[Exception]) -> None:
    ended = failed(session)
    assert ended.attempts == 4
    assert isinstance(ended.__cause__, cause)
    assert len(session.turns[-1].failures) == 4
    assert session.turns[-1].events.count("turn.started") == 4
    assert session.turns[-1].events[-1] == "session.failed"
    assert "turn.failed" not in session.turns[-1].events
    assert session.history == ()
    again = failed(session)
    assert again.__cause__ is ended


# scope or namespace resolver raises, or an invalid scope


def test_scope_resolver_raises() -> None:
    recall = Script(texts("x"))
    assert_ended_after_four_attempts(Session(agent(profile=slot(recall, scope=Script(BOOM)))), ValueError)
    assert recall.calls == []


def test_namespace_resolver_raises() -> None:
    assert_ended_after_four_attempts(Session(agent(profile=slot(namespace=Script(BOOM)))), ValueError)


@pytest.mark.parametrize("scope", [(), ("a",) * 17, (" ",), 7, ("a", None)])
def test_invalid_scope(scope: object) -> None:
    session = Session(agent(profile=slot(scope=lambda _: scope)))
    assert_ended_after_four_attempts(session, ScopeError)


def test_invalid_namespace() -> None:
    assert_ended_after_four_attempts(Session(agent(profile=slot(namespace=lambda _: 7))), NamespaceTypeError)


def test_of_two_failing_resolvers_the_first_in_time_decides() -> None:
    def late(seconds: float, error: Exception) -> Any:
        async def resolver(_: object) -> str:
            await asyncio.sleep(seconds)
            raise error

        return resolver

    slow, fast = ValueError("slow"), ValueError("fast")
    session = Session(agent(a=slot(scope=late(0.02, slow)), b=slot(scope=late(0, fast))))
    assert failed(session).__cause__ is fast


# recall["turn.started"] raises, is invalid, or reads a broken document


def test_recall_raises() -> None:
    assert_ended_after_four_attempts(Session(agent(profile=slot(Script(BOOM)))), ValueError)


def test_recall_is_invalid() -> None:
    assert_ended_after_four_attempts(Session(agent(profile=slot(Script({"messages": [{}]})))), RecallError)


def test_recall_reads_a_broken_document() -> None:
    backend = in_memory()
    memory = define_memory(provider=file_memory(backend=backend), scope="acme", namespace="acme-support-v1")
    session = Session(agent(profile=memory))
    key = session.send("q").locks["profile"].scope.key
    backend.write(key, "hand edited", expected_version=None)
    ended = failed(session)
    assert isinstance(ended.__cause__, DocumentError)


def test_one_failing_recall_commits_nothing_of_any_slot() -> None:
    capture = Script(None)
    good = slot(Script(texts("p")), capture=capture)
    session = Session(agent(profile=good, workspace=slot(Script(BOOM))))
    failed(session)
    assert session.history == ()
    assert session.memory.operation_digests == {}
    assert capture.calls == []


def test_every_recall_is_awaited_and_the_first_failing_slot_decides() -> None:
    ended: list[str] = []

    async def slow(_: object) -> None:
        await asyncio.sleep(0.01)
        ended.append("c")

    async def late(_: object) -> None:
        await asyncio.sleep(0.02)
        raise ValueError("slow a")

    session = Session(agent(a=slot(late), b=slot(Script(ValueError("fast b"))), c=slot(slow)))
    assert str(failed(session).__cause__) == "slow a"
    assert ended == ["c"] * 4


def test_a_recall_that_recovers_is_accepted_with_another_result() -> None:
    recall = Script(BOOM, texts("late but here"))
    session = Session(agent(["hello"], profile=slot(recall)))
    turn = session.send("q")
    assert turn.reply == "hello"
    assert turn.failures == [BOOM]
    assert [message.content for message in turn.committed] == ["late but here"]
    assert recall.calls[0].operation_id == recall.calls[1].operation_id


# the same, but the turn was cancelled meanwhile


def test_recall_raises_after_the_turn_was_cancelled() -> None:
    def recall(ctx: Any) -> None:
        session.cancel()
        assert ctx.abort_signal.aborted
        raise BOOM

    session = Session(agent(["later"], profile=slot(recall)))
    turn = session.send("q")
    assert turn.status == "cancelled"
    assert isinstance(turn.error, TurnCancelledError)
    assert turn.events[-2:] == ["turn.cancelled", "session.waiting"]
    assert session.failure is None
    assert session.history == ()


# capture["turn.completed"] raises


def test_capture_raises_and_is_only_logged() -> None:
    first, second = Script(ValueError("boom a")), Script(ValueError("boom b"))
    turn = Session(agent(["hi"], a=slot(capture=first), b=slot(capture=second))).send("q")
    assert turn.status == "completed"
    assert turn.reply == "hi"
    assert len(second.calls) == 1
    logs = [log for log in turn.logs if log.namespace == "memory"]
    assert [(log.level, log.message, str(log.error)) for log in logs] == [
        ("error", "Completed-turn memory capture failed.", "boom a")
    ]


# capture["compaction.requested"] raises


def test_manual_compaction_when_capture_raises() -> None:
    session = Session(agent(["hi", "SUMMARY"], profile=slot(Script(texts("n")), before_compaction=Script(BOOM))))
    session.send("q")
    before = session.history
    compaction = session.compact()
    assert compaction.error is BOOM
    assert [log.message for log in compaction.logs] == ["manual session compaction failed"]
    assert compaction.events == ["compaction.requested", "session.waiting"]
    assert session.history == before
    assert session.failure is None
    assert session.send("go on").status == "completed"


def short(made: Agent) -> Agent:
    return replace(made, compaction=CompactionPolicy(threshold=10))


def test_automatic_compaction_when_capture_raises() -> None:
    session = Session(short(agent(profile=slot(Script(texts("n")), before_compaction=Script(BOOM)))))
    assert_ended_after_four_attempts(session, ValueError)
    assert session.turns[-1].events.count("compaction.requested") == 4


# recall["compaction.completed"] raises


def test_manual_compaction_when_recall_raises() -> None:
    session = Session(agent(["hi", "SUMMARY"], profile=slot(Script(texts("n")), after_compaction=Script(BOOM))))
    session.send("q")
    before = session.history
    compaction = session.compact()
    assert compaction.error is BOOM
    assert "compaction.completed" in compaction.events
    assert session.history == before


def test_automatic_compaction_when_recall_raises() -> None:
    session = Session(short(agent(["S"] * 4, profile=slot(Script(texts("n")), after_compaction=Script(BOOM)))))
    assert_ended_after_four_attempts(session, ValueError)


@pytest.mark.parametrize(("reply", "cause"), [(BOOM, ValueError), (" ", SummaryError)])
def test_manual_compaction_when_the_summary_fails(reply: str | Exception, cause: type[Exception]) -> None:
    session = Session(agent(["hi", reply], profile=slot()))
    session.send("q")
    assert isinstance(session.compact().error, cause)
    assert len(session.history) == 2


# tools() raises, is invalid, or has an illegal name


@pytest.mark.parametrize(
    "tools",
    [
        Script(BOOM),
        Script([]),
        Script({"x": "not a tool"}),
        Script(
            {"ok": define_tool(description="d", execute=dict), "not ok": define_tool(description="d", execute=dict)}
        ),
    ],
)
def test_tools_fail_and_only_their_slot_offers_none(tools: Script) -> None:
    other = Script({"x": define_tool(description="X", execute=dict)})
    turn = Session(agent(profile=slot(tools=tools), other=slot(tools=other))).send("q")
    assert list(turn.tools) == ["other__x"]
    assert [(log.level, log.namespace, log.fields["slot"]) for log in turn.logs] == [
        ("error", "dynamic-tools", "profile")
    ]
    assert turn.status == "completed"


def test_a_slot_called_eve_offers_no_tools() -> None:
    tools = Script({"x": define_tool(description="X", execute=dict)})
    turn = Session(agent(eve=slot(Script(texts("recalled")), tools=tools))).send("q")
    assert turn.tools == {}
    assert [message.content for message in turn.committed] == ["recalled"]


# two slots offer the same name


def test_two_slots_offer_the_same_tool() -> None:
    def tools(key: str) -> Script:
        return Script({key: define_tool(description="d", execute=dict)})

    session = Session(agent(a=slot(tools=tools("b__c")), a__b=slot(tools=tools("c"))))
    assert_ended_after_four_attempts(session, DefinitionError)


# a provider tool's execute raises


def test_a_tool_raises_and_the_model_reads_it() -> None:
    def execute() -> None:
        raise BOOM

    tools = Script({"t": define_tool(description="d", execute=execute)})
    turn = Session(agent([call("profile__t"), "went on"], profile=slot(tools=tools))).send("q")
    assert (turn.results[0].type, turn.results[0].value) == ("error-text", "ValueError: boom")
    assert turn.reply == "went on"
    logs = [(log.namespace, log.message, log.error) for log in turn.logs]
    assert logs == [("harness.tool-loop", "tool execution failed", BOOM)]
    assert turn.failures == []


def test_a_save_over_the_limit_is_told_to_the_model_in_words_it_can_act_on() -> None:
    memory = define_memory(provider=file_memory(backend=in_memory(), max_characters=1), scope="acme", namespace="n")
    turn = Session(agent([call("profile__save_memory", text="x"), "full"], profile=memory)).send("q")
    assert turn.results[0].value == (
        "RangeError: Memory would exceed the configured 1-character limit. "
        "Remove an outdated memory by index, then retry this save."
    )
    assert turn.status == "completed"


# the slot is disabled


@pytest.mark.parametrize(("fields", "resolver"), [({"scope": None}, "scope"), ({"namespace": None}, "namespace")])
def test_a_disabled_slot_is_not_called_and_its_records_are_hidden(fields: dict[str, Any], resolver: str) -> None:
    recall, tools = Script(texts("x")), Script({"t": define_tool(description="d", execute=dict)})
    session = Session(agent(profile=slot(recall, tools=tools, **fields)), environ={"EVE_DEV": "1"})
    turn = session.send("q")
    assert turn.disabled == {"profile": resolver}
    assert recall.calls == tools.calls == []
    assert turn.tools == {}
    assert [(log.level, log.namespace, dict(log.fields)) for log in turn.logs] == [
        ("info", "memory", {"resolver": resolver, "slot": "profile"})
    ]


def test_a_slot_that_is_switched_off_hides_what_it_recalled() -> None:
    scope = Script("acme", None, "acme")
    session = Session(agent(profile=slot(Script(texts("secret"), None), scope=scope)))
    assert "secret" in [message.text for message in session.send("a").context]
    assert "secret" not in [message.text for message in session.send("b").context]
    assert "secret" in [message.text for message in session.send("c").context]


def test_a_disabled_slot_is_not_logged_outside_eve_dev() -> None:
    assert Session(agent(profile=slot(scope=None)), environ={"EVE_DEV": " 1"}).send("q").logs == []


# the model fails


def test_the_model_fails_and_the_session_waits() -> None:
    capture = Script(None)
    session = Session(agent([BOOM, "hello"], profile=slot(Script(texts("n"), None), capture=capture)))
    turn = session.send("lost")
    assert turn.status == "failed"
    assert turn.error is BOOM
    assert turn.events[-3:] == ["step.failed", "turn.failed", "session.waiting"]
    assert [message.content for message in session.history] == ["n"]
    assert capture.calls == []
    assert session.send("again").reply == "hello"


def test_nothing_in_logs_or_errors_names_a_scope() -> None:
    secret = "u_42@example.org"  # a person
    session = Session(agent(profile=slot(Script(BOOM), scope=(lambda _: (secret, " ")))), environ={"EVE_DEV": "1"})
    ended = failed(session)
    assert secret not in str(ended)
    assert secret not in str(ended.__cause__)
    assert all(secret not in repr(log) for log in session.turns[-1].logs)
