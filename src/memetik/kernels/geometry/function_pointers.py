"""The signed distances of hulls, height fields and grids, which are called by address, by their signature."""

from numba.core import types

from memetik.kernels.compiler.function_pointers import caller

# (data, p, s, q, t, enough): signed distance of two solids, their points and the normal (solids.py)
_POINT, _POSE = types.UniTuple(types.float64, 3), types.UniTuple(types.float64, 7)
APART = types.Tuple((types.float64, _POINT, _POINT, _POINT))(
    types.float64[::1], _POSE, types.int64, _POSE, types.int64, types.float64
)

call_apart = caller(APART)
