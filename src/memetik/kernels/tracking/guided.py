"""Targets that only guide, followed over many frames: each frame goes to the balance of all, from where the last ones lead.

Guides cannot be missed, so nothing is searched for (tracking.py does that): a frame begins where the motion so far points to and
steps downhill until it is settled. The steps are those of search/refine.py, by normal equations that are as sparse as the tree.

Variables j < k have an entry in J^T J if some residual depends on both. Eliminated from the last to the first, variable k
fills in no entry but those among its ancestors in the elimination tree, which for a body are the joints between it and
the root. So row k has a place for each ancestor, in their order, and the ancestors of the a-th one are the a before it:
every loop runs along a row. This is the factorisation L^T D L of Featherstone (Rigid Body Dynamics Algorithms, 6.5).

A processor follows a clip from its first frame to its last. A graphics card follows windows of frames, all at once, each from
an edge, the postures before it. What a wrong edge does to a window dies away along it, as springs that rest at the frame before
let go of it. So windows are followed again from the edges that the ones before them leave, until no edge changes any more; a
clip of k windows is the same as in one go after k rounds at the latest, and far sooner if it is long.
"""

import math
from typing import NamedTuple

import numpy as np

from memetik.kernels.body.balls import ball_rotation, multiply, nearest_turns
from memetik.kernels.compiler.jit import jit, jit_fast, jit_free, jit_part
from memetik.kernels.problem.budget import spent
from memetik.kernels.problem.least_squares import LEAST_DAMPING, linear_model, shorten
from memetik.kernels.problem.limits import clamp
from memetik.kernels.problem.problem_record import VARIABLE, Problem, solve_arrays
from memetik.kernels.problem.solve import begin_solve
from memetik.kernels.runtime.cancel import CAUGHT
from memetik.kernels.runtime.record import Array, floats, integers, records
from memetik.kernels.search.descent import LONGEST_STEP
from memetik.kernels.search.refine import BOLDER, FIRST_DAMPING, STEPS, WARIER, go, look, next_direction
from memetik.kernels.terms.springs import rest_at_start

# A step that gains less than this share of the squared error ends a frame: what is left does not tell postures apart.
SETTLED = 1e-10
LEAST_PIVOT = 1e-30  # a pivot that rounding has lost is replaced by this


SAME = 1e-6  # rad or m; postures that differ by less are the same: settled ones differ by up to 5e-7 from other starts

VELOCITY, ACCELERATION = 0, 1  # the rows of the limits of rates
EXACT = 1.0 - 1e-9  # share of a limit that is used, so that rounding does not pass it
OLDER, LAST = 0, 1  # the postures of an edge: two frames before the window, and one


class Windows(NamedTuple):
    """Frames that are followed one after another, of one clip or of several in a row."""

    begin: Array = integers("windows")  # the first frame of the clip
    first: Array = integers("windows")  # the first frame of the window ...
    end: Array = integers("windows")  # ... and the one after its last
    rounds: Array = integers("windows")  # how often it was followed
    stirred: Array = integers("windows")  # 1 if its edge has changed since
    edges: Array = floats("windows", 2, "dof")  # the postures OLDER and LAST before the first frame


class GuidedPath(NamedTuple):
    """The targets of a motion, what becomes of each frame, and the scratch of the steps."""

    windows: Windows
    columns: Array = integers("columns")  # where the targets go in the data of the problem
    targets: Array = floats("frames", "columns")
    guess: Array = floats("frames", "dof")  # postures whose changes say where to begin; no rows for the motion so far
    rest: Array = floats(
        "frames", "dof"
    )  # postures that each frame begins and springs rest at; no rows for the frame before
    q: Array = floats("frames", "dof")
    depth: Array = integers("variables")  # how many ancestors each variable has
    above: Array = integers("variables", "variables")  # these, from the root on
    system: Array = floats("variables", "variables")  # row k: an entry for each ancestor, then that of k itself
    uphill: Array = floats("variables")  # half the gradient
    rates: Array = floats("kinds", "variables")  # limits of VELOCITY and ACCELERATION, perhaps infinite
    steps: Array = floats("frames")  # the time from the frame before to each frame [s]
    bounds: Array = records(VARIABLE, "variables")  # the variables with the limits of a frame


