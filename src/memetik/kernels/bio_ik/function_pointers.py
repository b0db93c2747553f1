"""The parts of Bio IK that are called by address: each is compiled once, and gives the same bits to all callers."""

from numba.core import types

from memetik.kernels.compiler.function_pointers import caller
from memetik.kernels.problem.function_pointers import TABLE, VECTOR

# (worker, weights, x, slopes): the fitness of a posture, with its gradient if slopes is 1
LOOK = types.float64(TABLE, VECTOR, VECTOR, types.int64)
# (worker, weights, x, fitness): the gradient there
DIFFERENTIATE = types.void(TABLE, VECTOR, VECTOR, types.float64)
# (worker, e, state): exploit elite e
EXPLOIT = types.void(TABLE, types.int64, types.uint64[::1])

call_look, call_differentiate, call_exploit = caller(LOOK), caller(DIFFERENTIATE), caller(EXPLOIT)
