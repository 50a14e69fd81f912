"""What the lab shows of a workbench, as rows: the same rows become a DataFrame, an HTML table and plain text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evelab.keys import ITEM_PREFIX, NAMESPACE_PREFIX, SCOPE_PREFIX
from evelab.lab import html
from evelab.message import RECALL_KIND
from evelab.text import to_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evelab.chapter.callers import Caller
    from evelab.chapter.claims import Result
    from evelab.chapter.exercises import Report
    from evelab.chapter.six_keys import KeyRow
    from evelab.chapter.workbench import Look, Sharing, Stored
    from evelab.scope import Scope
    from evelab.session import Turn

_KEY = re.compile(f"({NAMESPACE_PREFIX}|{SCOPE_PREFIX}|{ITEM_PREFIX})[A-Za-z0-9_-]{{43}}")
NOTHING_SAVED = 'Nothing saved yet: say something that starts with "remember" or "记住".'
SCOPE_LETTERS = 31
"""As many as by_principal's scope for the chapter's user has: it is not broken."""
NOT_SPOKEN = "This caller has not spoken in this session yet: say something."


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell.

    Attributes:
        text: its plain text.
        html: the same in HTML.
        width: the letters of its longest line that does not break; that of the longest word when None.
    """

    text: str
    html: str
    width: int | None = None

    @property
    def needs(self) -> int:
        """The letters that its column is wide at least."""
        return _longest_word(self.text) if self.width is None else self.width


@dataclass(frozen=True, slots=True)
class View:
    """A table.

    Attributes:
        columns: the headings.
        rows: the cells.
        marked: the row that stands out, or None.
        empty: what to say when there are no rows.
        is_matrix: whether only the crossing of row and column tells something: it stays a table where room is short.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    marked: int | None = None
    empty: str = "Nothing to show."
    is_matrix: bool = False

    @property
    def records(self) -> list[dict[str, str]]:
        """The rows as dicts of plain texts."""
        return [dict(zip(self.columns, (cell.text for cell in row), strict=True)) for row in self.rows]

    @property
    def html(self) -> str:
        """The table in HTML, or what to say when it is empty."""
        if not self.rows:
            return html.paragraph(self.empty)
        cells = [[cell.html for cell in row] for row in self.rows]
        return html.table(self.columns, cells, marked=self.marked, widths=() if self.is_matrix else self._widths)

    @property
    def _widths(self) -> list[int]:
        columns = zip(self.columns, *self.rows, strict=True)
        return [max(_longest_word(name), *(cell.needs for cell in cells)) for name, *cells in columns]


def _longest_word(text: str) -> int:
    return max(map(len, text.split()), default=0)


def _plain(value: str) -> Cell:
    return Cell(value, html.escape(value))


def _mono(value: str, width: int = 18) -> Cell:
    """Text in a monospaced font, its column at least so many letters wide, or as its longest line."""
    width = min(width, max(map(len, value.splitlines()), default=0))
    return Cell(value, html.block(value, width=width), width)


def _key(key: str | None) -> Cell:
    return Cell("-" if key is None else key, html.whole_key(key), 1 if key is None else html.KEY_BREAK)


def _missing(words: str) -> Cell:
    return Cell(words, f'<span style="display: inline-block; min-width: 4ch">{html.quiet(words)}</span>')


def scope_text(scope: Scope | None) -> str:
    """A scope as the chapter writes it: a string in quotes, a tuple in brackets.

    A string that holds double quotes, such as by_principal's, stands in single ones, to be read as it is.
    """
    if isinstance(scope, str):
        return f"'{scope}'" if '"' in scope else f'"{scope}"'
    return to_json(scope).replace('","', '", "')


def callers_view(looks: Sequence[Look], *, current: Caller | None = None) -> View:
    """Every caller with the resolved scope, the whole key, the document's path and the recall."""
    rows = []
    for look in looks:
        if look.error is not None:
            rows.append((_plain(look.caller.title), _missing(f"error: {look.error}"), *[_missing("-")] * 3))
        elif look.key is None or look.path is None:
            rows.append(
                (_faded(look.caller.title), _missing("null"), *[_missing("-")] * 2, _missing(f"off ({look.off})"))
            )
        else:
            recall = _missing("null") if look.recall is None else _mono(entries(look.recall), 12)
            rows.append(
                (
                    _plain(look.caller.title),
                    _mono(scope_text(look.scope), SCOPE_LETTERS),
                    _key(look.key),
                    _path(look),
                    recall,
                )
            )
    marked = next((place for place, look in enumerate(looks) if look.caller == current), None)
    return View(("caller", "scope", "memory.scope.key", "document", "recall"), tuple(rows), marked)


def _faded(title: str) -> Cell:
    return Cell(title, html.quiet(title))


def _path(look: Look) -> Cell:
    """The path whole as text; in the table the key is its chip, since it stands whole in the cell before."""
    before, key, after = (look.path or "").partition(look.key or "")
    return Cell(look.path or "", f"{html.code(before)}<wbr>{html.chip(key)}<wbr>{html.code(after)}", len(before))


