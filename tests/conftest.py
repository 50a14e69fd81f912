"""What all tests share: a slow machine is no failure."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("evelab", deadline=None)
settings.load_profile("evelab")
