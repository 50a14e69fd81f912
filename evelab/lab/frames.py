"""Tables for notebooks: a DataFrame to work with, and a coloured table to look at.

The text beside the coloured table is ``DataFrame.to_string()``: whole, so that a changed key is noticed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from evelab.chapter import CLAIMS, run
from evelab.chapter.six_keys import six_keys as compute_six_keys
from evelab.lab import views

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evelab.chapter.callers import Caller
    from evelab.chapter.workbench import Workbench
    from evelab.lab.views import View
    from evelab.session import Turn


class Table:
    """A table in a notebook.

    Attributes:
        frame: its rows as a DataFrame of strings.
    """

    def __init__(self, view: View) -> None:
        self.frame = frame(view)
        self._view = view

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self._view.html, "text/plain": plain(self._view)}


def frame(view: View) -> pd.DataFrame:
    """A view's rows as a DataFrame of strings, its columns in the view's order."""
    return pd.DataFrame(view.records, columns=list(view.columns), dtype=object)


def plain(view: View) -> str:
    """A view as text: every cell whole, or what to say when there are no rows."""
    return frame(view).to_string(index=False) if view.rows else view.empty


def callers(bench: Workbench, only: Sequence[Caller] | None = None) -> Table:
    """Callers with scope, key, document path and recall, each looked at in a new session."""
    chosen = bench.callers if only is None else only
    return Table(views.callers_view([bench.look(caller) for caller in chosen]))


def documents(bench: Workbench) -> Table:
    """The stored documents by key, as stored."""
    return Table(views.documents_view(bench.documents()))


def context(turn: Turn, *, slot: str = "profile") -> Table:
    """What the model saw when a turn began."""
    return Table(views.context_view([turn], slot))


def sharing(bench: Workbench) -> Table:
    """Who recalls whose memory: readers down, writers across."""
    return Table(views.sharing_view(bench.sharing(), bench.looks()))


def six_keys() -> Table:
    """The six keys of 8.5, computed now."""
    return Table(views.keys_view(compute_six_keys()))


def claims(*ids: str) -> Table:
    """Check claims of the chapter now, by their ids.

    Raises:
        KeyError: an id that no claim has.
    """
    known = {claim.id: claim for claim in CLAIMS}
    return Table(views.claims_view([run(known[name]) for name in ids]))


def records(rows: Sequence[Mapping[str, str]]) -> Table:
    """Any rows of strings, in the columns of the first."""
    return Table(views.records_view(rows))
