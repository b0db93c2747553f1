"""The kernels once more, as device functions: one source for the processor and the graphics card.

A kernel names the kernels it calls as globals of its module. Its code is bound here to other globals, in which each of
them is a device function too, or what takes its place on the device: there are no addresses to call and no clock there.
"""

import types
from collections.abc import Mapping
from typing import Any

import numba.cuda

from memetik.kernels.compiler.lanes import select
from memetik.kernels.cuda.trace import is_kernel, plain

cuda: Any = numba.cuda  # it has no types


@cuda.jit(device=True)
def select_number(condition, yes, no):
    """`select` of kernels/compiler/lanes.py for numbers."""
    return yes if condition else no


class Translator:
    """Translates kernels, each once. `instead` maps kernels to device functions that take their place on the device."""

    def __init__(self, instead: Mapping[Any, Any] | None = None) -> None:
        self._done = {select: select_number, **(instead or {})}

    def __call__(self, kernel: Any) -> Any:
        """The device function of a kernel."""
        if kernel not in self._done:
            self._done[kernel] = cuda.jit(device=True)(self._bound(plain(kernel)))
        return self._done[kernel]

    def replace(self, kernel: Any, function: Any) -> None:
        """From now on a device function takes the place of a kernel."""
        self._done[kernel] = function

    def _bound(self, function: types.FunctionType) -> types.FunctionType:
        """The same code with every kernel among its globals translated."""
        known = dict(function.__globals__)
        for name in function.__code__.co_names:
            value = known.get(name)
            if callable(value) and (value in self._done or is_kernel(value)):
                known[name] = self(value)
        return types.FunctionType(function.__code__, known, function.__name__, function.__defaults__)
