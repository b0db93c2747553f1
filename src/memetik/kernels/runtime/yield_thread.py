"""Let other threads run, by the name of the function in the C library (as in clock.py), for loops that wait for them."""

import sys
import time
from typing import Any

from numba.core import types

from memetik.kernels.compiler.jit import COMPILED, jit

if not COMPILED:

    def yield_thread():
        """Let other threads run."""
        time.sleep(0.0)

else:
    _yield: Any = types.ExternalFunction("SwitchToThread" if sys.platform == "win32" else "sched_yield", types.int32())

    @jit
    def yield_thread():
        """Let other threads run."""
        _yield()
