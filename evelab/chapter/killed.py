"""A process that works in a stored session until it is killed."""

from __future__ import annotations

import faulthandler
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from evelab.agent import Agent
from evelab.model import ScriptedModel, call
from evelab.session import Session
from evelab.state import define_state
from evelab.tools import define_tool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

progress = define_state("killed.progress", lambda: 0)
SESSION = "session-of-two-processes"
START_SECONDS = 30


def add_two(wait: Callable[[], None]) -> int:
    """Add one, wait, add one."""
    progress.update(lambda value: value + 1)
    wait()
    progress.update(lambda value: value + 1)
    return progress.get()


def two_adder(wait: Callable[[], None] = lambda: None) -> Agent:
    """An agent whose model calls the tool once a turn."""
    tools = {"add_two": define_tool(description="Add two.", execute=lambda: add_two(wait))}
    return Agent(model=ScriptedModel([call("add_two"), "done"]), tools=tools)


@contextmanager
def killed_in_its_second_turn() -> Iterator[tuple[Path, int]]:
    """Start a process, and kill it with SIGKILL in the middle of its second turn.

    Yields:
        The file of its session, which is there inside the ``with``, and the signal that ended the process.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "sessions"
        words = [sys.executable, "-c", "from evelab.chapter.killed import work; work()", str(file)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            if process.stdout is None or process.stdout.readline() != "ready\n":
                raise RuntimeError("the process did not come to its second turn")
            process.kill()
            ended = -process.wait(START_SECONDS)
        yield file, ended


def work() -> None:
    """What the process does: a turn, and half of another. Its argument is the session's file."""
    faulthandler.dump_traceback_later(START_SECONDS, exit=True)  # nobody waits for it longer
    file = sys.argv[1]
    with Session.open(file, SESSION, agent=two_adder()) as session:
        session.send("first turn")
    with Session.open(file, SESSION, agent=two_adder(_until_killed)) as session:
        session.send("second turn")


def _until_killed() -> None:
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    time.sleep(START_SECONDS)
