"""HTML of the lab's tables and cards. Pure: text in, text out, every value escaped.

Styles are inline, because a notebook that nobody has trusted yet loses its style sheets. Colours come from
JupyterLab's theme, so that both the light and the dark one can be read.
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from evelab.lab.colours import COLOURS, short

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

TEXT = "color: var(--jp-ui-font-color1, #212121)"
QUIET = "color: var(--jp-ui-font-color2, #616161)"
LINE = "var(--jp-border-color1, #bdbdbd)"
SURFACE = "background: var(--jp-layout-color2, #eeeeee)"
MARKED = "background: var(--jp-brand-color3, #bbdefb)"
MONO = "font-family: var(--jp-code-font-family, monospace)"
CELL = f"border: 1px solid {LINE}; padding: 3px 8px; text-align: left; vertical-align: top; {TEXT}"


def escape(value: object) -> str:
    """The value's text, harmless in HTML. Controls that could reorder text are shown as their code points."""
    return "".join(_visible(char) for char in html.escape(str(value), quote=True))


_REORDERING = {*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C}


def _visible(char: str) -> str:
    code = ord(char)
    hidden = code in _REORDERING or (code < 0x20 and char not in "\n\t") or 0xD800 <= code <= 0xDFFF
    return f"[U+{code:04X}]" if hidden else char


def chip(key: str) -> str:
    """A key's short label on its colour."""
    look = COLOURS.look(key)
    return (
        f'<span style="background: {look.background}; color: {look.text}; border: 2px {look.border} {look.text}; '
        f'border-radius: 4px; padding: 0 5px; white-space: nowrap; {MONO}">{escape(short(key))}</span>'
    )


def whole_key(key: str | None) -> str:
    """A chip and the whole key in one line, or a dash."""
    if key is None:
        return quiet("-")
    return f'<span style="white-space: nowrap">{chip(key)} {code(key)}</span>'


def code(value: object) -> str:
    """Text in a monospaced font, on one line."""
    return f'<span style="{MONO}; white-space: nowrap; {TEXT}">{escape(value)}</span>'


def block(value: object) -> str:
    """Text in a monospaced font, its line breaks kept, long lines wrapped."""
    return f'<div style="{MONO}; white-space: pre-wrap; overflow-wrap: anywhere; {TEXT}">{escape(value)}</div>'


def quiet(value: object) -> str:
    """Text that steps back."""
    return f'<span style="{QUIET}">{escape(value)}</span>'


def paragraph(value: object) -> str:
    """A line of plain text."""
    return f'<p style="margin: 4px 0; {TEXT}">{escape(value)}</p>'


def error(sentence: str) -> str:
    """An error's sentence, marked as one in words and by a border."""
    return (
        '<p role="alert" style="margin: 4px 0; padding: 4px 8px; '
        f'border-left: 5px solid var(--jp-error-color1, #d32f2f); {TEXT}"><b>Error.</b> {escape(sentence)}</p>'
    )


def table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, marked: int | None = None, caption: str | None = None
) -> str:
    """A table. Cells are HTML already; columns and caption are text.

    Args:
        columns: the headings.
        rows: one sequence of cells a row.
        marked: the row that stands out, from 0.
        caption: what the table shows, above it.
    """
    head = "".join(f'<th scope="col" style="{CELL}; {SURFACE}">{escape(name)}</th>' for name in columns)
    body = "".join(_row(cells, is_marked=place == marked) for place, cells in enumerate(rows))
    title = "" if caption is None else f'<caption style="{TEXT}; text-align: left">{escape(caption)}</caption>'
    return (
        '<div style="overflow-x: auto"><table style="border-collapse: collapse; font-size: 13px">'
        f"{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _row(cells: Sequence[str], *, is_marked: bool) -> str:
    style = f"{CELL}; border-left: 5px solid var(--jp-brand-color1, #1976d2); font-weight: 600" if is_marked else CELL
    first, *rest = cells
    return (
        f'<tr><th scope="row" style="{style}">{first}</th>'
        + "".join(f'<td style="{CELL}">{cell}</td>' for cell in rest)
        + "</tr>"
    )


def cards(items: Iterable[tuple[str, str]]) -> str:
    """A row of cards with arrows between them: heading (text) and body (HTML)."""
    drawn = [
        f'<div style="border: 1px solid {LINE}; border-radius: 6px; padding: 4px 10px; min-width: 0">'
        f'<div style="{QUIET}; font-size: 12px">{escape(heading)}</div>{body}</div>'
        for heading, body in items
    ]
    arrow = f'<div aria-hidden="true" style="{QUIET}; align-self: center">&#8594;</div>'
    return f'<div style="display: flex; flex-wrap: wrap; gap: 6px; margin: 6px 0">{arrow.join(drawn)}</div>'
