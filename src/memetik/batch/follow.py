"""Clips followed on a graphics card: windows of frames, all at once, in rounds until their edges fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from memetik.batch.cuda import require_no_functions
from memetik.batch.device import require_cuda, start
from memetik.batch.device_problem import DeviceProblem, device_problem
from memetik.batch.transfer import CardMemory, copied, fetch, is_pinned, pinned_empty, send
from memetik.kernels.cuda.launch_record import SIMULATED
from memetik.kernels.problem.problem_record import VARIABLE
from memetik.kernels.problem.workspace import workspace_size
from memetik.kernels.runtime.record import words
from memetik.kernels.tracking.guided import GuidedPath, Windows
from memetik.problem import Problem
from memetik.problem.compile import Compiled
from memetik.solvers.memetic_plan import memetic_plan
from memetik.types import Array

THREADS = 1 if SIMULATED else 32  # of a block: one warp, so that few windows still occupy all multiprocessors
TABLE = 128  # words that a table may have
SCRATCH = ("system", "uphill", "bounds")  # which threads have of their own


def follow_on_device(problem: Problem, path: GuidedPath, most: int) -> Array:
    """The joint vectors of all frames of a path, of whose `q` nothing but the width is looked at.

    `most` evaluations are for each frame, on average over its window.
    """
    from memetik.kernels.cuda.guided import WindowLaunch, edge_kernel, window_kernel
    from memetik.kernels.cuda.terms import kinds_of

    cuda = require_cuda()
    require_no_functions(problem)
    c = problem.compiled
    kept, frames = device_problem(cuda, c, memetic_plan(c)), len(path.targets)
    arrays = {**path.windows._asdict(), **{name: value for name, value in path._asdict().items() if name != "windows"}}
    arrays.update(q=np.empty((frames, path.q.shape[1])), system=np.empty((0, 0)), uphill=np.empty(0))
    arrays.update(bounds=np.empty(0, VARIABLE))
    memory = CardMemory(cuda, {name: (array.shape, array.dtype) for name, array in arrays.items()})
    block = kept.take({"tables": ((TABLE,), np.int64), "count": ((1,), np.int32)})
    there = memory.device
    sent = [
        _sent(kept, array, there[name], block.stream) for name, array in arrays.items() if name not in ("q", *SCRATCH)
    ]
    windows = Windows(*(there[name] for name in Windows._fields))
    others = (there[name] for name in GuidedPath._fields if name != "windows")
    launch = WindowLaunch(kept.problem, GuidedPath(windows, *others), most, block.device["count"])
    if not SIMULATED:
        numbers = np.fromiter(words(launch), dtype=np.int64)
        block.host["tables"][: len(numbers)] = numbers
    table = launch if SIMULATED else block.device["tables"].address
    follow, take = window_kernel(kinds_of(c.terms, c.kernels), _sizes(c)), edge_kernel()
    blocks, left = -(-len(path.windows.first) // THREADS), 1
    while left:
        block.host["count"][0] = 0
        block.send("tables", None)
        for kernel in (follow, take):
            start(cuda, kernel, blocks, THREADS, block.stream, 0, table)
        block.fetch("count", None)
        block.stream.synchronize()
        left = int(block.host["count"][0])
    del sent
    q = _fetched(kept, there["q"], block.stream)
    block.stream.synchronize()
    kept.give_back(block)
    return q


def _sizes(c: Compiled) -> Any:
    from memetik.kernels.cuda.guided import WindowSizes

    nodes, frames, n, m = c.nodes.size, c.frames.size, c.variables.size, c.residuals
    return WindowSizes(nodes, frames, n, m, c.data.size, int(workspace_size(nodes, frames, n, m)))


def _sent(kept: DeviceProblem, array: Any, to: Any, stream: Any) -> Any:
    """Copy an array to the device; it must stay as it is until it is there."""
    if SIMULATED:
        np.copyto(to, array)
    elif array.size:
        if not is_pinned(array):
            array = copied(array, pinned_empty(kept.cuda, array.shape, array.dtype))
        send(kept.cuda, array.ctypes.data, to.address, array.nbytes, stream)
    return array


def _fetched(kept: DeviceProblem, array: Any, stream: Any) -> Array:
    """An array from the device, there when the stream is done."""
    if SIMULATED:
        return np.array(array)
    here = pinned_empty(kept.cuda, array.shape, array.dtype)
    fetch(kept.cuda, here.ctypes.data, array.address, here.nbytes, stream)
    return here
