"""A writer that kills itself at one step: ``python -m tests.stores.dying STEP FOLDER KEY VERSION CONTENT``."""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

module: Any = import_module("evelab.directory")


def die(*_: object, **__: object) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def halve_and_die(number: int) -> None:
    os.ftruncate(number, os.fstat(number).st_size // 2)
    die()


def prepare(step: str) -> None:
    match step:
        case "locked":
            module._replace = die
        case "half written":
            os.fsync = halve_and_die  # type: ignore[assignment]
        case "written":
            os.fsync = die
        case "synced":
            Path.replace = die  # type: ignore[method-assign]
        case "renamed":
            module._sync_folder = die
        case _:
            raise ValueError(step)


def main(step: str, folder: str, key: str, version: str, content: str) -> None:
    prepare(step)
    module.directory(folder).write(key, content, expected_version=version)


if __name__ == "__main__":
    main(*sys.argv[1:])
