"""Fixtures of the tests in a browser; they are skipped where something is missing.

They need Chromium, as it comes with the system, and what requirements.txt in this
folder names.
"""

import threading

import pytest
from in_browser import (
    ARGUMENTS,
    MINUTE,
    Lab,
    Tab,
    Wall,
    find_chromium,
    whats_missing,
)


@pytest.fixture(scope="session", autouse=True)
def everything_is_installed():
    if reason := whats_missing():
        pytest.skip(reason)


@pytest.fixture(scope="session")
def wall(everything_is_installed):
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
    with Tab.of(chromium, wall) as tab:
        yield tab
    assert not tab.outside, "it tried to leave loopback"


@pytest.fixture(scope="session")
def lab(tmp_path_factory, wall):
    server = Lab(tmp_path_factory.mktemp("lab"), wall)
    yield server
    server.stop()
