"""Two replies side by side: values equal, errors of the same kind. The sentence of an error is ours."""

from __future__ import annotations

import re
from typing import Any

NAMED = re.compile(r"(\w*Error): ")
"""How eve logs an error: its name before the sentence, or the sentence alone."""


def differences(ours: Any, theirs: Any, path: str = "reply") -> list[str]:
    """Where the replies differ, in words; nothing where they agree."""
    if is_error(ours) and isinstance(theirs, str):
        kind = NAMED.match(theirs)
        return differences(ours, {"name": kind[1] if kind else "Error", "class": "", "message": theirs}, path)
    if is_error(ours) and is_error(theirs):
        told = ("message",) if ours["class"] == "Error" else ()
        return [
            f"{path}.{name}: ours {ours.get(name)!r}, eve's {theirs.get(name)!r}"
            for name in ("name", "key", *told)
            if ours.get(name) != theirs.get(name)
        ]
    if isinstance(ours, dict) and isinstance(theirs, dict):
        found = [f"{path}.{name}: only ours: {ours[name]!r}" for name in ours if name not in theirs]
        found += [f"{path}.{name}: only eve's: {theirs[name]!r}" for name in theirs if name not in ours]
        for name in ours:
            if name in theirs:
                found += differences(ours[name], theirs[name], f"{path}.{name}")
        return found
    if isinstance(ours, list) and isinstance(theirs, list):
        found = [] if len(ours) == len(theirs) else [f"{path}: ours has {len(ours)} items, eve's {len(theirs)}"]
        for index, (our, their) in enumerate(zip(ours, theirs, strict=False)):
            found += differences(our, their, f"{path}[{index}]")
        return found
    return [] if type(ours) is type(theirs) and ours == theirs else [f"{path}: ours {ours!r}, eve's {theirs!r}"]


def is_error(value: Any) -> bool:
    """Whether a reply's value describes an error."""
    return isinstance(value, dict) and {"name", "class", "message"} <= value.keys()
