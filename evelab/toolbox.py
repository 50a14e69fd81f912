"""The tools of one turn: made for its locks, and made again for each call.

eve does not keep a tool that a provider made. It asks the provider again when the model calls: once for the
schema, once for the decision whether a person must allow the call, once to run it, always with the memory
and the turn of the moment when the tools were offered. Source: eve 0.80.1, ``context/memory-tools``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from evelab.awaiting import Task, all_settled
from evelab.errors import DefinitionError, EvelabError, ToolInputError, ToolNotFoundError, ToolRemovedError
from evelab.message import ToolCall, ToolResult
from evelab.text import to_json
from evelab.tools import Tool, check_input, slot_tools

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evelab.provider import Handler, ToolsContext


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an offered tool comes from: the provider's function, its argument, and the tool's key."""

    make: Handler
    context: ToolsContext
    key: str


@dataclass(frozen=True, slots=True)
class SlotToolsError:
    """A slot whose tools could not be made."""

    slot: str
    error: Exception


@dataclass(frozen=True, slots=True)
class Toolbox:
    """What a turn offers to the model.

    Attributes:
        tools: name -> tool, in the order offered.
        origins: name -> where a provider's tool comes from; a tool of the application has none.
        failures: the slots whose tools are missing.
    """

    tools: Mapping[str, Tool] = field(default_factory=dict)
    origins: Mapping[str, Origin] = field(default_factory=dict)
    failures: tuple[SlotToolsError, ...] = ()


@dataclass(frozen=True, slots=True)
class Checked:
    """A call that may run, must wait for a person, or has its result already.

    Attributes:
        call: the call.
        result: its result, when it is settled.
        waits: whether a person must decide.
    """

    call: ToolCall
    result: ToolResult | None = None
    waits: bool = False


def open_toolbox(own: Mapping[str, Tool], slots: Sequence[tuple[str, str | None, Handler, ToolsContext]]) -> Toolbox:
    """Make the tools of a turn. A slot whose tools fail offers none.

    Args:
        own: the application's tools.
        slots: name, description, provider's function and its argument, in the order offered.

    Raises:
        DefinitionError: two slots offer a tool of the same name. This is not a slot's failure: the step fails.
    """
    tools: dict[str, Tool] = dict(own)
    origins: dict[str, Origin] = {}
    owners: dict[str, str] = {}
    failures = []
    outcomes = all_settled([_make(make, context) for _, _, make, context in slots])
    for (slot, description, make, context), outcome in zip(slots, outcomes, strict=True):
        try:
            if outcome.error is not None:
                raise outcome.error
            named = slot_tools(outcome.value, slot=slot, description=description)
        except Exception as error:
            failures.append(SlotToolsError(slot, error))
            continue
        for name, tool in named.items():
            if name in owners:
                raise DefinitionError(
                    f'The tool "{name}" of memory slot "{slot}" is also a tool of slot "{owners[name]}". '
                    "Give one of them another key.",
                    place=f"tools[{name!r}]",
                )
            owners[name] = slot
            tools[name] = tool
            origins[name] = Origin(make, context, name.removeprefix(f"{slot}__"))
    return Toolbox(tools, origins, tuple(failures))


def _make(make: Handler, context: ToolsContext) -> Task[Any]:
    made = yield make(context)
    return made


def check_calls(box: Toolbox, calls: Sequence[ToolCall]) -> list[Checked]:
    """See which calls fit their tools and which need a person, in the order of the calls."""
    schemas: dict[str, Tool] = {}
    return [_check(box, call, schemas) for call in calls]


def _check(box: Toolbox, call: ToolCall, schemas: dict[str, Tool]) -> Checked:
    name = call.name
    try:
        if name not in box.tools:
            raise ToolNotFoundError(name, tuple(box.tools))
        if name not in schemas:
            schemas[name] = _one(_rebuild_for_schema(box, call))
        check_input(name, schemas[name], call.input)
        decision = None if box.tools[name].approval is None else _one(_decide(box, call))
    except Exception as error:
        return Checked(call, error_result(call, error))
    if decision == "user-approval":
        return Checked(call, waits=True)
    return Checked(call, denied_result(call, None) if decision == "denied" else None)


def _rebuild_for_schema(box: Toolbox, call: ToolCall) -> Task[Tool]:
    try:
        tool = yield from _rebuild(box, call.name)
    except Exception as error:
        raise ToolInputError(call.name, to_json(dict(call.input)), [], _described(error)) from error
    return tool


def _decide(box: Toolbox, call: ToolCall) -> Task[Any]:
    tool = yield from _rebuild(box, call.name)
    decision = None if tool.approval is None else (yield tool.approval(call.input))
    return decision.get("type") if isinstance(decision, dict) else decision


def run_calls(box: Toolbox, calls: Sequence[ToolCall]) -> list[tuple[ToolResult, Exception | None]]:
    """Run calls concurrently. An error becomes the result that the model reads; the turn goes on.

    Returns:
        Each call's result, and the error behind it, in the order of the calls.
    """
    results: list[tuple[ToolResult, Exception | None]] = []
    for call, outcome in zip(calls, all_settled([_run(box, call) for call in calls]), strict=True):
        if outcome.error is not None:
            results.append((error_result(call, outcome.error), outcome.error))
        else:
            kind = "text" if isinstance(outcome.value, str) else "json"
            results.append((ToolResult(call.id, call.name, kind, outcome.value), None))
    return results


def _run(box: Toolbox, call: ToolCall) -> Task[Any]:
    tool = yield from _rebuild(box, call.name)
    value = yield tool.execute(**call.input)
    return value


def _rebuild(box: Toolbox, name: str) -> Task[Tool]:
    """The tool, made again by its provider."""
    origin = box.origins.get(name)
    if origin is None:
        return box.tools[name]
    made = yield origin.make(origin.context)
    tool = made.get(origin.key) if isinstance(made, dict) else None
    if not isinstance(tool, Tool):
        raise ToolRemovedError(origin.key)
    return replace(tool, description=box.tools[name].description)


def _one(task: Task[Any]) -> Any:
    outcome = all_settled([task])[0]
    if outcome.error is not None:
        raise outcome.error
    return outcome.value


def error_result(call: ToolCall, error: Exception) -> ToolResult:
    """What the model reads of an error: eve's name of its kind, and the sentence."""
    return ToolResult(call.id, call.name, "error-text", _described(error))


def denied_result(call: ToolCall, reason: str | None) -> ToolResult:
    """What the model reads of a call that nobody allowed."""
    return ToolResult(call.id, call.name, "execution-denied", reason)


def _described(error: Exception) -> str:
    return f"{error_name(error)}: {error}"


def error_name(error: Exception) -> str:
    """eve's name of an error's kind; the class's own name for an error that is not evelab's."""
    return error.eve_name if isinstance(error, EvelabError) else type(error).__name__
