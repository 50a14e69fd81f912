"""The stores that every test of the contract runs on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.stores.places import Place

if TYPE_CHECKING:
    from pathlib import Path

    from tests.stores.places import Store

KINDS = ("in_memory", "directory")
SHARED = ("directory",)
"""Those that several processes can open."""


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return place_named(request.param, tmp_path)


@pytest.fixture(params=SHARED)
def shared_place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return place_named(request.param, tmp_path)


def place_named(kind: str, tmp_path: Path) -> Place:
    return Place(kind, str(tmp_path / "store"))


@pytest.fixture
def store(place: Place) -> Store:
    return place.open()
