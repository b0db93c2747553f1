"""One line while the kernels compile: only then, only once, and not at all if so wished."""

import os
import subprocess
import sys

import numba
import pytest
from numba.core import event

from memetik.kernels.body.forward import forward
from memetik.kernels.compiler.cache import TROUBLE
from memetik.kernels.terms.targets import write_pose_target
from memetik.problem import notice

WORK = """
import numpy as np
import memetik.problem
from memetik.kernels.terms.targets import write_pose_target
write_pose_target(np.eye(4), np.zeros(7), 0)
"""


def stderr_of_work(cache):
    env = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "NUMBA_DISABLE_JIT": "0", "MEMETIK_QUIET": ""}
    done = subprocess.run([sys.executable, "-c", WORK], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr.splitlines()


def test_one_line_for_code_that_is_not_on_disk(tmp_path):
    (line,) = stderr_of_work(tmp_path)
    assert line.startswith("memetik: compiling kernels, once on this machine")
    assert stderr_of_work(tmp_path) == []


def compile_event(dispatcher):
    return event.Event("numba:compile", event.EventStatus.START, data={"dispatcher": dispatcher})


@pytest.mark.parametrize(("quiet", "lines"), [(None, 1), ("", 1), ("0", 1), ("1", 0)])
def test_told_once_or_never(quiet, lines, capsys, monkeypatch):
    monkeypatch.delenv("MEMETIK_QUIET", raising=False)
    if quiet is not None:
        monkeypatch.setenv("MEMETIK_QUIET", quiet)
    listener = notice._Notice()
    for _ in range(3):
        listener.notify(compile_event(write_pose_target))
    assert capsys.readouterr().err.count("\n") == lines


def test_a_terminal_sees_how_many_are_compiled_and_is_wiped_at_the_end(capsys, monkeypatch):
    monkeypatch.delenv("MEMETIK_QUIET", raising=False)
    monkeypatch.setattr("memetik.progress.EVERY", 0.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    needed = iter(
        [(0, 0), (1, 3), (2, 3), (3, 3)]
    )  # in the end those that no method has asked for beforehand are counted, too
    monkeypatch.setattr(notice, "standing", lambda: next(needed))
    listener = notice._Notice()
    outer, inner = compile_event(write_pose_target), compile_event(forward)
    for start in (outer, inner):
        listener.notify(start)
    for _ in range(2):
        listener.notify(event.Event("numba:compile", event.EventStatus.END, data=outer.data))
    line, *counts = capsys.readouterr().err.split("\r")
    assert line.startswith("memetik: compiling kernels")
    assert [count.removesuffix("\033[K") for count in counts] == [
        "kernels compiled: 0 in 0 s", "kernels compiled: 1 of 3 in 0 s", "kernels compiled: 2 of 3 in 0 s", "",
    ]  # fmt: skip


def test_the_poses_of_a_body_are_not_worth_a_line(capsys):
    notice._Notice().notify(compile_event(forward))
    assert capsys.readouterr().err == ""


def test_other_peoples_functions_are_not_ours(capsys):
    notice._Notice().notify(compile_event(numba.njit(abs_of_a_user)))
    assert capsys.readouterr().err == ""


def abs_of_a_user(x):
    return abs(x)


@pytest.mark.parametrize(("cached", "says"), [(True, "once on this machine"), (False, "in every process because")])
def test_how_often(cached, says):
    assert notice._how_often(numba.njit(cache=cached)(abs_of_a_user)).startswith(says)


@pytest.mark.parametrize(("quiet", "lines"), [("0", 2), ("1", 0)])
def test_a_cache_in_trouble_is_told_once_for_reading_and_once_for_writing(quiet, lines, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("MEMETIK_QUIET", quiet)
    listener = notice._CacheNotice()
    for what in ("read", "written", "read", "written"):
        listener.notify(event.Event(TROUBLE, event.EventStatus.START, data=(what, tmp_path, "No space left on device")))
    said = capsys.readouterr().err.splitlines()
    assert len(said) == lines
    for line, what in zip(said, ("read", "written"), strict=False):
        assert line.startswith(f"memetik: the cache of compiled kernels could not be {what}")
        assert line.endswith(f"{tmp_path}: No space left on device")
