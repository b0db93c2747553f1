"""The kernels that make a method, which are called by address, by their signatures."""

from numba.core import types

from memetik.kernels.compiler.function_pointers import caller
from memetik.kernels.problem.problem_record import Problem, Run, SolveArrays
from memetik.kernels.problem.workspace import Workspace
from memetik.kernels.runtime.record import numba_type

VECTOR, TABLE = types.float64[::1], types.int64[::1]
PROBLEM, RUN, WORKSPACE = numba_type(Problem), numba_type(Run), numba_type(Workspace)
SOLVE = numba_type(SolveArrays)

# (problem, x, run, work): one attempt of a local search, true if it satisfied all terms
ATTEMPT = types.boolean(PROBLEM, VECTOR, RUN, WORKSPACE)
# (problem, run, own, work): the search of a method, with the table of its settings and scratch
SEARCH = types.void(PROBLEM, RUN, TABLE, WORKSPACE)
# (table, q, outcome, seed, most, seconds): one stage of a solve (search/stages.py), the status of the answer in q
STAGE = types.int64(TABLE, VECTOR, VECTOR, types.int64, types.int64, types.float64)

# (problem, work), (problem, damping, work): the step of a whole body (blocks.py)
GATHER_BLOCKS, STEP_BY_BLOCKS = types.void(PROBLEM, WORKSPACE), types.void(PROBLEM, types.float64, WORKSPACE)

call_gather_blocks, call_step_by_blocks = caller(GATHER_BLOCKS), caller(STEP_BY_BLOCKS)
call_attempt, call_search, call_stage = caller(ATTEMPT), caller(SEARCH), caller(STAGE)
