"""The accessibility rules, checked by axe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from axe_playwright_python.sync_playwright import Axe

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]


def violations(page: Page, part: Locator | None = None) -> list[str]:
    """What breaks WCAG 2.1 A and AA, in one part of the page or in all of it."""
    if part is not None:
        part.evaluate("element => element.setAttribute('data-checked', 'yes')")
    result = Axe().run(page, context=None if part is None else "[data-checked]", options={"runOnly": RULES})
    if part is not None:
        part.evaluate("element => element.removeAttribute('data-checked')")
    return [f"{rule['id']}: {node['html'][:160]}" for rule in result.response["violations"] for node in rule["nodes"]]
