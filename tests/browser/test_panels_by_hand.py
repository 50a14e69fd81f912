"""Every control of every panel, by mouse and by keyboard alone, beside a model that says what must be shown."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from evelab.chapter.callers import CALLERS
from evelab.chapter.policies import FIXED, POLICIES
from evelab.lab.approval_model import NOTES, ApprovalModel
from evelab.lab.caller_model import VIEWS, CallerModel
from evelab.lab.choice_model import ChoiceModel
from evelab.lab.key_model import STRING, TUPLE, KeyModel
from tests.browser.accessible import violations
from tests.browser.conftest import WIDTHS, watched_page
from tests.browser.hands import Keyboard, Mouse
from tests.browser.jupyter import Lab, caller_panel, no_alert, notebook_of, open_notebook, resize, run_again, run_all
from tests.test_lab import HOSTILE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Locator, Page

    Hand = Mouse | Keyboard

CELLS = (
    "from evelab.lab import panels\npanels.CallerPanel()",
    "panels.ApprovalPanel()",
    "question = panels.Prediction('Who reads it?', ['everybody', 'nobody'])\nquestion",
    "question.reveal('nobody', 'The slot is off.')",
    "panels.KeyPanel()",
    "panels.ChoicePanel()",
    "from evelab import Agent\ntimes = []\n"
    "def answer(store):\n    times.append(1)\n    print('attempt', len(times))\n    return Agent()\n"
    "panels.ExercisePanel('12.3', answer)",
)
TEXT = """markup => {
  const drawn = Object.assign(document.createElement('div'), {innerHTML: markup});
  drawn.querySelectorAll('style').forEach(sheet => sheet.remove());
  return drawn.textContent;
}"""


def open_panels(page: Page, lab: Lab) -> None:
    """Open one notebook with every panel."""
    (lab.folder / "panels.ipynb").write_text(notebook_of(*CELLS))
    open_notebook(page, lab, "panels")


@pytest.fixture(scope="module")
def opened(browser: Browser, lab: Lab) -> Iterator[Page]:
    """Every panel, open for the tests of this file."""
    with watched_page(browser) as page:
        open_panels(page, lab)
        yield page


@pytest.fixture
def panels(opened: Page) -> Page:
    """The page with every panel, just run; the focus is on the first control."""
    run_again(opened)
    caller_panel(opened).get_by_role("button").first.focus()
    return opened


@pytest.fixture(params=[Mouse, Keyboard], ids=["mouse", "keyboard"])
def hand(request: pytest.FixtureRequest) -> Hand:
    """One of two ways."""
    made: Hand = request.param()
    return made


def button(panel: Locator, name: str) -> Locator:
    return panel.get_by_role("button", name=name, exact=True)


def field(panel: Locator, label: str) -> Locator:
    return panel.get_by_label(label, exact=True)


def approval_panel(page: Page) -> Locator:
    return panel_with(page, "Approve")


def panel_with(page: Page, name: str) -> Locator:
    """The panel that has a button of this name."""
    has = page.get_by_role("button", name=name, exact=True)
    return page.locator(".jp-OutputArea-output .widget-vbox").filter(has=has)


class Twin:
    """The caller panel and a model of the test's own: the same is done to both, and both must show the same."""

    def __init__(self, page: Page, hand: Hand) -> None:
        self.panel, self.hand, self.model = caller_panel(page), hand, CallerModel()
        self.view = VIEWS[0]

    def same(self) -> None:
        """The panel's cards, status and table are those of the model."""
        markups = (self.model.cards(), self.model.status(), self.model.view(self.view).html)
        for place, markup in enumerate(markups):
            wanted = self.panel.page.evaluate(TEXT, markup)
            expect(self.panel.locator(".widget-html-content").nth(place)).to_have_text(wanted)

    def set(self, **settings: str) -> None:
        self.model.apply(replace(self.model.settings, **settings))
        self.same()

    def press(self, name: str, **settings: str) -> None:
        self.hand.press(button(self.panel, name))
        self.set(**settings)

    def write(self, label: str, text: str, **settings: str) -> None:
        self.hand.write(field(self.panel, label), text)
        self.set(**settings)

    def show(self, view: str) -> None:
        self.hand.press(button(self.panel, view))
        self.view = view
        self.same()

    def say(self, text: str) -> None:
        self.hand.write(field(self.panel, "Say"), text)
        self.hand.press(button(self.panel, "Send"))
        self.model.say(text)
        self.same()
        expect(field(self.panel, "Say")).to_have_value("")


