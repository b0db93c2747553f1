"""mk.view: one page, in a cell, a file or the browser."""

import webbrowser

import numpy as np
import pytest

import memetik as mk
from memetik.errors import FormatError


@pytest.fixture(scope="module")
def arm():
    return mk.build.planar_chain(3)


def test_a_page_that_stands_alone(arm, tmp_path):
    shown = mk.view(arm, targets=[(0.5, 0.5, 0.0), np.eye(4)], path=tmp_path / "arm.html", open=False)
    page = (tmp_path / "arm.html").read_text()
    assert page == shown.page and page.lstrip().lower().startswith("<!doctype html")
    assert 'src="http' not in page and shown._repr_html_().startswith('<iframe srcdoc="')
    assert repr(shown).startswith("<View: a page of")


def test_outside_a_notebook_it_opens_in_the_browser(arm, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    mk.view(arm, np.zeros((5, 3)), rate=10.0)
    assert len(opened) == 1 and opened[0].startswith("file://") and opened[0].endswith("view.html")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"targets": 3}, "targets are 3"),
        ({"open": "yes"}, "open is 'yes'"),
        ({"q": np.zeros((0, 3))}, "1 to 10000 frames"),
        ({"rate": 0.0}, "rate is 0.0. Give a number"),
        ({"pixel_height": 3}, "pixel_height is 3. Give a number from 50"),
        ({"path": "arm.png", "open": False}, r"has to end in \.html"),
    ],
)
def test_mistakes(arm, arguments, message):
    with pytest.raises(FormatError, match=message):
        mk.view(arm, **arguments)
