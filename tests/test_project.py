"""The project's own rules: lint, types, imports, pins, and what no file may hold."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import evelab

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
TOOLS = Path(sys.executable).parent


@pytest.mark.parametrize(
    "words",
    [
        [sys.executable, "-m", "ruff", "check", "--no-cache", "."],
        [sys.executable, "-m", "ruff", "format", "--no-cache", "--check", "."],
        [sys.executable, "-m", "mypy", "--no-error-summary"],
        [str(TOOLS / "lint-imports"), "--no-cache"],
    ],
    ids=["lint", "format", "types", "imports"],
)
def test_the_tools_find_nothing(words: Sequence[str]) -> None:
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def test_no_file_names_a_registry_or_a_path_of_a_machine() -> None:
    hosts = re.compile(r"py[p]i\.org|pythonhost[e]d|npm[j]s\.(org|com)|deb\.deb[i]an")
    places = re.compile(r"(?<![\w.])/(wo[r]k|ro[o]t|ho[m]e)/\w")
    files = tracked()
    assert len(files) > 40
    for path in files:
        text = path.read_bytes().decode("utf-8", "replace")
        assert not hosts.search(text), path
        assert not places.search(text), path


def pins(name: str) -> list[Requirement]:
    lines = (ROOT / name / "requirements.txt").read_text("utf-8").split("\n")
    return [Requirement(line) for line in lines if line and not line.startswith("-")]


def disagreements(needs: Sequence[str], pinned: Sequence[Requirement]) -> list[str]:
    """What is wrong with the pins: one that is not exact, a need without a pin, a pin that a need does not allow."""
    found = [f"{pin} is not exact" for pin in pinned if [part.operator for part in pin.specifier] != ["=="]]
    for need in map(Requirement, needs):
        name = canonicalize_name(need.name)
        versions = [part.version for pin in pinned if canonicalize_name(pin.name) == name for part in pin.specifier]
        found += [] if versions else [f"{need.name} is not pinned"]
        found += [f"{need} does not allow {version}" for version in versions if version not in need.specifier]
    return found


def test_pins_hold_what_the_project_needs() -> None:
    project = PROJECT["project"]
    extras = [need for needs in project.get("optional-dependencies", {}).values() for need in needs]
    tools = [*PROJECT["dependency-groups"]["dev"], *extras]
    assert disagreements(project["dependencies"], pins("binder")) == []
    assert disagreements(tools, pins("tests")) == []
    assert not {pin.name for pin in pins("tests")} & {pin.name for pin in pins("binder")}


@pytest.mark.parametrize(
    ("need", "pin", "sentence"),
    [
        ("pandas>=2.2", "numpy==2.4.6", "pandas is not pinned"),
        ("pandas>=2.2", "pandas==2.1.9", "pandas>=2.2 does not allow 2.1.9"),
        ("pandas>=2.2,<3", "Pandas==3.0", "pandas<3,>=2.2 does not allow 3.0"),
        ("pandas", "pandas>=2.2", "pandas>=2.2 is not exact"),
    ],
)
def test_pins_that_disagree_are_named(need: str, pin: str, sentence: str) -> None:
    assert disagreements([need], [Requirement(pin)]) == [sentence]


def test_pins_end_with_the_project_itself() -> None:
    assert (ROOT / "binder" / "requirements.txt").read_text("utf-8").endswith("\n-e .\n")
    assert (ROOT / "tests" / "requirements.txt").read_text("utf-8").startswith("-r ../binder/requirements.txt\n")
    assert re.fullmatch(r"python-3\.\d+\n", (ROOT / "binder" / "runtime.txt").read_text("utf-8"))


def test_the_version_stands_in_one_place_twice_and_is_the_same() -> None:
    assert PROJECT["project"]["version"] == evelab.__version__


def test_the_public_names_exist() -> None:
    assert sorted(evelab.__all__) == evelab.__all__
    assert all(hasattr(evelab, name) for name in evelab.__all__)


def test_a_public_name_is_imported_when_it_is_used() -> None:
    code = (
        "import sys, evelab\n"
        "own = lambda: [name for name in sys.modules if name.startswith('evelab.')]\n"
        "assert own() == [], own()\n"
        "assert set(evelab.__all__) <= set(dir(evelab))\n"
        "assert evelab.Principal is evelab.auth.Principal\n"
        "assert 'evelab.session' not in own()\n"
        "from evelab import *\n"
        "assert Session is sys.modules['evelab.session'].Session\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with pytest.raises(AttributeError, match="module 'evelab' has no attribute 'Sesion'"):
        evelab.Sesion  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize("first", ["import evelab.file_memory", "from evelab import file_memory"])
def test_a_function_is_not_covered_by_the_module_of_its_name(first: str) -> None:
    code = (
        f"import sys, evelab\n{first}\n"
        "import evelab.session, evelab.chapter\n"
        "assert evelab.file_memory is sys.modules['evelab.file_memory'].file_memory\n"
        "assert evelab.session is sys.modules['evelab.session']\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_type_checker_knows_the_public_names_by_the_same_modules() -> None:
    tree = ast.parse((ROOT / "evelab" / "__init__.py").read_text("utf-8"))
    found = {
        (node.module, name.name)
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    assert found == {(module, name) for name, module in evelab._HOMES.items()}
    assert sorted(evelab._HOMES) == evelab.__all__


def test_the_readme_shows_the_two_commands() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert "python3 -m venv .venv && .venv/bin/pip install -r binder/requirements.txt && .venv/bin/evelab lab" in readme
    command = "python3 -m venv .venv && .venv/bin/pip install -r tests/requirements.txt && .venv/bin/pytest"
    assert command in readme
    assert (
        command.partition(" && ")[2].replace("pip install", "pip install --quiet") in (ROOT / ".ci" / "run").read_text()
    )
