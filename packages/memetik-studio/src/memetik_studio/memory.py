"""Memory that pages have left behind, back to the system."""

from __future__ import annotations

import ctypes
import gc
import sys


def give_back() -> None:
    """Collect what refers to itself in circles, as pages and their handles do, and let the C library return what is free.

    Arrays of a page come from several threads, whose heaps glibc keeps as large as they once were
    (`python -m tests.studio.stress.loads 200 panda sockets`). No thread of Python runs meanwhile.
    """
    gc.collect()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it, others do not
        if trim is not None:
            trim(0)