def entries(recall: str) -> str:
    """The entries of a recalled document without heading and guidance, which are the same every time."""
    return recall.rpartition("\n\n")[2]


def documents_view(documents: Sequence[Stored]) -> View:
    """The stored documents: key, path and raw text."""
    rows = [
        (
            _key(stored.key),
            Cell(stored.path, html.path(stored.path, stored.key), html.KEY_BREAK),
            _mono(stored.content, 40),
        )
        for stored in documents
    ]
    return View(("key", "path", "document, as stored"), tuple(rows), empty=NOTHING_SAVED)


def context_view(turns: Sequence[Turn], slot: str) -> View:
    """What the model saw at the start of the last turn, in order, and what is new since the turn before.

    Args:
        turns: the turns of one session.
        slot: the slot whose recalled messages carry the key's chip.
    """
    if not turns or not turns[-1].prompts:
        return View(("role", "message", "since last turn"), (), empty=NOT_SPOKEN)
    turn = turns[-1]
    before = list(turns[-2].prompts[-1].messages) if len(turns) > 1 and turns[-2].prompts else []
    lock = turn.locks.get(slot)
    rows = []
    for message in turn.context:
        is_recalled = message.kind == RECALL_KIND
        role = f"{message.role} (recalled)" if is_recalled else message.role
        mark = "" if lock is None or not is_recalled else " " + html.chip(lock.scope.key)
        known = message in before
        if known:
            before.remove(message)
        cells = (Cell(role, html.escape(role) + mark), _mono(message.text), _plain("" if known else "new"))
        rows.append(cells)
    return View(("role", "message", "since last turn"), tuple(rows))


def sharing_view(sharing: Sharing, looks: Sequence[Look] = ()) -> View:
    """Who recalls whom: readers down, writers across. A cell across tenants that recalls says LEAK.

    Args:
        sharing: what was tried.
        looks: the callers' keys, for the chips beside their names.
    """
    keys = {look.caller.label: look.key for look in looks}
    places = range(len(sharing.callers))
    rows = []
    for reader in places:
        words = [sharing.word(reader, writer) for writer in places]
        label = sharing.callers[reader].label
        key = keys.get(label)
        mark = "" if key is None else " " + html.chip(key)
        rows.append((Cell(label, html.escape(label) + mark), *(_sharing_cell(word) for word in words)))
    return View(("reader \\ writer", *(caller.label for caller in sharing.callers)), tuple(rows), is_matrix=True)


def _sharing_cell(word: str) -> Cell:
    if word == "LEAK":
        style = "border: 3px solid var(--jp-error-color1, #d32f2f); padding: 0 4px; font-weight: 700"
        return Cell(word, f'<span style="{style}; {html.TEXT}">LEAK</span>')
    if word == "off":
        return _missing("off")
    return Cell(word or "-", html.escape(word) if word else html.quiet("-"))


def keys_view(rows: Sequence[KeyRow]) -> View:
    """The six keys of 8.5: computed here, and whether the chapter prints the same."""
    return View(
        ("experiment", "namespace", "caller", "scope", "memory.scope.key", "as printed"),
        tuple(
            (
                _plain(row.printed.experiment),
                _mono(row.printed.namespace),
                _plain(row.printed.caller),
                _mono(scope_text(row.scope)),
                _key(row.key),
                _plain("yes" if row.agrees else f"no: {row.printed.key}"),
            )
            for row in rows
        ),
    )


def claims_view(results: Sequence[Result]) -> View:
    """Checked claims: whether they hold, and how many things were seen."""
    return View(
        ("claim", "holds", "seen", "what the chapter says"),
        tuple(
            (
                _plain(result.claim.id),
                _plain("yes" if result.holds else "NO: " + "; ".join(result.failures)),
                _plain(str(len(result.observations))),
                _plain(result.claim.text),
            )
            for result in results
        ),
    )


def report_view(report: Report) -> View:
    """A check of an exercise: one line a requirement, done or what was seen instead, and what helps."""
    return View(
        ("requirement", "done", "what was seen", "what to do"),
        tuple(
            (
                _plain(finding.requirement.text),
                _plain("yes" if finding.seen.ok else "not yet"),
                _plain(finding.seen.what),
                _plain(f"{finding.seen.hint} See {finding.requirement.section}." if finding.seen.hint else ""),
            )
            for finding in report.findings
        ),
    )


def records_view(rows: Sequence[Mapping[str, str]]) -> View:
    """Any rows of strings, in the columns of the first. A value that is a key breaks as keys do."""
    columns = tuple(rows[0]) if rows else ()
    return View(columns, tuple(tuple(_record(row[name]) for name in columns) for row in rows))


def _record(value: str) -> Cell:
    return Cell(value, html.bare_key(value), html.KEY_BREAK) if _KEY.fullmatch(value) else _mono(value)
