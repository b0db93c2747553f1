"""Records for kernels on a graphics card, which cross as one table (kernels/runtime/record.py), and arrays by their address.

Numba prepares every array of a launch again, for about 15 us each: a launch with the arrays of a problem, its tasks and its
results took 350 us, and one with the address of their table takes 50.
"""

import ctypes
import functools
import importlib
from typing import Any

import numba.cuda
import numpy as np

from memetik.kernels.cuda.launch_record import SIMULATED
from memetik.kernels.runtime.record import Backend, first_record, reader_at

cuda: Any = numba.cuda  # it has no types


def _device_index() -> Backend:
    names = ("types", "np.numpy_support", "cgutils", "np.arrayobj", "extending")
    types, numpy_support, cgutils, arrayobj, extending = (
        importlib.import_module(f"numba.cuda.{name}") for name in names
    )
    return Backend(types, numpy_support.from_dtype, cgutils, arrayobj.populate_array, extending.intrinsic)


def device_reader(kind: Any) -> Any:
    """A function for kernels on the device, address of a table -> record."""
    return functools.partial(first_record, kind) if SIMULATED else reader_at(kind, _device_index())


def _address_intrinsics() -> tuple[Any, Any, Any]:
    types, _, _, _, intrinsic = _device_index()

    @intrinsic
    def address_of(typing, array):
        def code(context, builder, signature, args):
            data = context.make_array(signature.args[0])(context, builder, args[0]).data
            return builder.ptrtoint(data, context.get_value_type(types.int64))

        return types.int64(array), code

    return address_of, _vector_at(types.float64, 8), _vector_at(types.float32, 4)


def _vector_at(number: Any, itemsize: int) -> Any:
    """An intrinsic, address and size -> vector of such numbers."""
    types, _, cgutils, populate_array, intrinsic = _device_index()
    vector = types.Array(number, 1, "C")

    @intrinsic
    def vector_at(typing, address, size):
        def code(context, builder, signature, args):
            size_of = context.get_constant(types.intp, itemsize)
            array = context.make_array(vector)(context, builder)
            populate_array(
                array,
                data=builder.inttoptr(args[0], context.get_data_type(number).as_pointer()),
                shape=cgutils.pack_array(builder, [args[1]]),
                strides=cgutils.pack_array(builder, [size_of]),
                itemsize=size_of,
                meminfo=None,
            )
            return array._getvalue()

        return vector(types.int64, types.int64), code

    return vector_at


def _simulated_address(array: Any) -> int:
    return int(array.ctypes.data)


def _simulated_floats(address: int, size: int) -> Any:
    return np.ctypeslib.as_array((ctypes.c_double * int(size)).from_address(int(address)))


def _simulated_singles(address: int, size: int) -> Any:
    return np.ctypeslib.as_array((ctypes.c_float * int(size)).from_address(int(address)))


# address_of(array) is where an array begins, floats_at(address, size) the vector of float64 that begins there, singles_at that of
# float32.
address_of, floats_at, singles_at = (
    (_simulated_address, _simulated_floats, _simulated_singles) if SIMULATED else _address_intrinsics()
)
