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
KEY_BREAK = 28
"""Characters of a key on its first line, where it is wrapped."""
WRAPPING = (
    "<style>.evelab .widget-label { display: block; white-space: normal; height: auto; line-height: 1.4 !important } "
    ".evelab .widget-toggle-buttons > .widget-label { margin-top: 4px } "
    ".evelab .jupyter-button { white-space: normal; height: auto; min-height: 28px; line-height: 1.4 }</style>"
)
"""A style sheet for the controls of a panel: a long label goes on in the next line. ipywidgets would cut it off."""
LETTER_PIXELS = 7.3
"""How wide one letter of a table is; its monospaced ones are 7.2."""
CELL_PIXELS = 17
"""What padding and border of a cell take."""
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
    paint = f"background: {look.background}; color: {look.text}; border: 2px {look.border} {look.text}"
    shape = "border-radius: 4px; padding: 0 5px; white-space: nowrap; vertical-align: middle"
    return f'<span style="{paint}; {shape}; {MONO}">{escape(short(key))}</span>'


def whole_key(key: str | None) -> str:
    """A chip and the whole key, which may break in one place only, or a dash."""
    if key is None:
        return quiet("-")
    shape = "display: inline-block; vertical-align: middle; max-width: 32ch; line-height: 1.4"
    return f'{chip(key)} <span style="{shape}">{bare_key(key)}</span>'


def stacked_key(key: str) -> str:
    """A chip, and below it the whole key, which may break in one place only."""
    return f'{chip(key)}<div style="max-width: 32ch">{bare_key(key)}</div>'


def bare_key(key: str) -> str:
    """The whole key without a chip; it may break in one place only."""
    return f"{code(key[:KEY_BREAK])}<wbr>{code(key[KEY_BREAK:])}"


def path(value: str, key: str) -> str:
    """An object's path, which may break before, within and after its key only."""
    before, found, after = value.partition(key)
    parts = (before, found[:KEY_BREAK], found[KEY_BREAK:], after)
    return "<wbr>".join(code(part) for part in parts if part)


def code(value: object) -> str:
    """Text in a monospaced font, on one line."""
    return f'<span style="{MONO}; white-space: nowrap; {TEXT}">{escape(value)}</span>'


def block(value: object, *, width: int = 18) -> str:
    """Text in a monospaced font, its line breaks kept, long lines wrapped.

    Args:
        value: the text.
        width: how many characters wide it is at least.
    """
    wide = f"min-width: {width}ch; max-width: 80ch"
    return f'<div style="{MONO}; white-space: pre-wrap; overflow-wrap: anywhere; {wide}; {TEXT}">{escape(value)}</div>'


def quiet(value: object) -> str:
    """Text that steps back."""
    return f'<span style="{QUIET}">{escape(value)}</span>'


def paragraph(value: object) -> str:
    """A line of plain text."""
    return f'<p style="margin: 4px 0; line-height: 1.4; {TEXT}">{escape(value)}</p>'


def error(sentence: str) -> str:
    """An error's sentence, marked as one in words and by a border."""
    return (
        '<p role="alert" style="margin: 4px 0; padding: 4px 8px; '
        f'border-left: 5px solid var(--jp-error-color1, #d32f2f); {TEXT}"><b>Error.</b> {escape(sentence)}</p>'
    )


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    marked: int | None = None,
    caption: str | None = None,
    widths: Sequence[int] = (),
) -> str:
    """A table. Where it has less room than its columns need, each row is a list instead. Where style sheets do not
    count, or without widths, it scrolls. Cells are HTML already; columns and caption are text.

    Args:
        columns: the headings.
        rows: one sequence of cells a row.
        marked: the row that stands out, from 0.
        caption: what the table shows, above it.
        widths: letters that each column needs.
    """
    head = "".join(f'<th scope="col" style="{CELL}; {SURFACE}">{escape(name)}</th>' for name in columns)
    body = "".join(_row(columns, cells, is_marked=place == marked) for place, cells in enumerate(rows))
    title = "" if caption is None else f'<caption style="{TEXT}; text-align: left">{escape(caption)}</caption>'
    needed = round(sum(widths) * LETTER_PIXELS + len(widths) * CELL_PIXELS)
    return (
        f"{_lists(needed) if widths else ''}"
        '<div style="overflow-x: auto; container-type: inline-size">'
        f'<table class="evelab-{needed}" style="border-collapse: collapse; font-size: 12px; line-height: 1.4">'
        f"{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _lists(needed: int) -> str:
    """A style sheet by which a table's rows are lists in a place with fewer pixels: each cell below its heading."""
    name = f".evelab-{needed}"
    parts = ", ".join(f"{name}{part}" for part in ("", " caption", " tbody", " tr", " th", " td"))
    rules = (
        f"{parts} {{ display: block }}",
        f"{name} thead {{ display: none }}",
        f"{name} tr {{ margin-bottom: 6px }}",
        f"{name} td {{ border-top: 0 !important }}",
        f"{name} td::before {{ content: attr(data-column) ': '; {QUIET} }}",
    )
    return f"<style>@container (max-width: {needed - 1}px) {{ {' '.join(rules)} }}</style>"


def _row(columns: Sequence[str], cells: Sequence[str], *, is_marked: bool) -> str:
    style = f"{CELL}; border-left: 5px solid var(--jp-brand-color1, #1976d2); font-weight: 600" if is_marked else CELL
    first, *rest = cells
    return (
        f'<tr><th scope="row" style="{style}; word-break: keep-all">{first}</th>'
        + "".join(
            f'<td data-column="{escape(name)}" style="{CELL}">{cell}</td>'
            for name, cell in zip(columns[1:], rest, strict=True)
        )
        + "</tr>"
    )


def cards(items: Iterable[tuple[str, str]]) -> str:
    """A row of cards: heading (text) and body (HTML). An arrow leads to each but the first, and wraps with it."""
    arrow = f'<div aria-hidden="true" style="{QUIET}; align-self: center">&#8594;</div>'
    drawn = [
        f'<div style="display: flex; gap: 6px; min-width: 0">{arrow if place else ""}'
        f'<div style="border: 1px solid {LINE}; border-radius: 6px; padding: 4px 10px; min-width: 0; line-height: 1.4">'
        f'<div style="{QUIET}; font-size: 12px">{escape(heading)}</div>{body}</div></div>'
        for place, (heading, body) in enumerate(items)
    ]
    return f'<div style="display: flex; flex-wrap: wrap; gap: 6px; margin: 6px 0">{"".join(drawn)}</div>'
