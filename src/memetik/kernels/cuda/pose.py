"""One full pose, a million times: the search of kernels/search/pose_search.py in the hands of the threads of a graphics card.

Thirty-two threads share one instruction, so what one of them does alone costs all of them. Every turn of the loop is
therefore the same for all: place the body, measure, and go on in one of four ways (step, restart, verify, next task), of
which only the step is long. A thread that is done takes the next task at once instead of waiting for its neighbours.

A task is a problem with a small budget. The few problems that need more are given to many threads each, which set out
from different postures, because one thread after the other would keep the whole device waiting for the hardest of all.
"""

import math
from functools import cache
from typing import Any, NamedTuple

import numba.cuda
import numpy as np

from memetik.kernels.body.forward import forward, frame_pose
from memetik.kernels.cuda.launch_record import SIMULATED, Launch
from memetik.kernels.cuda.table import device_reader
from memetik.kernels.cuda.translate import Translator
from memetik.kernels.math.pose import load
from memetik.kernels.problem.budget import ATTEMPTS, ERROR, EVALUATIONS, MOVED, TIMED_OUT
from memetik.kernels.problem.limits import clamp, wrap_towards
from memetik.kernels.runtime.random import mix
from memetik.kernels.runtime.record import Array, floats
from memetik.kernels.search.descent import (
    DAMPING,
    STALL,
    STALLS,
    STEPS,
    damping_of,
    failures_in_row,
    is_over,
    shortening_of,
)
from memetik.kernels.search.population_poses import load_column
from memetik.kernels.search.pose_error import (
    bounds_of,
    is_within,
    judge_pose,
    pose_offset,
    pose_residual,
    quick_pose_error,
    scales_of,
    square,
    squared_error,
)
from memetik.kernels.search.pose_step import pose_step

cuda: Any = numba.cuda  # it has no types
read = device_reader(Launch)

LOOK = 8  # postures of the population that a restart looks at
EXPLOITED = 12  # attempts before postures are drawn afresh
STREAM = 1 << 20  # more attempts than any task makes, so that no two streams draw the same postures

WARP = 0xFFFFFFFF  # all 32 threads

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_DROP, _UNIT = np.uint64(11), 2.0**-53


def choose_restart(problem, population, target, seed, attempt, x):
    """A posture for the next attempt: the one of a few of the population that is nearest to the target, or a fresh one."""
    state = mix(mix(np.uint64(seed) + _GOLDEN) + _GOLDEN * np.uint64(attempt))
    if attempt > EXPLOITED:
        for k in range(x.size):
            state = mix(state + _GOLDEN)
            low, high = problem.variables[k].sample_lower, problem.variables[k].sample_upper
            x[k] = low + (high - low) * (float(state >> _DROP) * _UNIT)
        return
    poses, people = population.frame_poses[problem.terms[0].frame], population.genes.shape[0]
    first = int(state % np.uint64(people))
    chosen, lowest = 0, math.inf
    for j in range(LOOK):
        c = (first + j) % people
        score = quick_pose_error(problem.terms, target, load_column(poses, c))
        if score < lowest:
            chosen, lowest = c, score
    for k in range(x.size):
        x[k] = population.genes[chosen, k]


class PoseWork(NamedTuple):
    """The part of a Workspace that the step for a pose uses, in the registers and the local memory of a thread."""

    poses: Array = floats("nodes", 7)
    jacobian: Array = floats("variables", 6)
    step: Array = floats("variables")


@cuda.jit(device=True)
def warp_any(holds):
    """Whether it holds in any thread of the warp; all of them meet here.

    Threads that part ways at a branch otherwise never meet again: of 32 that could share an instruction eight did.
    """
    return holds if SIMULATED else cuda.any_sync(WARP, holds)


