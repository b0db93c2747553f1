"""Arrays on the stack of a kernel, for what needs more scratch than a handful of variables and is called from anywhere."""

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from memetik.kernels.compiler.jit import COMPILED


def local_floats(size: int) -> Any:
    """A function for kernels, () -> an array of `size` float64 that lives until the kernel returns; its entries are undefined."""
    if not COMPILED:
        return lambda: np.empty(size)
    vector = types.Array(types.float64, 1, "C")

    def code(context, builder, signature, args):
        with builder.goto_entry_block():  # cgutils.alloca_once would fill it with zeros at each call
            data = builder.alloca(ir.ArrayType(ir.DoubleType(), size))
        itemsize = context.get_constant(types.intp, 8)
        array = context.make_array(vector)(context, builder)
        populate_array(
            array,
            data=builder.bitcast(data, ir.DoubleType().as_pointer()),
            shape=cgutils.pack_array(builder, [context.get_constant(types.intp, size)]),
            strides=cgutils.pack_array(builder, [itemsize]),
            itemsize=itemsize,
            meminfo=None,
        )
        return array._getvalue()

    @intrinsic
    def floats(typing):
        return vector(), code

    return floats
