"""The ways kernels are compiled: beforehand (prebuilt.py), or by Numba with a disk cache (cache.py), and without it where none
can be written.

Kernels allocate nothing, so they are compiled without Numba's reference counting, whose atomic counters cost more than
the arithmetic between them. A kernel may therefore not create or return arrays, except to another kernel.

A product and the sum it goes into may become one operation of the processor, which rounds once instead of twice: forward
kinematics takes a third less time. Which ones do is up to the compiler, so a kernel is always copied into the kernels that
call it: a copy that several of them share would be whichever a process happened to load first, and the last bits of an
answer with it.

So every kernel has two forms, and each is compiled when it is first asked for. Kernels copy its part (part.py), LLVM's
code. Python, and whoever calls it by address, get machine code. The README's first example takes some 115 compilations, of
which 10 are of machine code, and 13 to 14 s of processor time, imports in two processes included (an empty NUMBA_CACHE_DIR,
a busy machine). It took 25 s, for the same bits, before kernels that mostly call others were left to be optimised with what
they are copied into (`jit_inlined`), before what a first solve rarely needs was called by address, and before Numba's needless
passes were left out (passes.py). What remains is typing and lowering, half of it, and optimising parts. To leave all parts
to be optimised with what they are copied into takes less still, but other products are fused: more than half of all answers
have other last bits, from which one search in 25 goes another way.
"""

import contextlib
import functools
import gc
from collections.abc import Callable, Iterator
from typing import Any

import numba
from numba.core import event, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher

from memetik.kernels.compiler.cache import KernelCache
from memetik.kernels.compiler.interruptible import interruptible
from memetik.kernels.compiler.only_load import require_on_disk
from memetik.kernels.compiler.part import GlueCompiler, KernelCompiler, PartCache, PartCompiler
from memetik.kernels.compiler.prebuilt import PrebuiltFirst, prebuilt
from memetik.kernels.compiler.second_compiler import before_compiling, compiling

# Numba runs everything as plain Python when told so, for debugging and coverage.
COMPILED: bool = not getattr(numba.config, "DISABLE_JIT", False)

Kernel = Callable[..., Any]  # its types are found by Numba at the call


def jit(function: Kernel) -> Any:
    """Compile `function` at its first call and keep the machine code on disk for the next process."""
    return _compile(function)


def jit_part(function: Kernel) -> Any:
    """As `jit`, for kernels that only kernels call, directly or by address: the way in from Python is left out."""
    kernel = _compile(function, no_cpython_wrapper=True)
    if COMPILED:
        kernel.__class__ = _InnerKernel
    return kernel


def jit_inlined(function: Kernel) -> Any:
    """As `jit`, for kernels that mostly call others: where it is copied into a kernel, it is optimised there, and not before."""
    return _compile(function, glue=True)


def jit_fast(function: Kernel) -> Any:
    """As `jit`, with sums reassociated and products fused: for linear algebra on finite numbers only."""
    return _compile(function, fastmath={"reassoc", "contract", "nsz", "arcp"})


def jit_fast_glue(function: Kernel) -> Any:
    """As `jit_fast`, for what several such kernels have in common: it is optimised where it is copied into, and not before."""
    return _compile(function, glue=True, fastmath={"reassoc", "contract", "nsz", "arcp"})


def jit_free(function: Kernel) -> Any:
    """As `jit`, and releases the GIL: for long or parallel kernels."""
    return _compile(function, nogil=True)


def jit_shared(function: Kernel) -> Any:
    """As `jit`, called instead of copied into its callers: for what is rare and computes no joint value."""
    return _compile(function, shared=True)


def jit_allocating(function: Kernel) -> Any:
    """As `jit`, with reference counting: for a kernel that cannot do without arrays of its own."""
    return _compile(function, _nrt=True)