def test_callers_scopes_namespace_and_views(panels: Page, hand: Hand) -> None:
    twin = Twin(panels, hand)
    twin.same()
    for policy in (*POLICIES[1:], POLICIES[0]):
        twin.press(policy.name, policy=policy.name)
    twin.press(FIXED.name, policy=FIXED.name)
    twin.write("Fixed string", "globex", fixed="globex")
    twin.write("Namespace", "acme-support-v2", namespace="acme-support-v2")
    for caller in CALLERS[1:4]:
        twin.press(caller.title, caller=caller.label)
        twin.say(f"remember I am {caller.label}")
    for view in (*VIEWS[1:], VIEWS[0]):
        twin.show(view)
    twin.show("What the model sees")
    hand.press(button(twin.panel, "New session"))
    twin.model.new_session()
    twin.same()


def test_a_caller_of_ones_own(panels: Page, hand: Hand) -> None:
    twin = Twin(panels, hand)
    hand.press(button(twin.panel, "A caller of your own"))
    for label, text in (("Label", "initech s_1"), ("Principal id", "s_1"), ("Tenant", "initech")):
        hand.write(field(twin.panel, label), text)
    hand.write(field(twin.panel, "Authenticator"), "sso")
    hand.write(field(twin.panel, "Issuer"), "https://sso.initech.example")
    hand.press(button(twin.panel, "service"))
    hand.press(button(twin.panel, "Add caller"))
    own: dict[str, Any] = {"issuer": "https://sso.initech.example", "tenant": "initech"}
    assert twin.model.add_caller("initech s_1", "service", "sso", "s_1", **own) is not None
    twin.set(caller="initech s_1")
    twin.press("by_principal", policy="by_principal")


def test_invalid_input_is_a_sentence_and_changes_nothing(panels: Page, hand: Hand) -> None:
    twin = Twin(panels, hand)
    for text in ("", "n" * 1025):
        twin.write("Namespace", text, namespace=text)
        expect(twin.panel.get_by_role("alert")).to_have_count(1)
    twin.write("Namespace", "acme-support-v1", namespace="acme-support-v1")
    expect(twin.panel.get_by_role("alert")).to_have_count(0)
    hand.press(button(twin.panel, "Send"))
    expect(twin.panel.get_by_role("alert")).to_have_text("Error. There is nothing to say: the text is blank.")
    twin.model.say("")
    twin.press(FIXED.name, policy=FIXED.name)
    twin.write("Fixed string", "", fixed="")
    expect(twin.panel.get_by_role("alert")).to_have_text("Error. The memory scope must not be blank.")
    twin.write("Fixed string", "acme", fixed="acme")
    hand.press(button(twin.panel, "A caller of your own"))
    hand.press(button(twin.panel, "Add caller"))
    expect(twin.panel.get_by_role("alert")).to_have_text("Error. The new caller's label is blank.")
    hand.write(field(twin.panel, "Label"), CALLERS[0].label)
    hand.write(field(twin.panel, "Principal id"), "u_1")
    hand.press(button(twin.panel, "Add caller"))
    expect(twin.panel.get_by_role("alert")).to_contain_text(f'There is already a caller "{CALLERS[0].label}"')


def test_a_deletion_is_refused_asked_again_and_approved(panels: Page, hand: Hand) -> None:
    panel, model = approval_panel(panels), ApprovalModel()
    shown = panel.locator(".widget-html-content").first

    def same() -> None:
        expect(shown).to_have_text(panels.evaluate(TEXT, model.markup()))
        for name in ("Approve", "Refuse"):
            expect(button(panel, name)).to_be_enabled(enabled=model.decision is None)

    same()
    hand.press(button(panel, "Refuse"))
    model.decide(approve=False)
    same()
    assert set(model.notes) == set(NOTES)
    hand.press(button(panel, "Ask again"))
    model.again()
    same()
    hand.press(button(panel, "Approve"))
    model.decide(approve=True)
    same()
    assert set(model.notes) < set(NOTES)


def test_a_prediction_is_made_and_changed(panels: Page, hand: Hand) -> None:
    told = panels.locator(".widget-html-content", has_text="What happened: nobody.")
    expect(told).to_contain_text("No prediction was made.")
    hand.press(panels.get_by_role("button", name="everybody", exact=True))
    expect(told).to_contain_text("You chose: everybody.")
    hand.press(panels.get_by_role("button", name="nobody", exact=True).last)
    expect(told).to_contain_text("Right.")


