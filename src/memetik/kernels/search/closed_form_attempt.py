"""Closed forms of one full pose: what they offer is brought onto the body as it is, and judged as every answer is.

The body of a file is rarely the arm that it is meant to be: angles are rounded to 1.5708, offsets to micrometres. A closed form
is that of the arm as meant (solvers/closed_forms.py), and Newton steps on the body as given make up for the difference.

Where two solutions are next to each other, so small a difference can make them one, or none. So on a body that is not
exact, each posture x is asked for its twins. Of all directions let v be the one in which the joints move the tip least, and
u the one in which it moves then. Along v, to second order, the error in u is

    u·e + s t + c t^2 / 2        s = u·J v        c = u·d^2 e / dt^2

and Newton steps from both of its roots find the solutions that there are. Where c is nothing as well, as of a wrist that is
nearly straight, the twin is half a turn away.
"""

import math
from typing import NamedTuple

from numba.core import types

from memetik.kernels.body.forward import forward, frame_pose
from memetik.kernels.closed_form.arm_record import ROWS, TWO_LINKS, Loop
from memetik.kernels.closed_form.candidates import ROUNDING, closed_form_candidates, near_copy, nearest_candidate
from memetik.kernels.closed_form.filter_candidates import Candidates, best_candidate, filter_candidates
from memetik.kernels.closed_form.meeting_axes import three_turns, turn_wrist
from memetik.kernels.closed_form.parallel_axes import outer_turns, turn_in_plane, turn_outside
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.problem.budget import ATTEMPTS, ERROR, EVALUATIONS, MOVED, OUTCOME, TIMED_OUT, spent
from memetik.kernels.problem.function_pointers import PROBLEM, VECTOR, WORKSPACE, call_attempt, call_stage
from memetik.kernels.problem.least_squares import LEAST_DAMPING
from memetik.kernels.problem.mounts import seen_from_root
from memetik.kernels.problem.problem_record import Problem
from memetik.kernels.problem.solve import begin_solve
from memetik.kernels.problem.verify import CLOSEST, ENDED, REACHED, verify
from memetik.kernels.runtime.cancel import CAUGHT, cancelled
from memetik.kernels.runtime.clock import now
from memetik.kernels.runtime.record import numba_type, reader
from memetik.kernels.search.pose_error import pose_offset, pose_residual, scales_of
from memetik.kernels.search.pose_search import has_gone, is_beside
from memetik.kernels.search.pose_step import pose_step, solve_six
from memetik.kernels.search.search import UNFINISHED
from memetik.kernels.search.search_record import MemeticArrays, memetic_arrays
from memetik.kernels.search.verify_pose import verify_pose
from memetik.kernels.terms.pose import target_pose
from memetik.kernels.terms.springs import displacement, displacement_springs

POLISHES = 12  # Newton steps that a candidate is worth; two or three are the rule
NEAR = 1e-2  # squared scaled error, above which a candidate is not next to a solution
EXACT = 1e-26  # squared scaled error that is rounding
GAINED = 0.25  # a step that leaves more of the squared error has met rounding, or needs damping
WIDEST = 0.3  # rad to a twin; farther ones are candidates of their own
STRAIGHT = 1e-3  # of the largest singular value: joints that hardly move the tip
PROBE = 1e-3  # rad to either side, for the curvature


class AnalyticArrays(NamedTuple):
    """All of a solve in closed form, and of the stages that may follow it."""

    memetic: MemeticArrays
    candidates: Candidates


analytic_arrays = reader(AnalyticArrays)


@jit_part
def pose_errors(problem, target, x, work):
    """Place the body. Returns the pose of the tip, its scaled errors in world axes and the sum of their squares."""
    forward(problem.nodes, x, work.poses)
    tip = frame_pose(problem.frames[problem.terms[0].frame], work.poses)
    residual = pose_residual(scales_of(problem.terms), target, pose_offset(target, tip))
    dx, dy, dz, ex, ey, ez = residual
    return tip, residual, dx * dx + dy * dy + dz * dz + ex * ex + ey * ey + ez * ez


