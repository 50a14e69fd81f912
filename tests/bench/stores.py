"""Saves and recalls a second on each store: ``python -m tests.bench.stores [--seconds 2] [--only directory ...]``.

A store is filled with documents of ten entries, one a partition. Then partitions are taken in turn: each save adds a
text, which is removed again outside the clock, so that documents keep their size. One thread, one process. The table
is Markdown. S3 is moto's and Azure is Azurite, both on this machine: their numbers are those of these programs.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count, cycle
from typing import TYPE_CHECKING

from evelab import file_memory, memory_key
from evelab.auth import Auth
from evelab.directory import Directory
from evelab.file_memory import Document, format_document
from evelab.keys import MemoryScope
from evelab.message import TurnInfo
from evelab.provider import MemoryContext, OperationContext, SessionInfo
from tests.stores import servers
from tests.stores.places import Place
from tests.stores.writer import SLOT, tools_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.stores.places import Store

PARTITIONS = (1, 1000, 100_000)
STORES = ("in_memory", "memory", "directory", "s3", "azure")
LOCAL = STORES[:3]
"""Those that are filled with 100,000 documents too: the servers would need minutes for it."""
TEXTS = [f"watches service number {index} and wants short answers" for index in range(10)]
TEN = format_document(Document(len(TEXTS) - 1, dict(enumerate(TEXTS))))


@dataclass(frozen=True, slots=True)
class Speed:
    """What one thread does in a second."""

    saves: float
    recalls: float


def fill(store: Store, keys: Iterable[str]) -> None:
    for key in keys:
        if isinstance(store, Directory):  # without making each durable, which takes a disk its time
            path = store.root / key / "MEMORY.md"
            path.parent.mkdir(parents=True)
            path.write_text(TEN)
        else:
            store.write(key, TEN, expected_version=None)


def rate(seconds: float, work: Callable[[], float]) -> float:
    """How often a second, by the time that ``work`` says it took."""
    spent, done, deadline = 0.0, 0, time.perf_counter() + seconds
    while done == 0 or time.perf_counter() < deadline:
        spent += work()
        done += 1
    return done / spent


def measure(store: Store, partitions: int, seconds: float) -> Speed:
    keys = [memory_key("bench", str(number)) for number in range(partitions)]
    fill(store, keys)
    provider = file_memory(backend=store)
    session, turn = SessionInfo("session", Auth()), TurnInfo("turn_0", (), 0)
    numbers, in_turn = count(), cycle(keys)

    def save() -> float:
        tools, number = tools_of(store, next(in_turn), 4000), next(numbers)
        started = time.perf_counter()
        tools["save_memory"].execute(text=f"new {number}")
        took = time.perf_counter() - started
        tools["remove_memory"].execute(index=10 + number // partitions)
        return took

    def recall() -> float:
        memory = MemoryContext(MemoryScope(next(in_turn), "n", "s"), SLOT)
        started = time.perf_counter()
        assert provider.recall["turn.started"](OperationContext(memory, (), "op", session, turn))
        return time.perf_counter() - started

    return Speed(rate(seconds, save), rate(seconds, recall))


def place_of(name: str, stack: ExitStack) -> Place:
    """A place of that name that is empty and goes when the stack is closed."""
    match name:
        case "in_memory":
            return Place("in_memory")
        case "memory":
            return Place("object_store", "memory://")
        case "directory":
            return Place("directory", stack.enter_context(tempfile.TemporaryDirectory()))
        case "s3":
            return stack.enter_context(servers.s3())
    return stack.enter_context(servers.azure())


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=2.0, help="how long each rate is measured")
    parser.add_argument("--only", nargs="*", choices=STORES, default=STORES, help="the stores to measure")
    wanted = parser.parse_args()
    print("| store | partitions | saves/s | recalls/s |\n|---|---:|---:|---:|")
    for name in wanted.only:
        for partitions in PARTITIONS if name in LOCAL else PARTITIONS[:-1]:
            with ExitStack() as stack:
                speed = measure(place_of(name, stack).open(), partitions, wanted.seconds)
            print(f"| {name} | {partitions:,} | {speed.saves:,.0f} | {speed.recalls:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
