"""How long a thread has spent on the compilation of kernels: compiling, loading machine code from disk, waiting for another
thread that does so.

All of it happens under Numba's lock for compilation, of which Numba tells whoever listens. It also holds that lock for
microseconds when it only looks up a kernel that is there already; this is not counted.
"""

import contextlib
import math
import threading
import time
from collections import deque
from collections.abc import Iterator
from typing import Any

from numba.core import event

_KEPT = 1_000  # spans of compilation that are remembered, far more than there are within one solve


class CompileTimes(event.Listener):
    """When each thread compiled."""

    def __init__(self) -> None:
        self.latest = -math.inf  # when a thread last compiled or loaded a kernel, on the clock of time.perf_counter [s]
        self._own = _Thread()

    def note(self) -> None:
        """This thread has the lock, and compiles or loads a kernel."""
        self.latest = time.perf_counter()

    def on_start(self, happening: Any) -> None:
        """Numba is about to take its lock."""
        self._own.started.append(time.perf_counter())

    def on_end(self, happening: Any) -> None:
        """Numba has given its lock back."""
        own, end = self._own, time.perf_counter()
        begin = own.started.pop() if own.started else end
        if self.latest < begin:
            return  # nobody compiled meanwhile
        while own.spans and own.spans[-1][0] >= begin:
            own.spans.pop()  # a kernel that this one calls
        own.spans.append((begin, end))

    @contextlib.contextmanager
    def waiting(self) -> Iterator[None]:
        """This thread waits for another process that compiles."""
        self.on_start(None)
        try:
            yield
        finally:
            self.note()
            self.on_end(None)

    def since(self, begin: float) -> float:
        """How long this thread has spent on compilation since a time of time.perf_counter [s]."""
        if self.latest < begin:
            return 0.0
        return sum(end - start for start, end in self._own.spans if start >= begin)


class _Thread(threading.local):
    """The spans of one thread [s]."""

    def __init__(self) -> None:
        self.started: list[float] = []  # spans that have not ended
        self.spans: deque[tuple[float, float]] = deque(maxlen=_KEPT)


class _Note(event.Listener):
    """Tells when Numba compiles."""

    def on_start(self, happening: Any) -> None:
        compile_times.note()

    def on_end(self, happening: Any) -> None:
        compile_times.note()


compile_times = CompileTimes()
event.register("numba:compiler_lock", compile_times)
event.register("numba:compile", _Note())


def split_time(begin: float) -> tuple[float, float]:
    """Seconds since `begin` (of time.perf_counter) that were not spent on compilation, and those that were."""
    elapsed = time.perf_counter() - begin
    compiling = compile_times.since(begin)
    return elapsed - compiling, compiling
