"""Writers that are killed at random moments: ``python -m tests.stores.killing FOLDER KILLS SEED``.

One process loads evelab once and forks the writers, so that a kill costs some milliseconds. It prints in JSON what
each document should hold: every text whose save had returned before the kill.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from random import Random

from evelab import directory
from evelab.errors import MemoryDocumentConflictError
from evelab.keys import memory_key
from tests.stores.writer import saver

WRITERS = 2
LONGEST_SECONDS = 0.03
KILLS_A_DOCUMENT = 20


def writer(folder: str, key: str, name: str) -> tuple[int, int]:
    """A forked writer's process id and the pipe on which it tells each save that has returned."""
    reader, pipe = os.pipe()
    if child := os.fork():
        os.close(pipe)
        return child, reader
    save = saver(directory(folder), key, 10**6)
    number = 0
    while True:
        try:
            save(f"{name} {number}")
        except MemoryDocumentConflictError:
            continue
        os.write(pipe, f"{name} {number}\n".encode())
        number += 1


def main(folder: str, kills: str, seed: str) -> None:
    random = Random(int(seed))
    committed: dict[str, list[str]] = {}
    saver(directory(folder), memory_key("n", "warm"), 10**6)("load everything before the first fork")
    for kill in range(0, int(kills), WRITERS):
        key = memory_key("n", str(kill // KILLS_A_DOCUMENT))
        started = [writer(folder, key, f"{kill}-{number}") for number in range(WRITERS)]
        for number, (child, reader) in enumerate(started):
            if number == 0:  # at any moment after its first save; the others at any moment at all
                committed.setdefault(key, []).extend(os.read(reader, 65_536).decode().splitlines())
            time.sleep(random.uniform(0, LONGEST_SECONDS))
            os.kill(child, signal.SIGKILL)
        for child, reader in started:
            os.waitpid(child, 0)
            with os.fdopen(reader) as told:
                committed[key].extend(told.read().splitlines())
    print(json.dumps(committed))


if __name__ == "__main__":
    main(*sys.argv[1:])
