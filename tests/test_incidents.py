"""Incidents: under the faulty rule somebody is harmed in the run, under the right one nobody is."""

from __future__ import annotations

import pytest

from evelab.chapter.incidents import INCIDENTS, Incident


@pytest.mark.parametrize("incident", INCIDENTS.values(), ids=lambda incident: incident.name)
def test_the_faulty_rule_harms_and_the_right_one_does_not(incident: Incident) -> None:
    faulty, right = incident.outcomes()
    assert (faulty.harm, right.harm) == (True, False), (faulty, right)
    assert faulty.seen != right.seen
    assert [row["harm"] for row in incident.rows()] == [incident.harm, "none"]


def test_there_are_seventeen_and_each_shows_its_two_rules() -> None:
    assert len(INCIDENTS) == 17
    for incident in INCIDENTS.values():
        assert incident.harm in ("leak", "loss")
        lines = incident.lines()
        assert f"def {incident.faulty.__name__}" in lines
        assert lines.index("Faulty.") < lines.index("Right.")
