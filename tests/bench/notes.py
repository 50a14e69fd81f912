"""How long notes take: ``python -m tests.bench.notes [--notes 100000] [--partitions 1000] [--url postgresql://...]``.

It fills a store with notes of random words, then measures recalls and captures of random callers through the
provider, as a turn would. The table is Markdown. 5 ms a recall is wanted on SQLite.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from evelab import notes, open_notes
from evelab.notes_store import Draft
from tests.bench.__main__ import machine
from tests.stores.callers import capture, key, recall

if TYPE_CHECKING:
    from collections.abc import Callable

    from evelab.notes_store import NoteStore

WANTED_MS = 5.0


def main() -> None:
    """Fill, measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=100_000)
    parser.add_argument("--partitions", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=1000, help="recalls that are measured")
    parser.add_argument("--url", help="measure PostgreSQL there instead of SQLite in a temporary file")
    wanted = parser.parse_args()
    chance = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        store = open_notes(wanted.url or Path(folder) / "notes.db")
        try:
            fill(store, wanted.notes, wanted.partitions, chance)
            print(f"{machine()}; {wanted.notes:,} notes of {wanted.partitions:,} partitions\n")
            print("| work | median | 95 of 100 | wanted |\n|---|--:|--:|--:|")
            measure(store, wanted.partitions, wanted.rounds, chance)
        finally:
            store.close()


def fill(store: NoteStore, count: int, partitions: int, chance: random.Random) -> None:
    """Many notes a transaction: the filling is not measured."""
    for number in range(partitions):
        drafts = [Draft(sentence(chance)) for _ in range(count // partitions)]
        store.ingest(key(f"caller {number}"), "filled", drafts, now=0.0, max_notes=count)


def measure(store: NoteStore, partitions: int, rounds: int, chance: random.Random) -> None:
    provider = notes(store)

    def asked(_: int) -> None:
        recall(provider, f"caller {chance.randrange(partitions)}", sentence(chance))

    def kept(number: int) -> None:
        capture(provider, f"caller {chance.randrange(partitions)}", sentence(chance), f"op {number}")

    show("recall, a question of 8 words and 12 Chinese characters", asked, rounds, WANTED_MS)
    show("capture of such a note", kept, rounds // 5, None)


def show(title: str, work: Callable[[int], None], rounds: int, wanted: float | None) -> None:
    times = []
    for number in range(rounds + 20):
        start = time.perf_counter()
        work(number)
        times.append((time.perf_counter() - start) * 1000)
    counted = sorted(times[20:])
    limit = "" if wanted is None else f"{wanted:.1f} ms"
    print(f"| {title} | {statistics.median(counted):.2f} ms | {counted[len(counted) * 95 // 100]:.2f} ms | {limit} |")


def sentence(chance: random.Random) -> str:
    """Eight words and twelve Chinese characters, a few of them frequent, as in a real language."""
    words = " ".join(f"word{min(int(chance.expovariate(1 / 200)), 1999)}" for _ in range(8))
    return words + " " + "".join(chr(0x4E00 + min(int(chance.expovariate(1 / 60)), 599)) for _ in range(12))


if __name__ == "__main__":
    main()
