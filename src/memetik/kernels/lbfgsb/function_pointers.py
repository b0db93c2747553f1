"""The minimum of the model, called by address: half of L-BFGS-B's code, compiled once for all who use it."""

from __future__ import annotations

import functools
from typing import Any

from numba.core import types
from numba.extending import intrinsic

from memetik.kernels.compiler.function_pointers import _MATRIX, _VECTOR, _call, _late, _python_call, address
from memetik.kernels.compiler.jit import COMPILED
from memetik.kernels.lbfgsb.minimum import find_minimum
from memetik.kernels.lbfgsb.scratch import Model

_MODEL = types.NamedTuple((_MATRIX,) * 7 + (_VECTOR,) * 5, Model)
# (x, lower, upper, theta, count, memory, oldest, gradient, times, direction, target, model): see find_minimum
FIND_MINIMUM = types.boolean(
    _VECTOR, _VECTOR, _VECTOR, types.float64, types.int64, types.int64, types.int64, _VECTOR, _VECTOR, _VECTOR, _VECTOR,
    _MODEL,
)  # fmt: skip


@functools.cache
def minimum_address() -> int:
    """Where the kernel is that finds the minimum of the model."""
    return address(find_minimum, FIND_MINIMUM)


@intrinsic
def _call_minimum(
    typing, place, x, lower, upper, theta, count, memory, oldest, gradient, times, direction, target, model
):
    return _late(FIND_MINIMUM), _call


call_minimum: Any = _call_minimum if COMPILED else _python_call()
