"""What a session has to do with its store: everything after each step, or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evelab.checkpoint import Record, Work
from evelab.errors import RunningTurnError, SessionClosedError, SessionFailedError

if TYPE_CHECKING:
    from evelab.checkpoint import Keeper
    from evelab.steps import Steps


class Kept:
    """The stored side of a session. Without a keeper the session ends with its process, and nothing is written.

    Attributes:
        work: the turn in which the session was interrupted and the step that is to run again, or None.
    """

    def __init__(self, session_id: str, keeper: Keeper | None = None) -> None:
        self.work: Work | None = None
        self._id = session_id
        self._keeper = keeper
        self._closed: str | None = None

    def __bool__(self) -> bool:
        return self._keeper is not None

    def check(self) -> None:
        """See that the session may begin something.

        Raises:
            SessionClosedError: it was let go of.
            RunningTurnError: an interrupted turn is to be ended first.
        """
        if self._closed is not None:
            raise SessionClosedError(self._closed, session_id=self._id)
        if self.work is not None:
            raise RunningTurnError(
                f"Session {self._id} was interrupted in {self.work.turn.id}. Call resume() to go on with it, or "
                "cancel() to give it up.",
                session_id=self._id,
            )

    def save(self, steps: Steps, children: int, failure: SessionFailedError | None, work: Work | None) -> None:
        """Write where the session is. If that fails, the session here is ahead of the stored one, and over."""
        if self._keeper is None:
            return
        record = Record(
            steps.saved,
            steps.initiator,
            steps.schedule,
            steps.parent,
            work,
            steps.model_calls,
            children,
            None if failure is None else str(failure),
            0 if failure is None else failure.attempts,
        )
        try:
            self._keeper.save(record)
        except Exception:
            self.close()
            self._closed = f"Session {self._id} could not be stored. Opened again, it goes on where it was stored last."
            raise

    def close(self) -> None:
        """Let go of the session."""
        if self._keeper is not None:
            self._keeper.close()
            self._closed = f"Session {self._id} is closed. Open it again."
