"""A flag that work looks at to see whether it should stop."""

from __future__ import annotations

import threading


class AbortSignal:
    """Set once, read from anywhere, also from other threads: eve's ``abortSignal``."""

    __slots__ = ("_event",)

    def __init__(self) -> None:
        self._event = threading.Event()

    @property
    def aborted(self) -> bool:
        """Whether the work should stop."""
        return self._event.is_set()

    def abort(self) -> None:
        """Ask the work to stop."""
        self._event.set()
