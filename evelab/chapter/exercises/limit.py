"""A limit on how long a learner's code may run."""

from __future__ import annotations

import signal
import sys
import threading
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

LIMIT_SECONDS = 1.5
AGAIN_SECONDS = 0.05
"""How soon the alarm rings again, for code that catches everything and goes on."""


class OutOfTimeError(BaseException):
    """The time is over. Not an Exception, so that no ``except Exception`` of the code in between keeps it."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise ``OutOfTimeError`` in the code inside the ``with`` when it runs longer.

    In the main thread of a Unix process an alarm rings, which also ends a sleep. Elsewhere each line that
    runs looks at the clock: that ends a loop, but not a sleep.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if in_main and hasattr(signal, "setitimer"):
        with _alarm(seconds):
            yield
    else:
        with _traced(seconds):
            yield


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    before = signal.signal(signal.SIGALRM, _ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN_SECONDS)
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _ring(number: int, frame: FrameType | None) -> NoReturn:
    raise OutOfTimeError


@contextmanager
def _traced(seconds: float) -> Iterator[None]:
    end = monotonic() + seconds
    before = sys.gettrace()

    def look(frame: FrameType, event: str, value: Any) -> Any:
        if monotonic() > end:
            raise OutOfTimeError
        return look

    sys.settrace(look)
    try:
        yield
    finally:
        sys.settrace(before)
