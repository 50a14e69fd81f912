"""A session: the order of a turn, steps as transactions, approval, hooks, compaction, clear, subagents."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from evelab import Agent, Reply, ScriptedModel, Session, agent_tool, define_hook, define_state, define_tool
from evelab.errors import HeldTurnError, NotHeldError, SessionFailedError
from evelab.model import Call, call
from tests.providers import Script, agent, keyed, person, slot, texts

NOTES = define_state("test.notes", list[str])


def words(session: Session) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in session.history]


# the order of a turn


def test_a_turn_locks_then_recalls_then_hooks_then_tools_then_asks_then_captures() -> None:
    order: list[str] = []

    def step(name: str, value: Any = None) -> Any:
        def run(*_: object) -> Any:
            order.append(name)
            return value

        return run

    class Model:
        def respond(self, prompt: Any, tools: Any) -> Reply:
            order.append("model")
            return Reply("ok")

    memory = slot(
        step("recall"), scope=step("scope", "acme"), namespace=step("namespace", "n"), tools=step("tools", {}),
        capture=step("capture"),
    )  # fmt: skip
    hook = define_hook(events={"turn.started": step("hook")})
    turn = Session(Agent({"profile": memory}, model=Model(), hooks=[hook])).send("q")
    assert order == ["scope", "namespace", "recall", "hook", "tools", "model", "capture"]
    assert turn.events == [
        "session.started",
        "turn.started",
        "message.received",
        "step.started",
        "message.appended",
        "message.completed",
        "step.completed",
        "turn.completed",
        "session.waiting",
    ]


def test_no_recall_begins_before_every_scope_has_resolved() -> None:
    order: list[str] = []

    def scope(name: str) -> Any:
        def resolver(_: object) -> str:
            order.append(name)
            return name

        return resolver

    def recall(ctx: Any) -> None:
        order.append(f"recall {ctx.memory.slot}")

    Session(agent(b=slot(recall, scope=scope("b")), a=slot(recall, scope=scope("a")))).send("q")
    assert order == ["a", "b", "recall a", "recall b"]


def test_every_slot_sees_the_same_messages_without_the_new_input() -> None:
    first, second = Script(texts("1"), None), Script(texts("2"), None)
    session = Session(agent(a=slot(first), b=slot(second)))
    session.send("q1")
    session.send("q2")
    assert [message.text for message in first.calls[1].messages] == ["1", "2", "q1", "ok"]
    assert first.calls[1].messages == second.calls[1].messages


def test_operation_ids_are_as_in_eve() -> None:
    recall, capture = Script(None), Script(None)
    session = Session(agent(profile=slot(recall, capture=capture)), id="S")
    session.send("q")
    session.send("q")
    assert recall.calls[1].operation_id == "eve-memory-operation-v1:S:1:turn_1:turn.started:profile"
    assert capture.calls[0].operation_id == "eve-memory-operation-v1:S:0:turn_0:turn.completed:profile"


def test_a_changed_record_moves_before_the_new_input_and_an_unchanged_one_stays() -> None:
    session = Session(agent(profile=slot(Script(keyed(k="v1"), keyed(k="v1"), keyed(k="v2")))))
    assert [m.text for m in session.send("q1").context[1:]] == ["v1", "q1"]
    assert [m.text for m in session.send("q2").context[1:]] == ["v1", "q1", "ok", "q2"]
    assert [m.text for m in session.send("q3").context[1:]] == ["q1", "ok", "q2", "ok", "v2", "q3"]


def test_context_stands_before_the_input_and_blank_input_is_left_out() -> None:
    recall = Script(None)
    session = Session(agent(profile=slot(recall)))
    turn = session.send(" ", context=["Be brief."])
    assert [(m.text, m.kind) for m in turn.context[1:]] == [("Be brief.", "context.instruction")]
    assert [m.text for m in recall.calls[0].turn.input] == ["Be brief."]


def test_a_blank_answer_stays_in_the_history_and_out_of_the_prompt() -> None:
    session = Session(agent([" ", "ok"]))
    assert session.send("q1").reply == ""
    assert [m.text for m in session.send("q2").context[1:]] == ["q1", "q2"]
    assert words(session)[1] == ("assistant", " ")


def test_input_after_a_tool_result_is_set_apart() -> None:
    session = Session(agent([call("nope"), ValueError("model down")]))
    session.send("q1")
    assert [m.role for m in session.send("q2").context[1:]] == ["user", "assistant", "tool", "assistant", "user"]
    assert words(session)[3] == ("assistant", "…")


# tools


def test_tools_are_made_again_for_each_call_and_keep_the_scope_of_the_turn() -> None:
    ran: list[str] = []

    def tools(ctx: Any) -> Any:
        made.append(ctx)
        return {"t": define_tool(description="d", execute=lambda: ran.append(ctx.memory.scope.value))}

    made: list[Any] = []
    scope = Script("one", "two")
    session = Session(agent([call("profile__t"), call("profile__t"), "done"], profile=slot(scope=scope, tools=tools)))
    session.send("q")
    assert ran == ["one", "one"]
    assert len(made) == 5
    assert all(ctx == made[0] for ctx in made)
    assert [message.text for message in made[0].messages] == ["q"]


def test_a_tool_that_is_gone_when_it_is_called_is_an_error_for_the_model() -> None:
    tool = define_tool(description="d", execute=dict)
    tools = Script({"t": tool}, {"t": tool}, {})
    turn = Session(agent([call("profile__t"), "ok"], profile=slot(tools=tools))).send("q")
    assert turn.results[0].value == 'Error: Memory provider tool "t" was removed or renamed.'


def test_an_input_that_does_not_fit_is_told_in_eves_words() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    made = Agent(
        model=ScriptedModel([call("t", n="1"), "ok"]),
        tools={"t": define_tool(description="d", input_schema=schema, execute=lambda n: n)},
    )
    assert Session(made).send("q").results[0].value == (
        'AI_InvalidToolInputError: Invalid input for tool t: AI_TypeValidationError: Type validation failed: '
        'Value: {"n":"1"}.\nError message: [{"message":"Instance type \\"string\\" is invalid. '
        'Expected \\"integer\\".","path":["n"]}]'
    )  # fmt: skip


def test_calls_of_one_step_run_side_by_side_and_answer_in_order() -> None:
    import asyncio

    order: list[str] = []

    async def slow() -> str:
        await asyncio.sleep(0.01)
        order.append("slow")
        return "slow"

    async def fast() -> str:
        order.append("fast")
        return "fast"

    tools = {name: define_tool(description="d", execute=f) for name, f in (("slow", slow), ("fast", fast))}
    both = Reply(calls=(Call("slow", {}), Call("fast", {})))
    turn = Session(Agent(model=ScriptedModel([both, "ok"]), tools=tools)).send("q")
    assert order == ["fast", "slow"]
    assert [(result.type, result.value) for result in turn.results] == [("text", "slow"), ("text", "fast")]


# steps as transactions


def note(text: str) -> None:
    NOTES.update(lambda notes: [*notes, text])


def test_a_crashed_step_begins_again_from_its_recorded_input() -> None:
    seen: list[list[str]] = []

    class Crash:
        """A model layer that crashes outside the model call: the compaction's capture."""

        left = 1

        def __call__(self, ctx: Any) -> None:
            seen.append(list(NOTES.get()))
            note("written in the step that crashes")
            if self.left:
                self.left -= 1
                raise ValueError("crash")

    session = Session(agent(profile=slot(Crash())))
    turn = session.send("q")
    assert seen == [[], []]
    assert session.state["test.notes"] == ["written in the step that crashes"]
    assert [str(error) for error in turn.failures] == ["crash"]
    assert len(turn.prompts) == 1


