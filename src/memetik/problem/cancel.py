"""Cancel a solve from another thread."""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from memetik.kernels.runtime.cancel import CANCELLED, CAUGHT, cancel


class CancelToken:
    """Cancels all runs that were given it, those under way and those that begin later. Their answers are of no use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._clocks: list[NDArray[np.int64]] = []
        self._cancelled = False

    def cancel(self) -> None:
        """End the runs."""
        with self._lock:
            self._cancelled = True
            for clock in self._clocks:
                cancel(clock)

    def watch(self, clock: NDArray[np.int64]) -> None:
        """A run begins."""
        with self._lock:
            self._clocks.append(clock)
            if self._cancelled:
                cancel(clock)

    def release(self, clock: NDArray[np.int64]) -> None:
        """A run has ended; its clock may serve another one."""
        with self._lock:
            self._clocks = [other for other in self._clocks if other is not clock]
            if clock[CAUGHT] == CANCELLED:
                clock[CAUGHT] = 0
