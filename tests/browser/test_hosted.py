"""The lab and its pages below a prefix, as a hub or a proxy hands them out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from evelab.chapter.callers import CALLERS
from tests.browser.jupyter import caller_panel, open_notebook, run_all, running_app, running_lab
from tests.browser.test_app import open_page

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

PREFIX = "/user/zhang"


def test_the_lab_works_below_a_prefix(page: Page, tmp_path: Path) -> None:
    with running_lab(tmp_path, prefix=PREFIX) as lab:
        open_notebook(page, lab, "00_start_here")
        assert f"{PREFIX}/lab/" in page.url
        run_all(page)
        panel = caller_panel(page)
        panel.get_by_role("button", name=CALLERS[1].title, exact=True).click()
        expect(panel.locator('th[style*="border-left: 5px"]')).to_have_text(CALLERS[1].title)
        page.goto("about:blank")


def test_the_pages_work_below_a_prefix(page: Page, tmp_path: Path) -> None:
    with running_app(tmp_path, prefix=PREFIX) as app:
        page.goto(f"{app.origin}/voila?token={app.token}")
        open_page(page, app, "00_start_here")
        page.get_by_role("button", name=CALLERS[1].title, exact=True).click()
        expect(page.locator('.widget-html th[style*="border-left: 5px"]')).to_have_text(CALLERS[1].title)
        page.get_by_role("link", name="All experiments").click()
        page.get_by_role("link", name="10 opsbot").wait_for()
        assert page.url.endswith(f"{PREFIX}/voila")
        page.goto("about:blank")
