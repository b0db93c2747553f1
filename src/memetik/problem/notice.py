"""One line on the terminal while the solving kernels compile, so that nobody takes the wait for a hang, and one if their
machine code on disk cannot be read or written, so that nobody wonders why they compile again.

Numba tells when it really compiles, which takes it far longer than to tell; machine code that comes from its disk cache
is not mentioned. MEMETIK_QUIET=1 keeps it silent.
"""

from __future__ import annotations

from typing import Any

from numba.core import event

from memetik.kernels.compiler.cache import TROUBLE
from memetik.kernels.compiler.second_compiler import standing
from memetik.progress import Tally, announce

_ROOM = "memetik.kernels."
# Bodies use these without a problem, and they compile within some seconds.
_SMALL = ("body.", "math.", "compiler.")


def announce_compilation() -> None:
    """From now on, print one line when Numba first compiles a kernel that solves, and one for a cache in trouble."""
    event.register("numba:compile", _Notice())
    event.register(TROUBLE, _CacheNotice())


class _Notice(event.Listener):
    """Says it once, and from then on, on a terminal, how many kernels are compiled, of as many as are known to be needed."""

    def __init__(self) -> None:
        self.tally: Tally | None = None
        self.compiled = 0
        self.depth = 0  # Numba compiles the kernels that a kernel calls while it compiles that kernel

    def on_start(self, happening: Any) -> None:
        self.depth += 1
        kernel = happening.data["dispatcher"]
        if not _solves(kernel.py_func):
            return
        if self.tally is None:
            announce(f"compiling kernels, {_how_often(kernel)} ...")
            self.tally = Tally("kernels compiled")
        self._show()

    def on_end(self, happening: Any) -> None:
        self.depth -= 1
        if self.tally is None:
            return
        self.compiled += 1
        self._show()
        if self.depth <= 0:
            self.tally.close()

    def _show(self) -> None:
        """Kernels that a method has asked for, by this process and the second (second_compiler.py), or all so far by this."""
        ready, needed = standing()
        if self.tally is not None:
            self.tally.show(*((ready, needed) if ready < needed else (self.compiled,)))


class _CacheNotice(event.Listener):
    def __init__(self) -> None:
        self.told: set[str] = set()

    def on_start(self, happening: Any) -> None:
        what, path, why = happening.data
        if what not in self.told:
            self.told.add(what)
            announce(f"the cache of compiled kernels could not be {what}, so some are compiled again: {path}: {why}")

    def on_end(self, happening: Any) -> None:
        pass


def _solves(function: Any) -> bool:
    """Whether it is a solving kernel of this library; what users' objectives add is compiled in every process."""
    module, name = function.__module__ or "", function.__qualname__  # code from text may belong to no module
    return module.startswith(_ROOM) and not module.removeprefix(_ROOM).startswith(_SMALL) and "<locals>" not in name


def _how_often(kernel: Any) -> str:
    if getattr(kernel._cache, "cache_path", None) is None:
        return "in every process because no folder for them can be written; this can take minutes"
    return "once on this machine; this can take minutes"
