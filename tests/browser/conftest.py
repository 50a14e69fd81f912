"""What browser tests need: Chromium, a running lab, and a page on which nothing goes wrong unseen."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.jupyter import CHROMIUM_FLAGS, Lab, running_app, running_lab

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

WIDTHS = (1280, 768)
PATIENCE_MILLISECONDS = 30_000
"""How long something may take to appear: a slow machine is no failure."""


@pytest.fixture(scope="package")
def chromium() -> str:
    """Where Chromium is. Without it these tests skip, unless EVELAB_REQUIRE_BROWSER is 1: then they fail."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        why = "Chromium is not installed: apt-get install chromium"
        if os.environ.get("EVELAB_REQUIRE_BROWSER") == "1":
            pytest.fail(why)
        pytest.skip(why)
    return found


@pytest.fixture(scope="package")
def browser(chromium: str) -> Iterator[Browser]:
    """One Chromium for the tests of this folder. Its driver runs an event loop, which must end with them."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE_MILLISECONDS)
    with sync_playwright() as play:
        opened = play.chromium.launch(
            executable_path=chromium,
            args=CHROMIUM_FLAGS,
            ignore_default_args=["--hide-scrollbars"],  # a person sees that there is more
        )
        yield opened
        opened.close()


@pytest.fixture(scope="package")
def lab(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A lab in the light theme."""
    with running_lab(tmp_path_factory.mktemp("light")) as found:
        yield found


@pytest.fixture(scope="package")
def dark_lab(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A lab in the dark theme."""
    with running_lab(tmp_path_factory.mktemp("dark"), theme="dark") as found:
        yield found


@pytest.fixture(scope="package")
def app(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """The pages without cells."""
    with running_app(tmp_path_factory.mktemp("app")) as found:
        yield found


@contextmanager
def watched_page(browser: Browser) -> Iterator[Page]:
    """A page. At its end: no console error, and no request that left this machine."""
    context = browser.new_context(viewport={"width": WIDTHS[0], "height": 1000})
    opened = context.new_page()
    errors: list[str] = []
    outside: list[str] = []
    opened.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    opened.on("pageerror", lambda raised: errors.append(str(raised)))
    own = ("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:")
    opened.on("request", lambda asked: None if asked.url.startswith(own) else outside.append(asked.url))
    yield opened
    context.close()
    assert errors == []
    assert outside == []


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of the test's own."""
    with watched_page(browser) as opened:
        yield opened


@pytest.fixture(scope="session")
def artefacts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where screenshots go: EVELAB_ARTEFACTS, or a temporary folder."""
    folder = Path(os.environ.get("EVELAB_ARTEFACTS") or tmp_path_factory.mktemp("artefacts"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder
