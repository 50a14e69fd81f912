"""evelab behind the oracle's interface: one JSON request a line in, one JSON reply a line out.

python -m tests.eve.replay < requests.jsonl
"""

from __future__ import annotations

import json
import sys

from evelab.eve.replay import answer


def main() -> None:
    """Answer line by line. A line ends at LF only."""
    sys.stdin.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]
    for line in sys.stdin:
        if line.strip():
            print(json.dumps(answer(json.loads(line)), separators=(",", ":")), flush=True)


if __name__ == "__main__":
    main()
