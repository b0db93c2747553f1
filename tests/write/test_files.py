"""Places that cannot be written are told before there is anything to write."""

from __future__ import annotations

import pytest

from memetik.errors import FormatError
from memetik.write.files import writable_file, writable_folder

pytestmark = pytest.mark.quick


def test_folders_are_made_and_stay_empty(tmp_path):
    assert writable_file(tmp_path / "a" / "b" / "x.SVG", ".svg") == tmp_path / "a" / "b" / "x.SVG"
    assert list((tmp_path / "a" / "b").iterdir()) == []


def test_a_file_that_is_there_keeps_what_it_holds(tmp_path):
    (tmp_path / "x.svg").write_text("kept")
    assert writable_file(tmp_path / "x.svg").read_text() == "kept"


def test_what_is_wrong_with_a_place(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.svg").mkdir()
    with pytest.raises(FormatError, match=r"'x.png' has to end in .svg. Name it 'x.svg'"):
        writable_file(tmp_path / "x.png", ".svg")
    with pytest.raises(FormatError, match=r"is a folder. Name a file in it"):
        writable_file(tmp_path / "folder.svg", ".svg")
    for folder in (tmp_path / "file", tmp_path / "file" / "below", tmp_path / "nu\x00ll"):
        with pytest.raises(FormatError, match="nothing can be written to the folder"):
            writable_folder(folder)


def test_a_file_that_may_not_be_written(tmp_path, monkeypatch):
    (tmp_path / "x.svg").write_text("kept")
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(FormatError, match="is there and cannot be written"):
        writable_file(tmp_path / "x.svg")
