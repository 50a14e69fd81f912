"""The values that the chapter prints, read from ``values.toml``: the one place where they stand."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class PrintedKey:
    """One of the six keys of 8.5.

    Attributes:
        experiment: ``"A"`` to ``"E"``.
        policy: the scope policy, by its name in ``evelab.chapter.policies``.
        caller: the caller, by the label in ``evelab.chapter.callers``.
        namespace: the namespace.
        scope: the scope as the chapter prints it; a list for a tuple.
        key: the key as the chapter prints it.
    """

    experiment: str
    policy: str
    caller: str
    namespace: str
    scope: str | list[str]
    key: str


_VALUES: dict[str, Any] = tomllib.loads(files(__package__).joinpath("values.toml").read_text("utf-8"))

PRINTED_KEYS = tuple(PrintedKey(**row) for row in _VALUES["keys"])
FILE_MEMORY: dict[str, Any] = _VALUES["file_memory"]
ONE_SAVE: dict[str, Any] = _VALUES["one_save"]
CHAPTER_VERSION: str = _VALUES["versions"]["chapter"]
OBSERVED_VERSION: str = _VALUES["versions"]["observed"]
