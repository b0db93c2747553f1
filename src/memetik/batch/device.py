"""The graphics card itself: whether there is one that can be used, and how a kernel is started on it."""

from __future__ import annotations

import ctypes
import importlib
import math
import threading
from functools import cache
from typing import Any

import numba
import numpy as np

from memetik.batch.transfer import SMALL, pinned_empty
from memetik.errors import MemetikError, MissingExtraError, ProblemError
from memetik.kernels.cuda.launch_record import SIMULATED
from memetik.types import Array


def require_cuda() -> Any:
    """numba.cuda, if a device can be used; otherwise an error that says what is missing."""
    found = getattr(_here, "cuda", None)
    if found is not None:
        return found
    try:
        from numba import cuda
    except ImportError as error:
        raise MissingExtraError("numba-cuda", "a batch on a graphics card", "cuda") from error
    if cuda.is_available():
        _load_compiler()
        cuda.current_context()  # of this thread, which may have none yet
    else:
        raise ProblemError(
            "no usable graphics card: an NVIDIA driver and numba-cuda are needed (pip install 'memetik[cuda]'; `nvidia-smi` "
            "must list the card). device='cpu' works everywhere."
        )
    _here.cuda = cuda
    return cuda


_here = threading.local()  # of each thread: numba.cuda, once it has a context there


def _load_compiler() -> None:
    """Load numba-cuda's compiler, which asks for a name that NumPy has dropped."""
    numpy: Any = np
    if hasattr(numpy, "row_stack") or SIMULATED:
        return
    numpy.row_stack = np.vstack
    try:
        importlib.import_module("numba.cuda.cudaimpl")
    finally:
        del numpy.row_stack


def pinned_rows(shape: tuple[int, ...]) -> Array:
    """Memory for rows that go to a device: pinned where there are many, so that they need not be copied once more."""
    if 8 * math.prod(shape) <= SMALL or SIMULATED:
        return np.empty(shape)
    try:
        return pinned_empty(require_cuda(), shape, np.float64)
    except MemetikError:  # whoever needs the device will say what is missing
        return np.empty(shape)


def start(cuda: Any, kernel: Any, blocks: int, threads: int, stream: Any, shared: int, given: Any) -> None:
    """Launch a kernel whose only argument is the address of a table, or in the simulator the record itself."""
    if SIMULATED:
        kernel[blocks, threads, stream, shared](given)
        return
    address = ctypes.c_int64(given)
    place = ctypes.c_void_p(ctypes.addressof(address))
    cuda.driver.driver.cuLaunchKernel(
        _function(kernel), blocks, 1, 1, threads, 1, 1, shared, int(stream.handle), ctypes.addressof(place), 0
    )


@cache
def _function(kernel: Any) -> int:
    """The driver's handle of a compiled kernel: Numba's own way to launch one takes 30 us longer, and warns of small grids."""
    return int(kernel.compile((numba.int64,))._codelibrary.get_cufunc().handle)
