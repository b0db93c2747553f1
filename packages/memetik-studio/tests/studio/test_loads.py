"""Pages that come and go: nothing of them stays, however soon they leave."""

import gc
import threading
import weakref

import pytest

from memetik_studio.kept import Kept
from memetik_studio.page import Page
from memetik_studio.server import Studio
from tests.browser import until
from tests.studio.patience import patient
from tests.studio.visitor import visitor


@pytest.fixture
def studio():
    with Studio(patient("parallel five-bar"), port=0) as running:
        running._kept = Kept(0.05, running._rest)
        yield running


def visit(studio, *, name, wait):
    """Connect as the viewer does, and leave once the page is there, or at once."""
    with visitor(studio.url, name):
        if wait:
            until(lambda: studio.pages, what="a page")


def pulses():
    return [thread for thread in threading.enumerate() if thread.name == "studio pulse"]


@pytest.mark.filterwarnings("ignore:Queued a")  # the viewer's library on what is sent to those who have left
@pytest.mark.parametrize("wait", [True, False], ids=["opened", "left at once"])
def test_pages_leave_nothing(studio, monkeypatch, wait):
    made, alive = [], weakref.WeakSet()

    def page(*given):
        made.append(len(made))
        alive.update([opened := Page(*given), opened.session])
        return opened

    monkeypatch.setattr("memetik_studio.server.Page", page)
    for number in range(6):
        visit(studio, name=f"visitor {number}", wait=wait)
        until(lambda number=number: len(made) == number + 1 and not studio.pages, what="the end of the page")
    until(lambda: not pulses() and not studio._kept._entries, what="the end of all pages")
    assert not studio._visitors
    until(lambda: gc.collect() is not None and not alive, 20.0, what="the end of what pages hold")
