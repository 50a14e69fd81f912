"""Check a memory provider of one's own against the contract: ``check_provider(make)``.

The checks call the provider's handlers as a session would, for callers of their own, and say in words what is
wrong. They are the rules of the chapter's section 8.7 and what the engine does with a result (eve 0.80.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evelab.provider_checks import CHECKS, Fault, Subject

if TYPE_CHECKING:
    from collections.abc import Callable

    from evelab.provider import MemoryProvider

MANY = 10_000


@dataclass(frozen=True, slots=True)
class Line:
    """What one check found.

    Attributes:
        check: the rule, in a sentence.
        ok: whether the provider keeps it.
        words: what is wrong; empty when nothing is, or why the check does not apply.
    """

    check: str
    ok: bool
    words: str = ""

    def __str__(self) -> str:
        return f"{'ok   ' if self.ok else 'WRONG'} {self.check}{f' {self.words}' if self.words else ''}"


@dataclass(frozen=True, slots=True)
class Report:
    """What a provider keeps of the contract, and what it does not.

    Attributes:
        lines: one a check, in their order.
    """

    lines: tuple[Line, ...]

    @property
    def ok(self) -> bool:
        """Whether no check found a fault."""
        return all(line.ok for line in self.lines)

    @property
    def faults(self) -> tuple[Line, ...]:
        """The lines that found one."""
        return tuple(line for line in self.lines if not line.ok)

    def __str__(self) -> str:
        return "\n".join(map(str, self.lines))


def check_provider(make: Callable[[], MemoryProvider], *, forget: str = "forget", many: int = MANY) -> Report:
    """Run a provider through the contract.

    The provider must keep what the user says: ``capture["turn.completed"]`` gets a turn whose ``input`` is one
    message, and a later ``recall["turn.started"]`` with a word of it as input must give a message that contains
    the whole text. Texts are one line of at most 200 characters. Handlers may be coroutine functions.

    If it offers the tool ``forget``, that takes the id of a recalled message as its input ``id`` and deletes
    the note in the partition of the turn. Without such a tool those checks say so and pass.

    Args:
        make: gives a provider with an empty store. It is called once a check. Close what it opened yourself.
        forget: the tool's key.
        many: how many notes the largest check writes.

    Returns:
        A report with one line a check. A provider that raises where it must not is a fault in the report.
    """
    return Report(tuple(_run(name, check, make, forget, many) for name, check in CHECKS.items()))


def _run(
    name: str, check: Callable[[Subject], str | None], make: Callable[[], MemoryProvider], forget: str, many: int
) -> Line:
    try:
        note = check(Subject(make(), forget, many))
    except Fault as fault:
        return Line(name, False, str(fault))
    except Exception as error:
        return Line(name, False, f"It raised {type(error).__name__}: {error}")
    return Line(name, True, note or "")
