"""The exercises of 8.12: stubs are told what is missing, right answers pass, typical wrong ones get their hint."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import nbformat
import pytest

from evelab import (
    Agent,
    by_principal,
    define_hook,
    define_memory,
    define_memory_provider,
    define_state,
    define_tool,
    disable_tool,
    file_memory,
    in_memory,
)
from evelab.chapter.exercises import EXERCISES, Exercise, Report, requirement
from evelab.chapter.exercises.limit import WORK_SECONDS
from evelab.chapter.policies import principal_id_only, tenant_only, tenant_or_public, tenant_principal
from evelab.lab.panels import ExercisePanel
from evelab.session import running_session
from tests.make_exercises import EXERCISES as NOTEBOOK
from tests.make_exercises import SOLUTIONS, exercise_cells, exercise_source

if TYPE_CHECKING:
    from collections.abc import Callable

    from evelab.backends import InMemory
    from evelab.provider import MemoryProvider

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def check(id: str, answer: object) -> Report:  # noqa: A002
    exercise: Exercise = EXERCISES[id]
    return exercise.check(answer)


def failed(report: Report) -> list[str]:
    return [finding.requirement.text for finding in report.findings if not finding.seen.ok]


def two_tools(write: Callable[..., Any], read: Callable[..., Any], **fields: Any) -> Callable[[], Agent]:
    tools = {
        "note": define_tool(description="Write.", input_schema=TEXT, execute=write),
        "show": define_tool(description="Read.", execute=read),
    }
    return lambda: Agent(tools=tools, **fields)


def right_state() -> Callable[[], Agent]:
    state = define_state("exercise.right", lambda: {"text": None})
    return two_tools(lambda text: state.update(lambda held: {**held, "text": text}), state.get)


def slot(scope: Any, **agent: Any) -> Callable[[InMemory], Agent]:
    def answer(store: InMemory) -> Agent:
        return Agent({"profile": define_memory(provider=file_memory(backend=store), scope=scope)}, **agent)

    return answer


def own_store(scope: Any) -> Callable[[InMemory], Agent]:
    return lambda store: slot(scope)(in_memory())


class Notes:
    """A provider in a dict; each field is a way to get it wrong."""

    def __init__(self, *, shared: bool = False, top: int | None = None, once: str = "operation") -> None:
        self.notes: list[dict[str, Any]] = []
        self.done: set[Any] = set()
        self.shared, self.top, self.once = shared, top, once

    def say(self, ctx: Any) -> None:
        print(ctx.memory.scope.key)

    def recall(self, ctx: Any) -> Any:
        self.say(ctx)
        found = [note for note in reversed(self.notes) if self.shared or note["key"] == ctx.memory.scope.key]
        if self.top is not None:
            newest = list(reversed(self.notes))[: self.top]
            found = [note for note in newest if note["key"] == ctx.memory.scope.key]
        messages = [{"id": note["id"], "content": note["text"]} for note in found]
        return {"messages": messages} if messages else None

    def capture(self, ctx: Any) -> None:
        self.say(ctx)
        text = ctx.turn.input[0].text
        seen = {"operation": ctx.operation_id, "text": text, "never": object()}[self.once]
        if seen in self.done:
            return
        self.done.add(seen)
        note_id = f"note-{len(self.done)}"
        self.notes.append({"id": note_id, "key": ctx.memory.scope.key, "text": text})

    def drop(self, id: str, key: str | None) -> str:  # noqa: A002
        self.notes = [note for note in self.notes if note["id"] != id or key not in (None, note["key"])]
        return "deleted"

    def tools(self, ctx: Any) -> Any:
        def delete(text: str) -> str:
            self.say(ctx)
            return self.drop(text, ctx.memory.scope.key)

        return {"delete": define_tool(description="Delete.", input_schema=TEXT, execute=delete)}

    def provider(self) -> MemoryProvider:
        return define_memory_provider(
            recall={"turn.started": self.recall}, capture={"turn.completed": self.capture}, tools=self.tools
        )


class KeyFromArguments(Notes):
    def tools(self, ctx: Any) -> Any:
        def delete(id: str, key: str) -> str:  # noqa: A002
            self.say(ctx)
            return self.drop(id, key)

        fields = {"id": {"type": "string"}, "key": {"type": "string"}}
        schema = {"type": "object", "properties": fields, "required": ["id", "key"]}
        return {"delete": define_tool(description="Delete.", input_schema=schema, execute=delete)}


class DeletesEverywhere(Notes):
    def drop(self, id: str, key: str | None) -> str:  # noqa: A002
        return super().drop(id, None)


class Silent(Notes):
    def say(self, ctx: Any) -> None:
        pass


class Talkative(Notes):
    def say(self, ctx: Any) -> None:
        print(ctx.memory.scope.key, ctx.memory.scope.value)


class NoTool(Notes):
    def tools(self, ctx: Any) -> Any:
        return None


class FailingCapture(Notes):
    def capture(self, ctx: Any) -> None:
        raise OSError("the disk is full")


class Slow(Notes):
    """Handlers that are coroutine functions."""

    async def recall(self, ctx: Any) -> Any:
        return Notes.recall(self, ctx)

    async def capture(self, ctx: Any) -> None:  # type: ignore[override]
        Notes.capture(self, ctx)


RIGHT: list[tuple[str, Callable[[], object]]] = [
    ("12.1", right_state),
    ("12.2", lambda: slot(by_principal)),
    ("12.3", lambda: slot("acme")),
    ("12.4", lambda: slot(tenant_principal)),
    ("12.5", lambda: Notes().provider()),
    ("12.5", lambda: Slow().provider()),
]


@pytest.mark.parametrize(("id", "make"), RIGHT, ids=lambda value: value if isinstance(value, str) else "")
def test_a_right_answer_passes(id: str, make: Callable[[], object]) -> None:  # noqa: A002
    report = check(id, make())
    assert failed(report) == []
    assert report.hints == []
    assert report.passed
    assert report.summary == f"Done: all {len(report.findings)} requirements are met."


STUBS: list[tuple[str, object, int]] = [
    ("12.1", Agent, 5),
    ("12.2", lambda store: Agent(), 6),
    ("12.3", lambda store: Agent(), 4),
    ("12.4", lambda store: Agent(), 5),
    (
        "12.5",
        define_memory_provider(
            recall={"turn.started": lambda ctx: None},
            capture={"turn.completed": lambda ctx: None},
            tools=lambda ctx: None,
        ),
        8,
    ),
]


@pytest.mark.parametrize(("id", "stub", "missing"), STUBS, ids=lambda value: value if isinstance(value, str) else "")
def test_a_stub_is_told_what_is_missing(id: str, stub: object, missing: int) -> None:  # noqa: A002
    report = check(id, stub)
    assert len(failed(report)) == missing
    assert all(finding.seen.hint for finding in report.findings if not finding.seen.ok)


def global_dict() -> Callable[[], Agent]:
    held: dict[str, Any] = {}
    return two_tools(lambda text: held.update(text=text), lambda: held)


def shared_initial() -> Callable[[], Agent]:
    first: dict[str, Any] = {}
    state = define_state("exercise.shared", lambda: first)
    return two_tools(lambda text: state.get().update(text=text), state.get)


def reset_by_a_hook() -> Callable[[], Agent]:
    state = define_state("exercise.reset", dict[str, Any])
    reset = define_hook(events={"turn.started": lambda event, ctx: state.update(lambda held: {})})
    return two_tools(lambda text: state.update(lambda held: {"text": text}), state.get, hooks=[reset])


def not_written_back() -> Callable[[], Agent]:
    state = define_state("exercise.copy", dict[str, Any])
    return two_tools(lambda text: {**state.get(), "text": text}, state.get)


def by_session_id() -> Callable[[], Agent]:
    held: dict[str, Any] = {}
    return two_tools(
        lambda text: held.update({running_session().id: text}), lambda: {"text": held.get(running_session().id)}
    )


def one_tool() -> Callable[[], Agent]:
    state = define_state("exercise.one", dict[str, Any])
    return lambda: Agent(tools={"show": define_tool(description="Read.", execute=state.get)})


def each_session(ctx: Any) -> str:
    return str(ctx.session.id)


def id_alone(ctx: Any) -> tuple[str, ...] | None:
    caller = ctx.session.auth.current
    known = caller is not None and caller.principal_type == "user" and caller.attributes.get("tenantId")
    return (caller.principal_id,) if known else None


def not_known_raises(ctx: Any) -> tuple[str, str]:
    caller = ctx.session.auth.current
    return (caller.attributes["tenantId"], caller.principal_id)


def type_and_id(ctx: Any) -> tuple[str, str] | None:
    caller = ctx.session.auth.current
    return None if caller is None else (caller.principal_type, caller.principal_id)


def in_a_state(store: InMemory) -> Agent:
    state = define_state("exercise.profile", dict[str, Any])
    save = define_tool(
        description="Save.", input_schema=TEXT, execute=lambda text: state.update(lambda held: {"text": text})
    )
    return Agent(tools={"profile__save_memory": save})


WRONG: list[tuple[str, Callable[[], object], str]] = [
    ("12.1", global_dict, "lies outside the session"),
    ("12.1", shared_initial, "initial gives every session one and the same object"),
    ("12.1", reset_by_a_hook, "such as a turn.started hook"),
    ("12.1", not_written_back, "state.update(lambda value: ...)"),
    ("12.1", by_session_id, "a dict by session id is not a state"),
    ("12.1", one_tool, "Give the agent two tools"),
    ("12.2", lambda: slot("acme"), "One scope for both: a fixed string"),
    ("12.2", lambda: slot(principal_id_only), "joins two authentication systems"),
    ("12.2", lambda: slot(tenant_principal), "by_principal asks for no tenant"),
    ("12.2", lambda: slot(each_session), "must not change from session to session"),
    ("12.2", lambda: slot(type_and_id), 'a fallback such as "public"'),
    ("12.2", lambda: own_store(by_principal), "with the store given"),
    ("12.2", lambda: in_a_state, "a state ends with its session"),
    ("12.3", lambda: slot(by_principal), "A fixed string asks nobody"),
    ("12.3", lambda: slot(tenant_only), "it names no company"),
    ("12.3", lambda: slot(lambda ctx: ("acme",)), "A tuple of one string has another key"),
    ("12.3", lambda: slot("acme", tools={"profile": disable_tool()}), "leave the slot its tools"),
    ("12.3", lambda: slot(None), "Not even 张三 recalls it"),
    ("12.4", lambda: slot(tenant_or_public), 'A fallback such as "public" is one memory for all'),
    ("12.4", lambda: slot(type_and_id), "whom nobody vouches for"),
    ("12.4", lambda: slot(id_alone), "The tuple lacks the tenant"),
    ("12.4", lambda: slot(not_known_raises), "An error ends the session"),
    ("12.4", lambda: slot(lambda ctx: ""), "a blank scope is an error"),
    ("12.4", lambda: slot(tenant_principal, tools={"profile": disable_tool()}), "no disable_tool()"),
    ("12.4", lambda: slot(by_principal), "by_principal knows no tenant"),
    ("12.5", lambda: Notes(once="never").provider(), "write nothing when it is known"),
    ("12.5", lambda: Notes(once="text").provider(), "compare ctx.operation_id, not the text"),
    ("12.5", lambda: Notes(shared=True).provider(), "by ctx.memory.scope.key, each time"),
    ("12.5", lambda: Notes(top=10).provider(), "Search inside the partition"),
    ("12.5", lambda: KeyFromArguments().provider(), "reads the key from its arguments"),
    ("12.5", lambda: DeletesEverywhere().provider(), "looks in everybody's notes"),
    ("12.5", lambda: NoTool().provider(), "tools(ctx) returns"),
    ("12.5", lambda: Silent().provider(), "print(ctx.memory.scope.key) in each"),
    ("12.5", lambda: Talkative().provider(), "A log must not name people"),
    ("12.5", lambda: FailingCapture().provider(), "An error in capture is only logged"),
]


@pytest.mark.parametrize(("id", "make", "hint"), WRONG)
def test_a_typical_wrong_answer_gets_its_hint(id: str, make: Callable[[], object], hint: str) -> None:  # noqa: A002
    report = check(id, make())
    assert not report.passed
    assert any(hint in given for given in report.hints), report.hints


def loops(*args: object) -> Agent:
    while True:
        pass


def sleeps(*args: object) -> Agent:
    time.sleep(60)
    return Agent()


def loops_and_catches_everything(*args: object) -> Agent:
    while True:
        try:
            time.sleep(0.001)
        except Exception:
            continue


def raises(*args: object) -> Agent:
    raise KeyError("tenant")


@pytest.mark.parametrize("answer", [loops, sleeps, loops_and_catches_everything])
def test_an_answer_that_does_not_end_is_stopped(answer: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirement, "WAIT_SECONDS", 3.0)
    report = check("12.2", answer)
    assert "It did not end" in report.findings[0].seen.what
    assert {finding.seen.what for finding in report.findings[1:]} == {"not looked at: the time was over"}
    assert len(report.findings) == len(EXERCISES["12.2"].requirements)


def test_a_recall_that_does_not_end_is_stopped() -> None:
    provider = define_memory_provider(recall={"turn.started": loops})
    assert "It did not end" in check("12.5", provider).findings[0].seen.what


def test_a_loop_in_another_thread_is_stopped_too() -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as threads:
        report = threads.submit(check, "12.2", loops).result()
    assert "It did not end" in report.findings[0].seen.what


def test_a_slow_machine_makes_no_answer_wrong() -> None:
    pauses = iter([WORK_SECONDS + 0.5])
    right = slot("acme")

    def slow(store: InMemory) -> Agent:
        time.sleep(next(pauses, 0))
        return right(store)

    assert check("12.3", slow).passed
    assert next(pauses, None) is None


def test_an_answer_that_raises_is_reported() -> None:
    report = check("12.2", raises)
    assert report.findings[0].seen.what == "Your code raised KeyError: 'tenant'"
    assert not report.passed


@pytest.mark.parametrize(("answer", "sentence"), [(None, "is a NoneType, not a function"), (int, "returned a int")])
def test_an_answer_of_another_kind_is_told_so(answer: object, sentence: str) -> None:
    report = check("12.1", (lambda: 3) if answer is int else answer)
    assert sentence in report.findings[0].seen.what


def test_what_an_answer_prints_is_kept_and_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    def chatty(store: InMemory) -> Agent:
        print("hello")
        return slot("acme")(store)

    report = check("12.3", chatty)
    assert report.printed.startswith("hello\nhello\n")
    assert capsys.readouterr().out == ""


def test_an_answer_is_checked_by_what_it_does_and_not_by_its_names() -> None:
    state = define_state("x", lambda: "")
    tools = {
        "b": define_tool(description="?", input_schema=TEXT, execute=lambda text: state.update(lambda _: text)),
        "a": define_tool(description="?", execute=lambda: {"deep": [state.get()]}),
        "c": define_tool(description="?", execute=lambda: None),
    }
    assert check("12.1", lambda: Agent(tools=tools)).passed


def test_what_rests_on_a_missing_basis_is_not_looked_at() -> None:
    report = check("12.2", lambda store: Agent())
    assert {finding.seen.what for finding in report.findings[1:]} == {"not looked at yet"}


def test_the_chapters_five_exercises_are_there() -> None:
    assert list(EXERCISES) == ["12.1", "12.2", "12.3", "12.4", "12.5"]


def test_the_exercise_notebook_is_made_from_the_solutions() -> None:
    notebook = nbformat.read(NOTEBOOK, 4)
    made = list(exercise_cells(nbformat.read(SOLUTIONS, 4)))
    assert [(cell.cell_type, cell.source) for cell in notebook.cells] == made, "run python -m tests.make_exercises"
    assert sum("# your code" in source for _, source in made) == 9


def test_an_answer_is_taken_out_and_its_stub_stands_there() -> None:
    source = "def f():\n    # your code: return None\n    x = 1\n\n    return x\n    # end\n\n\nf()"
    assert exercise_source(source) == "def f():\n    # your code\n    return None\n\n\nf()"


def outputs(path: Any) -> list[str]:
    """The text of each check that a notebook stores."""
    cells = nbformat.read(path, 4).cells
    return ["".join(cell.outputs[0].data["text/plain"]) for cell in cells if "ExercisePanel" in cell.source]


def test_the_solutions_pass_and_the_stubs_do_not() -> None:
    assert ["Done: all" in text for text in outputs(SOLUTIONS)] == [True] * 5
    assert ["not yet" in text for text in outputs(NOTEBOOK)] == [True] * 5


def test_the_panel_checks_again_at_a_press() -> None:
    scope: list[Any] = ["acme"]
    panel = ExercisePanel("12.3", lambda store: slot(scope[0])(store))
    assert "Done: all 4" in panel.shown.value
    scope[0] = by_principal
    panel.button.click()
    assert "1 of 4 requirements are met" not in panel.shown.value
    assert "A fixed string asks nobody" in panel.shown.value
    assert "not yet" in panel._repr_mimebundle_()["text/plain"]


def test_what_an_answer_prints_or_raises_shows_as_text() -> None:
    def hostile(store: InMemory) -> Agent:
        print("<img src=x onerror=alert(1)>")
        raise ValueError("<script>alert(1)</script>")

    shown = ExercisePanel("12.3", hostile).shown.value
    assert "<img" not in shown
    assert "<script" not in shown
    assert "&lt;script&gt;" in shown
