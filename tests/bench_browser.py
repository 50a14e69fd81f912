"""How fast the lab answers in a browser: ``python -m tests.bench_browser``. Needs Chromium.

Measured: from ``evelab lab`` to the first panel; and from the click on a caller to the first frame after the table
has marked that caller, with ten callers and 1,000 saved entries, in each of the four views. All of it is measured in
the page, by its own clock, so that the driver's way there and back does not count.
"""

from __future__ import annotations

import json
import shutil
import statistics
import tempfile
import time
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import sync_playwright

from evelab.lab.caller_model import VIEWS
from tests.browser.jupyter import CHROMIUM_FLAGS, caller_panel, open_notebook, run_all, running_lab

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.browser.jupyter import Lab

SWITCHES = 40
CALLERS = 10
ENTRIES = 1000
CELL = f"""
from evelab.chapter.callers import Caller, user
from evelab.lab.caller_model import CallerModel
from evelab.lab.panels import CallerPanel

people = [Caller(f"acme u_{{n}}", user(f"u_{{n}}", "acme")) for n in range({CALLERS})]
model = CallerModel(people)
for person in people:
    for n in range({ENTRIES // CALLERS}):
        model.bench.say(person, f"remember n {{n}}")
    model.bench.new_session(person)
assert sum(len(stored.document.entries) for stored in model.bench.documents()) == {ENTRIES}
model.looks = model.bench.looks()
CallerPanel(model=model)
"""
SWITCH = """
([panel, caller]) => new Promise((done, failed) => {
  const button = [...panel.querySelectorAll('button')].find(found => found.textContent === caller);
  const before = panel.innerHTML;
  const shown = () => {
    const marked = panel.querySelector('th[style*="border-left: 5px"]');
    const cards = [...panel.querySelectorAll('p')].some(found => found.textContent === caller);
    return cards && (marked === null || marked.textContent === caller) && panel.innerHTML !== before;
  };
  const begun = performance.now();
  const watcher = new MutationObserver(() => {
    if (!shown()) return;
    watcher.disconnect();
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - begun)));
  });
  watcher.observe(panel, {subtree: true, childList: true, characterData: true, attributes: true});
  setTimeout(() => failed(new Error(`the panel did not change to ${caller}`)), 10000);
  button.click();
})
"""


def notebook(source: str) -> str:
    """A notebook of one cell."""
    cell: dict[str, Any] = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "id": "only"}
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    cells = [{**cell, "source": source}]
    return json.dumps({"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5})


def switches(browser: Browser, lab: Lab) -> dict[str, list[float]]:
    """View -> milliseconds from a click on a caller to the changed panel, of each switch."""
    (lab.folder / "switches.ipynb").write_text(notebook(CELL))
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    open_notebook(page, lab, "switches")
    run_all(page)
    panel = caller_panel(page)
    handle = panel.element_handle()
    times: dict[str, list[float]] = {}
    turns = cycle([*range(1, CALLERS), 0])
    for view in VIEWS:
        panel.get_by_role("button", name=view, exact=True).click()
        page.wait_for_timeout(1000)
        times[view] = [page.evaluate(SWITCH, [handle, f"acme u_{next(turns)}"]) for _ in range(SWITCHES + 1)][1:]
    page.close()
    return times


def main() -> None:
    """Measure and print."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    home = Path(tempfile.mkdtemp())
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        begun = time.monotonic()
        with running_lab(home) as lab:
            answered = time.monotonic() - begun
            page = browser.new_page(viewport={"width": 1280, "height": 1000})
            open_notebook(page, lab, "00_start_here")
            opened = time.monotonic() - begun
            run_all(page)
            caller_panel(page).wait_for()
            ran = time.monotonic() - begun
            page.close()
            print(f"evelab lab: answers after {answered:.1f} s, notebook and kernel after {opened:.1f} s,")
            print(f"  all cells run and the first panel alive after {ran:.1f} s")
            print(f"from choosing a caller to the changed table, {SWITCHES} switches, {ENTRIES} entries:")
            for view, times in switches(browser, lab).items():
                late = sorted(times)[round(0.95 * len(times)) - 1]
                print(f"  {view:<20} median {statistics.median(times):6.1f} ms   95th percentile {late:6.1f} ms")
        browser.close()
    shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
