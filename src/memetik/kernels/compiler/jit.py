"""The ways kernels are compiled: beforehand (prebuilt.py), or by Numba with a disk cache (cache.py), and without it where none
can be written.

Kernels allocate nothing, so they are compiled without Numba's reference counting, whose atomic counters cost more than
the arithmetic between them. A kernel may therefore not create or return arrays, except to another kernel.

A product and the sum it goes into may become one operation of the processor, which rounds once instead of twice: forward
kinematics takes a third less time. Which ones do is up to the compiler, so a kernel is always copied into the kernels that
call it: a copy that several of them share would be whichever a process happened to load first, and the last bits of an
answer with it.
"""

import contextlib
from collections.abc import Callable
from typing import Any

import numba
from numba.core.registry import CPUDispatcher

from memetik.kernels.compiler.cache import KernelCache
from memetik.kernels.compiler.prebuilt import PrebuiltFirst, prebuilt

# Numba runs everything as plain Python when told so, for debugging and coverage.
COMPILED: bool = not getattr(numba.config, "DISABLE_JIT", False)

Kernel = Callable[..., Any]  # its types are found by Numba at the call


def jit(function: Kernel) -> Any:
    """Compile `function` at its first call and keep the machine code on disk for the next process."""
    return _compile(function)


def jit_part(function: Kernel) -> Any:
    """As `jit`, for kernels that only kernels call: the way in from Python, which takes time to compile, is left out."""
    kernel = _compile(function, no_cpython_wrapper=True)
    if COMPILED:
        kernel.__class__ = _Part
    return kernel


class _Part(CPUDispatcher):
    """A kernel that crashes if Python calls it, kept from that."""

    def __call__(self, *_: Any) -> Any:
        raise TypeError(f"{self.py_func.__name__} is for kernels to call. Let `jit` compile it to call it from Python.")


def jit_fast(function: Kernel) -> Any:
    """As `jit`, with sums reassociated and products fused: for linear algebra on finite numbers only."""
    return _compile(function, fastmath={"reassoc", "contract", "nsz", "arcp"})


def jit_free(function: Kernel) -> Any:
    """As `jit`, and releases the GIL: for long or parallel kernels."""
    return _compile(function, nogil=True)


def jit_shared(function: Kernel) -> Any:
    """As `jit`, called instead of copied into its callers: for what is rare and computes no joint value."""
    return _compile(function, forceinline=False)


def jit_allocating(function: Kernel) -> Any:
    """As `jit`, with reference counting: for a kernel that cannot do without arrays of its own."""
    return _compile(function, _nrt=True)


def _compile(function: Kernel, **options: Any) -> Any:
    options = {
        "error_model": "numpy", "_nrt": False, "fastmath": {"contract"}, "forceinline": True, "no_cfunc_wrapper": True,
        **options,
    }  # fmt: skip
    kernel = numba.njit(**options)(function)
    if COMPILED:
        # Where neither the package folder nor the user's cache folder can be written (a read-only container, say), the
        # kernel still works, it is only compiled anew in each process.
        with contextlib.suppress(RuntimeError):
            kernel._cache = KernelCache(function)
        if not prebuilt().why_not:
            kernel._cache = PrebuiltFirst(function, kernel._cache, prebuilt())
    return kernel
