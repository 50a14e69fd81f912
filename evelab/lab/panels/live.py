"""Widgets that can be read without a kernel: their last content is stored in the notebook beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from evelab.lab import html

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def bundle(widget: Any, text: str, markup: str, **kwargs: Any) -> Any:
    """A widget's notebook output: the live view, and HTML and text that stay when no kernel runs."""
    shown = widgets.Widget._repr_mimebundle_(widget, **kwargs)
    if isinstance(shown, dict):
        shown |= {"text/plain": text, "text/html": markup}
    return shown


def buttons(description: str, options: Sequence[Any] = (), value: Any = None) -> Any:
    """One of several options, each a button that Tab reaches and Enter presses.

    Not a drop-down list or radio buttons: JupyterLab takes their arrow keys and letters for its own commands.
    """
    style = {"button_width": "auto", "description_width": "90px"}
    return widgets.ToggleButtons(
        description=description,
        options=list(options),
        value=value,
        style=style,
        tooltip="",  # without one it says "null"
    )


class Panel(widgets.VBox):  # type: ignore[misc]
    """Controls and what they show, one below the other. Long labels wrap."""

    def __init__(self, children: Sequence[Any]) -> None:
        sheet = widgets.HTML(html.WRAPPING, layout=widgets.Layout(display="none"))
        super().__init__(children=[*children, sheet])
        self.add_class("evelab")


class LiveHTML(widgets.HTML):  # type: ignore[misc]
    """HTML that a program changes, with the text that stands for it in the stored notebook.

    Args:
        draw: gives the present HTML and text.
    """

    def __init__(self, draw: Callable[[], tuple[str, str]], **kwargs: Any) -> None:
        self._draw = draw
        super().__init__(value=draw()[0], **kwargs)

    def redraw(self) -> None:
        """Show what is there now."""
        self.value = self._draw()[0]

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        markup, text = self._draw()
        return bundle(self, text, markup, **kwargs)
