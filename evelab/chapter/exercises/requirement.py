"""What an exercise asks for, and what a check of an answer saw.

A check makes an answer's agent work in real sessions. It never looks at the answer's names or its text.
"""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evelab.chapter.exercises.limit import WAIT_SECONDS, WORK_SECONDS, OutOfTimeError, time_limit
from evelab.errors import SessionFailedError

if TYPE_CHECKING:
    from collections.abc import Callable

SHOWN = 200
"""Characters of an error's sentence or of a printed text that a finding quotes; the rest is counted."""


class AnswerError(Exception):
    """An answer is not of the kind that the exercise asks for. The sentence says what it is instead."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a check saw of one requirement.

    Attributes:
        ok: whether the requirement is met.
        what: what was seen, in words.
        hint: what to do about it; empty when it is met.
    """

    ok: bool
    what: str
    hint: str = ""


NOT_YET = Seen(False, "not looked at yet", "First make the lines above pass.")


@dataclass(frozen=True, slots=True)
class Requirement:
    """One thing that an answer must do.

    Attributes:
        text: the requirement, in one sentence.
        section: the section of the chapter that helps.
        look: makes the answer work, and tells what was seen.
        is_basis: whether the requirements after it mean nothing while it is not met.
    """

    text: str
    section: str
    look: Callable[[Any], Seen]
    is_basis: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """A requirement and what became of it."""

    requirement: Requirement
    seen: Seen


@dataclass(frozen=True, slots=True)
class Report:
    """What a check found.

    Attributes:
        findings: one a requirement, in the exercise's order.
        printed: what the answer printed while it was checked.
    """

    findings: tuple[Finding, ...]
    printed: str

    @property
    def passed(self) -> bool:
        """Whether every requirement is met."""
        return all(finding.seen.ok for finding in self.findings)

    @property
    def hints(self) -> list[str]:
        """The hints, in order."""
        return [finding.seen.hint for finding in self.findings if finding.seen.hint]

    @property
    def summary(self) -> str:
        """How many requirements are met, in one sentence."""
        met = sum(finding.seen.ok for finding in self.findings)
        done = "Done: all" if self.passed else f"{met} of"
        return f"{done} {len(self.findings)} requirements are met."


@dataclass(frozen=True, slots=True)
class Exercise:
    """An exercise of 8.12.

    Attributes:
        id: ``"12.1"``, as in the chapter.
        title: what to build, in a few words.
        requirements: what is asked for, in the order in which it is checked.
    """

    id: str
    title: str
    requirements: tuple[Requirement, ...]

    def check(self, answer: object) -> Report:
        """Check an answer. Whatever it does, raises or prints ends up in the report.

        Once the time is over, or while a requirement that others rest on is not met, the requirements that
        are left are not looked at.

        Args:
            answer: what the learner has made.
        """
        printed = io.StringIO()
        findings: list[Finding] = []
        with redirect_stdout(printed):
            try:
                with time_limit(WORK_SECONDS, WAIT_SECONDS):
                    for requirement in self.requirements:
                        resting = any(found.requirement.is_basis and not found.seen.ok for found in findings)
                        findings.append(Finding(requirement, NOT_YET if resting else _look(requirement, answer)))
            except OutOfTimeError:
                left = self.requirements[len(findings) :]
                findings += [Finding(requirement, _too_late(place)) for place, requirement in enumerate(left)]
        return Report(tuple(findings), printed.getvalue())


def _look(requirement: Requirement, answer: object) -> Seen:
    try:
        return requirement.look(answer)
    except AnswerError as error:
        return Seen(False, str(error), "Return what the text above the cell asks for.")
    except SessionFailedError as failed:
        cause = failed.__cause__ or failed
        return Seen(False, f"The session ended: {_told(cause)}", _raised_hint())
    except Exception as error:
        return Seen(False, f"Your code raised {_told(error)}", _raised_hint())


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {quoted(str(error))}"


def _raised_hint() -> str:
    return "Run the same thing in a cell of your own: there the error comes with its line."


def _too_late(place: int) -> Seen:
    if place:
        return Seen(False, "not looked at: the time was over", "First make the requirement above end in time.")
    return Seen(
        False,
        f"It did not end: stopped after {WORK_SECONDS:g} seconds of work, or {WAIT_SECONDS:g} of waiting.",
        "Something loops or waits. A handler of a memory must come back at once.",
    )


def quoted(text: str) -> str:
    """A text in one line, its first 200 characters, and how many more there are."""
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else f"{line[:SHOWN]} ({len(line) - SHOWN} more characters)"
