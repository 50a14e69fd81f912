"""An incident: a rule that was wrong, the right one, and one run that both go through."""

from __future__ import annotations

import inspect
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run showed.

    Attributes:
        seen: what happened, in words.
        harm: whether somebody read what was not theirs, or something was lost.
    """

    seen: str
    harm: bool


@dataclass(frozen=True, slots=True)
class Incident:
    """Something that has gone wrong in memory systems.

    Attributes:
        name: one word.
        title: a few words.
        harm: ``"leak"`` or ``"loss"``.
        faulty: the rule that was in use.
        right: the rule that should have been.
        run: a run under a rule.
    """

    name: str
    title: str
    harm: str
    faulty: Callable[..., Any]
    right: Callable[..., Any]
    run: Callable[[Any], Outcome]

    def lines(self) -> str:
        """Both rules, as they stand in the code."""
        return "\n".join(textwrap.dedent(inspect.getsource(rule)) for rule in (self.faulty, self.right)).rstrip()

    def outcomes(self) -> tuple[Outcome, Outcome]:
        """What happened under the faulty rule, and under the right one."""
        return self.run(self.faulty), self.run(self.right)

    def rows(self) -> list[dict[str, str]]:
        """Both outcomes, for a table."""
        found = zip((self.faulty, self.right), self.outcomes(), strict=True)
        return [
            {"rule": rule.__name__, "what happened": outcome.seen, "harm": self.harm if outcome.harm else "none"}
            for rule, outcome in found
        ]