class _Kernel(CPUDispatcher):
    """A kernel in two forms: the machine code that is called from outside, and the part that kernels copy."""

    options: dict[str, Any]  # of numba.njit
    shared: bool  # whether it is called instead of copied
    glue: bool  # whether its part is left to be optimised with what it is copied into
    overloads: Any

    @functools.cached_property
    def part(self) -> Any:
        """For Numba, the function that kernels call."""
        compiler = GlueCompiler if self.glue else PartCompiler
        part = numba.njit(**self.options, forceinline=not self.shared, pipeline_class=compiler)(self.py_func)
        part.__class__ = _Part
        part.whole = self
        _keep_on_disk(part, PartCache)
        return part

    def compile(self, sig: Any) -> Any:
        """Machine code for arguments of these types, made or loaded."""
        require_on_disk(self, sig)
        known = self.overloads.get(tuple(sig))
        if known is not None:
            return known.entry_point
        before_compiling(self, sig)
        return interruptible(self._compile_or_load, sig)

    def _compile_or_load(self, sig: Any) -> Any:
        with compiling(), _no_garbage_collection():
            return super().compile(sig)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """A kernel calls it with arguments of these types.

        A constant is an integer like any other: by its own type, which Numba gives it, the part would be compiled for 0, for 1
        and for a variable, and the constant stands in what it is copied into all the same.
        """
        args = tuple(types.unliteral(kind) if isinstance(kind, types.IntegerLiteral) else kind for kind in args)
        before_compiling(self.part, args)
        return self.part.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        """What a kernel calls."""
        return self.part.get_overload(sig)


class _Part(CPUDispatcher):
    """The part of a kernel (part.py)."""

    whole: _Kernel
    overloads: Any
    _cache: Any
    _cache_hits: Any
    _cache_misses: Any
    _compiler: Any

    def compile(self, sig: Any) -> Any:
        """The part for arguments of these types, made or loaded.

        As Numba's, which also measures the time that LLVM takes, call by call.
        """
        return interruptible(self._compile_or_load, sig)

    def _compile_or_load(self, sig: Any) -> Any:
        with compiling(), _no_garbage_collection(), global_compiler_lock:
            known = self.overloads.get(tuple(sig))
            if known is not None:
                return known.entry_point
            result = self._cache.load_overload(sig, self.targetctx)
            if result is not None:
                self._cache_hits[sig] += 1
                self.targetctx.insert_user_function(result.entry_point, result.fndesc, [result.library])
                self.add_overload(result)
                return result.entry_point
            self._cache_misses[sig] += 1
            happening = {"dispatcher": self, "args": sig, "return_type": None}
            with self._compiling_counter, event.trigger_event("numba:compile", data=happening):
                result = self._compiler.compile(sig, None)
                self.add_overload(result)
            self._cache.save_overload(sig, result)
            return result.entry_point


class _InnerKernel(_Kernel):
    """A kernel that crashes if Python calls it, kept from that."""

    def __call__(self, *_: Any) -> Any:
        raise TypeError(f"{self.py_func.__name__} is for kernels to call. Let `jit` compile it to call it from Python.")


def _compile(function: Kernel, shared: bool = False, glue: bool = False, **options: Any) -> Any:
    options = {"error_model": "numpy", "_nrt": False, "fastmath": {"contract"}, "no_cfunc_wrapper": True, **options}
    kernel = numba.njit(**options, pipeline_class=KernelCompiler)(function)
    if COMPILED:
        kernel.__class__ = _Kernel
        kernel.options, kernel.shared, kernel.glue = options, shared, glue
        _keep_on_disk(kernel, KernelCache)
        if not prebuilt().why_not:
            kernel._cache = PrebuiltFirst(function, kernel._cache, prebuilt())
    return kernel


@contextlib.contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Python would look through all that Numba makes, most of which stays, again and again."""
    if not gc.isenabled():
        yield
        return
    try:
        gc.disable()  # in here, where an interrupt cannot leave it so
        yield
    finally:
        gc.enable()


def _keep_on_disk(kernel: Any, cache: type[KernelCache]) -> None:
    # Where neither the package folder nor the user's cache folder can be written (a read-only container, say), the
    # kernel still works, it is only compiled again in each process.
    with contextlib.suppress(RuntimeError):
        kernel._cache = cache(kernel.py_func)
