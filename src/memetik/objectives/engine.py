"""An engine of machine code for what one user wrote: the code is freed when the engine is dropped.

Numba puts all it compiles into one engine, which keeps it until the process ends. The library's own kernels are meant to
stay; users' functions may be made and dropped by the thousand.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from llvmlite.binding import ffi, newpassmanagers  # type: ignore[import-untyped]
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.compiler import Compiler, CompilerBase
from numba.core.registry import CPUDispatcher, CPUTarget, cpu_target

from memetik.kernels.compiler.jit import COMPILED

_OPTIONS = {"nopython": True, "error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_ENVIRONMENT = "_ZN08NumbaEnv"  # so begins the name of each variable that points to the environment of a function


class Engine(CPUTarget):
    """A target of Numba's compiler beside its own, with the same types and functions and machine code of its own."""

    def __init__(self) -> None:
        super().__init__("cpu")
        self._codegen = _Codegen("memetik.exec")
        shared = cpu_target.target_context
        # Numba's own manager of data models never forgets a type, and each function has a type of its own.
        models = shared.data_model_manager.copy()
        self._context = shared.subtarget(_internal_codegen=self._codegen, data_model_manager=models)

    @property
    def target_context(self) -> Any:
        return self._context

    @property
    def typing_context(self) -> Any:
        return cpu_target.typing_context

    def jit(self, function: Callable[..., Any], pipeline: type[CompilerBase] = Compiler) -> Any:
        """The function for kernels to call; it may create arrays. Python must not call it: it has no way in for that."""
        return _Dispatcher(function, self, pipeline) if COMPILED else function

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

    def __init__(self, function: Callable[..., Any], engine: Engine, pipeline: type[CompilerBase]) -> None:
        self.targetdescr = engine
        super().__init__(function, targetoptions=dict(_OPTIONS), pipeline_class=pipeline)


class _Library(JITCodeLibrary):
    """Optimises a function in one run of LLVM's passes; Numba takes two, and one more for each function that is called.

    llvmlite keeps 1.5 kB for each run until the process ends. It forgets to dispose of the passes, too, which are half a
    megabyte. The machine code is as fast.
    """

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)
        if type(passes)._dispose is ffi.ObjectRef._dispose:  # the method that does nothing hides the one that does
            newpassmanagers.NewPassManager._dispose(passes)
            passes.detach()


class _Codegen(JITCPUCodegen):
    """Makes and holds the machine code of one engine."""

    _library_class = _Library


def _pointer(place: int) -> ctypes.c_void_p:
    return ctypes.c_void_p.from_address(place)