@cache
def pose_kernel(motions: int, n: int) -> Any:
    """The kernel for bodies with so many motions and n variables; sizes of local arrays must be known when it compiles."""
    translate = Translator()
    place, tip_of, offset_of, squared = (translate(k) for k in (forward, frame_pose, pose_offset, square))
    within, error_of, residual_of, judge = (translate(k) for k in (is_within, squared_error, pose_residual, judge_pose))
    count_failures, over, damp, stride = (translate(k) for k in (failures_in_row, is_over, damping_of, pose_step))
    shortening, wrap, clamped, load_pose = (translate(k) for k in (shortening_of, wrap_towards, clamp, load))
    scales_in, bounds_in, restart = translate(scales_of), translate(bounds_of), translate(choose_restart)

    @cuda.jit
    def solve_poses(table):
        """Threads take tasks in turn."""
        problem, population, tasks, results, counter = read(table)
        nodes, frames, terms, variables = problem.nodes, problem.frames, problem.terms, problem.variables
        spread, stream, targets, starts = tasks.spread, tasks.stream, tasks.targets, tasks.starts
        x, start = cuda.local.array(n, np.float64), cuda.local.array(n, np.float64)
        best, step = cuda.local.array(n, np.float64), cuda.local.array(n, np.float64)
        poses = cuda.local.array((motions, 7), np.float64)
        work = PoseWork(poses, cuda.local.array((n, 6), np.float64), step)
        scales, bounds, frame = scales_in(terms), bounds_in(terms), frames[terms[0].frame]
        count, threads = tasks.number, cuda.gridDim.x * cuda.blockDim.x
        task = (
            cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        )  # the first of each; then who is done takes the next
        begin, verifying = True, False
        target = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        row = first = drawn = spent = attempt = taken = 0
        failures = 0.0
        least = last = math.inf
        while warp_any(task < count):
            if task >= count:
                continue  # its neighbours are still at work
            if begin:
                begin, verifying = False, False
                row = task // spread
                if tasks.which.size > 0:
                    row = tasks.which[row]
                first = row % starts.shape[0]
                target = load_pose(targets, row % targets.shape[0], 0)
                for k in range(n):
                    x[k] = start[k] = best[k] = clamped(starts[first, variables[k].index], variables[k])
                spent, attempt, taken, failures = 0, 1, 0, 0.0
                least = last = math.inf
                drawn = stream + task % spread  # the stream that it draws postures from; 0 sets out from the start
                if drawn > 0:
                    attempt = drawn * STREAM
                    restart(problem, population, target, tasks.seed, attempt, x)
            place(nodes, x, poses)
            tip = tip_of(frame, poses)
            offset = offset_of(target, tip)
            distance, angle = squared(offset[0]), squared(offset[1])
            if verifying:
                q, outcome = results.q[task], results.outcomes[task]
                outcome[MOVED] = 0.0
                for k in range(q.size):  # joints that the pose does not hang on stay where they start
                    q[k] = clamped(starts[first, k], problem.limits[k])
                    if q[k] != starts[first, k]:
                        outcome[MOVED] = 1.0
                for k in range(n):
                    q[variables[k].index] = x[k]
                outcome[EVALUATIONS], outcome[ATTEMPTS] = spent, attempt % STREAM + (1 if drawn > 0 else 0)
                outcome[TIMED_OUT], outcome[ERROR] = 0.0, least
                results.statuses[task] = judge(terms, distance, angle, outcome)
                task = count
                if threads < count:
                    task = threads + cuda.atomic.add(counter, 0, 1)
                begin = True
                continue
            spent += 1
            error, satisfied = error_of(scales, distance, angle), within(bounds, distance, angle)
            if error < least:
                least = error
                for k in range(n):
                    best[k] = x[k]
            failures = count_failures(error, last, STALL, failures)
            last = error
            if satisfied or spent >= tasks.most:
                for k in range(n):
                    x[k] = x[k] if satisfied else best[k]
                wrap(x, start, variables)
                for k in range(n):
                    x[k] = clamped(x[k], variables[k])
                verifying = True
            elif over(satisfied, failures, STALLS, taken, STEPS):
                attempt += 1
                taken, failures, last = 0, 0.0, math.inf
                restart(problem, population, target, tasks.seed, attempt, x)
            else:
                taken += 1
                longest = stride(problem, tip, residual_of(scales, target, offset), x, damp(DAMPING, error), work)
                shorten = shortening(longest)
                for k in range(n):
                    x[k] = clamped(x[k] + shorten * step[k], variables[k])

    return solve_poses