@jit_fast
def tree_step(problem, damping, path, work):
    """Solve (J^T J + D + damping) step = -(J^T r + g) into work.step. A variable with free 0 stays where it is."""
    variables, system, above, step = problem.variables, path.system, path.above, work.step
    n = step.size
    for k in range(n):
        begin, end = np.uint64(variables[k].row_begin), np.uint64(variables[k].row_end)
        uphill = work.gradient[k]
        for i in range(begin, end):
            uphill += work.jacobian[k, i] * work.residual[i]
        path.uphill[k] = uphill
        step[k] = -uphill * work.free[k]
        for a in range(path.depth[k]):
            j = np.uint64(above[k, a])
            total = 0.0
            if work.free[k] * work.free[j] != 0.0:
                first = max(begin, np.uint64(variables[j].row_begin))
                last = min(end, np.uint64(variables[j].row_end))
                for i in range(first, max(first, last)):
                    total += work.jacobian[k, i] * work.jacobian[j, i]
            system[k, a] = total
        total = work.diagonal[k] + damping
        for i in range(begin, end):
            total += work.jacobian[k, i] * work.jacobian[k, i]
        system[k, path.depth[k]] = total
    for back in range(n):
        k = n - 1 - back
        count = path.depth[k]
        reciprocal = 1.0 / max(system[k, count], LEAST_PIVOT)
        system[k, count] = reciprocal
        for nearer in range(count):
            a = count - 1 - nearer
            i = above[k, a]
            share = system[k, a] * reciprocal
            for b in range(a + 1):
                system[i, b] -= share * system[k, b]
            system[k, a] = share
            step[i] -= share * step[k]
        step[k] *= reciprocal
    for k in range(n):
        total = step[k]
        for a in range(path.depth[k]):
            total -= system[k, a] * step[above[k, a]]
        step[k] = total


@jit_part
def conjugate_step(falling, path, work):
    """Turn work.step into a conjugate direction, in work.trial (search/refine.py). Returns s·g, the gradient halved."""
    now_falling, turned = 0.0, 0.0
    for k in range(work.step.size):
        now_falling += work.step[k] * path.uphill[k]
        turned += work.step[k] * (path.uphill[k] - work.start[k])
        work.start[k] = path.uphill[k]
    next_direction(falling, turned, work)
    return now_falling


@jit_part
def settle(problem, error, path, run, work):
    """From work.best, which was just measured, downhill in place until a step gains next to nothing."""
    x, best = work.x, work.best
    damping, falling = FIRST_DAMPING * error, 0.0
    for _ in range(STEPS):
        linear_model(problem, best, 1.0, work)
        tree_step(problem, damping + LEAST_DAMPING, path, work)
        shorten(LONGEST_STEP, work)
        falling = conjugate_step(falling, path, work)
        slope = go(1.0, problem, work)
        ahead = look(problem, x, 1.0, run, work)
        share = seen = 1.0
        # The parabola through what is known has its lowest point elsewhere: look there too, if it is far from here.
        bend = ahead - error - slope
        lowest = min(max(-0.5 * slope / bend, 0.05), 4.0) if bend > 0.0 else 4.0
        if not (ahead < error and 0.6 < lowest < 1.5) and -slope > SETTLED * error:
            go(lowest, problem, work)
            there, seen = look(problem, x, 1.0, run, work), lowest
            if not ahead <= there:
                ahead, share = there, lowest
        gain = error - ahead
        if gain > 0.0:
            if share != seen:
                go(share, problem, work)
            for k in range(x.size):
                best[k] = x[k]
            error = ahead
            damping *= BOLDER
        else:
            falling = 0.0
            damping *= WARIER
        if (
            -slope <= SETTLED * error
            or 0.0 < gain < SETTLED * error
            or not damping <= 1e6 * (1.0 + error)
            or spent(run)
        ):
            break
        if share != seen or not gain > 0.0:  # the next step needs the residuals of the best posture
            look(problem, best, 1.0, run, work)


