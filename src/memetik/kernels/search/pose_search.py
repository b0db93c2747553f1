"""memetic for one full pose of one frame: the method of search.py, without what only many terms need.

There is one limb, so nothing is recombined: the next attempt starts from the posture of the population whose frame is
nearest to the target. An arm with a closed form tries that first, unless the start is next to the target, from where a few
steps are as quick and, if they stay near, lead to the nearest solution, too; what it offers is verified as every answer is, and
where it offers nothing the search goes on. Most problems are of this kind, and most of them are solved in a few microseconds, so
nothing is looked up, called by address or divided into parts here, but for the closed form, which few bodies have, and for where
the next attempt starts, which few first solves need. Tests hold its verification equal to that of all other problems.
"""

import math

from numba.core import types

from memetik.kernels.body.forward import forward, frame_pose
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.rotation import rotation_vector
from memetik.kernels.problem.budget import ATTEMPTS, ERROR, EVALUATIONS, deadline_after, spent
from memetik.kernels.problem.function_pointers import PROBLEM, RUN, SOLVE, VECTOR, WORKSPACE, call_stage
from memetik.kernels.problem.limits import sample
from memetik.kernels.problem.mounts import seen_from_root
from memetik.kernels.problem.problem_record import Run
from memetik.kernels.problem.quick_error import squared_distance
from memetik.kernels.problem.solve import begin_solve
from memetik.kernels.problem.verify import ENDED, REACHED
from memetik.kernels.runtime.cancel import CAUGHT
from memetik.kernels.runtime.random import seed_stream
from memetik.kernels.search.population_poses import add_angles, add_distances, take_best
from memetik.kernels.search.pose_descent import descend_pose
from memetik.kernels.search.pose_error import quick_pose_error, square
from memetik.kernels.search.search import FRESH, SHARE, UNFINISHED
from memetik.kernels.search.search_record import call_next_pose_start, memetic_arrays
from memetik.kernels.search.verify_pose import verify_pose
from memetik.kernels.terms.pose import target_pose

BESIDE = 0.1  # rad, or of the arm's size: a start that is nearer to the target takes steps first
STEP_AWAY = 0.1  # rad for the joint that moves most: what goes farther from such a start may pass a nearer solution


@jit_part
def draw_pose(problem, target, run, work):
    """The best of a few fresh postures, in work.x."""
    x, trial, frame = work.x, work.trial, problem.frames[problem.terms[0].frame]
    least = math.inf
    for _ in range(FRESH):
        if run.outcome[EVALUATIONS] + 1.0 >= run.most:  # leave one for the attempt that follows
            return
        for k in range(x.size):
            trial[k] = sample(problem.variables[k], run.state)
        forward(problem.nodes, trial, work.poses)
        run.outcome[EVALUATIONS] += 1.0
        tip = frame_pose(frame, work.poses)
        total = quick_pose_error(problem.terms, target, tip)
        if total < least:
            least = total
            for k in range(x.size):
                x[k] = trial[k]


@jit_part
def is_beside(problem, target, size, x, work):
    """Whether a posture is so near to the target that a few steps lead there."""
    forward(problem.nodes, x, work.poses)
    tip = frame_pose(problem.frames[problem.terms[0].frame], work.poses)
    away, near = squared_distance(target, tip), (BESIDE * size) ** 2
    if not away < near:  # most are not, and the rotation takes longer
        return False
    return away + size * size * square(rotation_vector(target, tip)) < near


@jit_part
def score_population(problem, target, population, score):
    """Write how far the tip of each posture of the population looks from the target."""
    position, orientation = problem.terms[0], problem.terms[1]
    wanted, tips = seen_from_root(problem, target), population.frame_poses[position.frame]
    for c in range(score.size):
        score[c] = 0.0
    add_distances(tips, wanted, position.scale * position.scale, score)
    add_angles(tips, wanted, orientation.scale * orientation.scale, score)


