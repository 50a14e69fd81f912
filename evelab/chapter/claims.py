"""Claims of the chapter, and the checks that show them happening.

A check is a function that makes something happen and notes what it saw beside what the chapter says. The
first line of its docstring is the claim.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True, slots=True)
class Observation:
    """One thing that a check saw.

    Attributes:
        what: in words.
        seen: what happened.
        wanted: what the claim says should happen.
    """

    what: str
    seen: object
    wanted: object

    @property
    def holds(self) -> bool:
        """Whether both are equal, and of one type."""
        return type(self.seen) is type(self.wanted) and self.seen == self.wanted


@dataclass(slots=True)
class Evidence:
    """What a check has seen so far."""

    observations: list[Observation] = field(default_factory=list)

    def equal(self, what: str, seen: object, wanted: object) -> None:
        """Note something seen beside what was wanted."""
        self.observations.append(Observation(what, seen, wanted))

    def true(self, what: str, seen: object) -> None:
        """Note something that should be true."""
        self.observations.append(Observation(what, bool(seen), True))

    def raises(self, what: str, error: type[BaseException], act: Callable[[], object]) -> Any:
        """Note that ``act`` raises ``error``, and return what it raised, or None."""
        try:
            act()
        except error as raised:
            self.observations.append(Observation(what, error.__name__, error.__name__))
            return raised
        self.observations.append(Observation(what, "no error", error.__name__))
        return None


Check: TypeAlias = "Callable[[Evidence], None]"


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of the chapter.

    Attributes:
        id: ``"5.3"``: the section's number after the 8, and the claim's number in it.
        text: the claim, in one sentence.
        check: what shows it.
    """

    id: str
    text: str
    check: Check

    @property
    def section(self) -> str:
        """The chapter's section, such as ``"8.5"``."""
        return "8." + self.id.partition(".")[0]


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a check.

    Attributes:
        claim: the claim.
        observations: what was seen, in order.
        error: what the check raised, as text, or None.
        seconds: how long it took.
    """

    claim: Claim
    observations: tuple[Observation, ...]
    error: str | None
    seconds: float

    @property
    def holds(self) -> bool:
        """Whether something was seen, all of it as claimed, and nothing was raised."""
        return self.error is None and bool(self.observations) and all(seen.holds for seen in self.observations)

    @property
    def failures(self) -> list[str]:
        """What did not hold, one sentence each."""
        lines = [
            f"{seen.what}: saw {seen.seen!r}, wanted {seen.wanted!r}" for seen in self.observations if not seen.holds
        ]
        return lines if self.error is None else [*lines, self.error]


class Claims:
    """A list of claims that checks register themselves in."""

    def __init__(self) -> None:
        self._claims: dict[str, Claim] = {}

    def claim(self, id: str) -> Callable[[Check], Check]:  # noqa: A002
        """Register a check; the first line of its docstring is the claim."""

        def register(check: Check) -> Check:
            if id in self._claims:
                raise ValueError(f"claim {id} is registered twice")
            self._claims[id] = Claim(id, (check.__doc__ or "").strip().partition("\n")[0], check)
            return check

        return register

    def __iter__(self) -> Iterator[Claim]:
        return iter(sorted(self._claims.values(), key=lambda claim: [int(part) for part in claim.id.split(".")]))

    def __len__(self) -> int:
        return len(self._claims)


CLAIMS = Claims()
claim = CLAIMS.claim


def run(claim: Claim) -> Result:
    """Run one check. A check that raises has failed; it never stops the others."""
    evidence = Evidence()
    error = None
    start = time.perf_counter()
    try:
        claim.check(evidence)
    except Exception as raised:
        error = f"{type(raised).__name__}: {raised}"
    return Result(claim, tuple(evidence.observations), error, time.perf_counter() - start)
