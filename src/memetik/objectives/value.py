"""Value: a function of all joints at once, to be made as small as can be."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from memetik.body import Body
from memetik.errors import ProblemError
from memetik.kernels.compiler.function_pointers import address
from memetik.kernels.compiler.interruptible import attempt
from memetik.kernels.compiler.jit import COMPILED
from memetik.kernels.terms.function_pointers import RESIDUAL
from memetik.kernels.terms.value import VALUE, rank, value_function
from memetik.objectives.engine import Engine
from memetik.objectives.objective import Packer, Single
from memetik.types import Array


class MachineCode:
    """The residual kernel of a function; what stands at its `address` lives as long as this object."""

    def __init__(self, function: Callable[[Array], float]) -> None:
        engine = Engine()
        compiled: Any = function if hasattr(function, "py_func") else engine.jit(function)
        if COMPILED:  # alone first: what Numba says of it reads better so
            compiled.get_call_template((numba.float64[::1],), {})
        self._kernel = engine.jit(value_function(compiled))
        self.address = address(self._kernel, RESIDUAL)
        engine.finish(self._kernel)


_known: weakref.WeakKeyDictionary[Callable[[Array], float], MachineCode] = weakref.WeakKeyDictionary()


def _machine_code(function: Callable[[Array], float]) -> MachineCode:
    """Compiled once for each function. It sees global and closed-over variables as they were then."""
    if function not in _known:
        code, error = attempt(MachineCode, function)
        if error is not None:
            raise _explained(error) from error
        _known[function] = code
    return _known[function]


def _explained(error: Exception) -> ProblemError:
    """What the compiler says of a function, in its first lines."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    why = " ".join([line for line in lines if not line.startswith("Failed in nopython")][:2])
    return ProblemError(
        f"minimise: Numba cannot compile the function: {why} It gets one array of float64 and returns a number; "
        "functions that it calls need @numba.njit."
    )


class Value(Single):
    """The rank of a function's value (kernels/terms/value.py), where each joint is a share of the range of a variable."""

    def __init__(self, function: Callable[[Array], float], lower: Array, upper: Array, target: float) -> None:
        """target: the value that is small enough."""
        super().__init__(weight=1.0, tolerance=0.0 if target == -np.inf else float(rank(target)), name="Value")
        self._ranges = np.column_stack([lower, upper])
        self._code = _machine_code(function)

    def joints(self, body: Body) -> tuple[str, ...]:
        return tuple(body.joint_names)

    def pack(self, packer: Packer) -> None:
        place = packer.numbers([*divmod(self._code.address, 2**32), *self._ranges.ravel().tolist()])
        variables = [packer.variable(name) for name in packer.body.joint_names]
        packer.add(VALUE, tolerance=self.tolerance, data=place, count=len(variables), variables=variables)
