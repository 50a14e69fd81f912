"""The benchmark runs: every work once, on both sides. What it measures is for ``python -m tests.bench``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from evelab.eve.bridge import Bridge
from evelab.eve.install import FOLLOWED_VERSION, fetch_eve
from evelab.eve.node import find_node
from evelab.keys import keys_in
from tests.bench import __main__ as bench
from tests.bench import ours

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def eves_side(eve: Bridge) -> Iterator[Bridge]:
    node = find_node()
    program = Path(bench.__file__).with_name("eves.mjs")
    with Bridge(fetch_eve(FOLLOWED_VERSION, node), node, program=program) as bridge:
        yield bridge


@pytest.mark.parametrize("work", [pytest.param(work, id=work.title) for work in bench.WORKS])
def test_both_sides_do_the_work(work: bench.Work, eves_side: Bridge) -> None:
    options = {} if work.length is None else {"length": min(work.length, 200)}
    reply = eves_side.ask({"work": work.name, "count": 2, "seed": 1, **options})
    assert reply["value"]["seconds"] > 0
    assert ours.WORKS[work.name](2, 1, **options) > 0


def test_a_session_keeps_little_beside_its_text() -> None:
    peak, text = ours.memory_of_turns(300)
    assert 0 < text < peak < 20_000


def test_keys_alone_are_the_keys_of_locks() -> None:
    key_of = keys_in(ours.NAMESPACE)
    assert [key_of(scope) for scope in ours.fresh_scopes(50, 1)] == [
        ours.lock_of(scope).scope.key for scope in ours.fresh_scopes(50, 1)
    ]
