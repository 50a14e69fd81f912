"""The notebooks: executed whole, short cells, no key typed in, and strict checks that notice one changed letter."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evelab.chapter.values import PRINTED_KEYS

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").rglob("*.ipynb"))
KEY = re.compile(r"memscope1_[A-Za-z0-9_-]{43}")


def cells(path: Path, kind: str = "code") -> list[dict[str, Any]]:
    return [cell for cell in json.loads(path.read_text("utf-8"))["cells"] if cell["cell_type"] == kind]


def source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def test_the_notebooks_of_8_5_are_there() -> None:
    names = [path.stem for path in NOTEBOOKS]
    assert names[0] == "00_start_here"
    assert {"05a_fixed_scope", "05b_tuple_scope", "05c_by_principal", "05d_null_scope", "05e_namespace_change"} < {
        *names
    }


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_code_cell_was_executed_in_order_and_without_error(path: Path) -> None:
    assert [cell["execution_count"] for cell in cells(path)] == list(range(1, len(cells(path)) + 1))
    outputs = [output for cell in cells(path) for output in cell["outputs"]]
    assert outputs
    assert not [output for output in outputs if output["output_type"] == "error"]
    assert not [output for output in outputs if output.get("name") == "stderr"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_code_cells_are_short(path: Path) -> None:
    for cell in cells(path):
        lines = [line for line in source(cell).split("\n") if line.strip()]
        assert len(lines) <= 10, source(cell)
        assert max(map(len, lines)) <= 92, source(cell)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_key_stands_in_a_cell(path: Path) -> None:
    for kind in ("code", "markdown"):
        assert not [cell for cell in cells(path, kind) if KEY.search(source(cell))]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_nothing_in_a_notebook_names_a_machine(path: Path) -> None:
    text = path.read_text("utf-8")
    assert not re.search(r"/(home|root|work|tmp|Users)/", text)
    assert "http" not in re.sub(
        r"http://www\.w3\.org|http://purl\.org|https://matplotlib\.org|http://creativecommons\.org", "", text
    ).replace("https://sso.partner.example", "")


def test_the_six_keys_stand_in_the_stored_outputs() -> None:
    stored = "\n".join(json.dumps(cell["outputs"]) for path in NOTEBOOKS for cell in cells(path))
    for printed in PRINTED_KEYS:
        assert printed.key in stored


@pytest.mark.parametrize("name", ["00_start_here", "05a_fixed_scope"])
def test_one_changed_letter_of_a_key_fails_the_strict_check(name: str, tmp_path: Path) -> None:
    path = ROOT / "notebooks" / f"{name}.ipynb"
    content = json.loads(path.read_text("utf-8"))
    for cell in content["cells"]:
        for output in cell.get("outputs", []):
            for kind in ("text/plain", "text/html"):
                text = "".join(output.get("data", {}).get(kind, ""))
                if kind == "text/plain" and (found := KEY.search(text)):
                    at = found.start() + 20
                    letter = "A" if text[at] != "A" else "B"
                    output["data"][kind] = text[:at] + letter + text[at + 1 :]
                    changed = tmp_path / f"{name}.ipynb"
                    changed.write_text(json.dumps(content), "utf-8")
                    done = subprocess.run(
                        [
                            sys.executable,
                            "-m",
                            "pytest",
                            "-q",
                            "-c",
                            str(ROOT / "pyproject.toml"),
                            "--rootdir",
                            str(tmp_path),
                            str(changed),
                        ],
                        capture_output=True,
                        text=True,
                        check=False,
                        cwd=tmp_path,
                    )
                    assert done.returncode == 1, done.stdout + done.stderr
                    assert "1 failed" in done.stdout
                    return
    raise AssertionError("no stored key was found")
