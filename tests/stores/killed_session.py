"""Kill the process of a durable session at random moments, in a program of its own: it forks.

``python -m tests.stores.killed_session FOLDER KILLS SEED`` prints what it saw, as JSON. Each process opens the
session, goes on with the turn in which the one before it died, and then takes the next messages. The model
writes a line into a file before each answer: which turn and which step of it that is.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evelab import (
    Agent,
    Call,
    Principal,
    Reply,
    Session,
    define_memory,
    define_memory_provider,
    define_state,
    define_tool,
)
from evelab.checkpoint import Record
from evelab.checkpoint_json import load
from evelab.message import ToolResult
from evelab.session import running_session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evelab.message import Message

STEPS = 3
"""Model calls of a turn: the last one has no tool call."""
LONGEST = 0.004
"""Seconds that a process lives on at most after the step at which it is to be killed has begun."""
SHARE = 4
"""A process is killed when it has begun fewer steps than this, and one more at least."""

worked = define_state("worked", lambda: [0])


class Stepper:
    """Calls a tool in every step but the last, and says first which step that is."""

    id = "stepper"

    def __init__(self, log: int) -> None:
        self.log = log

    def respond(self, prompt: Sequence[Message], tools: Any) -> Reply:
        saved = running_session().checkpoint()
        os.write(self.log, f"{saved.sequence} {saved.step_index}\n".encode())
        since = next(index for index in range(len(prompt) - 1, -1, -1) if prompt[index].kind == "user")
        done = [part for message in prompt[since:] for part in message.content if isinstance(part, ToolResult)]
        if len(done) == 2 * (STEPS - 1):
            return Reply(f"{prompt[since].text}: {[result.value for result in done]}")
        return Reply(calls=(Call("work", {}), Call("notes__note", {})))


def make(folder: Path, log: int) -> Agent:
    """The agent. Its memory recalls something new in every turn, and its tools change the session's state."""

    def recall(ctx: Any) -> Any:
        return {"messages": [{"id": "turn", "content": f"turn {ctx.turn.sequence} begins"}]}

    def capture(ctx: Any) -> None:
        with (folder / "captured").open("a") as out:
            out.write(f"{ctx.operation_id}\n")

    def work() -> str:
        worked.update(lambda values: [values[0] + 1])
        return f"{worked.get()[0]}"

    provider = define_memory_provider(
        recall={"turn.started": recall},
        capture={"turn.completed": capture},
        tools=lambda ctx: {"note": define_tool(description="", execute=lambda: ctx.turn.id)},
    )
    return Agent(
        {"notes": define_memory(provider=provider, scope="s", namespace="n")},
        model=Stepper(log),
        tools={"work": define_tool(description="", execute=work)},
    )


def go_on(session: Session, last: int | None = None) -> None:
    """Finish the interrupted turn, then take messages."""
    session.resume()
    while last is None or session.checkpoint().sequence < last:
        session.send(f"message {session.checkpoint().sequence}")


def stored_record(store: Path) -> Record:
    """The record of the one session in a store, without its history."""
    look = sqlite3.connect(store)
    ((text,),) = look.execute("SELECT record FROM evelab_sessions").fetchall()
    look.close()
    record = load(text)
    assert isinstance(record, Record)
    return record


def main() -> None:
    folder, kills, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    chance = random.Random(seed)
    store = folder / "sessions.db"
    begun, stored, died, last = [], [], 0, 0
    for _ in range(kills):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            go_on(Session.open(store, "s", agent=make(folder, writing), caller=Principal("user", "app", "zhang")))
        os.close(writing)
        with os.fdopen(reading, "rb") as log:
            lines = [log.readline() for _ in range(1 + chance.randrange(SHARE))]
            time.sleep(chance.uniform(0, LONGEST))
            os.kill(child, signal.SIGKILL)
            died += os.WIFSIGNALED(os.waitpid(child, 0)[1])
            lines += log.read().splitlines(keepends=True)
        begun.append([[int(word) for word in line.split()] for line in lines if line.endswith(b"\n")])
        record = stored_record(store)
        last = record.saved.sequence + 2
        stored.append([record.saved.sequence, record.saved.step_index, record.work is not None])
    with Session.open(store, "s", agent=make(folder, os.open(os.devnull, os.O_WRONLY))) as session:
        go_on(session, last)
        history = [str(message) for message in session.history]
        state = dict(session.state)
        assert session.initiator is not None
        initiator = session.initiator.principal_id
    whole = Session(make(folder / "whole", os.open(os.devnull, os.O_WRONLY)), id="s")
    (folder / "whole").mkdir()
    go_on(whole, last)
    same = history == [str(message) for message in whole.history] and state == dict(whole.state)
    captured = (folder / "captured").read_text().split()
    found = {"begun": begun, "stored": stored, "died": died, "turns": last, "same": same, "captured": captured}
    print(json.dumps({**found, "state": state, "initiator": initiator, "messages": len(history)}))


if __name__ == "__main__":
    main()
