"""JupyterLab as a person meets it: started by ``evelab lab``, opened in Chromium, driven by mouse and keyboard.

The pages of ``evelab app`` too.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from playwright.sync_api import Dialog, Locator, Page

START_SECONDS = 60
RUN_MILLISECONDS = 60_000
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
"""The words of this file for JupyterLab's themes."""
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@dataclass(frozen=True, slots=True)
class Lab:
    """A running JupyterLab.

    Attributes:
        port: where it listens, on this machine only.
        token: what opens it.
        folder: the notebooks it serves, a copy.
        prefix: where on the server it is, such as ``"/user/zhang"``; empty for all of it.
    """

    port: int
    token: str
    folder: Path
    prefix: str = ""

    @property
    def origin(self) -> str:
        """The address of its first page, without the last slash."""
        return f"http://127.0.0.1:{self.port}{self.prefix}"

    def url(self, notebook: str) -> str:
        """The address of one notebook, in a workspace of its own."""
        return f"{self.origin}/lab/tree/{notebook}.ipynb?token={self.token}&reset"


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running_lab(home: Path, *, theme: str = "light", prefix: str = "") -> Iterator[Lab]:
    """``evelab lab`` on a copy of the notebooks, with a home folder of its own.

    Args:
        home: the folder for everything it writes.
        theme: one of THEMES.
        prefix: where on the server it is, such as ``"/user/zhang"``.
    """
    lab = Lab(free_port(), secrets.token_hex(16), home / "notebooks", prefix)
    settings = home / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    (settings / "themes.jupyterlab-settings").write_text(json.dumps({"theme": THEMES[theme]}))
    with _running(home, lab, ["lab", str(lab.folder)]):
        yield lab


@contextmanager
def running_app(home: Path, *, prefix: str = "") -> Iterator[Lab]:
    """``evelab app`` on its own notebooks, with a home folder of its own."""
    lab = Lab(free_port(), secrets.token_hex(16), home, prefix)
    with _running(home, lab, ["app"]):
        yield lab


@contextmanager
def _running(home: Path, lab: Lab, words: Sequence[str]) -> Iterator[None]:
    folders = {
        "HOME": "home",
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "IPYTHONDIR": "ipython",
        "MPLCONFIGDIR": "matplotlib",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
    }
    for folder in folders.values():
        (home / folder).mkdir(exist_ok=True)
    environ = {**os.environ, **{name: str(home / folder) for name, folder in folders.items()}}
    environ["JUPYTER_TOKEN"] = lab.token
    command = [sys.executable, "-m", "evelab", *words, "--no-browser", "--port", str(lab.port)]
    if lab.prefix:
        command += ["--base-url", f"{lab.prefix}/"]
    log = home / "lab.log"
    with log.open("w") as output, subprocess.Popen(command, env=environ, stdout=output, stderr=output) as server:
        try:
            wait_for(lab, server, log)
            yield
        finally:
            server.terminate()


def wait_for(lab: Lab, server: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the server answers."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if server.poll() is not None:
            break
        try:
            urllib.request.urlopen(f"{lab.origin}/api?token={lab.token}", timeout=1).read()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()}")


def notebook_of(*sources: str) -> str:
    """A notebook of these code cells, not yet run."""
    blank: dict[str, Any] = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    cells = [{**blank, "id": f"cell-{place}", "source": source} for place, source in enumerate(sources)]
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    return json.dumps({"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5})


def stop_kernels(lab: Lab) -> None:
    """Stop every kernel of the lab, as its *Running* list does."""
    address = f"{lab.origin}/api/sessions"
    headers = {"Authorization": f"token {lab.token}"}
    with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=10) as answer:
        found = json.load(answer)
    for session in found:
        stop = urllib.request.Request(f"{address}/{session['id']}", headers=headers, method="DELETE")
        urllib.request.urlopen(stop, timeout=30).close()


def open_notebook(page: Page, lab: Lab, name: str) -> None:
    """Open a notebook and wait for its kernel. The toolbar says idle too early; the status bar does not."""
    page.goto(lab.url(name))
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=RUN_MILLISECONDS)


def run_all(page: Page) -> None:
    """Run the notebook from top to bottom, as the menu does, and wait for its end."""
    page.locator(".jp-Notebook .jp-Cell").first.click()
    page.get_by_role("menuitem", name="Run", exact=True).first.click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    indicator = page.locator(".jp-NotebookPanel-toolbar .jp-Notebook-ExecutionIndicator")
    expect(indicator).to_have_attribute("data-status", "idle", timeout=RUN_MILLISECONDS)
    page.wait_for_function(
        "() => { const seen = [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')];"
        " return seen.length > 0 && seen.every(prompt => /^\\[\\d+\\]:$/.test(prompt.textContent.trim())); }",
        timeout=RUN_MILLISECONDS,
    )


def run_again(page: Page) -> None:
    """Run an open notebook once more, its outputs cleared: its cells make everything anew, in the same kernel."""
    page.get_by_role("menuitem", name="Edit", exact=True).first.click()
    page.locator(".lm-Menu-itemLabel").get_by_text("Clear Outputs of All Cells", exact=True).click()
    expect(page.locator(".jp-CodeCell .jp-OutputArea-output")).to_have_count(0)
    run_all(page)


def choose_theme(page: Page, theme: str) -> None:
    """Choose a theme, as the menu does, and wait until it is drawn. The server keeps the choice."""
    page.get_by_role("menuitem", name="Settings", exact=True).click()
    for label in ("Theme", THEMES[theme]):
        page.locator(".lm-Menu-itemLabel").get_by_text(label, exact=True).click()
    expect(page.locator("body")).to_have_attribute("data-jp-theme-name", THEMES[theme])
    page.locator("#jupyterlab-splash").wait_for(state="detached")


def resize(page: Page, width: int, height: int) -> None:
    """Give the page a size in CSS pixels, and wait until it is laid out anew: a resized page is drawn later."""
    page.set_viewport_size({"width": width, "height": height})
    page.wait_for_function("([width, height]) => innerWidth === width && innerHeight === height", arg=[width, height])
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


@contextmanager
def no_alert(page: Page) -> Iterator[None]:
    """No script of somebody else's says anything meanwhile."""
    said: list[str] = []

    def note(dialog: Dialog) -> None:
        said.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", note)
    yield
    page.remove_listener("dialog", note)
    assert said == []


def caller_panel(page: Page) -> Locator:
    """The notebook's caller panel."""
    field = page.get_by_label("Namespace", exact=True)
    return page.locator(".jp-OutputArea-output .widget-vbox").filter(has=field).first