@jit
def extrapolate(problem, last, before, after, x):
    """Write into x where the last posture gets to if it changes as `before` changed to `after`; the three are joint vectors.

    A ball turns by the same rotation once more.
    """
    variables = problem.variables
    for k in range(x.size):
        i = variables[k].index
        x[k] = clamp(last[i] + (after[i] - before[i]), variables[k])
    for ball in range(problem.balls.size):
        k, sign = problem.balls[ball].variable, problem.balls[ball].sign
        i = variables[k].index
        w, a, b, c = ball_rotation(before, i, sign)
        turn = multiply(ball_rotation(after, i, sign), (w, -a, -b, -c))
        now = multiply(turn, ball_rotation(last, i, sign))
        a, b, c = nearest_turns(now, sign * last[i], sign * last[i + 1], sign * last[i + 2])
        x[k], x[k + 1], x[k + 2] = sign * a, sign * b, sign * c


@jit_part
def value_before(path, window, frame, back, i):
    """A joint's value one or two frames before a frame: in the window, or at its edge."""
    first = path.windows.first[window]
    if frame - back >= first:
        return path.q[frame - back, i]
    return path.windows.edges[window, LAST + 1 + frame - first - back, i]


@jit_part
def fastest(last, past, step, before, velocity, acceleration, slack):
    """The largest change of a joint in a step [rad or m] towards a limit `last` away, after a change `past` in the step before.

    It keeps the limits of velocity and acceleration, and the joint can still stop at the limit: after a velocity v it does within
    v^2 / (2 a). `before` is the length of the step before [s], zero if there is none.
    """
    most = velocity * step * EXACT
    if math.isfinite(acceleration):
        if before > 0.0:
            most = min(most, (past / before + 0.5 * acceleration * EXACT * (step + before)) * step)
        if math.isfinite(last):
            stop = acceleration * EXACT * (math.sqrt(step * step + 2.0 * max(last, 0.0) / acceleration) - step)
            most = min(most, stop * step)
    return most - slack


@jit_part
def bound_frame(variables, path, window, frame):
    """Write into path.bounds the limits of a frame: those of the variables, and what can be reached from the frame before."""
    windows, bounds = path.windows, path.bounds
    begin, first = windows.begin[window], windows.first[window]
    step = path.steps[frame]
    before = path.steps[frame - 1] if frame > begin + 1 else 0.0
    # The edge of a window is known to SAME only.
    slack = 4.0 * SAME if first > begin and frame <= first + 1 else 0.0
    for k in range(variables.size):
        i = variables[k].index
        lower, upper = variables[k].lower, variables[k].upper
        velocity, acceleration = path.rates[VELOCITY, k], path.rates[ACCELERATION, k]
        if frame > begin and (math.isfinite(velocity) or math.isfinite(acceleration)):
            at = value_before(path, window, frame, 1, i)
            past = at - value_before(path, window, frame, 2, i) if frame > begin + 1 else 0.0
            up = fastest(upper - at, past, step, before, velocity, acceleration, slack)
            down = fastest(at - lower, -past, step, before, velocity, acceleration, slack)
            if up < -down:  # both at once cannot be had: the joint brakes as well as it can
                up = -down if past < 0.0 else up
                down = -up
            lower, upper = max(lower, at - down), min(upper, at + up)
            lower = min(lower, upper)
        bounds[k].lower, bounds[k].upper = lower, upper


