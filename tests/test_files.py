"""Paths that are none, and places that cannot be written, are told before there is anything to write."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import memetik as mk
from memetik.errors import FormatError, ProblemError
from memetik.files import path_of, writable_file, writable_folder, write_whole

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


def test_paths_that_are_none():
    for value in (None, 3, b"x", "", "a\0b", "x" * 5_000, object()):
        with pytest.raises(ProblemError, match="the place is "):
            path_of(value, ProblemError, "the place")
    assert path_of("nowhere/x", ProblemError, "the place") == Path("nowhere/x")


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    write_whole(tmp_path / "x", b"old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(FormatError, match="it cannot be written: No space left on device"):
        write_whole(tmp_path / "x", b"new")
    assert [file.read_bytes() for file in tmp_path.iterdir()] == [b"old"]
    for folder in (tmp_path, Path()):
        with pytest.raises(FormatError, match=r"is a folder. Name a file in it"):
            write_whole(folder, b"new")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
@pytest.mark.parametrize(
    "read",
    [
        lambda path: mk.load(path("a.urdf")), lambda path: mk.load(path("a.bvh")), lambda path: mk.load(path("a.glb")),
        lambda path: mk.load(path("a.xml")), lambda path: mk.load("panda", srdf=path("a.srdf")),
        lambda path: mk.load("panda", shape_file=path("a.json")),
        lambda path: mk.read_motion(path("a.csv"), body=mk.load("panda")),
        lambda path: mk.read_motion(path("a.npz"), body=mk.load("panda")), lambda path: mk.motion.read_stream(path("a.jsonl")),
        lambda path: mk.motion.RetargetPlan.load(path("a.json")), lambda path: mk.batch.load_reachability(path("a.npz")),
    ],
)  # fmt: skip
def test_pipes_and_devices_are_no_files(tmp_path, read):
    """Opening a pipe waits for ever for somebody to write, and a device may have no end."""

    def pipe(name):
        os.mkfifo(tmp_path / name)
        return tmp_path / name

    with pytest.raises(mk.MemetikError, match=r"pipe or a device|no file"):
        read(pipe)
