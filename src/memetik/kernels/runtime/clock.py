"""The time inside kernels, read from the C library by the name of its function so that compiled code can be cached."""

import sys
import time
from typing import Any

import numpy as np
from numba.core import types

from memetik.kernels.compiler.jit import COMPILED, jit

if not COMPILED:

    def now(buffer):
        """Seconds of a clock that only runs forward."""
        return time.perf_counter()

elif sys.platform == "win32":
    _counter = types.ExternalFunction("QueryPerformanceCounter", types.int32(types.intp))
    _frequency = types.ExternalFunction("QueryPerformanceFrequency", types.int32(types.intp))

    @jit
    def now(buffer):
        """Seconds of a clock that only runs forward; `buffer` is an int64 array of two."""
        _counter(buffer.ctypes.data)
        ticks = np.float64(buffer[0])
        _frequency(buffer.ctypes.data)
        return ticks / np.float64(buffer[0])

else:
    _gettime: Any = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.intp))
    _MONOTONIC = 6 if sys.platform == "darwin" else 1

    @jit
    def now(buffer):
        """Seconds of a clock that only runs forward; `buffer` is an int64 array of two."""
        _gettime(_MONOTONIC, buffer.ctypes.data)
        return np.float64(buffer[0]) + 1e-9 * np.float64(buffer[1])
