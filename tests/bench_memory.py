"""What a learner costs in memory: ``python -m tests.bench_memory``. Linux only; needs no browser.

One lab, and every notebook run from top to bottom in a kernel of its own. RSS is what a process holds; PSS shares what
it has in common with the others, so it is what one more learner adds to a machine that serves many.
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient

from tests.browser.jupyter import running_lab

MIB = 1024  # smaps counts in KiB


def memory(pid: int) -> tuple[float, float]:
    """RSS and PSS of a process, in MiB."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().split("\n")
    sizes = {words[0]: int(words[1]) for words in map(str.split, lines) if len(words) == 3 and words[2] == "kB"}
    return sizes["Rss:"] / MIB, sizes["Pss:"] / MIB


def servers() -> list[int]:
    """The process ids of this process's children that are JupyterLab."""
    found = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [int(pid) for pid in found if b"jupyterlab" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def main() -> None:
    """Measure and print."""
    home = Path(tempfile.mkdtemp())
    kernels: dict[str, tuple[Any, float]] = {}
    begun = time.monotonic()
    with running_lab(home) as lab:
        print(f"evelab lab answers after {time.monotonic() - begun:.1f} s")
        headers = {"Authorization": f"token {lab.token}"}
        for address in ("lab", "lab/api/settings", "api/contents", "api/contents/00_start_here.ipynb"):
            asked = urllib.request.Request(f"{lab.origin}/{address}", headers=headers)
            urllib.request.urlopen(asked, timeout=60).close()
        (server,) = servers()
        rss, pss = memory(server)
        print(f"{'the server':<30} {'':13} RSS {rss:6.0f} MiB   PSS {pss:6.0f} MiB")
        for path in sorted(lab.folder.glob("*.ipynb")):
            notebook = nbformat.read(path, as_version=4)
            manager = KernelManager()
            client = NotebookClient(notebook, km=manager, timeout=120)
            client.start_new_kernel(cwd=str(lab.folder))
            client.start_new_kernel_client()
            begun = time.monotonic()
            for place, cell in enumerate(notebook.cells):
                client.execute_cell(cell, place)
            kernels[path.stem] = manager, time.monotonic() - begun
        sizes = {name: memory(manager.provisioner.pid) for name, (manager, _) in kernels.items()}
        for name, (rss, pss) in sizes.items():
            print(f"{name:<30} ran in {kernels[name][1]:4.1f} s   RSS {rss:6.0f} MiB   PSS {pss:6.0f} MiB")
        median = statistics.median(pss for _, pss in sizes.values())
        print(f"median of {len(sizes)} kernels: PSS {median:.0f} MiB")
        for manager, _ in kernels.values():
            manager.shutdown_kernel(now=True)
    shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
