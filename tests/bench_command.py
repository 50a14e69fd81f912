"""What ``import evelab`` and ``evelab key`` cost in CPU, beside Python's own start: ``python -m tests.bench_command``.

Both are run in turns, so that a busy machine slows both. The medians and their difference are printed.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

ROUNDS = 15
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "import evelab": [sys.executable, "-c", "import evelab"],
    "all public names": [sys.executable, "-c", "from evelab import *"],
    "evelab key": [sys.executable, "-m", "evelab", "key", "--namespace", "acme-support-v1", "--tuple", "acme", "u_42"],
}


def cpu_seconds(words: Sequence[str]) -> float:
    """CPU seconds, user and system, of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure and print."""
    for words in COMMANDS.values():
        cpu_seconds(words)
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(ROUNDS):
        for name, words in COMMANDS.items():
            times[name].append(cpu_seconds(words))
    base = statistics.median(times["python -c pass"])
    for name, seconds in times.items():
        median = statistics.median(seconds)
        more = (median - base) * 1000
        print(f"{name:<16} {median * 1000:7.1f} ms CPU   {more:7.1f} ms beyond Python's own start")


if __name__ == "__main__":
    main()
