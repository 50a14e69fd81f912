"""The command line, run as a person runs it."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from evelab.chapter import CLAIMS
from evelab.chapter.values import PRINTED_KEYS
from evelab.lab import server

if TYPE_CHECKING:
    from collections.abc import Callable
    from subprocess import CompletedProcess


def evelab(*words: str, **environ: str) -> CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "evelab", *words],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
        env={**os.environ, **environ},
    )


A, B, C = (next(row.key for row in PRINTED_KEYS if row.experiment == name) for name in "ABC")


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["--scope", "acme"], A),
        (["--tuple", "acme", "u_42"], B),
        (["--principal", "user", "u_42", "--authenticator", "app", "--issuer", "opsbot"], C),
    ],
)
def test_key_prints_the_chapters_keys(words: list[str], wanted: str) -> None:
    done = evelab("key", "--namespace", "acme-support-v1", *words)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{wanted}\n", "")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "Missing option '--namespace'."),
        (["--namespace", "n"], "Give exactly one of --scope, --tuple and --principal."),
        (["--namespace", "n", "--scope", "a", "--tuple", "b"], "Give exactly one of"),
        (["--namespace", " ", "--scope", "a"], "The memory namespace must not be blank."),
        (["--namespace", "n", "--scope", ""], "The memory scope must not be blank."),
        (["--namespace", "n", "--tuple"], "empty tuple"),
        (["--namespace", "n", "--tuple", "a", " "], "Component 1 of the memory scope must not be blank."),
        (["--namespace", "n", "--tuple", *"abcdefghijklmnopq"], "17 components; the limit is 16"),
        (["--namespace", "n", "--scope", "a", "b"], "go with --tuple only"),
        (["--namespace", "n" * 1025, "--scope", "a"], "1,025 UTF-8 bytes long; the limit is 1,024"),
        (["--namespace", "n", "--principal", "user", "u"], "--principal needs --authenticator."),
        (["--namespace", "n", "--scope", "a", "--issuer", "i"], "go with --principal only"),
        (["--namespace", "n", "--principal", "anonymous", "u", "--authenticator", "a"], "the slot is off"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_status_2(words: list[str], sentence: str) -> None:
    done = evelab("key", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("evelab key: ")
    assert done.stderr.count("\n") == 1
    assert sentence in done.stderr


def test_key_imports_nothing_heavy() -> None:
    code = (
        "import sys; from evelab.cli import main\n"
        "try: main(['key', '--namespace', 'n', '--scope', 's'])\n"
        "except SystemExit as stop: assert stop.code == 0\n"
        "print([name for name in ('pandas', 'matplotlib', 'ipywidgets', 'IPython', 'numpy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_verify_prints_six_keys_and_every_claim() -> None:
    done = evelab("verify")
    assert done.returncode == 0, done.stdout
    for printed in PRINTED_KEYS:
        assert f"{printed.key}  agrees" in done.stdout
    assert len(re.findall(r"^  \d+\.\d+ +holds ", done.stdout, re.MULTILINE)) == len(CLAIMS)
    assert f"{len(CLAIMS)} claims checked" in done.stdout
    assert done.stderr == ""


def test_verify_answers_in_json_and_by_section() -> None:
    done = evelab("verify", "--json", "--section", "8.6")
    report = json.loads(done.stdout)
    assert done.returncode == 0
    assert [row["computed"] for row in report["keys"]] == [row.key for row in PRINTED_KEYS]
    assert {claim["section"] for claim in report["claims"]} == {"8.6"}
    assert all(claim["holds"] and claim["observations"] for claim in report["claims"])


def test_verify_fails_when_a_claim_does_not_hold() -> None:
    code = (
        "import evelab.keys, sys; evelab.keys.COMPOSITE_LABEL = b'x'\nfrom evelab.cli import main; main(sys.argv[1:])"
    )
    for options in ([], ["--json"]):
        done = subprocess.run(
            [sys.executable, "-c", code, "verify", *options], capture_output=True, text=True, check=False
        )
        assert done.returncode == 1
        assert (
            ("FAILS" in done.stdout)
            if not options
            else any(claim["failures"] for claim in json.loads(done.stdout)["claims"])
        )


def test_an_unknown_section_names_those_that_are_checked() -> None:
    done = evelab("verify", "--section", "8.99")
    assert done.returncode == 2
    assert "sections with checks: 8." in done.stderr


@pytest.mark.parametrize(
    "words",
    [["--help"], *([name, "--help"] for name in ("lab", "app", "reset", "verify", "key", "inspect")), ["--version"]],
)
def test_help_exits_with_0(words: list[str]) -> None:
    done = evelab(*words)
    assert (done.returncode, done.stderr) == (0, "")
    assert "evelab" in done.stdout


def test_a_busy_port_is_a_clear_message() -> None:
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = str(busy.getsockname()[1])
        done = evelab("lab", "--no-browser", "--port", port)
    assert done.returncode == 1
    assert done.stderr.startswith(f"evelab: Port {port} cannot be opened")
    assert "--port" in done.stderr


def test_the_checkouts_notebooks_are_opened_in_place() -> None:
    assert server.notebooks_in(None) == Path(__file__).parent.parent / "notebooks"


def test_a_folder_gets_a_copy_and_keeps_what_it_holds(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "00_start_here.ipynb").write_text("my own work")
    assert server.notebooks_in(folder) == folder
    assert (folder / "00_start_here.ipynb").read_text() == "my own work"
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]
    assert (folder / "05a_fixed_scope.ipynb").read_bytes() == (
        server.CHECKOUT / "notebooks" / "05a_fixed_scope.ipynb"
    ).read_bytes()


def test_a_folder_that_cannot_be_written_is_a_clear_message(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    done = evelab("lab", "--no-browser", str(tmp_path / "file" / "sub"))
    assert done.returncode != 0
    assert "cannot be copied" in done.stderr


def test_an_installed_evelab_asks_for_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = tmp_path / "evelab"
    (installed / "_notebooks").mkdir(parents=True)
    (installed / "_notebooks" / "00_start_here.ipynb").write_text("{}")
    monkeypatch.setattr(server, "PACKAGE", installed)
    monkeypatch.setattr(server, "CHECKOUT", tmp_path)
    with pytest.raises(server.LabError, match="Name a folder"):
        server.notebooks_in(None)
    assert (server.notebooks_in(tmp_path / "copy") / "00_start_here.ipynb").read_text() == "{}"
    (installed / "_notebooks" / "00_start_here.ipynb").unlink()
    with pytest.raises(server.LabError, match="No notebooks"):
        server.notebooks_in(tmp_path / "copy")


def test_the_app_is_voila_behind_a_token() -> None:
    words = server.app_command(Path("notebooks"), open_browser=False, port=8899)
    assert words[1:3] == ["-m", "jupyter_server"]
    assert "--ServerApp.default_url=/voila" in words
    assert not [word for word in words if "token" in word]


def test_without_voila_the_app_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "find_spec", lambda name: None)
    with pytest.raises(server.LabError, match=r'^evelab app needs Voila: pip install "evelab\[app\]"\.$'):
        server.app_command(Path("notebooks"), open_browser=False, port=None)


def test_a_folder_that_is_not_there_is_a_clear_message(tmp_path: Path) -> None:
    done = evelab("app", str(tmp_path / "nowhere"))
    assert done.returncode == 2
    assert "does not exist" in done.stderr


@pytest.mark.parametrize("make", [server.lab_command, server.app_command])
def test_a_hub_gets_its_own_program(make: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTERHUB_SERVICE_PREFIX", "/user/zhang/")
    installed = {"voila"}
    monkeypatch.setattr(server, "find_spec", lambda name: name if name in installed else None)
    with pytest.raises(server.LabError, match=r"^A JupyterHub started this: pip install jupyterhub beside evelab\.$"):
        make(Path("notebooks"))
    installed.add("jupyterhub")
    assert make(Path("notebooks"))[1:3] == ["-m", "jupyterhub.singleuser"]


def test_a_prefix_is_told_to_the_server() -> None:
    assert "--ServerApp.base_url=/x/" in server.lab_command(Path("notebooks"), base_url="/x/")
    assert not [word for word in server.lab_command(Path("notebooks")) if "base_url" in word]


def test_the_lab_asks_no_server_for_news() -> None:
    words = server.lab_command(Path("notebooks"), open_browser=False, port=8899)
    assert "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate" in words
    assert "--no-browser" in words
    assert "--ServerApp.port=8899" in words
    settings = json.loads((server.SETTINGS / "overrides.json").read_text())
    assert settings["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false"
