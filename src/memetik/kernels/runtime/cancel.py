"""Ctrl-C, cancellation and the GIL inside kernels.

Python runs signal handlers, in its main thread, between two of its own instructions, and a kernel is one instruction. So a long
kernel asks Python from time to time to run them, and ends early if one raises an exception, as Ctrl-C does. The exception is
kept in the run's `clock` array until the kernel has returned, where `raise_caught` raises it. Another thread cancels a run
through the same array.

To release the GIL and to take it again costs a tenth of a microsecond, and milliseconds where other threads want it, too: most
solves are shorter. So a kernel begins with the GIL (`keep_gil`), gives it back to other threads for good once it is clear that
it will take longer (`cancelled`, which every search asks at every step), and takes it again before it returns (`take_gil`).
Whoever does not say `keep_gil` releases it for a moment from time to time, so that another thread can cancel the run.
"""

import ctypes
import threading
from typing import Any

import numpy as np
from numba.core import types
from numpy.typing import NDArray

from memetik.kernels.compiler.jit import COMPILED, jit, jit_shared
from memetik.kernels.runtime.clock import now

# The entries of a clock: two for the C library's time (clock.py), how often `cancelled` was asked, when to look for signals
# next [ns], the thread in which Python handles signals, when to release the GIL [ns], the state of the thread that Python keeps
# meanwhile, and type, value and traceback of the exception that a handler raised.
CALLS, NEXT, MAIN, RELEASE, THREAD, CAUGHT, VALUE, TRACEBACK, CLOCK = 2, 3, 4, 5, 6, 7, 8, 9, 10

CANCELLED = 1  # in place of a type, which is an address: another thread has cancelled the run
CALLS_PER_LOOK = 16  # a look at the time takes as long as a small body's forward kinematics
PERIOD = 50_000_000  # ns between two looks for signals, for which a kernel without the GIL must wait for it

# How long a kernel keeps the GIL, which it has when it begins: to its end; until BRIEFLY has passed after the first look at the
# time; or until the first call of `cancelled`, where it is known to take long.
ALWAYS, AT_FIRST, NOT_LONG = 0, 1, 2
BRIEFLY = 100_000  # ns


_runs: dict[int, list[NDArray[np.int64]]] = {}  # by thread


def new_clock() -> NDArray[np.int64]:
    """The clock of a run."""
    clock = np.zeros(CLOCK, dtype=np.int64)
    clock[MAIN] = threading.main_thread().ident or 0
    return clock


def cancel(clock: NDArray[np.int64]) -> None:
    """End a run from another thread. Its answer is of no use."""
    clock[CAUGHT] = CANCELLED


def begin_run(clock: NDArray[np.int64]) -> None:
    """A run that calls Python functions begins in this thread."""
    _runs.setdefault(threading.get_ident(), []).append(clock)


def end_run(clock: NDArray[np.int64]) -> None:
    """It has ended."""
    runs = _runs.get(threading.get_ident(), [])
    runs[:] = [other for other in runs if other is not clock]


def cancel_runs_of_this_thread() -> None:
    """A Python function that a kernel calls has failed: end the search that called it."""
    for clock in _runs.get(threading.get_ident(), []):
        cancel(clock)


def raise_caught(clock: NDArray[np.int64]) -> None:
    """Raise what a signal handler raised during the run, if one did; the clock can then be used again."""
    if not clock[CAUGHT]:
        return
    kind, value, traceback = (int(pointer) for pointer in clock[CAUGHT:])
    clock[CAUGHT:] = 0
    if kind != CANCELLED:
        ctypes.pythonapi.PyErr_Restore(*map(ctypes.c_void_p, (kind, value, traceback)))


if COMPILED:
    _this_thread: Any = types.ExternalFunction("PyThread_get_thread_ident", types.int64())
    _take_gil: Any = types.ExternalFunction("PyGILState_Ensure", types.int32())
    _give_gil: Any = types.ExternalFunction("PyGILState_Release", types.void(types.int32))
    _run_handlers: Any = types.ExternalFunction("PyErr_CheckSignals", types.int32())
    _fetch: Any = types.ExternalFunction("PyErr_Fetch", types.void(*3 * (types.intp,)))

    _holds_gil: Any = types.ExternalFunction("PyGILState_Check", types.int32())
    _release_gil: Any = types.ExternalFunction("PyEval_SaveThread", types.intp())
    _reacquire_gil: Any = types.ExternalFunction("PyEval_RestoreThread", types.void(types.intp))

    @jit_shared
    def handle_signals(clock):
        """From time to time, let Python handle signals if this is the thread for it, and let other threads run."""
        time = int(1e9 * now(clock))
        if clock[RELEASE] == AT_FIRST:
            clock[RELEASE] = time + BRIEFLY
        elif clock[RELEASE] != ALWAYS and time >= clock[RELEASE]:
            clock[RELEASE] = ALWAYS
            clock[THREAD] = _release_gil()
        if time < clock[NEXT]:
            return
        clock[NEXT] = time + PERIOD
        if clock[MAIN] == _this_thread():
            state = _take_gil()
            if _run_handlers() != 0 and clock[CAUGHT] == 0:
                at = clock.ctypes.data + 8 * CAUGHT
                _fetch(at, at + 8, at + 16)
            _give_gil(state)
        if _holds_gil() != 0:
            _reacquire_gil(_release_gil())

    @jit
    def keep_gil(clock, how):
        """A kernel that Python calls begins; `how` long it keeps the GIL."""
        clock[RELEASE] = how
        clock[CALLS] = CALLS_PER_LOOK - 1 if how == NOT_LONG else 0

    @jit
    def take_gil(clock):
        """It returns to Python, which wants the GIL back."""
        clock[RELEASE] = ALWAYS
        if clock[THREAD] != 0:
            state = clock[THREAD]
            clock[THREAD] = 0
            _reacquire_gil(state)

else:

    def handle_signals(clock):
        """Without the compiler Python handles signals by itself."""

    def keep_gil(clock, how):
        """Without the compiler Python lets other threads run by itself."""

    def take_gil(clock):
        """See `keep_gil`."""


@jit
def cancelled(clock):
    """Whether the run is to end: a signal handler raised an exception, or another thread cancelled it."""
    clock[CALLS] += 1
    if clock[CALLS] % CALLS_PER_LOOK == 0:
        handle_signals(clock)
    return clock[CAUGHT] != 0
