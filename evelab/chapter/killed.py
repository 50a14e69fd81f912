"""A process that works in a session until it is killed.

It finishes one turn and writes its checkpoint to a file. In the next turn a tool changes the state; then the
process says "ready" and waits to be killed.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from evelab.agent import Agent
from evelab.model import ScriptedModel, call
from evelab.session import Session
from evelab.state import define_state
from evelab.tools import define_tool

if TYPE_CHECKING:
    from collections.abc import Callable

    from evelab.checkpoint import Checkpoint

progress = define_state("killed.progress", lambda: 0)
SESSION = "session-of-two-processes"
START_SECONDS = 30


def add_two(wait: Callable[[], None] = lambda: None) -> int:
    """Add one, wait, add one."""
    progress.update(lambda value: value + 1)
    wait()
    progress.update(lambda value: value + 1)
    return progress.get()


def session(wait: Callable[[], None] = lambda: None) -> Session:
    """A session whose model calls the tool once a turn."""
    tools = {"add_two": define_tool(description="Add two.", execute=lambda: add_two(wait))}
    model = ScriptedModel([call("add_two"), "done"])
    return Session(Agent(model=model, tools=tools), id=SESSION)


def killed_in_its_second_turn() -> tuple[Checkpoint, int]:
    """Start the process, kill it in the middle of its second turn, and take up its checkpoint.

    Returns:
        The checkpoint that it has left, and the signal that ended it.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "checkpoint"
        words = [sys.executable, "-c", "from evelab.chapter.killed import work; work()", str(file)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            if process.stdout is None or process.stdout.readline() != "ready\n":
                raise RuntimeError("the process did not come to its second turn")
            process.kill()
            ended = -process.wait(START_SECONDS)
        return pickle.loads(file.read_bytes()), ended  # noqa: S301 - this program has just written it


def work() -> None:
    """What the process does. Its argument is the file."""
    file = Path(sys.argv[1])
    first = session()
    first.send("first turn")
    file.write_bytes(pickle.dumps(first.checkpoint()))
    second = session(_until_killed)
    second.restore(first.checkpoint())
    second.send("second turn")


def _until_killed() -> None:
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    time.sleep(START_SECONDS)
