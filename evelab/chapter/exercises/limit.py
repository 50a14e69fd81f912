"""A limit on how long a learner's code may run."""

from __future__ import annotations

import signal
import sys
import threading
from contextlib import contextmanager
from time import monotonic, process_time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

WORK_SECONDS = 2.0
"""Of the processor's time. A machine that thirty people share is slow, and no answer is wrong for that."""
WAIT_SECONDS = 20.0
"""By the clock, for code that only waits."""
TICK_SECONDS = 0.05
"""How often the alarm rings; also after the time is over, for code that catches everything and goes on."""


class OutOfTimeError(BaseException):
    """The time is over. Not an Exception, so that no ``except Exception`` of the code in between keeps it."""


@contextmanager
def time_limit(work: float, wait: float) -> Iterator[None]:
    """Raise ``OutOfTimeError`` in the code inside the ``with`` when it takes longer.

    In the main thread of a Unix process an alarm rings, which also ends a sleep. Elsewhere each line that
    runs looks at the clock: that ends a loop, but not a sleep.

    Args:
        work: seconds of the processor's time.
        wait: seconds by the clock.
    """
    work_end, wait_end = process_time() + work, monotonic() + wait

    def look() -> None:
        if process_time() > work_end or monotonic() > wait_end:
            raise OutOfTimeError

    in_main = threading.current_thread() is threading.main_thread()
    with _alarm(look) if in_main and hasattr(signal, "setitimer") else _traced(look):
        yield


@contextmanager
def _alarm(look: Callable[[], None]) -> Iterator[None]:
    before = signal.signal(signal.SIGALRM, lambda number, frame: look())
    signal.setitimer(signal.ITIMER_REAL, TICK_SECONDS, TICK_SECONDS)
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _traced(look: Callable[[], None]) -> Iterator[None]:
    before = sys.gettrace()

    def trace(frame: FrameType, event: str, value: Any) -> Any:
        look()
        return trace

    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)
