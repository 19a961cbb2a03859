"""Fixtures of the tests in a browser; they are skipped where something is missing.

They need Chromium, as it comes with the system, and what requirements.txt in this
folder names.
"""

import threading

import pytest
from in_browser import ARGUMENTS, MINUTE, Tab, Wall, find_chromium


@pytest.fixture(scope="session")
def wall():
    for package in "playwright", "axe_playwright_python", "sphinx":
        pytest.importorskip(
            package, reason="pip install -r tests/browser/requirements.txt"
        )
    if not find_chromium():
        pytest.skip(
            "the tests in a browser need Chromium: on Debian apt-get install "
            "chromium, or name the program in the variable CHROMIUM"
        )
    with Wall() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture(scope="session")
def chromium(wall):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_chromium(),
            args=[*ARGUMENTS, f"--proxy-server={wall.address}"],
            timeout=3 * MINUTE * 1000,
        )
        yield browser
        browser.close()


@pytest.fixture
def tab(chromium, wall):
    with chromium.new_context(viewport={"width": 1280, "height": 900}) as context:
        yield Tab(context, wall)
