"""When a history is compacted, what is kept, and how the rest is made short."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evelab import CompactionPolicy, Session
from evelab.compaction import canonicalise, place, record_bytes, should_canonicalise
from evelab.message import Message, ToolCall, ToolResult
from evelab.recall import MemoryState, apply_batches
from evelab.summary import KnownTokens, estimate_tokens, input_tokens, is_too_long, shorten
from evelab.text import utf16_length
from evelab.transcript import cap, prompt_text
from tests.providers import Script, agent, keyed, slot, texts
from tests.test_recall import batch, commit


def said(text: str) -> Message:
    return Message("user", text, "user")


def answered(text: str) -> Message:
    return Message("assistant", text)


def refuse(_: tuple[Message, Message]) -> str:
    raise AssertionError("no summary was needed")


def test_more_than_512_records_are_canonicalised_replaced_ones_counted() -> None:
    changing = commit(*[batch(f"o{at}", keyed(k=f"v{at}")) for at in range(512)])
    assert not should_canonicalise(changing)
    more = changing + apply_batches([batch("last", keyed(k="new"))], changing, MemoryState()).appended
    assert should_canonicalise(more)
    kept = canonicalise(more)
    assert [message.text for message in kept.memory] == ["new"]
    assert not should_canonicalise(kept.memory)


@pytest.mark.parametrize(("size", "too_many"), [(261_869, False), (261_870, True)])
def test_more_than_256_kib_of_records_are_canonicalised(size: int, too_many: bool) -> None:
    history = commit(batch("o0", texts("a" * size)))
    assert record_bytes(history) == 262_144 + too_many
    assert should_canonicalise(history) is too_many


def test_ordinary_messages_never_ask_for_canonicalising() -> None:
    assert not should_canonicalise([said("x" * 300_000)] * 600)


def test_records_of_a_compaction_stand_before_the_input_or_at_the_end() -> None:
    history = (said("old"), answered("a"), said("new"), answered("b"))
    new = (Message("user", "n", "memory.load"),)
    assert [m.text for m in place(history, new, between_turns=False)] == ["old", "a", "n", "new", "b"]
    assert place(history, new, between_turns=True)[-1] == new[0]
    assert place((answered("a"),), new, between_turns=False)[-1] == new[0]


def test_a_quarter_of_the_bytes_is_the_estimate() -> None:
    assert estimate_tokens([said("q1")]) == len('[{"content":"q1","kind":"user","role":"user"}]') / 4
    assert estimate_tokens([said("é")]) == estimate_tokens([said("ab")])


def test_a_models_own_count_is_used_for_what_it_has_seen() -> None:
    prompt = [said("a" * 400), answered("b"), said("c")]
    known = KnownTokens(7, 2)
    assert input_tokens(prompt, known, 5, 5) == 7 + estimate_tokens(prompt[2:])
    assert input_tokens(prompt, known, 8, 5) == 10 + estimate_tokens(prompt[2:])
    assert input_tokens(prompt[:1], known, 5, 5) == estimate_tokens(prompt[:1]) + 5


def test_an_empty_prompt_is_never_too_long() -> None:
    assert not is_too_long(1e9, [], CompactionPolicy(threshold=1))


def test_long_tool_results_are_cut_before_anything_is_summarised() -> None:
    call = Message("assistant", (ToolCall("c", "t", {}),))
    result = Message("tool", (ToolResult("c", "t", "text", "x" * 20_000),))
    history = (said("go"), call, result, answered("ok"), said("and?"))
    short = shorten(history, CompactionPolicy(threshold=3000, recent_window=2), refuse, force=False, extra=0)
    assert len(short) == 5
    assert "Truncated by eve" in short[2].text
    assert utf16_length(short[2].text) < 2200


def test_what_does_not_fit_is_summarised_and_the_newest_stay() -> None:
    asked: list[str] = []

    def summarise(prompt: tuple[Message, Message]) -> str:
        asked.append(prompt[1].text)
        return "SUMMARY"

    history = (said("first " + "x" * 4000), answered("ok"), said("second"))
    short = shorten(history, CompactionPolicy(threshold=800), summarise, force=False, extra=0)
    assert [message.text for message in short] == ["Summary of our conversation so far:", "SUMMARY", "ok", "second"]
    assert "first" in asked[0]
    assert "second" not in asked[0].partition("</conversation>")[0]
    again = shorten((*short, said("y" * 4000)), CompactionPolicy(threshold=800), summarise, force=True, extra=0)
    assert "<previous-checkpoint>\nSUMMARY\n" in asked[1]
    assert again[0].text == "Summary of our conversation so far:"


def test_a_history_that_ends_with_an_answer_is_given_the_question_again() -> None:
    history = (said("question"), answered("a" * 100), answered("b"))
    short = shorten(history, CompactionPolicy(), lambda _: "S", force=True, extra=0)
    assert [message.text for message in short[1:]] == ["S", "b", "question"]


def test_text_with_braces_reaches_the_summary_as_it_is() -> None:
    assert "{transcript} {previous}" in prompt_text([said("{transcript} {previous}")], "{x}", None)


def test_an_empty_conversation_says_so() -> None:
    assert "Conversation transcript:\n(empty)\n" in prompt_text([], None, None)


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=300), st.integers(60, 200))
def test_a_cut_text_is_never_longer_than_the_limit_and_keeps_its_ends(text: str, limit: int) -> None:
    short = cap(text, limit)
    assert utf16_length(short) <= max(limit, 0) if utf16_length(text) > limit else short == text
    if short != text:
        assert short[:5] == text[:5]
        assert short[-5:] == text[-5:]
        assert "chars omitted" in short
    short.encode()


@pytest.mark.parametrize("limit", range(90, 100))
@pytest.mark.parametrize("text", ["🙂" * 200, "a" + "🙂" * 200, "🙂" * 200 + "a"])
def test_a_cut_never_splits_a_character(text: str, limit: int) -> None:
    cap(text, limit).encode()


def test_a_tool_result_never_stands_without_its_call() -> None:
    call = Message("assistant", (ToolCall("c", "t", {}),))
    result = Message("tool", (ToolResult("c", "t", "json", 1),))
    history = (said("go"), answered("x" * 4000), call, result, answered("ok"))
    short = shorten(history, CompactionPolicy(threshold=800, recent_window=2), lambda _: "S", force=False, extra=0)
    assert [message.role for message in short] == ["user", "assistant", "assistant", "user"]


def test_a_long_session_is_compacted_by_itself() -> None:
    made = replace(
        agent(profile=slot(Script(keyed(k="v")), after_compaction=Script(keyed(k="w")))),
        compaction=CompactionPolicy(threshold=1500),
    )
    session = Session(made)
    turns = [session.send("hello " * 300) for _ in range(4)]
    compacted = [turn for turn in turns if turn.compactions]
    assert compacted
    turn = compacted[0]
    assert turn.events.index("step.started") < turn.events.index("compaction.requested")
    assert [message.text for message in turn.prompts[0].messages][-2:] == ["w", "hello " * 300]
    assert len(session.history) < 12
