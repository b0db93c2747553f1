"""A studio and a browser looking at it, for tests and pictures."""

import numpy as np

import memetik as mk
from memetik_studio.server import Studio
from tests.browser import until


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
    x, y, z = mk.geometry.rotation_matrix(np.array(camera.wxyz)).T @ (np.asarray(point) - camera.position)
    focal = 0.5 * view["height"] / np.tan(0.5 * camera.fov)
    return view["x"] + 0.5 * view["width"] + focal * x / z, view["y"] + 0.5 * view["height"] + focal * y / z
