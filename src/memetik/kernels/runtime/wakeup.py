"""Wake-ups: a thread sleeps until another thread, in a kernel or in Python, wakes it.

They are CPython's own locks, which any thread may release, without the GIL. To wait is to acquire one; to wake is to release it.
"""

import ctypes
from typing import Any

from numba.core import types

from memetik.kernels.compiler.jit import COMPILED, jit, jit_free

_allocate = ctypes.CFUNCTYPE(ctypes.c_void_p)(("PyThread_allocate_lock", ctypes.pythonapi))

if COMPILED:
    _acquire: Any = types.ExternalFunction("PyThread_acquire_lock", types.int32(types.intp, types.int32))
    _release: Any = types.ExternalFunction("PyThread_release_lock", types.void(types.intp))
else:
    _acquire = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)(
        ("PyThread_acquire_lock", ctypes.pythonapi)
    )
    _release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(("PyThread_release_lock", ctypes.pythonapi))

_WAIT = 1


def new_wakeup() -> int:
    """A wake-up that nobody has sent yet. It lasts as long as the process."""
    wakeup: int = _allocate()
    wait_for_wakeup(wakeup)
    return wakeup


@jit_free
def wait_for_wakeup(wakeup):
    """Sleep until another thread calls `wake`; return at once if one has since the last time. Releases the GIL."""
    _acquire(wakeup, _WAIT)


@jit
def wake(wakeup):
    """Wake the thread that waits."""
    _release(wakeup)
