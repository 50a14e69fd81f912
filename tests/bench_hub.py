"""A workshop on one machine: ``python -m tests.bench_hub [--people 30]``. Linux only.

Needs ``pip install jupyterhub`` in this environment and ``configurable-http-proxy`` (npm) on the path. JupyterHub is
set up as the README says. Everybody asks for a server at the same moment; when all are in, everybody runs a notebook
from top to bottom at the same moment, and then another one.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import secrets
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

from tests.bench_memory import memory
from tests.browser.jupyter import free_port

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PATIENCE_SECONDS = 600
NOTEBOOKS = ("00_start_here.ipynb", "05b_tuple_scope.ipynb")
LIMITS = "c.Spawner.start_timeout = 120\nc.Spawner.mem_limit = '1G'\n"
"""What the README tells to set."""


class Hub:
    """A JupyterHub that this process has started.

    Args:
        port: where it listens.
        token: what lets this process do everything.
        process: the hub.
    """

    def __init__(self, port: int, token: str, process: subprocess.Popen[bytes]) -> None:
        self.port, self.token, self.process = port, token, process
        self._client = AsyncHTTPClient(max_clients=200)

    async def ask(self, path: str, *, method: str = "GET", body: Any = None) -> Any:
        """The JSON that it answers; None for an empty answer."""
        reply = await self._client.fetch(self._request("http", path, method=method, body=body))
        return json.loads(reply.body) if reply.body else None

    def _request(self, scheme: str, path: str, **options: Any) -> HTTPRequest:
        if options.get("method") == "POST":
            options["body"] = json.dumps(options["body"] or {})
        headers = {"Authorization": f"token {self.token}"}
        address = f"{scheme}://127.0.0.1:{self.port}/{path}"
        return HTTPRequest(address, headers=headers, request_timeout=PATIENCE_SECONDS, **options)

    async def come_in(self, person: str) -> float:
        """Ask for a server until it answers; seconds."""
        begun = time.monotonic()
        await self.ask(f"hub/api/users/{person}", method="POST")
        while True:
            try:
                await self.ask(f"hub/api/users/{person}/server", method="POST")
            except HTTPClientError as error:
                if error.code != 429:
                    raise
                await asyncio.sleep(2)
            else:
                break
        while not (await self.ask(f"hub/api/users/{person}"))["servers"].get("", {}).get("ready"):
            if time.monotonic() - begun > PATIENCE_SECONDS:
                raise TimeoutError(f"The server of {person} did not start.")
            await asyncio.sleep(0.5)
        return time.monotonic() - begun

    async def run(self, person: str, notebook: str) -> float:
        """Open a notebook with a kernel and run its cells; seconds."""
        begun = time.monotonic()
        kernel = {"path": notebook, "name": notebook, "type": "notebook", "kernel": {"name": "python3"}}
        session = await self.ask(f"user/{person}/api/sessions", method="POST", body=kernel)
        cells = (await self.ask(f"user/{person}/api/contents/{notebook}"))["content"]["cells"]
        address = f"user/{person}/api/kernels/{session['kernel']['id']}/channels"
        channel = await websocket_connect(self._request("ws", address))
        for cell in cells:
            if cell["cell_type"] == "code":
                await _execute(channel, cell["source"])
        channel.close()
        return time.monotonic() - begun


async def _execute(channel: Any, code: str) -> None:
    name = secrets.token_hex(8)
    header = {"msg_id": name, "msg_type": "execute_request", "username": "", "session": name, "version": "5.4"}
    content = {"code": code, "silent": False, "store_history": True, "allow_stdin": False, "stop_on_error": True}
    message = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
    await channel.write_message(json.dumps(message))
    while (said := await channel.read_message()) is not None:
        heard = json.loads(said)
        if heard["msg_type"] == "execute_reply" and heard["parent_header"].get("msg_id") == name:
            if heard["content"]["status"] != "ok":
                raise RuntimeError(f"A cell failed: {heard['content']}")
            return
    raise ConnectionError("A kernel went away.")


@contextmanager
def running_hub(home: Path) -> Iterator[Hub]:
    """JupyterHub on a free port, its people's homes and its own files in one folder."""
    port, token = free_port(), secrets.token_hex(16)
    role = {"name": "bench", "services": ["bench"], "scopes": ["admin:users", "admin:servers", "access:servers"]}
    command = [shutil.which("evelab", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")]
    settings = home / "jupyterhub_config.py"
    settings.write_text(
        f"c.JupyterHub.bind_url = 'http://127.0.0.1:{port}'\n"
        f"c.JupyterHub.hub_port = {free_port()}\n"
        f"c.ConfigurableHTTPProxy.api_url = 'http://127.0.0.1:{free_port()}'\n"
        "c.JupyterHub.authenticator_class = 'dummy'\nc.Authenticator.allow_all = True\n"
        "c.JupyterHub.spawner_class = 'simple'\n"
        f"c.SimpleLocalProcessSpawner.home_dir_template = '{home}/people/{{username}}'\n"
        f"c.Spawner.cmd = {[*command, 'lab', 'evelab']!r}\n{LIMITS}"
        f"c.JupyterHub.services = [{{'name': 'bench', 'api_token': {token!r}}}]\n"
        f"c.JupyterHub.load_roles = [{role!r}]\n"
    )
    log = home / "hub.log"
    words = [sys.executable, "-m", "jupyterhub", "-f", str(settings)]
    with log.open("w") as output, subprocess.Popen(words, cwd=home, stdout=output, stderr=output) as process:
        try:
            yield Hub(port, token, process)
        finally:
            process.terminate()
            process.wait(60)


def family(pid: int) -> Iterator[int]:
    """A process, and all that it and its children have started."""
    yield pid
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            yield from family(int(child))


def told(seconds: Iterable[float]) -> str:
    """Median and worst."""
    found = list(seconds)
    return f"median {statistics.median(found):5.1f} s   slowest {max(found):5.1f} s"


async def workshop(hub: Hub, people: list[str]) -> None:
    """Everybody comes in, and works."""
    end = time.monotonic() + 60
    while True:
        try:
            await hub.ask("hub/api/")
            break
        except OSError:
            if time.monotonic() > end or hub.process.poll() is not None:
                raise
            await asyncio.sleep(0.5)
    print(f"{len(people)} people ask for a server at once: ", end="", flush=True)
    print(told(await asyncio.gather(*(hub.come_in(person) for person in people))))
    for notebook in NOTEBOOKS:
        print(f"everybody opens and runs {notebook}: ", end="", flush=True)
        print(told(await asyncio.gather(*(hub.run(person, notebook) for person in people))))
    held = sum(memory(pid)[1] for pid in family(hub.process.pid))
    print(f"memory of all of it (PSS): {held:,.0f} MiB, {held / len(people):.0f} a person")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=30)
    people = [f"learner{number:02d}" for number in range(parser.parse_args().people)]
    home = Path(tempfile.mkdtemp())
    for person in people:
        (home / "people" / person).mkdir(parents=True)
    with running_hub(home) as hub:
        try:
            asyncio.run(workshop(hub, people))
        except Exception:
            print(home.joinpath("hub.log").read_text()[-4000:], file=sys.stderr)
            raise
    shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
