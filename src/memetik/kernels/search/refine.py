"""When nothing satisfies all terms: bring the best posture to a true minimum, so that "closest" means what it says.

Where errors remain, the curvature of the terms counts, which a damped Gauss-Newton step s does not know: it creeps. So
the steps become conjugate directions (Polak and Ribière), which learn the curvature from the gradients g:

    d = s + beta d_last        beta = s·(g - g_last) / s_last·g_last
"""

from memetik.kernels.body.balls import step_balls
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.problem.budget import EVALUATIONS, deadline_after, spent
from memetik.kernels.problem.evaluate import measure, place
from memetik.kernels.problem.least_squares import LEAST_DAMPING
from memetik.kernels.problem.limits import clamp
from memetik.kernels.problem.problem_record import Run, solve_arrays
from memetik.kernels.problem.solve import end_solve
from memetik.kernels.search.descent import LONGEST_STEP, newton_step

STEPS = 100  # evaluations that it is worth; arms out of reach take 20 to 80
GAIN = 1e-12  # a step that gains less than this share ends it
FIRST_DAMPING = 0.02  # share of the squared error
BOLDER, WARIER = 0.9, 3.0  # what a step that gains, or does not, makes of the damping; directions need it steady


@jit
def look(problem, x, softness, run, work):
    """The squared error at a posture."""
    place(problem.nodes, problem.frames, x, work.poses, work.world)
    run.outcome[EVALUATIONS] += 1.0
    return measure(problem.terms, problem.data, work.world, x, softness, work.residual)[0]


@jit_part
def next_direction(falling, turned, work):
    """Make the next direction, in work.trial, of work.step and the last one; the gradient is in work.start.

    `turned` is s·(g - g_last), and `falling` is s_last·g_last, 0 to start afresh; gradients are halved.
    """
    n = work.step.size
    beta = max(turned / falling, 0.0) if falling < 0.0 else 0.0
    down, longest = 0.0, 0.0
    for k in range(n):
        move = work.step[k] + (beta * work.trial[k] if work.free[k] != 0.0 else 0.0)
        work.trial[k] = move
        down += move * work.start[k]
        longest = max(longest, abs(move))
    share = LONGEST_STEP / longest if longest > LONGEST_STEP else 1.0
    for k in range(n):
        work.trial[k] = share * work.trial[k] if down < 0.0 else work.step[k]


@jit_part
def conjugate(x, falling, work):
    """Turn work.step into the next direction, in work.trial, and keep the gradient in work.start.

    `falling` is s_last·g_last, 0 to start afresh. Returns s·g, both gradients halved.
    """
    n, m = x.size, work.residual.size
    now_falling, turned = 0.0, 0.0
    for k in range(n):
        uphill = work.gradient[k]
        for i in range(m):
            uphill += work.jacobian[k, i] * work.residual[i]
        now_falling += work.step[k] * uphill
        turned += work.step[k] * (uphill - work.start[k])
        work.start[k] = uphill
    next_direction(falling, turned, work)
    return now_falling


@jit
def go(share, problem, work):
    """A share of the direction from the best posture, within the limits. Returns the slope of the squared error there."""
    variables, slope = problem.variables, 0.0
    for k in range(work.x.size):
        if variables[k].ball:
            slope += 2.0 * work.start[k] * share * work.trial[k]
            continue
        work.x[k] = clamp(work.best[k] + share * work.trial[k], variables[k])
        slope += 2.0 * work.start[k] * (work.x[k] - work.best[k])
    step_balls(problem.balls, work.best, share, work.trial, work.x)
    return slope


@jit
def refine(problem, softness, run, work):
    """From work.best, in place, downhill only, until nothing is gained or the budget is spent.

    `softness` is how much guides count: FAINT where something was missed, 1 where there is nothing else.
    """
    x, best = work.x, work.best
    error = look(problem, best, softness, run, work)
    damping, falling = FIRST_DAMPING * error, 0.0
    last = run.outcome[EVALUATIONS] + STEPS
    while run.outcome[EVALUATIONS] < last and damping <= 1e6 * (1.0 + error) and not spent(run):
        newton_step(problem, best, damping + LEAST_DAMPING, softness, work)
        falling = conjugate(best, falling, work)
        slope = go(1.0, problem, work)
        ahead = look(problem, x, softness, run, work)
        share = seen = 1.0
        # A parabola through what is known has its lowest point elsewhere: look there too, if it is far from here.
        bend = ahead - error - slope
        lowest = min(max(-0.5 * slope / bend, 0.05), 4.0) if bend > 0.0 else 4.0
        if not (ahead < error and 0.6 < lowest < 1.5) and not spent(run):
            go(lowest, problem, work)
            there, seen = look(problem, x, softness, run, work), lowest
            if not ahead <= there:
                ahead, share = there, lowest
        gain = error - ahead
        if gain > 0.0:
            go(share, problem, work)
            for k in range(x.size):
                best[k] = x[k]
            error = ahead
            damping *= BOLDER
        else:
            falling = 0.0
            damping *= WARIER
        if 0.0 < gain < GAIN * error or spent(run):
            break
        if share != seen or not gain > 0.0:  # the next step needs the residuals of the best posture
            look(problem, best, softness, run, work)


@jit
def refine_vector(table, q, outcome, softness, most, seconds):
    """Refine a joint vector in place. Returns its status."""
    arrays = solve_arrays(table)
    problem, work = arrays.problem, arrays.work
    run = Run(0, most, deadline_after(seconds, arrays.clock), arrays.clock, arrays.state, outcome)
    for k in range(work.best.size):
        work.best[k] = q[problem.variables[k].index]
    refine(problem, softness, run, work)
    return end_solve(problem, q, work.best, outcome, work)