def test_a_tool_that_raises_does_not_rewind() -> None:
    def save_and_fail() -> None:
        note("kept")
        raise ValueError("boom")

    made = Agent(
        model=ScriptedModel([call("t"), "ok"]), tools={"t": define_tool(description="d", execute=save_and_fail)}
    )
    session = Session(made)
    session.send("q")
    assert session.state["test.notes"] == ["kept"]


def test_a_session_that_failed_takes_nothing_more() -> None:
    session = Session(agent(profile=slot(Script(ValueError("x")))))
    for act in (lambda: session.send("q"), lambda: session.send("q"), session.compact, session.clear, session.approve):
        with pytest.raises(SessionFailedError):
            act()


def test_a_cancelled_turn_asks_the_model_no_more() -> None:
    made = Agent(
        model=ScriptedModel([call("stop"), "never"]),
        tools={"stop": define_tool(description="d", execute=lambda: session.cancel())},
    )
    session = Session(made)
    turn = session.send("q")
    assert turn.status == "cancelled"
    assert turn.reply is None
    assert len(turn.prompts) == 1
    assert session.send("again").reply == "never"


def test_a_turn_that_is_interrupted_leaves_the_session_as_it_was() -> None:
    session = Session(
        agent(["one", "two"], profile=slot(Script(texts("a")), tools=Script({}, KeyboardInterrupt(), {})))
    )
    session.send("q1")
    before = session.checkpoint()
    with pytest.raises(KeyboardInterrupt):
        session.send("q2")
    assert session.checkpoint() == before
    assert session.turns[-1].status == "cancelled"
    assert session.send("q3").id == "turn_1"


