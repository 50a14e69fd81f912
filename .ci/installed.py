"""evelab as somebody has it who never saw the checkout: ``python .ci/installed.py UV WORK``, from the checkout.

Built with the uv at path UV, installed into an empty environment, used from an empty folder; all of it in WORK.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

NOTEBOOKS = Path("notebooks").resolve()
START_SECONDS = 60


def installed(uv: str, work: Path) -> dict[str, str]:
    """Build evelab and install it; the environment variables to run it with."""
    venv = work / "venv"
    python = venv / "bin" / "python"
    subprocess.run([uv, "build", "--quiet", "--out-dir", work / "dist", "."], check=True)
    (wheel,) = (work / "dist").glob("*.whl")
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, venv], check=True)
    subprocess.run([uv, "pip", "install", "--quiet", "--python", python, wheel], check=True)
    environ = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return {**environ, "PATH": f"{venv / 'bin'}{os.pathsep}{environ['PATH']}"}


@contextmanager
def lab(words: list[str], folder: Path, environ: dict[str, str]) -> Iterator[str]:
    """``evelab lab`` with these words; the address of its contents once it answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token = secrets.token_hex()
    log = folder / "lab.log"
    command = ["evelab", "lab", *words, "--no-browser", "--port", str(port)]
    address = f"http://127.0.0.1:{port}/api/contents?token={token}"
    environ = {**environ, "JUPYTER_TOKEN": token}
    with log.open("w") as out, subprocess.Popen(command, cwd=folder, env=environ, stdout=out, stderr=out) as server:
        try:
            end = time.monotonic() + START_SECONDS
            while server.poll() is None and time.monotonic() < end:
                try:
                    urllib.request.urlopen(address, timeout=5).close()
                except OSError:
                    time.sleep(0.2)
                else:
                    yield address
                    return
            raise RuntimeError(f"evelab lab did not answer:\n{log.read_text()}")
        finally:
            server.terminate()


def main(uv: str, work: Path) -> None:
    """Build, install, and use every command."""
    environ = installed(uv, work)
    folder = work / "empty"
    folder.mkdir()

    def evelab(*words: str) -> subprocess.CompletedProcess[str]:
        command = ["evelab", *words]
        return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)

    key = evelab("key", "--namespace", "acme-support-v1", "--tuple", "acme", "u_42")
    assert key.returncode == 0, key
    verified = evelab("verify")
    assert verified.returncode == 0, verified
    assert f"{key.stdout.strip()}  agrees" in verified.stdout
    print(verified.stdout.splitlines()[-1])

    unnamed = evelab("lab", "--no-browser")
    assert unnamed.returncode == 1, unnamed
    assert "Name a folder" in unnamed.stderr, unnamed
    with lab(["mine"], folder, environ) as address:
        served = {entry["name"] for entry in json.load(urllib.request.urlopen(address, timeout=30))["content"]}
    ours = {path.relative_to(NOTEBOOKS) for path in NOTEBOOKS.rglob("*.ipynb")}
    assert {path.parts[0] for path in ours} <= served, served
    for path in ours:
        assert (folder / "mine" / path).read_bytes() == (NOTEBOOKS / path).read_bytes(), path
    first = folder / "mine" / "00_start_here.ipynb"
    subprocess.run(["jupyter", "execute", first], cwd=folder, env=environ, check=True, capture_output=True)
    print(f"evelab lab served {len(ours)} notebooks from an empty folder, and the first one runs.")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]).resolve())
