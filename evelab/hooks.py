"""Code of the application that runs when a session publishes an event.

A hook runs after memory has been recalled and before the tools of the slots are made. One that raises is
logged and never stops the session. Source: eve 0.80.1, ``execution/session/turn-event-handler``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evelab.errors import DefinitionError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evelab.provider import SessionInfo
    from evelab.turn import Event

EVENTS = (
    "session.started",
    "turn.started",
    "message.received",
    "step.started",
    "actions.requested",
    "action.result",
    "message.appended",
    "message.completed",
    "step.completed",
    "step.failed",
    "turn.completed",
    "turn.failed",
    "turn.cancelled",
    "turn.waiting",
    "input.requested",
    "input.resolved",
    "compaction.requested",
    "compaction.completed",
    "context.cleared",
    "session.waiting",
    "session.failed",
)
ANY = "*"


@dataclass(frozen=True, slots=True)
class HookContext:
    """The second argument of a hook.

    Attributes:
        session: the session's id and authentication.
    """

    session: SessionInfo


@dataclass(frozen=True, slots=True)
class Hook:
    """Event -> what runs when it is published."""

    events: Mapping[str, Callable[[Event, HookContext], Any]]

    def handlers(self, event: str) -> list[Callable[[Event, HookContext], Any]]:
        """What runs for one event: the handler of its name, then the one for every event."""
        return [self.events[name] for name in (event, ANY) if name in self.events]


def define_hook(*, events: Mapping[str, Callable[[Event, HookContext], Any]]) -> Hook:
    """A hook: eve's ``defineHook``.

    Args:
        events: event, or ``"*"``, -> ``f(event, ctx)``; plain or a coroutine function.

    Raises:
        DefinitionError: an unknown event, or something that is not a function.
    """
    for name, handler in events.items():
        if name != ANY and name not in EVENTS:
            raise DefinitionError(f'"{name}" is not an event of a session.', place=f"events[{name!r}]")
        if not callable(handler):
            raise DefinitionError(f'The hook of "{name}" must be a function.', place=f"events[{name!r}]")
    return Hook(dict(events))