@jit_part
def polish(free, target, x, outcome, work):
    """Damped Newton steps from x, in place, while they help; `free` is the problem without limits. Returns the squared error.

    What is not next to a solution stays as it is.
    """
    best, least, damping, back = work.trial, math.inf, 0.0, False
    for _ in range(POLISHES):
        tip, errors, error = pose_errors(free, target, x, work)
        outcome[EVALUATIONS] += 1.0
        if least == math.inf and not error <= NEAR:
            return error
        if error < least:
            gained = error <= GAINED * least
            damping = 0.1 * damping if gained else max(damping, 1e-3 * error)
            least = error
            for k in range(x.size):
                best[k] = x[k]
            if error <= EXACT or (not gained and error <= 1e3 * EXACT):
                break
        elif not back:  # the last step was too long: again from where it began, and shorter
            damping = max(10.0 * damping, 1e-2 * least)
            for k in range(x.size):
                x[k] = best[k]
            if least <= 1e3 * EXACT:
                break
            back = True
            continue
        back = False
        longest = pose_step(free, tip, errors, x, damping + LEAST_DAMPING, work)
        shorten = WIDEST / longest if longest > WIDEST else 1.0
        for k in range(x.size):
            x[k] += shorten * work.step[k]
    for k in range(x.size):
        x[k] = best[k]
    return least


@jit
def inner(columns, a, b, rows):
    """The product of two rows or two columns of a 6x6 matrix."""
    total = 0.0
    for k in range(6):
        total += columns[a, k] * columns[b, k] if rows else columns[k, a] * columns[k, b]
    return total


@jit_part
def least_direction(columns, rows):
    """The unit vector that a 6x6 matrix, or its transpose, makes shortest (inverse iteration)."""
    a, b, c = inner(columns, 0, 0, rows), inner(columns, 1, 1, rows), inner(columns, 2, 2, rows)
    d, e, f = inner(columns, 3, 3, rows), inner(columns, 4, 4, rows), inner(columns, 5, 5, rows)
    tiny = 1e-15 * (a + b + c + d + e + f)
    v = (1.0, 0.9, -1.1, 1.05, -0.95, 1.15)  # no symmetry of an arm makes it orthogonal to what is sought
    for _ in range(4):
        system = (
            (a + tiny,),
            (inner(columns, 1, 0, rows), b + tiny),
            (inner(columns, 2, 0, rows), inner(columns, 2, 1, rows), c + tiny),
            (inner(columns, 3, 0, rows), inner(columns, 3, 1, rows), inner(columns, 3, 2, rows), d + tiny),
            (
                inner(columns, 4, 0, rows), inner(columns, 4, 1, rows), inner(columns, 4, 2, rows),
                inner(columns, 4, 3, rows), e + tiny,
            ),
            (
                inner(columns, 5, 0, rows), inner(columns, 5, 1, rows), inner(columns, 5, 2, rows),
                inner(columns, 5, 3, rows), inner(columns, 5, 4, rows), f + tiny,
            ),
        )  # fmt: skip
        v = solve_six(system, v)
        size = 1.0 / math.sqrt(inner_six(v, v))
        v = (size * v[0], size * v[1], size * v[2], size * v[3], size * v[4], size * v[5])
    return v


