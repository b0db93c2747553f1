"""Windows of clips (kernels/tracking/guided.py), one a thread, all at once; then each takes its edge from the one before it.

Threads step through their frames side by side, each on a body of its own. What they work on is local memory, of which the
hardware keeps the same entry of neighbours side by side, so that a warp reads it in one go.
"""

from functools import cache
from typing import Any, NamedTuple

import numba.cuda
import numpy as np

from memetik.kernels.cuda.table import device_reader
from memetik.kernels.cuda.terms import Kinds, search_translator
from memetik.kernels.cuda.translate import Translator
from memetik.kernels.problem.budget import OUTCOME
from memetik.kernels.problem.problem_record import VARIABLE, Problem, Run
from memetik.kernels.problem.workspace import carve_workspace
from memetik.kernels.runtime.cancel import CLOCK
from memetik.kernels.runtime.record import Array, records
from memetik.kernels.tracking.guided import GuidedPath, follow_window, take_edge

cuda: Any = numba.cuda  # it has no types


class WindowLaunch(NamedTuple):
    """A launch with a thread for each window."""

    problem: Problem
    path: GuidedPath  # but for its scratch
    most: int  # evaluations that a frame may take on average
    count: Array = records(np.int32, 1)  # windows that have to be followed again


class WindowSizes(NamedTuple):
    """Of local arrays, which must be known when a kernel compiles."""

    nodes: int
    frames: int
    variables: int
    residuals: int
    numbers: int
    workspace: int


read = device_reader(WindowLaunch)


@cache
def window_kernel(kinds: Kinds, sizes: WindowSizes) -> Any:
    """The kernel that follows all windows whose edges have changed, for problems with terms of these kinds."""

    translate = search_translator(kinds)
    follow, cut = translate(follow_window), translate(carve_workspace)
    nodes, frames, n, m, numbers, workspace = sizes
    square = n * n

    @cuda.jit
    def follow_windows(table):
        given = read(table)
        window = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        path, problem = given.path, given.problem
        if window < path.windows.first.size and path.windows.stirred[window] != 0:
            data, free = cuda.local.array(numbers, np.float64), cuda.local.array(workspace, np.float64)
            system, uphill = cuda.local.array(square, np.float64), cuda.local.array(n, np.float64)
            bounds = cuda.local.array(n, VARIABLE)
            clock, state = cuda.local.array(CLOCK, np.int64), cuda.local.array(1, np.uint64)
            outcome = cuda.local.array(OUTCOME, np.float64)
            for k in range(numbers):
                data[k] = problem.data[k]
            for k in range(n):
                bounds[k] = problem.variables[k]
            for k in range(CLOCK):
                clock[k] = 0
            for k in range(OUTCOME):
                outcome[k] = 0.0
            own = Problem(
                problem.nodes, problem.frames, problem.terms, problem.variables, problem.limits, data, problem.affects,
                problem.blocks, problem.order, problem.balls, problem.mounts,
            )  # fmt: skip
            way = GuidedPath(
                path.windows, path.columns, path.targets, path.guess, path.rest, path.q, path.depth, path.above,
                system.reshape((n, n)), uphill, path.rates, path.steps, bounds,
            )  # fmt: skip
            most = given.most * (path.windows.end[window] - path.windows.first[window])
            follow(own, way, window, Run(0, most, 0.0, clock, state, outcome), cut(free, nodes, frames, n, m))

    return follow_windows


@cache
def edge_kernel() -> Any:
    """The kernel that takes the edges of all windows, and counts those that have changed."""
    take = Translator()(take_edge)

    @cuda.jit
    def take_edges(table):
        given = read(table)
        window = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        if window < given.path.windows.first.size and take(given.path, window) != 0:
            cuda.atomic.add(given.count, 0, 1)

    return take_edges
