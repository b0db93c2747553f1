"""One full pose of an arm of six joints in closed form: kernels/search/closed_form_attempt.py as it is, a row a thread.

The posture within the limits that is nearest to the start, brought onto the body and verified. Where there is none, which takes
longer to make sure of, the row is left to the processor.
"""

import math
from functools import cache
from typing import Any, NamedTuple

import numba.cuda
import numpy as np

from memetik.kernels.closed_form.arm_record import Geometry, Loop
from memetik.kernels.cuda.launch_record import FormLaunch
from memetik.kernels.cuda.table import device_reader
from memetik.kernels.cuda.translate import Translator
from memetik.kernels.problem.budget import ATTEMPTS, ERROR, MOVED
from memetik.kernels.problem.limits import move_inside
from memetik.kernels.problem.problem_record import Problem
from memetik.kernels.runtime.record import Array, floats
from memetik.kernels.search.closed_form_attempt import attempt_closed_form
from memetik.kernels.search.search_record import memetic_arrays
from memetik.kernels.terms.pose import target_pose

cuda: Any = numba.cuda  # it has no types
read = device_reader(FormLaunch)

JOINTS = 6
WAYS = 2  # postures that are written at a time


class FormWork(NamedTuple):
    """The part of a Workspace that closed forms use, in the local memory of a thread."""

    poses: Array = floats("nodes", 7)
    world: Array = floats("nodes", 7)
    jacobian: Array = floats(JOINTS, 6)
    step: Array = floats(JOINTS)
    trial: Array = floats(JOINTS)
    start: Array = floats(JOINTS)


class FormSolve(NamedTuple):
    """The part of SolveArrays that closed forms use; the data of the problem are its target alone."""

    problem: Problem
    work: FormWork


class FormArrays(NamedTuple):
    """The part of MemeticArrays that closed forms use."""

    solve: FormSolve
    arm: Geometry
    loop: Loop


@cache
def closed_form_kernel(motions: int) -> Any:
    """The kernel for bodies with so many motions."""

    @cuda.jit(device=True)
    def as_given(arrays):
        return arrays

    @cuda.jit(device=True)
    def own_target(term, data, world):
        return data[0], data[1], data[2], data[3], data[4], data[5], data[6]

    translate = Translator({memetic_arrays: as_given, target_pose: own_target})
    attempt, put_inside = translate(attempt_closed_form), translate(move_inside)

    @cuda.jit
    def solve_in_closed_form(table):
        """Each thread has a row: threads of a warp that have parted do not meet again for the next one."""
        given = read(table)
        problem, tasks, results = given.launch.problem, given.launch.tasks, given.launch.results
        poses, jacobian = cuda.local.array((motions, 7), np.float64), cuda.local.array((JOINTS, 6), np.float64)
        step, trial = cuda.local.array(JOINTS, np.float64), cuda.local.array(JOINTS, np.float64)
        start = cuda.local.array(JOINTS, np.float64)
        work = FormWork(poses, poses, jacobian, step, trial, start)
        axes, points = cuda.local.array((6, 3), np.float64), cuda.local.array((6, 3), np.float64)
        joints, begin = cuda.local.array(6, np.int64), cuda.local.array(6, np.float64)
        touches, roots = cuda.local.array(1, np.float64), cuda.local.array(4, np.float64)
        pairs, turns = cuda.local.array((4, 2), np.float64), cuda.local.array((4, 3), np.float64)
        rest, weight = cuda.local.array(JOINTS, np.float64), cuda.local.array(JOINTS, np.float64)
        posture, bounds = cuda.local.array(JOINTS, np.float64), cuda.local.array(4, np.float64)
        found, rows = cuda.local.array(JOINTS, np.float64), cuda.local.array((WAYS, JOINTS), np.float64)
        loop = Loop(
            axes, points, joints, begin, touches, roots, pairs, turns, rest, weight, posture, bounds, found, rows
        )
        row = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        if row < tasks.number:
            q, outcome = results.q[row], results.outcomes[row]
            for k in range(q.size):
                q[k] = tasks.starts[row % tasks.starts.shape[0], k]
            for k in range(outcome.size):
                outcome[k] = 0.0
            outcome[ERROR], outcome[ATTEMPTS] = math.inf, 1.0
            if put_inside(q, problem.limits):
                outcome[MOVED] = 1.0
            for k in range(JOINTS):
                start[k] = q[problem.variables[k].index]
            own = Problem(
                problem.nodes, problem.frames, problem.terms, problem.variables, problem.limits,
                tasks.targets[row % tasks.targets.shape[0]], problem.affects, problem.blocks, problem.order, problem.balls,
                problem.mounts,
            )  # fmt: skip
            arrays = FormArrays(FormSolve(own, work), given.arm, loop)
            results.statuses[row] = attempt(arrays, q, outcome, 0, 0, 0.0)

    return solve_in_closed_form
