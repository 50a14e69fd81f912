"""Tools that a model may call: defined, named by their slot, and checked before they run."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evelab.errors import DefinitionError, ToolInputError
from evelab.schema import input_issues
from evelab.text import to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TOOL_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]{0,63}")
NO_INPUT: Mapping[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as the model is told of it, and what runs when it is called.

    Attributes:
        description: what the model reads.
        input_schema: JSON Schema of the input, an object.
        execute: called with the input's fields as keyword arguments; plain or a coroutine function.
        approval: whether a person must allow a call; None when nobody must.
    """

    description: str
    input_schema: Mapping[str, Any]
    execute: Callable[..., Any]
    approval: Callable[[Mapping[str, Any]], Any] | None = None


@dataclass(frozen=True, slots=True)
class DisabledTool:
    """What stands in place of a tool to take it away."""


def define_tool(
    *,
    description: str,
    execute: Callable[..., Any],
    input_schema: Mapping[str, Any] = NO_INPUT,
    approval: Callable[[Mapping[str, Any]], Any] | None = None,
) -> Tool:
    """A tool. ``execute`` gets the input's fields as keyword arguments and returns a JSON-like value.

    Args:
        description: what the model reads.
        execute: plain or a coroutine function.
        input_schema: JSON Schema of the input; no fields when left out.
        approval: ``f(input)`` returns ``"user-approval"`` to hold the turn until a person decides,
            ``"denied"`` to refuse the call, and anything else to let it run. Plain or a coroutine function.

    Raises:
        DefinitionError: a function that cannot be called, or a description that is not a string.
    """
    if approval is not None and not callable(approval):
        raise DefinitionError("A tool's approval must be a function.", place="approval")
    if not callable(execute):
        raise DefinitionError("A tool's execute must be a function.", place="execute")
    if not isinstance(description, str):
        raise DefinitionError("A tool's description must be a string.", place="description")
    return Tool(description, dict(input_schema), execute, approval)


def disable_tool() -> DisabledTool:
    """Take away the tool, or the memory slot's tools, whose name this stands for: eve's ``disableTool``."""
    return DisabledTool()


def slot_tools(tools: object, *, slot: str, description: str | None) -> dict[str, Tool]:
    """A provider's tools under the names and descriptions that the model sees.

    Each becomes ``<slot>__<key>``; the slot's description, if any, stands before the tool's own. One bad
    entry refuses the whole map.

    Raises:
        DefinitionError: not a dict of tools, or a name that is not an ASCII letter followed by letters,
            digits, ``_`` or ``-``, 64 characters in all.
    """
    if tools is None:
        return {}
    if not isinstance(tools, dict):
        raise DefinitionError(f'The tools of memory slot "{slot}" must be a dict or None.', place="tools")
    named: dict[str, Tool] = {}
    for key, tool in tools.items():
        name = f"{slot}__{key}"
        if not isinstance(tool, Tool):
            raise DefinitionError(f'Memory tool "{name}" must be made with define_tool().', place=f"tools[{key!r}]")
        if TOOL_NAME.fullmatch(name) is None or slot == "eve":
            raise DefinitionError(
                f'"{name}" cannot name a tool: a name begins with a letter, holds ASCII letters, digits, "_" and '
                f'"-", has at most 64 characters, and does not begin with "eve__".',
                place=f"tools[{key!r}]",
            )
        about = tool.description if description is None else f"{description}\n\n{tool.description}"
        named[name] = replace(tool, description=about)
    return named


def check_input(name: str, tool: Tool, value: object) -> dict[str, Any]:
    """The input, if it fits the tool's schema.

    Raises:
        ToolInputError: it does not; the error says where, in the words that eve's model reads.
    """
    if issues := input_issues(tool.input_schema, value):
        raise ToolInputError(name, to_json(value), issues, to_json(issues))
    if not isinstance(value, dict):
        raise ToolInputError(name, to_json(value), [], "input must be an object")
    return value
