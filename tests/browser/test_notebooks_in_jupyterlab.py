"""Every notebook, opened and run from top to bottom in JupyterLab."""

from __future__ import annotations

import json
import shutil
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import WIDTHS
from tests.browser.jupyter import (
    THEMES,
    Lab,
    caller_panel,
    choose_theme,
    open_notebook,
    resize,
    run_all,
    stop_kernels,
)

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.rglob("*.ipynb"))
FAILED = '.jp-OutputArea-output[data-mime-type="application/vnd.jupyter.error"]'
WARNED = '.jp-OutputArea-output[data-mime-type="application/vnd.jupyter.stderr"]'

TALL = 12_000
"""CSS pixels: every cell of a notebook is on such a page. JupyterLab draws only what is."""
CUT_OFF = """() => [...document.querySelectorAll('.jp-OutputArea-output, .jp-OutputArea-output *')]
  .filter(found => !['INPUT', 'TEXTAREA'].includes(found.tagName) && found.clientWidth > 1
    && ['hidden', 'clip'].includes(getComputedStyle(found).overflowX) && found.scrollWidth > found.clientWidth + 1)
  .map(found => `${found.scrollWidth} of ${found.clientWidth}: ${found.outerHTML.slice(0, 200)}`)"""
"""What an output holds and nobody can see, since it neither wraps nor scrolls."""
MAIN = ("panels.CallerPanel", "panels.ApprovalPanel", "panels.KeyPanel", "panels.ChoicePanel", "panels.ExercisePanel")
"""What a notebook is about, when it has one of these; otherwise its first figure, or its first table."""


def main_panel(page: Page) -> Locator:
    """The output of the notebook's main cell."""
    outputs = page.locator(".jp-OutputArea-output")
    cells = page.locator(".jp-CodeCell")
    found = [
        *(cells.filter(has=page.locator(".jp-InputArea", has_text=call)).locator(outputs) for call in MAIN),
        outputs.filter(has=page.locator("img")),
        outputs.filter(has=page.locator("table")),
    ]
    return next(part.first for part in found if part.count())


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs_from_top_to_bottom(page: Page, lab: Lab, artefacts: Path, name: str) -> None:
    open_notebook(page, lab, name)
    run_all(page)
    assert page.locator(FAILED).count() == 0
    assert page.locator(WARNED).count() == 0
    assert page.locator(".jp-OutputArea-output img:not([alt])").count() == 0
    for theme, width in product(THEMES, WIDTHS):
        choose_theme(page, theme)
        resize(page, width, TALL)
        for kind, part in {"": page.locator(".jp-WindowedPanel-viewport"), "-panel": main_panel(page)}.items():
            part.screenshot(path=artefacts / f"{name.replace('/', '-')}{kind}-{theme}-{width}.png")
        assert page.evaluate(CUT_OFF) == []
    choose_theme(page, "light")


@pytest.mark.parametrize("name", ["00_start_here"])
def test_a_stored_notebook_can_be_read_without_running_it(page: Page, lab: Lab, name: str) -> None:
    open_notebook(page, lab, name)
    stored = page.locator(".jp-OutputArea-output table")
    page.get_by_text("Who recalls whom", exact=True).first.wait_for(state="attached")
    expect(stored.nth(3)).to_be_attached()
    assert page.get_by_text("Error displaying widget").count() == 0


def test_the_last_table_of_a_saved_notebook_can_be_read_without_a_kernel(page: Page, lab: Lab) -> None:
    shutil.copyfile(lab.folder / "00_start_here.ipynb", lab.folder / "saved.ipynb")
    open_notebook(page, lab, "saved")
    run_all(page)
    panel = caller_panel(page)
    panel.get_by_role("button", name="globex u_42", exact=True).click()
    panel.get_by_label("Say", exact=True).fill("remember the last line")
    panel.get_by_role("button", name="Send", exact=True).click()
    expect(panel.locator("td", has_text="0: the last line")).to_have_count(1)
    page.keyboard.press("Control+s")
    page.wait_for_function("() => !document.querySelector('.lm-TabBar-tab.jp-mod-dirty')")
    saved = (lab.folder / "saved.ipynb").read_text("utf-8")
    assert "the last line" in json.dumps(json.loads(saved)["metadata"]["widgets"])
    page.goto("about:blank")
    stop_kernels(lab)

    reader = page.context.new_page()  # not the page whose console is watched: a kernel that goes is an error there
    open_notebook(reader, lab, "saved")
    table = reader.locator(".widget-html table")
    expect(table.locator("td", has_text="0: the last line")).to_have_count(1)
    kernel = reader.locator(".jp-Toolbar-kernelName")
    kernel.click()
    dialog = reader.get_by_role("dialog")
    dialog.get_by_role("combobox").select_option(label="No Kernel")
    dialog.locator("button.jp-mod-accept").click()
    expect(kernel).to_have_text("No Kernel")
    expect(table.locator("td", has_text="0: the last line")).to_have_count(1)
    expect(table.locator('th[style*="border-left: 5px"]')).to_have_text("globex u_42")
    expect(reader.locator(".jupyter-widgets-disconnected").first).to_be_visible()
