"""Which browser tests the page, and what is told where there is none."""

from types import SimpleNamespace

import pytest
from playwright.sync_api import Error

from tests import browser


def playwright(starts):
    """One whose browsers start if `starts` says so; it remembers what was tried."""
    tried = []

    def launch(args, **way):
        tried.append(way)
        if not starts(way):
            raise Error("Executable doesn't exist\nmore lines")
        return way

    return SimpleNamespace(chromium=SimpleNamespace(launch=launch), tried=tried)


@pytest.fixture
def chrome_on_path(monkeypatch):
    monkeypatch.setattr(browser.shutil, "which", lambda name: f"/bin/{name}" if name == "google-chrome" else None)


def test_a_browser_of_the_system_comes_first(chrome_on_path):
    assert browser.launch(playwright(lambda way: True)) == {"executable_path": "/bin/google-chrome"}


def test_one_that_does_not_start_is_passed_over(chrome_on_path):
    fake = playwright(lambda way: not way)
    assert browser.launch(fake) == {}, "the one that Playwright downloads"
    assert fake.tried == [{"executable_path": "/bin/google-chrome"}, {"channel": "chrome"}, {"channel": "msedge"}, {}]


def test_without_one_the_reason_says_what_to_install():
    with pytest.raises(pytest.skip.Exception, match=r"apt-get install chromium.*playwright install chromium"):
        browser.launch(playwright(lambda way: False))
