"""Every notebook, opened and run from top to bottom in JupyterLab."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import WIDTHS
from tests.browser.jupyter import Lab, open_notebook, run_all

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
        page.locator(".jp-NotebookPanel").screenshot(path=artefacts / f"{name.replace('/', '-')}-light-{width}.png")


@pytest.mark.parametrize("name", ["00_start_here"])
def test_a_stored_notebook_can_be_read_without_running_it(page: Page, lab: Lab, name: str) -> None:
    open_notebook(page, lab, name)
    stored = page.locator(".jp-OutputArea-output table")
    stored.first.wait_for()
    assert page.get_by_text("Who recalls whom", exact=True).count() >= 1
    assert page.get_by_text("Error displaying widget").count() == 0
    assert stored.count() >= 4


@pytest.mark.parametrize("width", WIDTHS)
def test_the_caller_panel_in_the_dark(page: Page, dark_lab: Lab, artefacts: Path, width: int) -> None:
    open_notebook(page, dark_lab, "00_start_here")
    run_all(page)
    page.set_viewport_size({"width": width, "height": 3000})
    page.locator(".jp-NotebookPanel").screenshot(path=artefacts / f"00_start_here-dark-{width}.png")
    assert page.locator("body").get_attribute("data-jp-theme-light") == "false"
