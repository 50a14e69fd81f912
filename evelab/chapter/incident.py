"""The incident of 8.2: a state with tools that track what has been checked."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from evelab.hooks import Hook, define_hook
from evelab.state import define_state
from evelab.tools import Tool, define_tool

if TYPE_CHECKING:
    from collections.abc import Callable


def nothing_tracked() -> dict[str, Any]:
    """The first value of every session, a new one each time."""
    return {"id": None, "services_checked": [], "started_at": None}


incident = define_state("opsbot.incident", nothing_tracked)
"""The handle that tools and hooks share."""


def _text(field: str) -> dict[str, Any]:
    return {"type": "object", "properties": {field: {"type": "string", "minLength": 1}}, "required": [field]}


def incident_tools(now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> dict[str, Tool]:
    """The tools ``start_incident``, ``check_service`` and ``show_incident``.

    Args:
        now: the clock that the start is read from.
    """

    def start_incident(id: str) -> dict[str, Any]:  # noqa: A002
        incident.update(lambda held: {**held, "id": id, "services_checked": [], "started_at": now().isoformat()})
        return incident.get()

    return {
        "start_incident": define_tool(
            description="Begin to track an incident: its id and when it started.",
            input_schema=_text("id"),
            execute=start_incident,
        ),
        "check_service": define_tool(
            description="Note that a service was checked in this incident.",
            input_schema=_text("service"),
            execute=check_service,
        ),
        "show_incident": define_tool(description="Read the tracked incident.", execute=incident.get),
    }


def check_service(service: str) -> dict[str, Any]:
    """Note a checked service, once.

    Raises:
        ValueError: no incident is tracked.
    """
    if incident.get()["id"] is None:
        raise ValueError("No incident is tracked yet. Call start_incident first.")
    if service not in incident.get()["services_checked"]:
        incident.update(lambda held: {**held, "services_checked": [*held["services_checked"], service]})
    return incident.get()


def reset_each_turn() -> Hook:
    """A hook that gives every turn a clean slate. It writes through the handle that the tools read."""
    return define_hook(events={"turn.started": lambda event, ctx: incident.update(lambda _: nothing_tracked())})
