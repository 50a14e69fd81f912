"""Every notebook, opened and run from top to bottom in JupyterLab."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import WIDTHS
from tests.browser.jupyter import Lab, caller_panel, open_notebook, run_all, stop_kernels

if TYPE_CHECKING:
    from playwright.sync_api import Page

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.rglob("*.ipynb"))
FAILED = '.jp-OutputArea-output[data-mime-type="application/vnd.jupyter.error"]'
WARNED = '.jp-OutputArea-output[data-mime-type="application/vnd.jupyter.stderr"]'


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs_from_top_to_bottom(page: Page, lab: Lab, artefacts: Path, name: str) -> None:
    open_notebook(page, lab, name)
    run_all(page)
    assert page.locator(FAILED).count() == 0
    assert page.locator(WARNED).count() == 0
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 3000})
        page.locator(".jp-WindowedPanel-outer").first.evaluate("panel => panel.scrollTo(0, 0)")
        page.locator(".jp-NotebookPanel").screenshot(path=artefacts / f"{name.replace('/', '-')}-light-{width}.png")


@pytest.mark.parametrize("name", ["00_start_here"])
def test_a_stored_notebook_can_be_read_without_running_it(page: Page, lab: Lab, name: str) -> None:
    open_notebook(page, lab, name)
    stored = page.locator(".jp-OutputArea-output table")
    stored.first.wait_for()
    assert page.get_by_text("Who recalls whom", exact=True).count() >= 1
    assert page.get_by_text("Error displaying widget").count() == 0
    assert stored.count() >= 4


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


@pytest.mark.parametrize("width", WIDTHS)
def test_the_caller_panel_in_the_dark(page: Page, dark_lab: Lab, artefacts: Path, width: int) -> None:
    open_notebook(page, dark_lab, "00_start_here")
    run_all(page)
    page.set_viewport_size({"width": width, "height": 3000})
    page.locator(".jp-NotebookPanel").screenshot(path=artefacts / f"00_start_here-dark-{width}.png")
    assert page.locator("body").get_attribute("data-jp-theme-light") == "false"