def test_after_an_interrupted_second_step_the_session_goes_on() -> None:
    """The first step's recall is committed under the turn's number, so the next turn has another one."""
    recall = Script(texts("a"), texts("b"))
    work = Script(1, KeyboardInterrupt())
    tools = {"work": define_tool(description="d", execute=lambda: work(None))}
    made = Agent({"m": slot(recall)}, model=ScriptedModel([call("work"), call("work"), "ok"]), tools=tools)
    session = Session(made)
    with pytest.raises(KeyboardInterrupt):
        session.send("q1")
    turn = session.send("q2")
    assert (turn.id, turn.reply) == ("turn_1", "ok")
    assert [message.text for message in turn.committed] == ["b"]


def test_a_session_does_one_thing_at_a_time() -> None:
    made = Agent(
        model=ScriptedModel([call("again"), "ok"]),
        tools={"again": define_tool(description="d", execute=lambda: session.send("inner"))},
    )
    session = Session(made)
    turn = session.send("outer")
    assert turn.results[0].value.startswith("Error: Session")
    assert [message.text for message in turn.context[1:]] == ["outer"]
    assert len(session.turns) == 1


# approval


def held(*answers: Any) -> tuple[Session, list[str]]:
    """A session whose turn waits for a decision about two calls."""
    ran: list[str] = []
    tools = Script(
        {
            "drop": define_tool(
                description="Drop.",
                input_schema={"type": "object", "properties": {"what": {"type": "string"}}},
                execute=lambda what: ran.append(what),
                approval=lambda fields: "user-approval" if fields["what"] != "dust" else None,
            )
        }
    )
    calls = tuple(Call("profile__drop", {"what": what}) for what in ("dust", "a", "b"))
    capture = Script(None)
    session = Session(agent([Reply(calls=calls), *answers], profile=slot(tools=tools, capture=capture)))
    turn = session.send("clean up")
    assert turn.status == "held"
    assert turn.reply is None
    assert turn.events[-3:] == ["step.completed", "input.requested", "turn.waiting"]
    assert [waiting.input["what"] for waiting in turn.held] == ["a", "b"]
    assert ran == ["dust"]
    assert capture.calls == []
    return session, ran


def test_an_approved_call_runs_and_the_turn_goes_on() -> None:
    session, ran = held("done")
    turn = session.approve()
    assert ran == ["dust", "a", "b"]
    assert (turn.status, turn.reply, turn.held) == ("completed", "done", ())
    assert turn is session.turns[0]
    assert "turn.completed" in turn.events


def test_a_refused_call_does_not_run_and_the_model_reads_why() -> None:
    session, ran = held("understood")
    waiting = session.turns[0].held
    assert session.approve(waiting[1]).status == "held"
    assert session.turns[0].events[-1] == "turn.waiting"
    turn = session.refuse(waiting[0], reason="not mine")
    assert ran == ["dust", "b"]
    assert [(result.type, result.value) for result in turn.results] == [
        ("json", None),
        ("execution-denied", 'Tool execution was denied. The person who denied it wrote: "not mine"'),
        ("json", None),
    ]
    assert turn.reply == "understood"


