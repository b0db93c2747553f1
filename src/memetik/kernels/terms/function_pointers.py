"""The kernels of terms, which are called by address, by their signatures."""

import numba
from numba.core import types

from memetik.kernels.body.records import FRAME, NODE
from memetik.kernels.compiler.function_pointers import caller
from memetik.kernels.terms.records import TERM

_VECTOR, _MATRIX = types.float64[::1], types.float64[:, ::1]
_NODES, _FRAMES, _TERM = numba.from_dtype(NODE)[::1], numba.from_dtype(FRAME)[::1], numba.from_dtype(TERM)

# (term, data, world, x, out)
RESIDUAL = types.void(_TERM, _VECTOR, _MATRIX, _VECTOR, _VECTOR)
# (term, data, world, x, nodes, frames, poses, axes, scale, jacobian)
JACOBIAN = types.void(_TERM, _VECTOR, _MATRIX, _VECTOR, _NODES, _FRAMES, _MATRIX, _MATRIX, types.float64, _MATRIX)

# (matrix, data, at): a 4x4 transform, in whatever order it lies, into the data (targets.py), 0 or what is wrong with it
WRITE_POSE = types.int64(types.float64[:, :], _VECTOR, types.int64)

call_residual, call_jacobian, call_write_pose = caller(RESIDUAL), caller(JACOBIAN), caller(WRITE_POSE)
