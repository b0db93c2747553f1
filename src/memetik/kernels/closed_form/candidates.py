"""All postures that a closed form offers for a target, and the solutions among them."""

from memetik.kernels.closed_form.arms import shoulder_and_elbow, two_links
from memetik.kernels.closed_form.filter_candidates import best_candidate, filter_candidates
from memetik.kernels.closed_form.loop import close_loop, vector
from memetik.kernels.closed_form.meeting_axes import meeting_axes
from memetik.kernels.closed_form.parallel_axes import parallel_axes
from memetik.kernels.closed_form.record import MEETING, SHOULDER_AND_ELBOW, TWO_LINKS, analytic_arrays
from memetik.kernels.compiler.cancel import cancelled
from memetik.kernels.compiler.clock import now
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import compose, inverse
from memetik.kernels.math.vector import dot, minus
from memetik.kernels.problem.budget import ATTEMPTS, EVALUATIONS, MOVED, OUTCOME, TIMED_OUT, deadline_after
from memetik.kernels.problem.limits import move_inside


@jit_part
def closed_form_candidates(arm, loop, target, rows):
    """Write every posture that may put the tip on the target, a pose of 7 numbers, and return how many there are.

    loop.posture says where a joint is held, and the angles that the target leaves open. Nothing is known of limits.
    """
    if arm.shape == TWO_LINKS:
        return _two_links(arm, loop, target, rows)
    if arm.shape == SHOULDER_AND_ELBOW:
        shoulder, elbow = vector(arm.points, 0), vector(arm.points, 2)
        return shoulder_and_elbow(arm.axes, shoulder, elbow, arm.tip, target, loop.posture, rows)
    motion = compose(target, inverse(arm.tip))
    if arm.shape == MEETING:
        motion = close_loop(arm, loop, motion, (arm.first + 3) % 6)  # they become the last three
        return meeting_axes(loop, arm.size, motion, rows)
    motion = close_loop(arm, loop, motion, (arm.first + 5) % 6)  # they become the second to the fourth
    return parallel_axes(loop, arm.size, motion, rows)


@jit
def _two_links(arm, loop, target, rows):
    axis, base, elbow = vector(arm.axes, 0), vector(arm.points, 0), vector(arm.points, 1)
    tip = (arm.tip[4], arm.tip[5], arm.tip[6])
    goal = (target[4] - base[0], target[5] - base[1], target[6] - base[2])
    two_links(minus(elbow, base), minus(tip, elbow), axis, goal, loop.posture, rows)
    if dot(axis, vector(arm.axes, 1)) < 0.0:  # the second axis points against the first
        for r in range(2):
            rows[r, 1] = -rows[r, 1]
    return 2


@jit
def solve_closed_form(table, q, outcome, most, seconds, every):
    """Find the solution nearest to the start q, and write it to q; without one, what comes nearest. Returns the status.

    A held joint is held at its value in the start first, then ever farther from it, until there is a solution or, for `every`
    solution, at all values. All that was offered stays in the candidates. Ends early after `most` evaluations or `seconds`.
    """
    own = analytic_arrays(table)
    arrays, arm, loop, candidates = own.solve, own.arm, own.loop, own.candidates
    problem, work, clock = arrays.problem, arrays.work, arrays.clock
    deadline = deadline_after(seconds, clock)
    for k in range(problem.data.size):
        problem.data[k] = arrays.source[k]
    outcome[EVALUATIONS], outcome[ATTEMPTS], outcome[TIMED_OUT] = 0.0, 1.0, 0.0
    outcome[MOVED] = 1.0 if move_inside(q, problem.limits) else 0.0
    for k in range(work.start.size):
        work.start[k] = loop.posture[k] = q[problem.variables[k].index]
    at = problem.terms[0].target
    target = problem.data[at : at + 7]
    candidates.count[0] = 0
    solutions = 0
    values = arm.values.size if arm.held >= 0 else 0
    held = work.start[arm.held] if values > 0 else 0.0
    above = 0  # the value to hold next of those above that of the start; below: of those below it
    while above < values and arm.values[above] <= held:
        above += 1
    below = above - 1
    for turn in range(values + 1):
        if turn > 0:
            if above == values or (below >= 0 and held - arm.values[below] <= arm.values[above] - held):
                loop.posture[arm.held] = arm.values[below]
                below -= 1
            else:
                loop.posture[arm.held] = arm.values[above]
                above += 1
        count = closed_form_candidates(arm, loop, target, loop.rows)
        solutions += filter_candidates(arrays, candidates, loop.rows, count, outcome)
        if solutions > 0 and not every:
            break
        if deadline > 0.0 and now(clock) >= deadline:
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
    return candidates.statuses[best]
