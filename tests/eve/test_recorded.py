"""evelab's replies against those that the real eve 0.80.1 gave, one recorded case each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evelab.eve.compare import differences
from evelab.eve.replay import answer

CASES = [
    json.loads(line) for line in Path(__file__).with_name("cases.jsonl").read_text(encoding="utf-8").split("\n") if line
]
UNSUPPORTED = {
    "db/cred-eve-token",
    "ds/initial-returns-function",
    "ds/mutation-in-place-of-a-date-is-lost",
    "ds/mutation-in-place-of-a-map-is-lost",
    "ds/serialise-bigint",
    "ds/serialise-class",
    "ds/serialise-function",
    "ds/serialise-map",
    "ds/update-returns-function",
}
"""Cases about JavaScript values and modules. evelab says so instead of replying."""


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_recorded_case(case: dict[str, Any]) -> None:
    reply = answer(case["request"])
    if case["id"] in UNSUPPORTED:
        assert not reply["ok"]
        assert reply["unsupported"]
    else:
        assert differences(reply, case["reply"]) == []
