"""One line on the terminal that says what takes long, how far it is, and how fast it goes."""

from __future__ import annotations

import inspect
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from html import escape
from typing import TypeVar

from memetik.errors import ProblemError, shown

__all__ = ["Progress", "Report", "Tally", "announce", "in_notebook", "progress", "teller"]

T = TypeVar("T")

QUIET = "MEMETIK_QUIET"  # set to 1, this variable of the environment silences `announce`

EVERY = 0.2  # s between two looks at the line
CLEAR = "\r\033[K"


def announce(text: str) -> None:
    """One line on stderr about what takes long, so that nobody takes the wait for a hang."""
    if not _is_quiet():
        print(f"memetik: {text}", file=sys.stderr, flush=True)


def _is_quiet() -> bool:
    return os.environ.get(QUIET, "0") not in ("", "0")


class Tally:
    """The line of a job of unknown length: `show(done)` says how much is done and for how long it has run, now and then;
    `close()` wipes it. Silent if stderr is a file, as `announce` is if so wished."""

    def __init__(self, label: str) -> None:
        self.label = label
        self._begin = time.monotonic()
        self._due = self._begin + EVERY
        self._shown = False

    def show(self, done: int, total: int = 0) -> None:
        """Say how much is done, and of how much if that is known, unless that was said a moment ago."""
        now = time.monotonic()
        if now < self._due or _is_quiet() or not sys.stderr.isatty():
            return
        self._shown, self._due = True, now + EVERY
        count = f"{done} of {total}" if total else f"{done}"
        print(f"\r{self.label}: {count} in {now - self._begin:.0f} s\033[K", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Leave the terminal as it was."""
        if self._shown:
            self._shown = False
            print(CLEAR, end="", file=sys.stderr, flush=True)


class Cell:
    """A bar in the cell of a notebook, which is redrawn in place and goes away at the end."""

    def __init__(self) -> None:
        from IPython.display import HTML, display

        self._html = HTML
        self._handle = display(HTML(""), display_id=True)

    def show(self, share: float, text: str) -> None:
        """Draw the bar, up to this share of it, with a text behind it."""
        bar = f'<progress max="1" value="{share:.4f}" style="width:240px;vertical-align:middle"></progress>'
        self._handle.update(self._html(f"<div>{bar} <code>{escape(text)}</code></div>"))

    def close(self) -> None:
        """Leave an empty cell."""
        self._handle.update(self._html(""))


def in_notebook() -> bool:
    """Whether a kernel of Jupyter runs this program; its stderr is no terminal and knows no carriage return."""
    shell = sys.modules.get("IPython")
    found = shell.get_ipython() if shell is not None and hasattr(shell, "get_ipython") else None
    return getattr(found, "kernel", None) is not None


class Progress:
    """`show(done)` redraws the line now and then, `close()` wipes it; in a notebook it is a bar. Silent if stderr is a file.

    patience [s]: jobs that end sooner leave the terminal alone.
    """

    def __init__(self, total: int, label: str, *, patience: float = 0.0, rate: bool = False) -> None:
        self.total, self.label, self.rate = total, label, rate
        self._begin = time.monotonic()
        self._due = self._begin + patience
        self._shown = False
        self._first: int | None = None  # what was done before the clock started
        self._cell: Cell | None = None

    def show(self, done: int) -> None:
        """Say how far it is, unless that was said a moment ago."""
        if self._first is None:
            self._first = done
        now = time.monotonic()
        notebook = now >= self._due and in_notebook()
        if now < self._due or not (notebook or sys.stderr.isatty()):
            return
        self._shown, self._due = True, now + EVERY
        text = f"{self.label}: {100 * done // max(self.total, 1)} %"
        if self.rate and done > self._first:
            rate = (done - self._first) / (now - self._begin)
            text += f" of {self.total:,}, {rate:,.0f} a second, {_clock((self.total - done) / rate)} left"
        if notebook:
            self._cell = self._cell or Cell()
            self._cell.show(done / max(self.total, 1), text)
        else:
            print(f"\r{text}\033[K", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Leave the terminal, or the notebook, as it was."""
        if self._cell is not None:
            self._cell.close()
        elif self._shown:
            print(CLEAR, end="", file=sys.stderr, flush=True)


def progress(iterable: Iterable[T], total: int, label: str) -> Iterator[T]:
    """Pass the items through, with a line that says how far it is."""
    line = Progress(total, label)
    for done, item in enumerate(iterable):
        line.show(done)
        yield item
    line.close()


Report = Callable[[int, int], None] | bool | None  # how a caller wants to be told, see `teller`


@contextmanager
def teller(report: Report, total: int, label: str, *, patience: float = 0.0) -> Iterator[Callable[[int], None]]:
    """Whom to tell how much is done: a function that takes (done, total), nobody (False), or the terminal."""
    if callable(report):
        _require_two(report)
        yield lambda done: report(done, total)
    elif report is False:
        yield lambda done: None
    else:
        line = Progress(total, label, patience=patience, rate=True)
        try:
            yield line.show
        finally:
            line.close()


def _require_two(report: Callable[[int, int], None]) -> None:
    """Raise if a function cannot be called with two numbers; of some, Python cannot tell."""
    try:
        inspect.signature(report).bind(0, 1)
    except TypeError:
        raise ProblemError(
            f"progress is {shown(report)}, which does not take two numbers. Give a function of (done, total)."
        ) from None
    except ValueError:
        pass


def _clock(seconds: float) -> str:
    """Hours, minutes and seconds as on a clock."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
