"""What an experiment needs is looked for before it works, not when the work is done."""

from __future__ import annotations

import importlib
import inspect
import sys

import pytest

import memetik_lab as lab
from memetik.cli import main
from memetik.errors import FormatError, MissingExtraError

NAMES = list(lab.experiments())


@pytest.fixture
def idle(monkeypatch):
    """Experiments that would fail the test if they began."""
    for name in NAMES:
        module = lab.experiment(name)
        monkeypatch.setattr(module, "run", lambda folder, **settings: pytest.fail("it works"))


def draws(name):
    module = lab.experiment(name)
    source = inspect.getsource(module)
    return "_plot(" in source or "save_figure" in source or "figures(" in source


@pytest.mark.parametrize("name", NAMES)
def test_whoever_draws_a_figure_asks_for_matplotlib_first(name, idle, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # as if it were not installed
    if draws(name):
        with pytest.raises(MissingExtraError, match=r'needs the package .matplotlib.*pip install "memetik\[plots\]"'):
            lab.run(name, tmp_path)
    else:
        with pytest.raises(pytest.fail.Exception, match="it works"):
            lab.run(name, tmp_path)


@pytest.mark.parametrize("name", [*NAMES, "all"])
def test_a_folder_that_cannot_be_written_is_told_first(name, idle, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file", tmp_path / "file" / "folder"):
        assert main(["bench", name, "--quick", "--out", str(out)]) == 2
        assert f"nothing can be written to the folder {str(out)!r}" in capsys.readouterr().err


def test_a_folder_is_made(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.import_module("memetik_lab.ofkt_paper.forms"), "run", lambda folder, quick: folder)
    assert lab.run("forms", tmp_path / "a" / "b").is_dir()
    assert list((tmp_path / "a" / "b").iterdir()) == []


def test_the_system_says_no(monkeypatch, tmp_path):
    """A folder that exists and may not be written, as users without rights see it."""

    def refuse(*given, **named):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    with pytest.raises(FormatError, match="Permission denied"):
        lab.run("forms", tmp_path)
