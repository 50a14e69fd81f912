"""The lab as an application: pages without cells, the panels alive, nothing fetched from elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from evelab.chapter.callers import CALLERS
from evelab.chapter.values import PRINTED_KEYS
from tests.browser.accessible import violations
from tests.browser.conftest import WIDTHS
from tests.browser.jupyter import RUN_MILLISECONDS, Lab, resize
from tests.browser.test_notebooks_in_jupyterlab import FAILED, NOTEBOOKS, WARNED

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page


PAGES = [name for name in NOTEBOOKS if "exercises" not in name]
"""An exercise needs its cells, so it is no page."""


def open_page(page: Page, app: Lab, name: str, *, theme: str = "light") -> None:
    """Open one experiment and wait until it has run."""
    page.goto(f"{app.origin}/voila/render/{name}.ipynb?token={app.token}&theme={theme}")
    page.locator("#rendered_cells").wait_for(timeout=RUN_MILLISECONDS)
    page.locator(".jp-OutputArea-output").last.wait_for()


def test_the_first_page_leads_to_every_experiment(page: Page, app: Lab) -> None:
    page.goto(f"{app.origin}/voila?token={app.token}")
    names = [name.replace("_", " ") for name in PAGES]
    assert page.get_by_role("listitem").all_inner_texts() == names
    assert violations(page) == []
    page.get_by_role("link", name=names[0]).click()
    page.get_by_role("link", name="All experiments").click(timeout=RUN_MILLISECONDS)
    expect(page.get_by_role("heading", name="evelab")).to_be_visible()


@pytest.mark.parametrize("name", PAGES)
def test_an_experiment_runs_and_shows_no_cell(page: Page, app: Lab, artefacts: Path, name: str) -> None:
    open_page(page, app, name)
    assert page.locator(f"{FAILED}, {WARNED}").count() == 0
    assert page.locator(".jp-CodeCell .jp-InputArea-editor, .jp-CodeCell .highlight").count() == 0
    assert page.get_by_text("Error displaying widget").count() == 0
    for width in WIDTHS:
        resize(page, width, 1000)
        widths = page.locator("img[alt]").evaluate_all("all => all.map(one => one.width)")
        assert all(drawn <= width - 16 for drawn in widths)
        page.screenshot(path=artefacts / f"app-{name}-{width}.png", full_page=True)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_caller_panel_is_alive(page: Page, app: Lab, artefacts: Path, theme: str) -> None:
    open_page(page, app, "00_start_here", theme=theme)
    page.get_by_role("button", name="fixed string", exact=True).click()
    shared = next(row.key for row in PRINTED_KEYS if row.experiment == "A")
    expect(page.locator(".widget-html td", has_text=shared)).to_have_count(len(CALLERS))
    page.get_by_label("Say", exact=True).fill("remember I watch payment-api")
    page.get_by_label("Say", exact=True).press("Enter")
    expect(page.locator(".widget-html td", has_text="0: I watch payment-api")).to_have_count(len(CALLERS))
    page.screenshot(path=artefacts / f"app-caller-panel-{theme}.png", full_page=True)


def test_a_prediction_is_told_when_it_is_made(page: Page, app: Lab) -> None:
    open_page(page, app, "05a_fixed_scope")
    told = page.get_by_text("No prediction was made.", exact=True)
    expect(told).to_have_count(1)
    page.locator(".widget-toggle-buttons button").first.click()
    expect(told).to_have_count(0)


def test_nobody_comes_in_without_the_token(page: Page, app: Lab) -> None:
    for path in ("voila", "voila/render/00_start_here.ipynb"):
        page.goto(f"{app.origin}/{path}")
        assert "/login" in page.url
        assert page.get_by_role("listitem").count() == 0
