"""Arrays that kernels read by their address: what is too large to be copied for every call, and never changes."""

import ctypes
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from memetik.kernels.compiler.jit import COMPILED


def _floats_at() -> Any:
    if not COMPILED:
        return lambda address, size: np.ctypeslib.as_array((ctypes.c_double * size).from_address(address))
    vector = types.Array(types.float64, 1, "C")

    def code(context, builder, signature, args):
        itemsize = context.get_constant(types.intp, 8)
        array = context.make_array(vector)(context, builder)
        populate_array(
            array,
            data=builder.inttoptr(args[0], ir.DoubleType().as_pointer()),
            shape=cgutils.pack_array(builder, [args[1]]),
            strides=cgutils.pack_array(builder, [itemsize]),
            itemsize=itemsize,
            meminfo=None,
        )
        return array._getvalue()

    @intrinsic
    def floats(typing, address, size):
        return vector(types.int64, types.int64), code

    return floats


# (address, size) -> an array of float64 that lies there; whoever wrote the address down keeps it alive.
floats_at = _floats_at()
