"""A PostgreSQL server of one's own for the tests, on a loopback port, in a folder that goes away.

Import ``postgres_url`` (the server, once a session) or ``postgres`` (an empty database) into a test module.
PostgreSQL refuses to run as root, so root runs it as ``nobody``. Where it is not installed the tests skip; with
EVELAB_REQUIRE_STORES=1 they fail.
"""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

USER = 65534 if hasattr(os, "geteuid") and os.geteuid() == 0 else None
"""``nobody`` for root, and oneself for everyone else."""
_NUMBERS = itertools.count()
_URLS: list[str] = []


def programs() -> Path | None:
    """The folder of PostgreSQL's own programs, the newest version's."""
    found = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/postgres")]
    if found:
        return max(found, key=lambda path: int(path.parent.name))
    on_path = shutil.which("postgres")
    return Path(on_path).parent if on_path else None


def missing() -> None:
    """Skip for want of a server, or fail where one is required."""
    why = "PostgreSQL is not installed here (Debian: postgresql)"
    if os.environ.get("EVELAB_REQUIRE_STORES") == "1":
        pytest.fail(why)
    pytest.skip(why)


def run(words: Sequence[str | Path], folder: Path) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder, user=USER, group=USER)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="session")
def postgres_url(pytestconfig: pytest.Config) -> str:
    """The URL of a server's maintenance database. One server serves every module that imports this."""
    if not _URLS:
        found = programs()
        if found is None:
            missing()
            raise AssertionError
        folder = Path(tempfile.mkdtemp(prefix="evelab-pg-"))
        pytestconfig.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        _URLS.append(start(found, folder, pytestconfig))
    return _URLS[0]


def start(found: Path, folder: Path, config: pytest.Config) -> str:
    """Make a database cluster and start its server; it ends with pytest."""
    if USER is not None:
        os.chown(folder, USER, USER)
    data = folder / "data"
    run([found / "initdb", "-D", data, "-U", "evelab", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"], folder)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # Nobody pulls the plug of this server: it need not wait for the disk.
    words = [found / "postgres", "-D", data, "-h", "127.0.0.1", "-p", port, "-k", folder, "-c", "fsync=off"]
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(
            [str(word) for word in words], cwd=folder, stdout=log, stderr=log, user=USER, group=USER
        )

    def stop() -> None:
        server.send_signal(signal.SIGQUIT)  # at once, without writing what is thrown away
        server.wait(30)
        _URLS.clear()

    config.add_cleanup(stop)
    url = f"postgresql://evelab@127.0.0.1:{port}/postgres"
    wait(url, server, folder / "log")
    return url


def wait(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the server answers."""
    import psycopg

    for _ in range(600):
        if server.poll() is not None:
            break
        try:
            psycopg.connect(url).close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return
    pytest.fail(f"PostgreSQL did not start:\n{log.read_text('utf-8', 'replace')}")


def empty_database(url: str) -> str:
    """A new database of a server, and its URL."""
    import psycopg

    name = f"evelab_{next(_NUMBERS)}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return url.removesuffix("postgres") + name


@pytest.fixture
def postgres(postgres_url: str) -> str:
    """The URL of an empty database."""
    return empty_database(postgres_url)
