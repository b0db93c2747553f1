"""A studio and a headless browser looking at it, for tests and pictures."""

import contextlib
import shutil
import time

import numpy as np
import pytest
from playwright.sync_api import Error, sync_playwright

import memetik as mk
from memetik.studio.server import Studio

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


def visit(studio: Studio, new_tab):
    """Open the page: the browser's tab, and the page that the server has for it."""
    known = set(studio.pages)
    tab = new_tab()
    tab.set_default_timeout(180_000)
    tab.goto(studio.url)
    until(lambda: set(studio.pages) - known, what="a page on the server")
    page = studio.pages[max(set(studio.pages) - known)]
    tab.add_style_tag(content="#webgl-software-rendering { display: none }")  # it would lie over what is clicked
    tab.get_by_role("tab", name="Compare").wait_for()
    return tab, page


def on_screen(page, tab, point):
    """Where a point of the world [m] is on the tab [pixels]."""
    camera, view = page._client.camera, tab.locator("canvas").first.bounding_box()
    x, y, z = mk.rotation_matrix(np.array(camera.wxyz)).T @ (np.asarray(point) - camera.position)
    focal = 0.5 * view["height"] / np.tan(0.5 * camera.fov)
    return view["x"] + 0.5 * view["width"] + focal * x / z, view["y"] + 0.5 * view["height"] + focal * y / z
