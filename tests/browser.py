"""A headless browser, for tests and pictures."""

import contextlib
import shutil
import time

import pytest
from playwright.sync_api import Error, sync_playwright

# Graphics in software, so that it runs on a machine without a display or a graphics card.
FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]

PROGRAMS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
    "microsoft-edge",
)
CHANNELS = ("chrome", "msedge")  # where Windows and macOS install them, which is not on the path
REMEDY = (
    "no browser to test the page in: apt-get install chromium, install Chrome or Edge, or playwright install chromium"
)


def until(true, seconds=180.0, what="it"):
    """Wait until a condition holds."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not happen within {seconds} s")
        time.sleep(0.02)


def candidates():
    """Ways to start a browser that Playwright can steer: those of the system first, then the one Playwright downloads."""
    found = [{"executable_path": path} for path in map(shutil.which, PROGRAMS) if path]
    return [*found, *({"channel": name} for name in CHANNELS), {}]


def launch(playwright):
    """The first browser that starts; the test that asked is skipped if none does."""
    for way in candidates():
        with contextlib.suppress(Error):  # not installed, or a stub that only says where to get it
            return playwright.chromium.launch(args=FLAGS, **way)
    return pytest.skip(REMEDY)


@contextlib.contextmanager
def chromium(width, height):
    """A new tab on each call of what is given."""
    with sync_playwright() as playwright:
        browser = launch(playwright)
        try:
            yield lambda: browser.new_page(viewport={"width": width, "height": height})
        finally:
            browser.close()
