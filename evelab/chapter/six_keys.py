"""The six keys of 8.5: each resolved by its policy for its caller, derived, and set beside the printed one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evelab.chapter.callers import caller_of
from evelab.chapter.policies import policy_of
from evelab.chapter.values import PRINTED_KEYS, PrintedKey
from evelab.chapter.workbench import Workbench

if TYPE_CHECKING:
    from evelab.scope import Scope


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A printed key and the computed one.

    Attributes:
        printed: what the chapter prints.
        scope: the scope that the policy resolved for the caller.
        key: the key that a session locked.
    """

    printed: PrintedKey
    scope: Scope | None
    key: str | None

    @property
    def agrees(self) -> bool:
        """Whether scope and key are the printed ones, byte for byte."""
        scope = list(self.scope) if isinstance(self.scope, tuple) else self.scope
        return scope == self.printed.scope and self.key == self.printed.key


def six_keys() -> list[KeyRow]:
    """Open a session for each printed key, under its policy and namespace, as its caller."""
    rows = []
    for printed in PRINTED_KEYS:
        bench = Workbench(policy_of(printed.policy).scope, namespace=printed.namespace)
        look = bench.look(caller_of(printed.caller))
        rows.append(KeyRow(printed, look.scope, look.key))
    return rows
