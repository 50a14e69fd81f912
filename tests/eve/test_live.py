"""Generated requests to the real eve and to evelab: the replies agree.

``EVELAB_LIVE_CASES`` sets how many cases an operation gets; 2,000 when it is not set. A mismatch is shrunk,
and the smallest request that shows it is printed with what differs.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evelab.eve.compare import differences
from evelab.eve.replay import answer
from evelab.eve.samples import SAMPLES

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from evelab.eve.bridge import Bridge

SETTINGS = settings(deadline=None, database=None, suppress_health_check=list(HealthCheck))
CASES = int(os.environ.get("EVELAB_LIVE_CASES", "2000"))


@pytest.mark.parametrize("name", SAMPLES)
def test_generated_requests_get_the_reply_of_the_real_eve(name: str, eve: Bridge) -> None:
    @settings(SETTINGS, max_examples=CASES)
    @given(st.randoms(use_true_random=False))
    def agrees(choices: Random) -> None:
        assert_agreement(SAMPLES[name](choices), eve)

    agrees()


def assert_agreement(
    request: dict[str, Any], eve: Bridge, ours: Callable[[dict[str, Any]], dict[str, Any]] = answer
) -> None:
    """Fail with the request and what differs."""
    reply = json.loads(json.dumps(ours(request)))
    found = differences(reply, eve.ask(request))
    if found:
        pytest.fail("\n".join([json.dumps(request), *found[:10]]), pytrace=False)


def test_a_planted_fault_is_found_and_shrunk_to_what_shows_it(eve: Bridge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evelab.keys.SCALAR_LABEL", b"scope-scalar-v2\0")

    @settings(SETTINGS, max_examples=500, derandomize=True)
    @given(st.randoms(use_true_random=False))
    def agrees(choices: Random) -> None:
        assert_agreement(SAMPLES["keys"](choices), eve)

    with pytest.raises(pytest.fail.Exception) as caught:
        agrees()
    request = json.loads(str(caught.value).split("\n")[0])
    assert request == {"op": "key", "namespace": "a", "scope": "a"}
