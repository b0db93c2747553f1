"""An engine of machine code for what one user wrote: the code is freed when the engine is dropped.

Numba puts all it compiles into one engine, which keeps it until the process ends. The library's own kernels are meant to
stay; users' functions may be made and dropped by the thousand.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from llvmlite.binding import ffi, newpassmanagers  # type: ignore[import-untyped]
from numba.core.codegen import JITCPUCodegen
from numba.core.registry import CPUDispatcher, CPUTarget, cpu_target

from memetik.kernels.jit import COMPILED

_OPTIONS = {"nopython": True, "error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_ENVIRONMENT = "_ZN08NumbaEnv"  # so begins the name of each variable that points to the environment of a function


class Engine(CPUTarget):
    """A target of Numba's compiler beside its own, with the same types and functions and machine code of its own.

    Compile inside a `with` block: what only the compiler needs is freed at its end.
    """

    def __init__(self) -> None:
        super().__init__("cpu")
        self._codegen = _Codegen("memetik.exec")
        self._context = cpu_target.target_context.subtarget(_internal_codegen=self._codegen)

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self._codegen.dispose_passes()

    @property
    def target_context(self) -> Any:
        return self._context

    @property
    def typing_context(self) -> Any:
        return cpu_target.typing_context

    def jit(self, function: Callable[..., Any]) -> Any:
        """The function for kernels to call; it may create arrays. Python must not call it: it has no way in for that."""
        return _Dispatcher(function, self) if COMPILED else function

    def finish(self, kernel: Any) -> None:
        """Make a compiled kernel ready to be called by address."""
        for result in kernel.overloads.values() if COMPILED else ():
            for variable in result.library._final_module.global_variables:
                if variable.name.startswith(_ENVIRONMENT):
                    self._set_environment(variable.name)

    def _set_environment(self, name: str) -> None:
        """Functions of Numba's engine were copied into this one, but what they print or raise with was not."""
        here = self._codegen._engine.get_global_value_address(name)
        there = cpu_target.target_context.codegen()._engine.get_global_value_address(name)
        if here and there and not _pointer(here).value:
            _pointer(here).value = _pointer(there).value


class _Dispatcher(CPUDispatcher):
    """A function that is compiled into an engine."""

    def __init__(self, function: Callable[..., Any], engine: Engine) -> None:
        self.targetdescr = engine
        super().__init__(function, targetoptions=dict(_OPTIONS))


class _Codegen(JITCPUCodegen):
    """Disposes of the passes of the optimiser, which llvmlite forgets to: half a megabyte for each function."""

    def __init__(self, name: str) -> None:
        self._passes: list[Any] = []
        super().__init__(name)

    def _module_pass_manager(self, **options: Any) -> Any:
        return self._kept(super()._module_pass_manager(**options))

    def _function_pass_manager(self, **options: Any) -> Any:
        return self._kept(super()._function_pass_manager(**options))

    def _kept(self, made: Any) -> Any:
        self._passes.append(made[0] if isinstance(made, tuple) else made)
        return made

    def dispose_passes(self) -> None:
        for passes in self._passes:
            if type(passes)._dispose is ffi.ObjectRef._dispose:  # the method that does nothing hides the one that does
                newpassmanagers.NewPassManager._dispose(passes)
                passes.detach()
        self._passes.clear()


def _pointer(place: int) -> ctypes.c_void_p:
    return ctypes.c_void_p.from_address(place)
