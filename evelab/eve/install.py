"""Fetch a version of eve through npm into a cache folder, once. No script of any package is run."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from evelab.eve.errors import EveInstallError, EveNetworkError, EveVersionError

if TYPE_CHECKING:
    from evelab.eve.node import Node

FOLLOWED_VERSION = "0.80.1"
"""The version of eve that evelab models."""

INSTALL_SECONDS = 600
_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.-]+)?")
_CODE = re.compile(r"^npm (?:error|ERR!) code (\S+)", re.MULTILINE)
_NO_SUCH_VERSION = {"E404", "ETARGET", "ENOVERSIONS"}
_NO_NETWORK = {
    "ECONNREFUSED",
    "ECONNRESET",
    "EAI_AGAIN",
    "EHOSTUNREACH",
    "ENETUNREACH",
    "ENOTCACHED",
    "ENOTFOUND",
    "ERR_SOCKET_TIMEOUT",
    "ETIMEDOUT",
    "FETCH_ERROR",
}


def cache_folder() -> Path:
    """Where fetched packages are kept: ``EVELAB_CACHE``, or ``evelab`` in the user's cache folder."""
    if chosen := os.environ.get("EVELAB_CACHE"):
        return Path(chosen).expanduser().absolute()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "evelab"


def fetch_eve(version: str, node: Node) -> Path:
    """The folder of an installed eve; it is installed first if the cache does not have it.

    The install happens beside its final place and is moved there whole, so a half one is never seen. It is
    about 98 MB and takes some ten seconds.

    Args:
        version: an exact version, such as ``0.80.1``.
        node: whose npm fetches it.

    Raises:
        EveVersionError: there is no such version.
        EveNetworkError: the registry cannot be reached.
        EveInstallError: npm failed otherwise.
    """
    if _VERSION.fullmatch(version) is None:
        raise EveVersionError(version)
    home = cache_folder() / "eve" / version
    package = home / "node_modules" / "eve"
    if _is_whole(package, version):
        return package
    home.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{version}-", dir=home.parent))
    try:
        _npm_install(version, node, work)
        if not _is_whole(work / "node_modules" / "eve", version):
            raise EveInstallError(version, "the package it installed is another one")
        _move(work, home)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return package


def _is_whole(package: Path, version: str) -> bool:
    try:
        manifest = json.loads((package / "package.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return bool(manifest.get("name") == "eve" and manifest.get("version") == version)


def _npm_install(version: str, node: Node, folder: Path) -> None:
    (folder / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    quiet = ["--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"]
    patience = ["--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-timeout=60000"]
    command = [*node.npm, "install", f"eve@{version}", "--ignore-scripts", "--save-exact", *quiet, *patience]
    search = {**os.environ, "PATH": os.pathsep.join([str(node.program.parent), os.environ.get("PATH", "")])}
    try:
        done = subprocess.run(  # noqa: S603
            command,
            cwd=folder,
            env=search,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=INSTALL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise EveNetworkError(version, f"no end after {INSTALL_SECONDS} seconds") from None
    except OSError as error:
        raise EveInstallError(version, str(error)) from error
    if done.returncode == 0:
        return
    said = done.stderr or done.stdout
    code = found[1] if (found := _CODE.search(said)) else ""
    if code in _NO_SUCH_VERSION:
        raise EveVersionError(version)
    if code in _NO_NETWORK:
        raise EveNetworkError(version, code)
    raise EveInstallError(version, said[-1000:])


def _move(work: Path, home: Path) -> None:
    """Put a finished install in its place. If another process was faster, its install stays."""
    try:
        work.rename(home)
    except OSError:
        if not (home / "node_modules" / "eve" / "package.json").is_file():
            shutil.rmtree(home, ignore_errors=True)
            work.rename(home)
