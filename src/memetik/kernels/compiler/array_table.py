"""An array table: many arrays as one argument, by their addresses and sizes.

Numba looks at every array that crosses from Python into a kernel, for 0.05 to 0.2 us each and far longer when the caches
are cold. The arrays of a compiled problem never move, so a kernel that takes a few microseconds can be given a table that
is made once. Whoever makes a table keeps the arrays alive as long as it is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numba
import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from memetik.kernels.body.records import FRAME, NODE
from memetik.kernels.compiler.jit import COMPILED
from memetik.kernels.terms.records import TERM


def table_of(arrays: Sequence[Any]) -> Any:
    """Address and size of every array, in their order; without the compiler, the arrays themselves."""
    if not COMPILED:
        return tuple(arrays)
    assert all(array.flags.c_contiguous for array in arrays)
    return np.array([number for array in arrays for number in (array.ctypes.data, array.size)], dtype=np.int64)


def _array_at(dtype: Any) -> Any:
    """An intrinsic (table, k) -> the k-th array of a table, flat; its shape is the caller's business."""
    kind = types.Array(numba.from_dtype(np.dtype(dtype)), 1, "C")

    def codegen(context, builder, signature, args):
        data_type = context.get_data_type(kind.dtype)
        table = context.make_array(signature.args[0])(context, builder, args[0])
        at = builder.mul(args[1], context.get_constant(types.intp, 2))
        address = builder.load(builder.gep(table.data, [at]))
        size = builder.load(builder.gep(table.data, [builder.add(at, context.get_constant(types.intp, 1))]))
        itemsize = context.get_constant(types.intp, context.get_abi_sizeof(data_type))
        array = context.make_array(kind)(context, builder)
        populate_array(
            array,
            data=builder.inttoptr(address, data_type.as_pointer()),
            shape=cgutils.pack_array(builder, [size]),
            strides=cgutils.pack_array(builder, [itemsize]),
            itemsize=itemsize,
            meminfo=None,
        )
        return array._getvalue()

    @intrinsic
    def array_at(typing, table, k):
        return kind(types.Array(types.int64, 1, "C"), types.intp), codegen

    return array_at


nodes_at, frames_at, terms_at = _array_at(NODE), _array_at(FRAME), _array_at(TERM)
floats_at, integers_at, counters_at = _array_at(np.float64), _array_at(np.int64), _array_at(np.uint64)
flags_at = _array_at(np.uint8)
