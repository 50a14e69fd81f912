"""A tool by which a model hands a part of the work to a copy of its agent.

The copy works in a session of its own: its state is fresh. It is the same agent with the same speaker, so
its memory is the same: what it saves, this agent recalls. Source: eve 0.80.1, built-in tool ``agent``.
"""

from __future__ import annotations

from evelab.session import running_session
from evelab.tools import Tool, define_tool

SCHEMA = {
    "type": "object",
    "properties": {"message": {"type": "string", "minLength": 1}},
    "required": ["message"],
    "additionalProperties": False,
}


def agent_tool() -> Tool:
    """eve's built-in ``agent`` tool. evelab offers it where it is asked to: ``tools={"agent": agent_tool()}``."""

    def delegate(message: str) -> str:
        return running_session().subagent().send(message).reply or ""

    return define_tool(
        description="Hand a self-contained task to a copy of yourself, and read its answer.",
        input_schema=SCHEMA,
        execute=delegate,
    )
