"""The real eve for the tests that ask it. Without Node or a network they skip, and say why."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from evelab.eve.bridge import Bridge
from evelab.eve.errors import EveInstallError, EveNetworkError, NodeNotFoundError
from evelab.eve.install import FOLLOWED_VERSION, fetch_eve
from evelab.eve.node import find_node

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def eve() -> Iterator[Bridge]:
    """A bridge to the version that evelab follows. With EVELAB_REQUIRE_LIVE=1 its absence is a failure."""
    try:
        node = find_node()
        package = fetch_eve(FOLLOWED_VERSION, node)
    except (NodeNotFoundError, EveNetworkError, EveInstallError) as reason:
        if os.environ.get("EVELAB_REQUIRE_LIVE") == "1":
            raise
        pytest.skip(f"the real eve cannot be asked here: {reason}")
    with Bridge(package, node) as bridge:
        yield bridge