def test_a_message_while_a_call_waits_refuses_it_and_recalls_nothing() -> None:
    session, ran = held("fine")
    turn = session.send("never mind")
    assert turn is session.turns[0]
    assert ran == ["dust"]
    assert turn.results[-1].value == "Ignored because the user continued without responding."
    assert turn.events.count("turn.started") == 1
    assert words(session)[-2:] == [("user", "never mind"), ("assistant", "fine")]


def test_a_call_that_a_rule_denies_is_not_held() -> None:
    tool = define_tool(description="d", execute=dict, approval=lambda _: "denied")
    turn = Session(Agent(model=ScriptedModel([call("t"), "ok"]), tools={"t": tool})).send("q")
    assert turn.results[0].type == "execution-denied"
    assert turn.events.count("action.result") == 1
    assert turn.status == "completed"


def test_a_decision_that_nothing_waits_for_is_refused() -> None:
    session, _ = held()
    other = session.turns[0].held[0]
    session.send("go on")
    with pytest.raises(NotHeldError):
        session.approve(other)


def test_an_allowed_call_is_checked_again_before_it_runs() -> None:
    decisions = iter(["user-approval", "denied"])
    tool = define_tool(description="d", execute=dict, approval=lambda _: next(decisions))
    session = Session(Agent(model=ScriptedModel([call("t"), "ok"]), tools={"t": tool}))
    session.send("q")
    assert [result.type for result in session.approve().results] == ["execution-denied"]


def test_a_decision_may_come_after_the_session_was_restored() -> None:
    session, ran = held("unused")
    other = Session(session.agent, id=session.id)
    other.restore(session.checkpoint())
    turn = other.approve()
    assert ran == ["dust", "a", "b"]
    assert (turn.id, turn.status) == ("turn_0", "completed")


def test_a_history_is_not_compacted_while_a_call_waits() -> None:
    session, _ = held()
    with pytest.raises(HeldTurnError):
        session.compact()


def test_clear_ends_a_turn_that_waits() -> None:
    session, ran = held()
    session.clear()
    assert session.turns[0].status == "cancelled"
    assert session.history == ()
    assert session.send("new").id == "turn_1"
    assert ran == ["dust"]


# hooks


def test_a_hook_that_raises_is_logged_and_stops_nothing() -> None:
    hook = define_hook(events={"turn.started": Script(ValueError("hook"))})
    turn = Session(Agent(hooks=[hook])).send("q")
    assert turn.status == "completed"
    assert [(log.namespace, str(log.error)) for log in turn.logs] == [("hooks", "hook")]


def test_a_hook_may_reset_state_after_recall_and_before_the_tools() -> None:
    seen: dict[str, list[str]] = {}

    def look(name: str, value: Any = None) -> Any:
        return lambda *_: seen.update({name: list(NOTES.get())}) or value

    def end(_: Any) -> None:
        note("from the turn before")

    hook = define_hook(events={"turn.started": lambda *_: NOTES.update(lambda _: [])})
    memory = slot(look("recall"), tools=look("tools", {}), capture=end)
    session = Session(Agent({"profile": memory}, model=ScriptedModel(), hooks=[hook]))
    session.send("a")
    session.send("b")
    assert seen == {"recall": ["from the turn before"], "tools": []}


def test_a_hook_for_every_event_hears_them_in_order() -> None:
    heard: list[str] = []
    session = Session(Agent(hooks=[define_hook(events={"*": lambda event, ctx: heard.append(event.type)})]))
    turn = session.send("q")
    assert heard == turn.events == [event.type for event in session.events]


# compaction and clear


