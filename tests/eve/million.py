"""The one-off: a million generated keys and 100,000 generated document operations against the real eve.

    python -m tests.eve.million [--keys 1000000] [--operations 100000] [--seed 0]

It prints how many replies differ, the first few that do, and ends with 1 if there are any. An operation is one
save, remove, recall or put; a request holds a few of them.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from itertools import islice
from typing import Any

from evelab.eve.bridge import Bridge
from evelab.eve.compare import differences
from evelab.eve.install import FOLLOWED_VERSION, fetch_eve
from evelab.eve.node import find_node
from evelab.eve.replay import answer
from evelab.eve.samples import seeded

CHUNK = 2000


def main() -> None:
    """Run both and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--operations", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    wanted = parser.parse_args()
    node = find_node()
    with Bridge(fetch_eve(FOLLOWED_VERSION, node), node) as bridge:
        print(f"eve {bridge.eve_version}, Node {node.version}, Python {sys.version.split()[0]}, seed {wanted.seed}")
        differing = compare(bridge, "keys", "keys", wanted.keys, wanted.seed)
        differing += compare(bridge, "documents", "document operations", wanted.operations // 2, wanted.seed)
        differing += compare(bridge, "save and remove", "document operations", -(-wanted.operations // 2), wanted.seed)
    sys.exit(1 if differing else 0)


def compare(bridge: Bridge, name: str, unit: str, wanted: int, seed: int) -> int:
    """Ask until so many units are done; returns how many requests got different replies."""
    started, done, requests, differing, refused = time.perf_counter(), 0, 0, 0, 0
    sample = seeded(name, wanted, seed)
    while done < wanted and (chunk := list(islice(sample, CHUNK))):
        for request, theirs in zip(chunk, bridge.ask_all(chunk), strict=True):
            found = differences(json.loads(json.dumps(answer(request))), theirs)
            done += units(request)
            requests += 1
            refused += not theirs["ok"]
            if found:
                differing += 1
                if differing <= 5:
                    print(json.dumps(request), *found, sep="\n")
        show(f"{name}: {done:,} of {wanted:,} {unit}, {differing} requests differ")
    seconds = time.perf_counter() - started
    print(
        f"\r{name}: {done:,} {unit} in {requests:,} requests ({refused:,} of them refused by eve), "
        f"{differing} differ, {seconds:.0f} s"
    )
    return differing


def units(request: dict[str, Any]) -> int:
    return len(request["ops"]) if "ops" in request else 1


def show(line: str) -> None:
    if sys.stderr.isatty():
        print(f"\r{line}", end="", file=sys.stderr)


if __name__ == "__main__":
    main()
