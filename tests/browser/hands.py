"""A mouse and a keyboard: two ways to do the same to a panel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Locator

FURTHEST = 120
"""How many presses of Tab may lie between two controls of one panel."""
PLACE = """target => {
  const here = document.activeElement;
  if (here === target) return 'here';
  return here.compareDocumentPosition(target) & Node.DOCUMENT_POSITION_FOLLOWING ? 'Tab' : 'Shift+Tab';
}"""


class Mouse:
    """Everything by clicks; only text is typed."""

    def press(self, control: Locator) -> None:
        """Press a button."""
        control.click()

    def write(self, field: Locator, text: str) -> None:
        """Replace a field's text and leave it."""
        field.click(click_count=3)
        _type(field, text)
        field.page.keyboard.press("Tab")


class Keyboard:
    """No click at all: Tab and Shift+Tab lead to each control, as they lead a person."""

    def press(self, control: Locator) -> None:
        """Press a button."""
        self._reach(control)
        control.page.keyboard.press("Enter")

    def write(self, field: Locator, text: str) -> None:
        """Replace a field's text and leave it."""
        self._reach(field)
        field.page.keyboard.press("Control+a")
        _type(field, text)
        field.page.keyboard.press("Tab")

    def _reach(self, control: Locator) -> None:
        expect(control).to_be_enabled()
        for _ in range(FURTHEST):
            key = control.evaluate(PLACE)
            if key == "here":
                return
            control.page.keyboard.press(key)
        raise AssertionError(f"Tab does not lead to {control}")


def _type(field: Locator, text: str) -> None:
    field.page.keyboard.press("Backspace")
    field.page.keyboard.insert_text(text)
