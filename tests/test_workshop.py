"""A workshop's folder: a fresh copy without outputs, and one notebook put back without touching the others."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from evelab.cli import lab
from evelab.lab import server, workshop
from evelab.lab.server import LabError, source_notebooks
from evelab.lab.workshop import MARK, make_workshop, plan_reset, workshop_folder

SOURCE = source_notebooks()[0]


def evelab(*words: str, folder: Path, said: str = "") -> subprocess.CompletedProcess[str]:
    words = (sys.executable, "-m", "evelab", *words)
    return subprocess.run(words, cwd=folder, input=said, capture_output=True, text=True, check=False)


def code(path: Path) -> list[dict[str, Any]]:
    return [cell for cell in json.loads(path.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]


def test_a_workshop_has_every_notebook_without_outputs_and_no_solutions(tmp_path: Path) -> None:
    made = make_workshop(tmp_path / "room")
    names = sorted(path.name for path in made.iterdir())
    assert names == sorted([MARK, *(path.name for path in SOURCE.glob("*.ipynb")), "workshop.md"])
    for path in made.glob("*.ipynb"):
        assert {(cell["execution_count"], len(cell["outputs"])) for cell in code(path)} == {(None, 0)}
        assert [cell["source"] for cell in code(path)] == [cell["source"] for cell in code(SOURCE / path.name)]
    assert [path.name for path in tmp_path.iterdir()] == ["room"]


def test_a_folder_that_holds_something_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("work")
    with pytest.raises(LabError, match="is not empty") as refused:
        workshop_folder(tmp_path)
    assert refused.value.place == str(tmp_path)
    with pytest.raises(LabError, match="is not empty"):
        workshop_folder(tmp_path / "mine.txt")


def test_an_empty_folder_is_taken_and_without_a_name_the_next_free_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert workshop_folder(tmp_path) == tmp_path
    assert (make_workshop(tmp_path) / "00_start_here.ipynb").is_file()
    monkeypatch.chdir(tmp_path)
    assert str(workshop_folder(None)) == "evelab-workshop"
    Path("evelab-workshop").mkdir()
    assert str(workshop_folder(None)) == "evelab-workshop-2"


def test_a_workshop_that_cannot_be_written_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, *, cleared: bool) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(workshop, "as_shipped", full)
    with pytest.raises(LabError, match="No space left on device"):
        make_workshop(tmp_path / "room")
    assert list(tmp_path.iterdir()) == []


def test_one_notebook_is_put_back_and_the_others_stay(tmp_path: Path) -> None:
    room = make_workshop(tmp_path / "room")
    mine, other = room / "05a_fixed_scope.ipynb", room / "05b_tuple_scope.ipynb"
    fresh = mine.read_bytes()
    mine.write_text("my work")
    other.write_text("other work")
    done = evelab("reset", "05a_fixed_scope", "room", folder=tmp_path, said="y\n")
    assert done.returncode == 0
    assert "Yours will be kept as 05a_fixed_scope.backup-1.ipynb" in done.stdout
    assert mine.read_bytes() == fresh
    assert (room / "05a_fixed_scope.backup-1.ipynb").read_text() == "my work"
    assert other.read_text() == "other work"
    assert evelab("reset", "05a_fixed_scope.ipynb", "--yes", folder=room).returncode == 0
    assert (room / "05a_fixed_scope.backup-2.ipynb").read_bytes() == fresh


def test_who_says_no_keeps_everything(tmp_path: Path) -> None:
    room = make_workshop(tmp_path / "room")
    (room / "05a_fixed_scope.ipynb").write_text("my work")
    done = evelab("reset", "05a_fixed_scope", "room", folder=tmp_path, said="n\n")
    assert (done.returncode, done.stderr.strip()) == (1, "evelab: stopped.")
    assert (room / "05a_fixed_scope.ipynb").read_text() == "my work"
    assert not list(room.glob("*.backup-*"))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("05z", "."), 'There is no notebook "05z". There are: 00_start_here, '),
        (("00_start_here", "nowhere"), "There is no folder nowhere."),
        (("00_start_here", str(SOURCE)), "holds evelab's own notebooks"),
    ],
)
def test_a_reset_that_cannot_be_says_why(words: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    done = evelab("reset", "--yes", *words, folder=tmp_path)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert len(done.stderr.strip().split("\n")) == 1


def test_outside_a_workshop_it_comes_with_its_outputs(tmp_path: Path) -> None:
    plan = plan_reset("00_start_here", tmp_path)
    assert plan.backup is None
    plan.do()
    assert plan.target.read_bytes() == (SOURCE / "00_start_here.ipynb").read_bytes()


def test_the_plan_names_every_notebook() -> None:
    plan = (SOURCE / "workshop.md").read_text("utf-8")
    for path in SOURCE.glob("*.ipynb"):
        group = {"05b", "05c", "05d"}
        assert path.stem in plan or path.stem[:3] in group, path.stem


def test_the_command_opens_the_new_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[list[str]] = []

    def serve(words: list[str]) -> int:
        opened.append(words)
        return 0

    monkeypatch.setattr(server, "serve", serve)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(lab, ["--workshop"])
    assert done.exit_code == 0
    assert "The workshop's notebooks are in evelab-workshop." in done.output
    assert any("evelab-workshop" in word for word in opened[0])
    assert (tmp_path / "evelab-workshop" / "00_start_here.ipynb").is_file()


def test_a_port_that_is_taken_makes_no_folder(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = evelab("lab", "--workshop", "room", "--port", str(taken.getsockname()[1]), folder=tmp_path)
    assert done.returncode == 1
    assert "cannot be opened" in done.stderr
    assert list(tmp_path.iterdir()) == []
