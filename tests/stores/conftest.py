"""The stores that every test of the contract runs on.

Without a network the S3 and Azure servers cannot be fetched: their tests skip then, and say why. With
``EVELAB_REQUIRE_STORES=1`` that is a failure.
"""

from __future__ import annotations

import os
import subprocess
import uuid
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from evelab.eve.errors import NodeNotFoundError
from tests.stores import servers
from tests.stores.places import Place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from tests.stores.places import Store

SHARED = ("directory", "s3", "azure")
"""Those that several processes can open."""
KINDS = ("in_memory", "memory", *SHARED)


@contextmanager
def required(server: AbstractContextManager[Place]) -> Iterator[Place]:
    try:
        opened = server.__enter__()
    except (OSError, subprocess.SubprocessError, NodeNotFoundError) as reason:
        if os.environ.get("EVELAB_REQUIRE_STORES") == "1":
            raise
        pytest.skip(f"this store cannot be had here: {reason}")
    try:
        yield opened
    finally:
        server.__exit__(None, None, None)


@pytest.fixture(scope="session")
def s3_server() -> Iterator[Place]:
    with required(servers.s3()) as place:
        yield place


@pytest.fixture(scope="session")
def azure_server() -> Iterator[Place]:
    with required(servers.azure()) as place:
        yield place


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return place_named(request.param, request, tmp_path)


@pytest.fixture(params=SHARED)
def shared_place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return place_named(request.param, request, tmp_path)


def place_named(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """An empty place of that kind."""
    match kind:
        case "in_memory":
            return Place("in_memory")
        case "memory":
            return Place("object_store", "memory://")
        case "directory":
            return Place("directory", str(tmp_path / "store"))
    server: Place = request.getfixturevalue(f"{kind}_server")
    return replace(server, target=f"{server.target}/{uuid.uuid4()}")


@pytest.fixture
def store(place: Place) -> Store:
    return place.open()
