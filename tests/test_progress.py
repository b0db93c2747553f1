"""The line that says how far a job is, and who else can be told."""

from __future__ import annotations

import io
import sys

import pytest

from memetik import progress


def terminal_of(monkeypatch):
    """What a terminal would show, on a clock that the test moves; pytest sets stderr again after fixtures."""
    screen = io.StringIO()
    screen.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", screen)
    screen.now = 0.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: screen.now)
    return screen


def test_rate_and_time_left(monkeypatch):
    terminal = terminal_of(monkeypatch)
    line = progress.Progress(200_000, "solving", rate=True)
    line.show(100_000)  # done before
    assert terminal.getvalue() == "\rsolving: 50 %\033[K"
    terminal.now = 10.0
    line.show(120_000)
    assert terminal.getvalue().endswith("\rsolving: 60 % of 200,000, 2,000 a second, 0:40 left\033[K")
    terminal.now = 10.1  # too soon to draw again
    line.show(190_000)
    assert terminal.getvalue().count("\r") == 2
    line.close()
    assert terminal.getvalue().endswith("\r\033[K")


def test_short_jobs_leave_the_terminal_alone(monkeypatch):
    terminal = terminal_of(monkeypatch)
    line = progress.Progress(10, "solving", patience=1.0)
    terminal.now = 0.9
    line.show(9)
    line.close()
    assert terminal.getvalue() == ""


def test_hours():
    assert [progress._clock(seconds) for seconds in (0.4, 61.0, 3600.0 * 27 + 62.0)] == ["0:00", "1:01", "27:01:02"]


def test_whom_to_tell(monkeypatch):
    terminal = terminal_of(monkeypatch)
    told = []
    with progress.teller(lambda *numbers: told.append(numbers), 5, "items") as tell:
        tell(3)
    assert told == [(3, 5)]
    with progress.teller(False, 5, "items") as tell:
        tell(3)
    assert terminal.getvalue() == ""
    with pytest.raises(KeyError), progress.teller(None, 5, "items") as tell:
        tell(3)
        raise KeyError
    assert terminal.getvalue() == "\ritems: 60 %\033[K\r\033[K"
