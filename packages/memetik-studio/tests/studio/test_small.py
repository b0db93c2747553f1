"""Small windows in a real browser: the panel is folded away, and comes back when it is asked for."""

import pytest

from memetik_studio.server import Studio
from memetik_studio.small import SHEET, SMALL
from tests.browser import chromium, until
from tests.studio.patience import patient


@pytest.fixture(scope="module")
def studio():
    with Studio(patient("arm reach"), port=0) as running:
        yield running


@pytest.fixture
def opened(studio):
    """The page in a window of some width."""
    with chromium(400, 300) as new_tab:

        def visit(width):
            tab = new_tab()
            tab.set_default_timeout(180_000)
            tab.set_viewport_size({"width": width, "height": 300})
            tab.goto(studio.url)
            until(lambda: studio.pages, what="a page on the server")
            tab.wait_for_function("window.panelFolds")
            return tab

        yield visit


def is_shown(tab):
    return tab.get_by_role("tab", name="Compare").is_visible()


def test_on_a_telephone_the_panel_is_folded_until_it_is_tapped(opened):
    tab = opened(400)
    until(lambda: not is_shown(tab), what="folding")
    assert tab.locator("canvas").first.bounding_box()["width"] == 400
    tab.get_by_text("memetik studio").last.click()
    until(lambda: is_shown(tab), what="unfolding")
    tab.wait_for_timeout(500)
    assert is_shown(tab), "whoever unfolds it keeps it so"


def test_it_follows_the_width_of_the_window(opened):
    tab = opened(SMALL - 100)
    until(lambda: not is_shown(tab), what="folding")
    for width, shown in ((SMALL + 100, True), (SMALL - 100, False), (SHEET - 100, False), (SMALL + 100, True)):
        tab.set_viewport_size({"width": width, "height": 300})
        until(lambda shown=shown: is_shown(tab) is shown, what=f"folding at {width} pixels")
