"""evelab beside the real eve, in one run: ``python -m tests.bench [--rounds 15] [--quick]``.

Both do the same work in turns, round by round, each on inputs that are new in every round; the first rounds
warm up and do not count. A ratio above 1 says that evelab is faster. The table is Markdown.
"""

from __future__ import annotations

import argparse
import platform
import statistics
from dataclasses import dataclass
from pathlib import Path

from evelab.eve.bridge import Bridge
from evelab.eve.install import FOLLOWED_VERSION, fetch_eve
from evelab.eve.node import find_node
from tests.bench import ours

LENGTHS = (100, 1000, 10_000)
WARM_UP = 2


@dataclass(frozen=True, slots=True)
class Work:
    """One line of the benchmark.

    Attributes:
        title: what the table calls it.
        name: what both sides call it.
        count: how often it is done in a round.
        wanted: the ratio that is wanted, or None.
        options: further fields of the request.
    """

    title: str
    name: str
    count: int
    wanted: float | None = None
    length: int | None = None


WORKS = (
    Work("key of a fresh two-tuple, as a lock", "keys", 5000, 2.0),
    Work("save_memory, a document of 19 entries", "save", 300, 2.0),
    Work("recall of 20 entries", "recall", 300, 2.0),
    Work("commit and project, 200 new records", "commit new", 10),
    Work("commit and project, 200 unchanged records", "commit unchanged", 10, 1.2),
    Work("commit and project, 200 changed records", "commit changed", 10, 1.2),
    *(Work(f"a turn at history length {length:,}", "turn", max(3, 300 // length), length=length) for length in LENGTHS),
)


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15, help="rounds that count")
    parser.add_argument("--turns", type=int, default=10_000, help="turns of the session whose memory is measured")
    wanted = parser.parse_args()
    node = find_node()
    with Bridge(fetch_eve(FOLLOWED_VERSION, node), node, program=Path(__file__).with_name("eves.mjs")) as bridge:
        print(
            f"{machine()}; Python {platform.python_version()}, Node {node.version}, eve {bridge.eve_version}; ", end=""
        )
        print(f"medians of {wanted.rounds} rounds in turns\n")
        print("| work | eve | evelab | ratio | wanted |\n|---|--:|--:|--:|--:|")
        times = [measure(bridge, work, wanted.rounds) for work in WORKS]
    print()
    show_bare(wanted.rounds)
    show_slopes({work.length: (theirs, mine) for work, (theirs, mine) in zip(WORKS, times, strict=True) if work.length})
    show_memory(wanted.turns)


def measure(bridge: Bridge, work: Work, rounds: int) -> tuple[float, float]:
    """Seconds that one piece of work takes on both sides, medians; prints the row."""
    theirs, mine = [], []
    options = {} if work.length is None else {"length": work.length}
    for seed in range(WARM_UP + rounds):
        reply = bridge.ask({"work": work.name, "count": work.count, "seed": seed, **options})
        theirs.append(reply["value"]["seconds"] / work.count)
        mine.append(ours.WORKS[work.name](work.count, seed, **options) / work.count)
    pairs = list(zip(theirs, mine, strict=True))[WARM_UP:]
    eve, evelab = (statistics.median(side) for side in zip(*pairs, strict=True))
    ratio = statistics.median(their / my for their, my in pairs)
    aim = "" if work.wanted is None else f"{work.wanted:g}"
    print(f"| {work.title} | {micro(eve)} | {micro(evelab)} | {ratio:.2f} | {aim} |", flush=True)
    return eve, evelab


def show_bare(rounds: int) -> None:
    """How near keys come to the digests that they are made of."""
    count = 5000
    alone, bare = [], []
    for seed in range(1000, 1000 + WARM_UP + rounds):
        alone.append(ours.keys_alone(count, seed) / count)
        bare.append(ours.bare_digests(count, seed) / count)
    share = statistics.median(b / a for a, b in list(zip(alone, bare, strict=True))[WARM_UP:])
    print(
        f"Keys alone, in one namespace: {micro(statistics.median(alone))}; two bare digests of the same lengths: "
        f"{micro(statistics.median(bare))}; that is {share:.0%} of their rate (wanted: 60 %)."
    )


def show_slopes(turns: dict[int | None, tuple[float, float]]) -> None:
    """What one more message in the history costs a turn: the slope of a least-squares line."""
    lengths = [length for length in turns if length is not None]
    for side, name in enumerate(("eve", "evelab")):
        costs = [turns[length][side] for length in lengths]
        slope, start = statistics.linear_regression(lengths, costs)
        worst = max(abs(start + slope * length - cost) / cost for length, cost in zip(lengths, costs, strict=True))
        print(
            f"A turn of {name}: {micro(start)} and {slope * 1e6:.2f} µs a message of history "
            f"(the line misses a point by {worst:.0%} at most)."
        )


def show_memory(turns: int) -> None:
    """What a long session keeps."""
    peak, text = ours.memory_of_turns(turns)
    print(
        f"A session of {turns:,} turns: peak {peak:,.0f} bytes a turn, {text:,.0f} of them its own text "
        f"(wanted: under 4,096 beyond the text)."
    )


def micro(seconds: float) -> str:
    return f"{seconds * 1e6:,.1f} µs" if seconds < 1e-3 else f"{seconds * 1e3:,.2f} ms"


def machine() -> str:
    """The processor and its cores."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.partition(":")[2].strip() for line in info.read_text().split("\n") if line.startswith("model name")
        ]
        cpu = f"{names[0]}, {len(names)} cores" if names else cpu
    return cpu


if __name__ == "__main__":
    main()
