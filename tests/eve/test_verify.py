"""``verify_version``: what it asks, and that it sees a difference when there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from evelab.chapter.values import FILE_MEMORY
from evelab.eve.install import FOLLOWED_VERSION
from evelab.eve.replay import answer
from evelab.eve.samples import SAMPLES, seeded
from evelab.eve.verify import verify_version

if TYPE_CHECKING:
    from evelab.eve.bridge import Bridge

pytestmark = pytest.mark.usefixtures("eve")


def test_the_version_that_we_follow_agrees() -> None:
    heard: list[tuple[str, int, int]] = []
    report = verify_version(cases=10, seed=7, progress=lambda *step: heard.append(step))
    assert report.agrees
    assert report.version == FOLLOWED_VERSION
    counts = {row.subject: row.cases for row in report.rows}
    assert counts == {
        "the chapter's six keys": 6,
        "the recalled text": 3,
        "the document's format": 1,
        **{f"generated: {name}": 10 for name in SAMPLES},
    }
    assert all(row.unsupported == 0 and row.example is None for row in report.rows)
    total = sum(counts.values())
    assert heard[0] == ("fetching", 0, total)
    assert heard[-1] == ("done", total, total)


def test_a_difference_is_reported_with_the_shortest_request(monkeypatch: pytest.MonkeyPatch) -> None:

    def wrong(request: dict[str, Any]) -> dict[str, Any]:
        reply = answer(request)
        if request["op"] == "key" and reply["ok"]:
            reply["value"]["key"] = reply["value"]["key"].swapcase()
        return reply

    monkeypatch.setattr("evelab.eve.verify.answer", wrong)
    report = verify_version(cases=20)
    by_subject = {row.subject: row for row in report.rows}
    assert not report.agrees
    keys = by_subject["the chapter's six keys"]
    assert keys.differing == 6
    assert keys.example is not None
    assert keys.example.request == {"op": "key", "namespace": "acme-support-v1", "scope": "acme"}
    assert "reply.value.key" in keys.example.details[0]
    assert not by_subject["generated: keys"].agrees
    assert by_subject["generated: documents"].agrees


def test_a_value_that_the_chapter_prints_differently_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FILE_MEMORY, "recall", "# Persistent memories for profile\n\nSomething else.")
    report = verify_version(cases=0)
    assert [row.subject for row in report.rows if not row.agrees] == ["the recalled text"]


def test_a_seed_gives_the_same_requests_again() -> None:
    for name in SAMPLES:
        assert list(seeded(name, 20, 3)) == list(seeded(name, 20, 3))
        assert list(seeded(name, 20, 3)) != list(seeded(name, 20, 4))


def test_the_recorded_eve_and_the_fetched_one_are_the_same(eve: Bridge) -> None:
    assert eve.eve_version == FOLLOWED_VERSION