@jit_part
def follow_frame(unbounded, path, window, frame, run, work):
    """Write the joint vector of a frame, from those before it. Returns by how much a joint differs from the last round."""
    problem = unbounded
    if path.steps.size > 0:
        bound_frame(unbounded.variables, path, window, frame)
        problem = Problem(
            unbounded.nodes, unbounded.frames, unbounded.terms, path.bounds, unbounded.limits, unbounded.data, unbounded.affects,
            unbounded.blocks, unbounded.order, unbounded.balls, unbounded.mounts,
        )  # fmt: skip
    windows, x, best, variables, n = path.windows, work.x, work.best, problem.variables, work.x.size
    begin, first = windows.begin[window], windows.first[window]
    last = path.q[frame - 1] if frame > first else windows.edges[window, LAST]
    for c in range(path.columns.size):
        problem.data[path.columns[c]] = path.targets[frame, c]
    alone = path.rest.shape[0] > 0
    for k in range(n):
        i = variables[k].index
        best[k] = clamp(path.rest[frame, i] if alone else last[i], variables[k])
    rest_at_start(problem.terms, problem.data, best)
    leads = not alone and (frame > begin if path.guess.shape[0] > 0 else frame > begin + 1)
    here = look(problem, best, 1.0, run, work)
    if leads:
        if path.guess.shape[0] > 0:
            extrapolate(problem, last, path.guess[frame - 1], path.guess[frame], x)
        else:
            before = path.q[frame - 2] if frame > first + 1 else windows.edges[window, OLDER + frame - first]
            extrapolate(problem, last, before, last, x)
        there = look(problem, x, 1.0, run, work)
        if there < here:
            for k in range(n):
                best[k] = x[k]
            here = there
        else:
            look(problem, best, 1.0, run, work)
    settle(problem, here, path, run, work)
    moved = 0.0
    if windows.rounds[window] > 0:
        for k in range(n):
            moved = max(moved, abs(path.q[frame, variables[k].index] - best[k]))
    for k in range(last.size):
        path.q[frame, k] = last[k]
    for k in range(n):
        path.q[frame, variables[k].index] = best[k]
    return moved


@jit_part
def follow_window(problem, path, window, run, work):
    """Write the joint vectors of a window; one that was followed before ends where two frames in a row stay as they are."""
    again, still = path.windows.rounds[window] > 0, 0
    for frame in range(path.windows.first[window], path.windows.end[window]):
        moved = follow_frame(problem, path, window, frame, run, work)
        still = still + 1 if again and moved <= SAME else 0
        if still == 2 or run.clock[CAUGHT] != 0:
            break
    path.windows.rounds[window] += 1


@jit_part
def take_edge(path, window):
    """Take the postures before a window for its edge if they differ from it. Returns 1 if it has to be followed again."""
    windows = path.windows
    first, differs = windows.first[window], False
    if first > windows.begin[window]:
        for back in range(2):
            for k in range(path.q.shape[1]):
                if not abs(path.q[first - 2 + back, k] - windows.edges[window, back, k]) <= SAME:
                    differs = True
    windows.stirred[window] = 1 if differs else 0
    if differs:
        for back in range(2):
            for k in range(path.q.shape[1]):
                windows.edges[window, back, k] = path.q[first - 2 + back, k]
    return windows.stirred[window]


@jit_free
def follow_guides(table, path, q, outcome, most):
    """Write a joint vector for every row of targets; q is settled for the first one, `most` evaluations are for all.

    Where there are several windows, they are followed one after another in rounds, as a device does it all at once.
    """
    arrays = solve_arrays(table)
    run = begin_solve(arrays, q, outcome, 0, most, 0.0)
    windows = path.windows
    left, start = windows.first.size, windows.edges[0]
    for w in range(windows.first.size):
        windows.stirred[w] = 1
    for k in range(q.size):
        start[LAST, k] = q[k]
    while left > 0 and run.clock[CAUGHT] == 0:
        for w in range(windows.first.size):
            if windows.stirred[w] != 0:
                follow_window(arrays.problem, path, w, run, arrays.work)
        left = 0
        for w in range(windows.first.size):
            left += take_edge(path, w)
