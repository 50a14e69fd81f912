"""``evelab verify --eve``: its table, its JSON, and an exit status for each thing that can go wrong."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from evelab.eve.install import FOLLOWED_VERSION
from evelab.eve.report import report_lines
from evelab.eve.verify import Difference, Report, Row
from tests.test_cli import evelab

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.usefixtures("eve")
def test_the_version_that_we_follow_agrees_and_says_so() -> None:
    done = evelab("verify", "--eve", "--cases", "5")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"evelab beside eve {FOLLOWED_VERSION}" in done.stdout
    assert "the chapter's six keys" in done.stdout
    assert done.stdout.endswith("all agree.\n")


@pytest.mark.usefixtures("eve")
def test_it_answers_in_json() -> None:
    done = evelab("verify", "--eve", FOLLOWED_VERSION, "--cases", "3", "--seed", "5", "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 0
    assert (report["eve"], report["seed"], report["agrees"]) == (FOLLOWED_VERSION, 5, True)
    assert {row["differing"] for row in report["subjects"]} == {0}


@pytest.mark.usefixtures("eve")
def test_an_unknown_version_is_a_sentence_and_status_4() -> None:
    for version in ("latest", "0.0.1"):
        done = evelab("verify", "--eve", version)
        assert (done.returncode, done.stdout) == (4, "")
        assert done.stderr == f"evelab verify: There is no eve '{version}'. A version reads like 0.80.1.\n"


@pytest.mark.usefixtures("eve")
def test_no_network_is_a_sentence_and_status_5(tmp_path: Path) -> None:
    nowhere = {"npm_config_registry": "http://127.0.0.1:9/", "EVELAB_CACHE": str(tmp_path)}
    done = evelab("verify", "--eve", **nowhere)
    assert (done.returncode, done.stdout) == (5, "")
    assert done.stderr.startswith("evelab verify: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.usefixtures("eve")
def test_a_package_that_moved_inside_is_a_sentence_and_status_6(tmp_path: Path) -> None:
    package = tmp_path / "eve" / "9.9.9" / "node_modules" / "eve"
    package.mkdir(parents=True)
    (package / "package.json").write_text('{"name": "eve", "version": "9.9.9"}')
    done = evelab("verify", "--eve", "9.9.9", EVELAB_CACHE=str(tmp_path))
    assert (done.returncode, done.stdout) == (6, "")
    assert "9.9.9" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "words", [["--cases", "5"], ["--seed", "1"], ["--eve", "--section", "8.5"], ["--eve", "--cases", "0"]]
)
def test_options_that_do_not_go_together_are_status_2(words: list[str]) -> None:
    done = evelab("verify", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1


def test_a_difference_shows_the_shortest_request_and_what_differs() -> None:
    example = Difference({"op": "key", "namespace": "n", "scope": "s"}, ("reply.value.key: ours 'a', eve's 'b'",))
    rows = (Row("keys", 1200, 3, 0, example), Row("documents", 10, 0, 2, None))
    report = Report("0.81.0", "v24.1.0", 0, rows)
    assert not report.agrees
    text = "\n".join(report_lines(report))
    assert "keys        1,200 cases  DIFFERS on 3" in text
    assert '{"op": "key", "namespace": "n", "scope": "s"}' in text
    assert "ours 'a', eve's 'b'" in text
    assert "agrees, 2 not modelled" in text
    assert text.endswith("1,210 requests: 3 differ.")
