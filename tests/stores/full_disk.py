"""Save until the disk is full, and tell what happened: ``python -m tests.stores.full_disk FOLDER KEY LIMITED``."""

from __future__ import annotations

import json
import resource
import signal
import sys

from evelab import directory
from evelab.errors import StoreError
from tests.stores.writer import saver

FILE_BYTES = 20_000


def main(folder: str, key: str, limited: str) -> None:
    if limited == "yes":  # no disk of our own: no file may grow beyond this instead
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    store, saved = directory(folder), 0
    save = saver(store, key, 10**6)
    try:
        while True:
            save(f"{saved} " + "x" * 2000)
            saved += 1
    except StoreError as error:
        found = store.read(key)
        print(json.dumps({"saved": saved, "error": str(error), "document": found and found.content}))


if __name__ == "__main__":
    main(*sys.argv[1:])