def test_a_key_follows_its_namespace_and_scope(panels: Page, hand: Hand) -> None:
    panel, model = panel_with(panels, TUPLE), KeyModel()
    typed = {"Namespace": "acme-support-v1", "Scope": "acme,u_42"}
    form = TUPLE

    def same() -> None:
        model.change(typed["Namespace"], form, typed["Scope"])
        expect(panel.locator(".widget-html-content").first).to_have_text(panels.evaluate(TEXT, model.markup()))

    for label, text in (
        ("Namespace", "acme-support-v2"),
        ("Scope", "acme,u_99"),
        ("Scope", "acme,"),
        ("Scope", "globex,u_42"),
    ):
        hand.write(field(panel, label), text)
        typed[label] = text
        same()
        expect(panel.get_by_role("alert")).to_have_count(int(text == "acme,"))
    for form in (STRING, TUPLE):
        hand.press(button(panel, form))
        same()


def test_four_questions_are_answered_and_taken_back(panels: Page, hand: Hand) -> None:
    panel, model = panel_with(panels, "Start again"), ChoiceModel()

    def answer(place: int, yes: bool) -> None:
        hand.press(button(panel, "yes" if yes else "no").nth(place))
        model.answer(place, yes)
        expect(panel.locator(".widget-html-content").first).to_have_text(panels.evaluate(TEXT, model.markup()))

    for place, yes in enumerate((True, True, False, True)):
        expect(button(panel, "yes").nth(place)).to_be_enabled()
        answer(place, yes)
    expect(panel).to_contain_text("Use: connection.")
    answer(1, False)
    expect(panel).to_contain_text("Use: define_state.")
    expect(button(panel, "yes").nth(2)).to_be_disabled()
    hand.press(button(panel, "Start again"))
    expect(panel).to_contain_text("Question 1 is open")


def test_an_answer_is_checked_again(panels: Page, hand: Hand) -> None:
    panel = panel_with(panels, "Check")
    expect(panel.get_by_role("row")).to_have_count(5)
    expect(panel).to_contain_text("The first one: attempt 1")
    hand.press(button(panel, "Check"))
    expect(panel).to_contain_text("The first one: attempt 2")
    expect(panel).to_contain_text("0 of 4 requirements are met.")


@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_person_types_is_shown_as_text(panels: Page, text: str) -> None:
    panel, keys, mouse = caller_panel(panels), panel_with(panels, TUPLE), Mouse()
    shown = "a[U+202E]b[U+2066]c[U+200F]" if "\u202e" in text else text
    with no_alert(panels):
        mouse.press(button(panel, "A caller of your own"))
        for label in ("Label", "Principal id", "Tenant", "Issuer"):
            mouse.write(field(panel, label), text)
        mouse.press(button(panel, "Add caller"))
        expect(panel.locator("tbody tr")).to_have_count(len(CALLERS) + 1)
        mouse.write(field(panel, "Namespace"), text)
        mouse.press(button(panel, FIXED.name))
        mouse.write(field(panel, "Fixed string"), text)
        expect(panel.locator("table")).to_contain_text(shown)
        for view in VIEWS:
            mouse.press(button(panel, view))
        for label in ("Namespace", "Scope"):
            mouse.write(field(keys, label), text)
        expect(keys).to_contain_text("characters after the prefix have changed")
    for shown_in in (panel, keys):
        assert shown_in.locator("img, script, a, h1, iframe").count() == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_panel_breaks_the_accessibility_rules(page: Page, lab: Lab, dark_lab: Lab, theme: str) -> None:
    open_panels(page, lab if theme == "light" else dark_lab)
    run_all(page)
    approval = approval_panel(page)
    prediction = page.locator(".jp-OutputArea-output .widget-vbox").filter(has_text="Who reads it?")
    button(caller_panel(page), "A caller of your own").click()
    others = [panel_with(page, name) for name in (TUPLE, "Start again", "Check")]
    for width in WIDTHS:
        resize(page, width, 2000)
        for panel in (caller_panel(page), approval, prediction, *others):
            assert violations(page, panel) == []
            assert panel.locator("[title=null]:visible").count() == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_how_the_panels_look(page: Page, lab: Lab, dark_lab: Lab, artefacts: Path, theme: str) -> None:
    open_panels(page, lab if theme == "light" else dark_lab)
    run_all(page)
    button(caller_panel(page), "Who recalls whom").click()
    for width in WIDTHS:
        resize(page, width, 2000)
        page.locator(".jp-NotebookPanel").screenshot(path=artefacts / f"panels-{theme}-{width}.png")
        for panel in (
            caller_panel(page),
            *(panel_with(page, name) for name in ("Approve", TUPLE, "Start again", "Check")),
        ):
            box = panel.bounding_box()
            assert box is not None
            assert box["x"] + box["width"] <= width
