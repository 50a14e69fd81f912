"""Replies about whole sessions."""

from __future__ import annotations

from typing import Any

from evelab.eve.replay.tags import Unsupported


def session(request: dict[str, Any]) -> Any:
    raise Unsupported("sessions come next")