@jit_part
def next_pose_start(table, target, run):
    """Put work.x, where an attempt has failed, to where the next one starts."""
    arrays = memetic_arrays(table)
    problem, work, score = arrays.solve.problem, arrays.solve.work, arrays.scratch.score
    x, attempts = work.x, run.outcome[ATTEMPTS]
    if attempts == 1.0:
        seed_stream(run.state, run.seed, 0)
        score_population(problem, target, arrays.population, score)
    if attempts <= score.size // SHARE:
        c = take_best(score)
        for k in range(x.size):
            x[k] = arrays.population.genes[c, k]
    else:
        draw_pose(problem, target, run, work)


@jit_part
def has_gone(x, start):
    """Whether a posture is farther from the start than a start that is next to the target should be."""
    far = 0.0
    for k in range(x.size):
        far = max(far, abs(x[k] - start[k]))
    return far > STEP_AWAY


@jit_part
def is_nearer(x, other, start):
    """Whether a posture is nearer to the start than another one."""
    difference = 0.0
    for k in range(x.size):
        difference += (x[k] - start[k]) ** 2 - (other[k] - start[k]) ** 2
    return difference < 0.0


@jit_part
def reached_in_closed_form(form, table, q, outcome, seed, most):
    """Whether the closed form at an address answers, an attempt of its own if so."""
    reached = call_stage(form, table, q, outcome, seed, most, 0.0) == REACHED
    if reached:
        outcome[ATTEMPTS] += 1.0
    return reached


@jit
def solve_pose(table, q, outcome, seed, most, seconds):
    """The first stage (stages.py) of a problem that is one full pose; UNFINISHED as `solve` in search.py."""
    arrays = memetic_arrays(table)
    problem, work, next_start = arrays.solve.problem, arrays.solve.work, arrays.addresses[0].next_pose_start
    run = begin_solve(arrays.solve, q, outcome, seed, most, 0.0)
    target = target_pose(problem.terms[0], problem.data, work.world)
    x = work.x
    in_closed_form = arrays.closed_form != 0 and most > 2  # not tried yet
    if in_closed_form:
        outcome[EVALUATIONS] = 1.0
        if not is_beside(problem, target, arrays.arm.size, x, work):
            in_closed_form = False
            if reached_in_closed_form(arrays.closed_form, table, q, outcome, seed, most):
                return REACHED
    # Not before: what a closed form answers needs no clock.
    run = Run(seed, most, deadline_after(seconds, run.clock), run.clock, run.state, outcome)
    while True:
        outcome[ATTEMPTS] += 1.0
        satisfied = descend_pose(problem, target, x, run, work)
        if satisfied and not (in_closed_form and has_gone(x, work.start)):
            break
        if spent(run):
            break
        if in_closed_form:
            in_closed_form, error = False, outcome[ERROR]
            reached = reached_in_closed_form(arrays.closed_form, table, q, outcome, seed, most)
            if reached and not (satisfied and is_nearer(x, arrays.loop.found, work.start)):
                return REACHED
            if satisfied:
                outcome[ERROR] = error
                break
        if next_start == 0:
            return UNFINISHED
        call_next_pose_start(next_start, table, target, run)
    if not satisfied:
        for k in range(x.size):
            x[k] = work.best[k]
    status = verify_pose(problem, target, x, outcome, work)
    for k in range(x.size):
        q[problem.variables[k].index] = x[k]
    return status if run.clock[CAUGHT] == 0 else ENDED


# The largest parts of it, with the types of their arguments, for two processes to share (compiler/second_compiler.py).
_POSE = types.UniTuple(types.float64, 7)
POSE_PARTS = (
    (begin_solve, (SOLVE, VECTOR, VECTOR, types.int64, types.int64, types.float64)),
    (is_beside, (PROBLEM, _POSE, types.float64, VECTOR, WORKSPACE)),
    (verify_pose, (PROBLEM, _POSE, VECTOR, VECTOR, WORKSPACE)),
    (descend_pose, (PROBLEM, _POSE, VECTOR, RUN, WORKSPACE)),
)
