"""Kill writers of notes at random moments, in a process of its own: it forks, and pytest has threads.

``python -m tests.stores.killed_writer WHERE KILLS SEED`` prints what it counted, as JSON. Each writer captures
notes one after the other and writes a note's number to a pipe once its capture has returned. It is killed a
random time after a random number of captures. What the pipe says was captured must be in the store.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time

from evelab import notes, open_notes
from tests.stores.callers import capture, key, recall

LONGEST = 0.01
"""Seconds that a writer lives on at most once it has done its share."""
SHARE = 4
"""How many notes a writer captures at least, before the moment comes in which it is killed: fewer than these."""


def main() -> None:
    where, kills, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    chance = random.Random(seed)
    if "://" in where:
        # Imported before the forks: it takes longer than a writer lives.
        recall(notes(where), "a", "import it")
    promised: set[str] = set()
    started = 0
    died = 0
    for _ in range(kills):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            write(where, writing, started)
        os.close(writing)
        with os.fdopen(reading, "rb") as told:
            lines = [told.readline() for _ in range(1 + chance.randrange(SHARE))]
            time.sleep(chance.uniform(0, LONGEST))
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            died += os.WIFSIGNALED(status)
            lines += told.read().splitlines(keepends=True)
        # The first line says that the writer is there. The last one may be cut, and then its newline is missing.
        done = [line.decode().strip() for line in lines[1:] if line.endswith(b"\n")]
        promised |= set(done)
        started += len(done) + 1
    store = open_notes(where)
    kept = [note.text for note in store.notes(key("a"))]
    store.close()
    print(json.dumps({"died": died, "promised": sorted(promised), "kept": kept}))


def write(where: str, pipe: int, first: int) -> None:
    provider = notes(where, max_notes=1_000_000)
    os.write(pipe, b"!\n")
    number = first
    while True:
        capture(provider, "a", f"note number {number}", f"op{number}")
        os.write(pipe, f"note number {number}\n".encode())
        number += 1


if __name__ == "__main__":
    main()
