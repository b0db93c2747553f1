"""Bells that wake threads: one sleeps until another, in a kernel or not, rings.

They are locks of Python's own kind, which whoever likes may release, on every system and without Python's global lock. To wait
is to acquire one; to ring is to release it.
"""

from __future__ import annotations

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


def new_bell() -> int:
    """A bell that has not been rung. It lasts as long as the process."""
    bell: int = _allocate()
    await_bell(bell)
    return bell


@jit_free
def await_bell(bell):
    """Sleep until somebody rings; at once if someone has since the last time."""
    _acquire(bell, _WAIT)


@jit
def ring(bell):
    """Wake who sleeps."""
    _release(bell)