@jit
def inner_six(a, b):
    """The product of two vectors of six numbers."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]


@jit_part
def write_twins(free, target, rows, r, count, work):
    """Write where twins of the posture in row r may be, from row `count` on. Returns how many rows there are then."""
    if count + 3 > rows.shape[0]:
        return count
    x, near = rows[r], work.trial
    tip, errors, _ = pose_errors(free, target, x, work)
    pose_step(free, tip, errors, x, LEAST_DAMPING, work)  # for the Jacobian
    columns = work.jacobian  # a row for each joint
    u, v = least_direction(columns, False), least_direction(columns, True)
    slope = largest = 0.0
    for k in range(6):
        moved = (columns[k, 0], columns[k, 1], columns[k, 2], columns[k, 3], columns[k, 4], columns[k, 5])
        slope += v[k] * inner_six(u, moved)
        largest += inner_six(moved, moved)
    value = inner_six(u, errors)
    bend = -2.0 * value
    for side in range(2):
        for k in range(6):
            near[k] = x[k] + (PROBE if side == 0 else -PROBE) * v[k]
        _, there, _ = pose_errors(free, target, near, work)
        bend += inner_six(u, there)
    bend /= PROBE * PROBE
    inside = slope * slope - 2.0 * bend * value
    if inside > 0.0 and bend != 0.0:
        root = math.sqrt(inside)
        for side in range(2):
            t = (-slope + (root if side == 0 else -root)) / bend
            if abs(t) < WIDEST and abs(t) > 1e-7:
                for k in range(6):
                    rows[count, k] = x[k] + t * v[k]
                count += 1
    if slope * slope < STRAIGHT * STRAIGHT * largest:
        most = 0.0
        for k in range(6):
            most = max(most, abs(v[k]))
        for k in range(6):
            rows[count, k] = x[k] + math.pi / most * v[k]
        count += 1
    return count


@jit_part
def without_limits(problem, arm):
    """The same problem, whose joints turn freely."""
    return Problem(
        problem.nodes, problem.frames, problem.terms, arm.free, problem.limits, problem.data, problem.affects,
        problem.blocks, problem.order, problem.balls, problem.mounts,
    )  # fmt: skip


@jit_part
def polish_rows(arm, problem, target, rows, count, outcome, work):
    """Bring candidates onto the body, with their twins where it is not exact. Returns how many there are then."""
    free = without_limits(problem, arm)
    asked = count if arm.off > 0.0 and arm.held < 0 and rows.shape[1] == 6 else 0  # for twins
    r = 0
    while r < count:
        error = polish(free, target, rows[r], outcome, work)
        if r < asked and error <= NEAR:
            count = write_twins(free, target, rows, r, count, work)
        r += 1
    return count


@jit_part
def pose_alone(problem, terms):
    """The same problem with these two terms, position and orientation, whose target is made that of the position."""
    position, orientation = terms[0].target, terms[1].target
    for k in range(4):  # where the position has its target are axes, which a length does not depend on
        problem.data[position + k] = problem.data[orientation + k]
    return Problem(
        problem.nodes, problem.frames, terms, problem.variables, problem.limits, problem.data, problem.affects,
        problem.blocks, problem.order, problem.balls, problem.mounts,
    )  # fmt: skip


@jit_part
def nearest_on_body(arm, loop, problem, target, beyond, careful, outcome, work):
    """As nearest_candidate, and brings the posture onto the body."""
    x = loop.found
    least = nearest_candidate(arm, loop, target, problem, work.poses, beyond, careful)
    if least < math.inf and arm.off > 0.0:
        polish(without_limits(problem, arm), target, x, outcome, work)
        for k in range(x.size):
            x[k] = near_copy(x[k], loop.rest[k], problem.variables[k], ROUNDING)
    outcome[EVALUATIONS] += 1.0
    return least


@jit
def attempt_closed_form(table, q, outcome, seed, most, seconds):
    """As a stage (stages.py) that has begun: the candidate of six joints within the limits that is nearest to work.start.

    It is written to q if it satisfies the pose; the status says so. A posture or two are measured as a rule.
    """
    arrays = memetic_arrays(table)
    problem, work, arm, loop = arrays.solve.problem, arrays.solve.work, arrays.arm, arrays.loop
    target = target_pose(problem.terms[0], problem.data, work.world)
    x = loop.found
    for k in range(x.size):
        loop.posture[k] = loop.rest[k] = work.start[k]
        loop.weight[k] = 1.0
    beyond = -1.0
    for trial in range(ROWS):
        least = nearest_on_body(arm, loop, problem, target, beyond, trial > 0, outcome, work)
        if not least < math.inf:
            break
        if verify_pose(problem, target, x, outcome, work) == REACHED:
            far, turned = problem.terms[0].scale * outcome[OUTCOME], problem.terms[1].scale * outcome[OUTCOME + 1]
            outcome[ERROR] = far * far + turned * turned
            for k in range(x.size):
                q[problem.variables[k].index] = x[k]
            return REACHED
        if trial > 0:  # the first look was not careful
            beyond = least
    return CLOSEST


@jit_part
def attempt_nearest(table, q, outcome, seed, most, seconds):
    """The same where the pose may be asked for in two objectives, and a Displacement says what is near."""
    arrays = memetic_arrays(table)
    problem, work, arm, loop = arrays.solve.problem, arrays.solve.work, arrays.arm, arrays.loop
    terms, x = problem.terms, loop.found
    pose = pose_alone(problem, arrays.pose)
    target = target_pose(pose.terms[0], pose.data, work.world)
    displacement_springs(terms, problem.data, work.start, loop.rest, loop.weight)
    for k in range(x.size):
        loop.posture[k] = loop.rest[k]
    beyond = -1.0
    for trial in range(ROWS):
        least = nearest_on_body(arm, loop, pose, target, beyond, trial > 0, outcome, work)
        if not least < math.inf:
            break
        if verify(problem, x, outcome, work) == REACHED:
            outcome[ERROR] = 0.0
            for t in range(terms.size):
                if not terms[t].soft:
                    outcome[ERROR] += (terms[t].scale * outcome[OUTCOME + t]) ** 2
            for k in range(x.size):
                q[problem.variables[k].index] = x[k]
            return REACHED
        if trial > 0:  # the first look was not careful
            beyond = least
    return CLOSEST


@jit_part
def nearest_stage(table, q, outcome, seed, most, seconds):
    """The first stage (stages.py) of one full pose and Displacements that guide, for an arm with a closed form.

    Where the arm is next to a singularity, a posture within the tolerances can be far nearer than one that is exactly on the
    target: if the start is next to the target, the local search looks for one. Without a solution in closed form the search of
    all other problems goes on.
    """
    arrays = memetic_arrays(table)
    problem, work, loop = arrays.solve.problem, arrays.solve.work, arrays.loop
    run = begin_solve(arrays.solve, q, outcome, seed, most, seconds)
    x = work.x
    if most > 2 and call_stage(arrays.closed_form, table, q, outcome, seed, most, 0.0) == REACHED:
        outcome[ATTEMPTS] = 1.0
        pose = pose_alone(problem, arrays.pose)
        target = target_pose(pose.terms[0], pose.data, work.world)
        if (
            not has_gone(loop.found, work.start)
            or spent(run)
            or not is_beside(pose, target, arrays.arm.size, work.start, work)
        ):
            return REACHED
        error, outcome[ERROR] = outcome[ERROR], math.inf
        least = displacement(problem.terms, problem.data, work.start, loop.found)
        if (
            call_attempt(arrays.attempt, problem, x, run, work)
            and verify(problem, x, outcome, work) == REACHED
            and displacement(problem.terms, problem.data, work.start, x) < least
        ):
            for k in range(x.size):
                q[problem.variables[k].index] = x[k]
            return REACHED
        outcome[ERROR] = error
        verify(problem, loop.found, outcome, work)
        return REACHED
    if arrays.addresses[0].search == 0:
        return UNFINISHED
    evaluations, moved_inside = outcome[EVALUATIONS], outcome[MOVED]
    left = most - int(evaluations)
    status = call_stage(arrays.addresses[0].search, table, q, outcome, seed, left, seconds)
    outcome[EVALUATIONS] += evaluations
    outcome[MOVED] = max(outcome[MOVED], moved_inside)
    return status


# The largest parts of it, with the types of their arguments, for two processes to share (compiler/second_compiler.py).
_LOOP, _POSE, _INT, _FLOAT = numba_type(Loop), types.UniTuple(types.float64, 7), types.int64, types.float64
_ROWS = types.float64[:, ::1]
CLOSED_FORM_PARTS = (
    (polish, (PROBLEM, _POSE, VECTOR, VECTOR, WORKSPACE)),
    (outer_turns, (_LOOP, _FLOAT, _POSE)),
    (turn_outside, (_LOOP, _POSE, _INT)),
    (turn_in_plane, (_LOOP, _POSE, types.UniTuple(types.UniTuple(_FLOAT, 3), 3), _ROWS, _INT)),
    (turn_wrist, (_LOOP, _FLOAT, _POSE, _INT, _ROWS, _INT)),
    (three_turns, (_LOOP, _FLOAT, _POSE)),
)


@jit
def closed_form_stage(table, q, outcome, seed, most, seconds):
    """The first stage (stages.py) of a solve in closed form: write the nearest solution to q.

    Without one, what comes nearest. A held joint is held at its value at rest first, then ever farther from it, until
    there is a solution or, for every solution (candidates.every), at all values. What was offered stays in the candidates.
    """
    own = analytic_arrays(table)
    arrays, arm, loop, candidates = own.memetic.solve, own.memetic.arm, own.memetic.loop, own.candidates
    problem, work, clock, pose = arrays.problem, arrays.work, arrays.clock, arrays.problem
    run = begin_solve(arrays, q, outcome, seed, most, seconds)
    outcome[ATTEMPTS] = 1.0
    candidates.count[0] = 0
    every = candidates.every[0] != 0
    attempt = 0 if every else own.memetic.closed_form
    if attempt != 0 and call_stage(attempt, table, q, outcome, seed, most, seconds) == REACHED:
        return REACHED
    if own.memetic.pose.size > 0:
        pose = pose_alone(problem, own.memetic.pose)
    target = target_pose(pose.terms[0], pose.data, work.world)
    displacement_springs(problem.terms, problem.data, work.start, loop.rest, loop.weight)
    for k in range(work.start.size):
        loop.posture[k] = loop.rest[k]
    solutions = 0
    values = arm.values.size if arm.held >= 0 else 0
    held = loop.rest[arm.held] if values > 0 else 0.0
    above = 0  # the value to hold next of those above that of the start; below: of those below it
    while above < values and arm.values[above] <= held:
        above += 1
    below = above - 1
    for turns in range(values + 1):
        if turns > 0:
            if above == values or (below >= 0 and held - arm.values[below] <= arm.values[above] - held):
                loop.posture[arm.held] = arm.values[below]
                below -= 1
            else:
                loop.posture[arm.held] = arm.values[above]
                above += 1
        count = closed_form_candidates(arm, loop, seen_from_root(problem, target), loop.rows)
        if arm.shape != TWO_LINKS:
            count = polish_rows(arm, pose, target, loop.rows, count, outcome, work)
        for r in range(count):
            for k in range(work.start.size):
                near = near_copy(loop.rows[r, k], loop.rest[k], problem.variables[k], ROUNDING)
                loop.rows[r, k] = near if near < math.inf else loop.rows[r, k]
        solutions += filter_candidates(arrays, candidates, loop.rows, count, outcome)
        if solutions > 0 and not every:
            break
        if run.deadline > 0.0 and now(clock) >= run.deadline:
            outcome[TIMED_OUT] = 1.0
            break
        if outcome[EVALUATIONS] >= most or cancelled(clock):
            break
    best = best_candidate(candidates)
    if best < 0:  # nothing was offered that can be measured, but the start can
        row = loop.rows[0]
        for k in range(row.size):
            row[k] = work.start[k]
        filter_candidates(arrays, candidates, loop.rows, 1, outcome)
        best = candidates.count[0] - 1
    for k in range(work.start.size):
        q[problem.variables[k].index] = candidates.postures[best, k]
    for k in range(OUTCOME, outcome.size):
        outcome[k] = candidates.outcomes[best, k]
    return candidates.statuses[best] if clock[CAUGHT] == 0 else ENDED
