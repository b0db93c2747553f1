"""Before kernels are compiled there is an address, a page and a body, and the page says what it waits for."""

import contextlib
import os
import subprocess
import sys
import threading
import types
import urllib.request

import pytest

import memetik as mk
from memetik import scenes
from memetik.kernels.compiler.only_load import NotCompiledError
from memetik_studio import compiling, server
from memetik_studio.compiling import CompileNotice, Preparation, how_far
from memetik_studio.jobs import prepare
from tests.browser import chromium, until
from tests.conftest import COMPILED
from tests.studio.patience import patient


@pytest.mark.only_if(COMPILED, "compiled kernels")
def test_the_address_comes_before_the_compiler(tmp_path):
    """On a machine that has none of the kernels; it then ends, although its worker compiles."""
    command = [sys.executable, "-m", "memetik", "studio", "--port", "0", "--no-open"]
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "MEMETIK_PREBUILT": "0"}
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as studio:
        try:
            address = studio.stdout.readline().split()[2]
            assert not list(tmp_path.rglob("*search_stage*.nbc"))
            with urllib.request.urlopen(address) as page:
                assert page.status == 200
        finally:
            studio.terminate()
        assert studio.wait(60.0) == 0
        assert studio.stderr.read() == ""


def test_a_scene_that_cannot_be_made_is_told():
    worker = types.SimpleNamespace(ask=lambda *_: None, compiled=lambda: (0, 0))

    def make():
        raise mk.errors.FormatError("no such scene")

    preparation = Preparation(worker, make, ())
    assert preparation.finished.wait(30.0) and preparation.trouble == "no such scene"


@contextlib.contextmanager
def nothing_on_disk():
    """As if a kernel had to be compiled."""
    yield
    raise NotCompiledError


def test_a_page_shows_the_body_and_what_it_waits_for(monkeypatch):
    go_on, told = threading.Event(), []

    class Slow(Preparation):
        def text(self):
            told.append(super().text())
            return told[-1]

        def _finish(self, trouble):
            finish = super()._finish
            threading.Thread(target=lambda: (go_on.wait(300.0), finish(trouble)), daemon=True).start()

    monkeypatch.setattr(server, "only_load", nothing_on_disk)
    monkeypatch.setattr(server, "Preparation", Slow)
    with server.Studio(patient("arm reach"), port=0) as studio, chromium(900, 450) as new_tab:
        tab = new_tab()
        tab.set_default_timeout(180_000)
        tab.goto(studio.url)
        tab.get_by_text(compiling.TITLE).wait_for()
        assert not studio.pages
        (waiting,) = studio._waiting.values()
        nodes = waiting._client.scene._handle_from_node_name
        until(lambda: any(name.startswith("/body/") for name in list(nodes)), what="a body")
        tab.get_by_text(told[-1].partition(",")[0]).first.wait_for()
        go_on.set()
        tab.get_by_role("tab", name="Compare").wait_for()
        until(lambda: studio.pages, what="the page itself")
        (page,) = studio.pages.values()
        assert page.session.reached and not studio._waiting


def test_a_worker_prepares_a_scene():
    assert prepare(scenes.dumps(patient("arm reach")), ()) == ""


def test_it_says_what_is_wrong_with_a_scene():
    scene = scenes.dumps(patient("arm reach")).replace("panda_hand", "panda_foot")
    assert "panda_foot" in prepare(scene, ())


@pytest.mark.quick
def test_progress_in_words():
    assert how_far(3, 9, 12.3) == "3 of 9, 12 s"
    assert how_far(0, 0, 1.0) == "1 s"


class Client:
    """What is left of a client."""

    def __init__(self):
        self.notices = []

    def add_notification(self, title, text, **_):
        notice = types.SimpleNamespace(title=title, body=text, there=True)
        notice.remove = lambda: setattr(notice, "there", False)
        self.notices.append(notice)
        return notice


@pytest.mark.quick
def test_a_page_says_that_the_server_compiles(monkeypatch):
    monkeypatch.setattr(compiling, "PATIENCE", 0.02)
    monkeypatch.setattr(compiling, "EVERY", 0.01)
    client = Client()
    notice = CompileNotice(lambda: [client])
    try:
        notice.on_start(None)
        until(lambda: client.notices, 30.0)
        assert client.notices[0].title == "Compiling kernels, first run only"
        notice.on_start(None)
        notice.on_end(None)
        assert client.notices[0].there
        notice.on_end(None)
        until(lambda: not client.notices[0].there, 30.0)
        assert len(client.notices) == 1
    finally:
        notice.close()