def test_a_compaction_keeps_recalled_records_and_uses_the_last_speakers_scope() -> None:
    before, after = Script(None), Script(texts("y"))
    memory = slot(
        Script(texts("x")),
        scope=lambda ctx: ctx.session.auth.current.principal_id,
        before_compaction=before,
        after_compaction=after,
    )
    session = Session(agent(["ok", "SUMMARY"], profile=memory), person("zhang"), id="S")
    session.send("q1")
    compaction = session.compact(caller=person("li"))
    assert [m.text for m in session.history] == ["x", "Summary of our conversation so far:", "SUMMARY", "ok", "q1", "y"]
    assert compaction.summary == "SUMMARY"
    assert before.calls[0].memory.scope.value == after.calls[0].memory.scope.value == "zhang"
    assert before.calls[0].operation_id == "eve-memory-operation-v1:S:1:turn_0:0:compaction.requested:profile"
    assert before.calls[0].turn.id == "turn_0"
    assert before.calls[0].compaction.usage_input_tokens == compaction.usage_input_tokens
    assert after.calls[0].compaction.usage_input_tokens is None


def test_two_compactions_in_a_row_are_one_operation() -> None:
    session = Session(
        agent(["ok", "S", "S"], profile=slot(Script(texts("x")), after_compaction=Script(texts("y"), texts("z"))))
    )
    session.send("q1")
    assert session.compact().error is None
    history = session.history
    assert "replayed with a different result" in str(session.compact().error)
    assert session.history == history


def test_a_slot_without_recall_after_compaction_is_hidden_until_the_next_turn() -> None:
    session = Session(agent(["ok", "S", "ok"], profile=slot(Script(texts("x"), None))))
    session.send("q1")
    session.compact()
    assert session.memory.locks == {}
    assert "x" in [message.text for message in session.send("q2").context]


def test_an_empty_history_is_not_compacted() -> None:
    session = Session(agent(profile=slot()))
    compaction = session.compact()
    assert compaction.events == ["session.waiting"]
    assert compaction.usage_input_tokens is None


def test_clear_forgets_the_conversation_and_recalls_anew() -> None:
    recall = Script(keyed(k="v1"))
    session = Session(agent(profile=slot(recall)))
    session.send("q1")
    session.clear()
    assert (session.history, session.memory.operation_digests) == ((), {})
    assert [str(event) for event in session.events[-2:]] == ["context.cleared turn_1", "session.waiting"]
    assert [message.text for message in session.send("q2").committed] == ["v1"]


# checkpoints and subagents


def test_another_session_goes_on_from_a_checkpoint() -> None:
    made = agent(["one", "two"], profile=slot(Script(keyed(k="v"))))
    first = Session(made, person("zhang"), id="S")
    first.send("q1")
    first.run_with_state(lambda: note("kept"))
    second = Session(made, person("zhang"), id="S")
    second.restore(first.checkpoint())
    turn = second.send("q2")
    assert turn.id == "turn_1"
    assert turn.committed == ()
    assert second.state["test.notes"] == ["kept"]


def test_a_subagent_has_fresh_state_and_the_same_memory() -> None:
    recall = Script(None)
    made = Agent(
        {"profile": slot(recall, scope=lambda ctx: ctx.session.auth.current.principal_id)},
        model=ScriptedModel([Reply(calls=(Call("count", {}), Call("agent", {"message": "sub"}))), call("count"), "x"]),
        tools={"agent": agent_tool(), "count": define_tool(description="d", execute=lambda: note("one"))},
    )
    session = Session(made, person("li"), id="S")
    turn = session.send("q", caller=person("zhang"))
    assert session.state["test.notes"] == ["one"]
    assert turn.results[1].value == "x"
    assert recall.calls[1].session.auth == recall.calls[0].session.auth
    assert recall.calls[1].session.auth.initiator == person("li")
    keys = {call_.memory.scope.key for call_ in recall.calls}
    assert len(recall.calls) == 2
    assert len(keys) == 1
    assert recall.calls[1].session.parent == "S"
    assert recall.calls[1].session.id != "S"


def test_a_checkpoint_pickles_with_its_caller() -> None:
    session = Session(agent(["ok"], p=slot(Script(keyed(a="1")))), person("u_1"))
    session.send("hello")
    assert pickle.loads(pickle.dumps(session.checkpoint())) == session.checkpoint()
