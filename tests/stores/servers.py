"""Stores of this machine: moto's S3 and Microsoft's Azurite, fetched once into the cache folder."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import venv
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock

from evelab.eve.install import cache_folder
from evelab.eve.node import find_node
from tests.stores.places import Place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HERE = Path(__file__).parent
AZURITE = "3.37.0"
ACCOUNT = "devstoreaccount1"
ACCOUNT_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The account that every Azurite has. It is in Microsoft's documentation and opens nothing else."""
CONTAINER = BUCKET = "memories"
QUIET = ["--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"]
PATIENCE = ["--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-timeout=60000"]


def fetched(name: str, fetch: Callable[[Path], None]) -> Path:
    """A folder of the cache; it is filled first if it is not there whole."""
    folder = cache_folder() / "stores" / name
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_name(f"{name}.lock")):
        if not (folder / "whole").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            fetch(folder)
            (folder / "whole").touch()
    return folder


def run(*words: object, cwd: Path | None = None, path: Path | None = None) -> None:
    search = os.pathsep.join([*([str(path)] if path else []), os.environ.get("PATH", "")])
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env={**os.environ, "PATH": search},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    if done.returncode:
        said = [line for line in (done.stderr or done.stdout).splitlines() if "error" in line.lower()]
        raise OSError(f"{Path(str(words[0])).name} failed: {said[0] if said else done.returncode}")


def moto_python() -> Path:
    """A Python with moto in it. It has an environment of its own, for it needs an older dateutil than pandas does."""
    pins = HERE / "moto.txt"
    python = Path("Scripts", "python.exe") if os.name == "nt" else Path("bin", "python")

    def fetch(folder: Path) -> None:
        venv.create(folder, with_pip=True)
        run(folder / python, "-m", "pip", "install", "--quiet", "-r", pins)

    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    return fetched(f"moto-{version}-{hashlib.sha256(pins.read_bytes()).hexdigest()[:12]}", fetch) / python


def azurite_program(node: Path, npm: tuple[str, ...]) -> Path:
    def fetch(folder: Path) -> None:
        (folder / "package.json").write_text('{"private": true}\n', encoding="utf-8")
        words = (*npm, "install", f"azurite@{AZURITE}", "--ignore-scripts", *QUIET, *PATIENCE)
        run(*words, cwd=folder, path=node.parent)

    return fetched(f"azurite-{AZURITE}", fetch) / "node_modules" / "azurite" / "dist" / "src" / "blob" / "main.js"


@contextmanager
def s3() -> Iterator[Place]:
    """A running S3 with one empty bucket."""
    words = [str(moto_python()), str(HERE / "moto_server.py")]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert server.stdout is not None
        endpoint = f"http://127.0.0.1:{int(server.stdout.readline())}"
        request = urllib.request.Request(f"{endpoint}/{BUCKET}", method="PUT")
        urllib.request.urlopen(request, timeout=30).close()
        options = {
            "endpoint": endpoint,
            "region": "us-east-1",
            "access_key_id": "nobody",
            "secret_access_key": "nothing",
            "client_options": {"allow_http": True},
        }
        yield Place("object_store", f"s3://{BUCKET}", options)
    finally:
        stop(server)


@contextmanager
def azure() -> Iterator[Place]:
    """A running Azure Blob Storage with one empty container."""
    node = find_node()
    program = azurite_program(node.program, node.npm)
    port = free_port()
    words = [node.program, program, "--blobPort", str(port), "--inMemoryPersistence", "--silent"]
    words += ["--skipApiVersionCheck", "--disableTelemetry"]
    server = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        endpoint = f"http://127.0.0.1:{port}/{ACCOUNT}"
        wait_for(port, server)
        create_container(endpoint)
        options = {
            "endpoint": endpoint,
            "account_name": ACCOUNT,
            "account_key": ACCOUNT_KEY,
            "client_options": {"allow_http": True},
        }
        yield Place("object_store", f"az://{CONTAINER}", options)
    finally:
        stop(server)


def create_container(endpoint: str) -> None:
    """What obstore has no call for, signed as Azure wants it."""
    date = datetime.now(UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")
    resource = f"/{ACCOUNT}/{ACCOUNT}/{CONTAINER}\nrestype:container"
    signed = "PUT" + "\n" * 12 + f"x-ms-date:{date}\nx-ms-version:2021-08-06\n{resource}"
    signature = base64.b64encode(hmac.digest(base64.b64decode(ACCOUNT_KEY), signed.encode(), "sha256")).decode()
    headers = {
        "x-ms-date": date,
        "x-ms-version": "2021-08-06",
        "Authorization": f"SharedKey {ACCOUNT}:{signature}",
        "Content-Length": "0",
    }
    request = urllib.request.Request(f"{endpoint}/{CONTAINER}?restype=container", method="PUT", headers=headers)
    urllib.request.urlopen(request, timeout=30).close()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
        except OSError:
            if time.monotonic() > deadline or server.poll() is not None:
                raise
            time.sleep(0.1)
        else:
            return


def stop(server: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
    server.terminate()
    try:
        server.wait(timeout=10)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
    if server.stdout is not None:
        server.stdout.close()
