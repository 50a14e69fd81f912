"""Claim 7.9: what each failure of a provider does to a turn, a compaction and a session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evelab.agent import Agent
from evelab.chapter.claims import Evidence, claim
from evelab.chapter.workbench import NAMESPACE, SLOT
from evelab.errors import SessionFailedError
from evelab.model import Reply
from evelab.provider import CAPTURE_PHASES, RECALL_PHASES, define_memory, define_memory_provider
from evelab.session import Session
from evelab.summary import CompactionPolicy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evelab.message import Message
    from evelab.tools import Tool

LONG = "words " * 200
"""A turn that makes the history long enough to be compacted in the next one."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What a failure did.

    Attributes:
        turn: the turn's status, or ``"session ended"``.
        asked: whether the model answered in it.
        logged: the log's sentences.
        history_kept: whether the history before it is still there.
        next_turn: what the next turn is, or ``"refused"``.
    """

    turn: str
    asked: bool
    logged: tuple[str, ...]
    history_kept: bool
    next_turn: str

    def record(self, where: str) -> dict[str, str]:
        """The failure as a row of a table."""
        log = "; ".join(self.logged) or "-"
        return {"fails": where, "the turn": self.turn, "the log": log, "next turn": self.next_turn}


class Failing:
    """A session whose provider fails in one place, once it is told to.

    Args:
        where: a phase, or ``"tools"``.
        automatic: whether a long history is compacted by itself.
    """

    def __init__(self, where: str, *, automatic: bool = False) -> None:
        self._where = where
        self._fails = False
        self.asked = 0
        provider = define_memory_provider(
            recall={phase: self._handler(phase) for phase in RECALL_PHASES},
            capture={phase: self._handler(phase) for phase in CAPTURE_PHASES},
            tools=self._handler("tools"),
        )
        memory = define_memory(provider=provider, scope="acme", namespace=NAMESPACE)
        policy = CompactionPolicy(threshold=400, recent_window=1) if automatic else CompactionPolicy()
        self.session = Session(Agent({SLOT: memory}, self, compaction=policy), id="failing", environ={})
        self.session.send(LONG if automatic else "first words")

    def respond(self, prompt: Sequence[Message], tools: Mapping[str, Tool]) -> Reply:
        """The model; it counts its calls."""
        self.asked += 1
        return Reply("an answer")

    def _handler(self, where: str) -> Any:
        def handler(ctx: object) -> None:
            if self._fails and where == self._where:
                raise ConnectionError("the store is down")

        return handler

    def turn(self) -> Failure:
        """The next turn, in which the provider fails; the store is back afterwards."""
        before, asked = self.session.history, self.asked
        self._fails = True
        try:
            turn = self.session.send("second words")
            status, logs = turn.status, tuple(log.message for log in turn.logs)
        except SessionFailedError:
            status, logs = "session ended", ()
        answered = self.asked > asked and status == "completed"
        return self._after(status, answered, logs, self.session.history[: len(before)] == before)

    def compaction(self) -> Failure:
        """A compaction between two turns, in which the provider fails."""
        before = self.session.history
        self._fails = True
        record = self.session.compact()
        logs = tuple(log.message for log in record.logs)
        return self._after("no turn", False, logs, self.session.history == before)

    def _after(self, status: str, asked: bool, logs: tuple[str, ...], kept: bool) -> Failure:
        self._fails = False
        try:
            following = self.session.send("third words").status
        except SessionFailedError:
            following = "refused"
        return Failure(status, asked, logs, kept, following)


def failures() -> dict[str, Failure]:
    """The chapter's five failures, each tried; two of them also in an automatic compaction."""
    return {
        "recall turn.started": Failing("turn.started").turn(),
        "capture turn.completed": Failing("turn.completed").turn(),
        "capture compaction.requested, by hand": Failing("compaction.requested").compaction(),
        "capture compaction.requested, automatic": Failing("compaction.requested", automatic=True).turn(),
        "recall compaction.completed, by hand": Failing("compaction.completed").compaction(),
        "recall compaction.completed, automatic": Failing("compaction.completed", automatic=True).turn(),
        "tools": Failing("tools").turn(),
    }


CAPTURE_LOG = ("Completed-turn memory capture failed.",)
COMPACTION_LOG = ("manual session compaction failed",)
TOOLS_LOG = ("Dynamic tool resolver (turn.started) failed — skipping its complete result.",)


@claim("7.9")
def five_failures(see: Evidence) -> None:
    """The five failure rows: recall, capture completed, capture compaction, recall after compaction, tools."""
    seen = failures()
    ended = Failure("session ended", False, (), True, "refused")
    see.equal("recall, turn.started", seen["recall turn.started"], ended)
    see.equal(
        "capture, turn.completed",
        seen["capture turn.completed"],
        Failure("completed", True, CAPTURE_LOG, True, "completed"),
    )
    by_hand = Failure("no turn", False, COMPACTION_LOG, True, "completed")
    for phase in ("capture compaction.requested", "recall compaction.completed"):
        see.equal(f"{phase}, by hand: logged, the history stays", seen[f"{phase}, by hand"], by_hand)
        see.equal(f"{phase}, automatic: fatal in the package", seen[f"{phase}, automatic"], ended)
    see.equal("tools", seen["tools"], Failure("completed", True, TOOLS_LOG, True, "completed"))
