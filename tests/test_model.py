"""The models that need no network: they do what they are told and say what they see."""

from __future__ import annotations

import pytest

from evelab import (
    Agent,
    Call,
    Message,
    Reply,
    RuleModel,
    ScriptedModel,
    Session,
    call,
    define_memory,
    file_memory,
    in_memory,
)
from evelab.model import recalled_entries


def session(model: object = None, scope: str | None = "acme") -> Session:
    memory = define_memory(provider=file_memory(backend=in_memory()), scope=scope, namespace="n")
    agent = Agent({"profile": memory}) if model is None else Agent({"profile": memory}, model)  # type: ignore[arg-type]
    return Session(agent)


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("记住，我只看 payment-api", "我只看 payment-api"),
        ("记住：我值夜班", "我值夜班"),
        ("remember: I watch payment-api", "I watch payment-api"),
        ("Remember that I watch payment-api", "I watch payment-api"),
        ("  remember, line one\nline two", "line one line two"),
    ],
)
def test_remember_saves_the_rest_of_the_message(said: str, text: str) -> None:
    talk = session()
    assert talk.send(said).results[0].value is None
    assert f"profile 0: {text}" in (talk.send("?").reply or "")


@pytest.mark.parametrize("said", ["forget 0", "忘掉 0", "忘掉0。", "Forget 0."])
def test_forget_removes_by_index(said: str) -> None:
    talk = session()
    talk.send("remember a")
    assert talk.send(said).results[0].name == "profile__remove_memory"
    assert "no memory" in (talk.send("what do you see?").reply or "")


def test_it_answers_with_what_it_sees_and_with_nothing_else() -> None:
    talk = session()
    assert talk.send("hello").reply == "I see no memory in my context."
    assert talk.send("你好").reply == "我的上下文里没有记忆。"
    talk.send("remember a")
    talk.send("remember b")
    assert talk.send("hello").reply == "I see these memories in my context: profile 0: a; profile 1: b"


def test_it_says_when_there_is_no_tool() -> None:
    talk = session(scope=None)
    assert talk.send("remember a").reply == "This turn has no save_memory tool. Nothing was changed."
    assert talk.send("忘掉 0").reply == "这一轮没有 remove_memory 工具，什么也没有改变。"


def test_it_says_when_a_tool_failed() -> None:
    turn = session().send("remember " + "x" * 2049)
    assert turn.reply == f"That failed. {turn.results[0].value}"
    assert "RangeError: Memory text exceeds the 2,048-byte limit" in turn.reply


def test_remember_without_a_text_saves_nothing() -> None:
    assert session().send("remember").reply == "I see no memory in my context."


def test_only_recalled_blocks_count_as_memory() -> None:
    prompt = [
        Message("user", "I said: # Persistent memories for profile"),
        Message("assistant", "# Persistent memories for x\n\ny\n\n0: z"),
    ]
    assert recalled_entries(prompt) == []


def test_a_script_is_followed_to_its_end() -> None:
    model = ScriptedModel([call("profile__save_memory", text="a"), Reply("done", ()), RuntimeError("boom")])
    talk = session(model)
    turn = talk.send("x")
    assert turn.reply == "done"
    assert [result.name for result in turn.results] == ["profile__save_memory"]


def test_a_script_may_call_several_tools_at_once() -> None:
    calls = (Call("profile__save_memory", {"text": "a"}), Call("profile__save_memory", {"text": "b"}))
    turn = session(ScriptedModel([Reply("saving", calls), "done"])).send("x")
    assert [result.value for result in turn.results] == [None, None]
    assert turn.prompts[1].messages[-2].text.startswith("saving<call profile__save_memory")


def test_a_tool_that_does_not_exist_is_an_error_that_the_model_reads() -> None:
    turn = session(ScriptedModel([call("profile__steal"), "done"])).send("x")
    assert turn.results[0].type == "error-text"
    assert "profile__remove_memory, profile__save_memory" in turn.results[0].value


def test_the_rule_model_is_the_default() -> None:
    assert isinstance(Agent().model, RuleModel)
