"""What a session publishes: events, in order, and the hooks that listen to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evelab.awaiting import resolve
from evelab.hooks import HookContext
from evelab.turn import Compaction, Event, Turn, error_log

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evelab.hooks import Hook
    from evelab.provider import SessionInfo


class Journal:
    """The events of a session. What a thrown-away step published stays in it, as in eve's stream.

    Attributes:
        events: everything, in order.
    """

    def __init__(self, hooks: Sequence[Hook], session: Callable[[], SessionInfo]) -> None:
        self.events: list[Event] = []
        self._hooks = hooks
        self._session = session

    def publish(self, name: str, *records: Turn | Compaction, turn_id: str | None = None) -> None:
        """Write an event, then run its hooks."""
        self.run_hooks(self.write(name, *records, turn_id=turn_id), *records)

    def write(self, name: str, *records: Turn | Compaction, turn_id: str | None = None) -> Event:
        """Write an event to the journal and to the records that it belongs to."""
        belongs = turn_id or (records[0].id if records else None)
        event = Event(name, None if name.startswith("session.") else belongs)
        self.events.append(event)
        for record in records:
            record.events.append(name)
        return event

    def run_hooks(self, event: Event, *records: Turn | Compaction) -> None:
        """Run the hooks of an event. One that raises is logged with the first record."""
        for handler in [handler for hook in self._hooks for handler in hook.handlers(event.type)]:
            try:
                resolve(handler(event, HookContext(self._session())))
            except Exception as error:
                for record in records[:1]:
                    record.logs.append(error_log("hooks", "stream event hook failed", error, event=event.type))
