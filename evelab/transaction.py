"""A step moves the session's checkpoint whole, or leaves it as it was."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from evelab.state import StateContainer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evelab.steps import Steps


@contextmanager
def transaction(steps: Steps) -> Iterator[None]:
    """Work on a private copy of the state. Whatever is raised, also by Ctrl-C, undoes the work.

    Raises:
        StateValueError: the work left a value that cannot be kept; the work is undone.
    """
    before = steps.saved
    container = StateContainer(before.state)
    try:
        with container.active():
            yield
        steps.saved = replace(steps.saved, state=container.checkpoint())
    except BaseException:
        steps.saved = before
        raise
