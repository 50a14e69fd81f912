"""The caller panel, operated by mouse and by keyboard alone."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from evelab.chapter.callers import CALLERS
from evelab.chapter.values import PRINTED_KEYS
from tests.browser.accessible import violations
from tests.browser.conftest import watched_page
from tests.browser.jupyter import caller_panel, no_alert, open_notebook, run_again
from tests.test_lab import HOSTILE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Locator, Page

    from tests.browser.jupyter import Lab

SHARED, OWN = (next(row.key for row in PRINTED_KEYS if row.experiment == name) for name in "AB")


@pytest.fixture(scope="module")
def opened(browser: Browser, lab: Lab) -> Iterator[Page]:
    """A copy of the first notebook, open for the tests of this file."""
    shutil.copyfile(lab.folder / "00_start_here.ipynb", lab.folder / "caller.ipynb")
    with watched_page(browser) as page:
        open_notebook(page, lab, "caller")
        yield page


@pytest.fixture
def panel(opened: Page) -> Locator:
    """Its panel, just run."""
    run_again(opened)
    found = caller_panel(opened)
    found.scroll_into_view_if_needed()
    return found


def press(panel: Locator, name: str) -> None:
    """Press a button with the keyboard."""
    button = panel.get_by_role("button", name=name, exact=True)
    button.focus()
    button.press("Enter")


def current(panel: Locator) -> Locator:
    """The row that stands out."""
    return panel.locator("tr", has=panel.page.locator('th[style*="border-left: 5px"]'))


def test_the_mouse_switches_every_caller(panel: Locator) -> None:
    for caller in (*CALLERS[1:], CALLERS[0]):
        panel.get_by_role("button", name=caller.title, exact=True).click()
        expect(current(panel)).to_contain_text(caller.label)
        expect(current(panel)).to_contain_text("off" if caller.tenant is None else "memscope1_")


def test_the_keyboard_alone_does_the_same(panel: Locator) -> None:
    panel.get_by_role("button", name=CALLERS[0].title, exact=True).focus()
    panel.page.keyboard.press("Tab")
    panel.page.keyboard.press("Enter")
    expect(current(panel)).to_contain_text(CALLERS[1].label)
    press(panel, "fixed string")
    expect(panel.locator("td", has_text=SHARED)).to_have_count(len(CALLERS))
    field = panel.get_by_label("Say", exact=True)
    field.focus()
    panel.page.keyboard.type("remember I watch payment-api")
    panel.page.keyboard.press("Enter")
    expect(panel.locator("td", has_text="0: I watch payment-api")).to_have_count(len(CALLERS))
    expect(field).to_have_value("")
    press(panel, "Storage")
    expect(panel.locator("table")).to_contain_text("lastAllocatedIndex=0")
    press(panel, "Who recalls whom")
    expect(panel.locator("td", has_text="LEAK")).to_have_count(70)
    press(panel, "What the model sees")
    expect(panel.locator("table")).to_contain_text("remember I watch payment-api")
    press(panel, "New session")
    expect(panel).to_contain_text("has not spoken")


@pytest.mark.parametrize("text", HOSTILE)
def test_memory_text_is_shown_as_text(panel: Locator, text: str) -> None:
    shown = "a[U+202E]b[U+2066]c[U+200F]" if "\u202e" in text else text
    with no_alert(panel.page):
        panel.get_by_label("Say", exact=True).fill(f"remember {text}")
        panel.get_by_role("button", name="Send", exact=True).click()
        for view in ("All callers", "Storage", "What the model sees"):
            panel.get_by_role("button", name=view, exact=True).click()
            expect(panel.locator("table").last).to_contain_text(shown)
    assert panel.locator("img, script, a, h1").count() == 0


def test_an_invalid_namespace_shows_its_sentence_and_keeps_the_table(panel: Locator) -> None:
    field = panel.get_by_label("Namespace", exact=True)
    expect(panel.locator("table")).to_contain_text(OWN)
    field.fill("")
    expect(panel.get_by_role("alert")).to_have_text("Error. The memory namespace must not be blank.")
    expect(panel.locator("table")).to_contain_text(OWN)
    field.fill("acme-support-v2")
    expect(panel.get_by_role("alert")).to_have_count(0)
    expect(panel.locator("table")).to_contain_text(next(row.key for row in PRINTED_KEYS if row.experiment == "E"))


def test_a_caller_of_ones_own_is_added_by_keyboard(panel: Locator) -> None:
    press(panel, "A caller of your own")
    for label, value in (("Label", "initech u_1"), ("Principal id", "u_1"), ("Tenant", "initech")):
        panel.get_by_label(label, exact=True).focus()
        panel.page.keyboard.type(value)
        panel.page.keyboard.press("Tab")
    press(panel, "Add caller")
    expect(current(panel)).to_contain_text('["initech", "u_1"]')


def test_nothing_in_the_panel_breaks_the_accessibility_rules(panel: Locator) -> None:
    press(panel, "Who recalls whom")
    assert violations(panel.page, panel) == []
