"""One posture, rank by rank: each rank as near as it gets while all that is above it stays where it is.

Terms have ranks: higher priorities come first, and on one level terms with a tolerance come before guides. What is above
the rank that is at hand shall stay in a set C: within tolerance or, if that could not be had, where it came to. With residuals r
and scales s of the terms, in which weights count within a rank only,

    minimise  sum over the rank of (s |r|)^2  +  mu * sum of those above of (s |r - P(r)|)^2        P(r): nearest to r in C

by damped Gauss-Newton steps that must gain (Levenberg and Marquardt), for a growing mu: a steep wall makes short steps, so
it becomes steep only when the posture is nearly right. C ends a little inside the tolerance, by more than the last mu leaves.

Contacts come suddenly: a step that does not know of one ahead ends behind it. So pairs that are close count in a step
if it would make them touch.
"""

import math

import numpy as np

from memetik.kernels.body.motion import write_axes
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.problem.budget import EVALUATIONS, OUTCOME, spent
from memetik.kernels.problem.evaluate import place, term_error
from memetik.kernels.problem.least_squares import LEAST_DAMPING, prepare_step, shorten, step_by_limbs
from memetik.kernels.problem.limits import clamp
from memetik.kernels.problem.problem_record import Run
from memetik.kernels.problem.verify import verify
from memetik.kernels.search.descent import LONGEST_STEP
from memetik.kernels.search.search_record import call_minimise_rank
from memetik.kernels.terms.distance import DISTANCE_MARGIN
from memetik.kernels.terms.function_pointers import call_jacobian, call_residual
from memetik.kernels.terms.pose import AXIS_TOLERANCE, MASK
from memetik.kernels.terms.records import CONTACT, POINT, ROTATION
from memetik.kernels.terms.springs import springs_cost, springs_error, springs_gradient

FREE, WITHIN, HELD = 0, 1, 2  # what becomes of a term: nothing yet, stays within tolerance, stays where it came to
STEEPNESS = np.array([1e2, 1e4, 1e6])  # mu
INSIDE = 0.99  # the share of a tolerance that is used
CLEARANCE = 1e-5  # m inside the tolerance of a contact, which usually is zero
SLACK, TINY = 1e-4, 1e-5  # ranks are equal if their scaled errors differ by less than this share of them, or by this
STEPS = 30  # for one rank and steepness
STALLS = 3  # steps in a row that gain too little end it
FIRST_DAMPING, BOLDER, WARIER, TRIES = 0.02, 0.25, 10.0, 8  # regions, unlike contacts, are not seen from inside
FORESIGHTS = 4  # how often a step is taken back for contacts that it would make
NOWHERE = -math.inf  # the depth of a pair that is too far apart to be seen
GRACE = 12  # evaluations to bring back what is above, after the time has ended a descent; some 50 microseconds
NOTHING = -1  # a rank that no term has: what is above all ranks is brought back


@jit_part
def is_boxed(term):
    """Whether a term has a tolerance for each axis."""
    return (term.goal == POINT or term.goal == ROTATION) and term.count != 0


@jit_part
def keep_share(length, bound):
    """What is left of a vector of this length without the part of it in a ball."""
    return 1.0 - bound / length if length > bound else 0.0


@jit_part
def confine(term, data, mode, bound, held, depth, residual):
    """Leave of a term's residuals r what sticks out of its set, r - P(r). Writes how deep its pairs are, without the scale."""
    first, end = term.row, term.row + term.rows
    if term.loss == CONTACT:
        for i in range(first, end):
            depth[i] = residual[i] - bound if residual[i] > 0.0 else NOWHERE
            residual[i] = residual[i] - bound if residual[i] > max(bound, 0.0) else 0.0
    elif mode == HELD:
        for i in range(first, end):
            residual[i] -= held[i]
    elif is_boxed(term):
        for i in range(3):
            wide = INSIDE * data[term.numbers + MASK + i] * data[term.numbers + AXIS_TOLERANCE + i]
            residual[first + i] -= min(max(residual[first + i], -wide), wide)
    else:
        total = 0.0
        for i in range(first, end):
            total += residual[i] * residual[i]
        share = keep_share(math.sqrt(total), bound)
        for i in range(first, end):
            residual[i] *= share


@jit
def measure_rank(problem, levels, x, rank, steepness, run, work):
    """Write the scaled residuals of what counts for a rank. Returns the error, and whether there is nothing left to do."""
    terms, data, residual = problem.terms, problem.data, work.residual
    place(problem.nodes, problem.frames, x, work.poses, work.world)
    run.outcome[EVALUATIONS] += 1.0
    push = math.sqrt(steepness)
    error, done = 0.0, True
    for t in range(terms.size):
        term = terms[t]
        first, end = term.row, term.row + term.rows
        aims, mode = levels.ranks[t] == rank, levels.modes[t]
        if not aims and mode == FREE:
            for i in range(first, end):
                residual[i], levels.depth[i] = 0.0, NOWHERE
            continue
        if term.rows > 0:
            call_residual(term.residual, term, data, work.world, x, residual)
        if aims or mode == WITHIN:
            done = done and not term.soft and term_error(term, data, x, residual)[1]
        scale = levels.scale[t] if aims else levels.unit_scale[t] * push
        for i in range(first, end):
            levels.depth[i] = NOWHERE
        if term.rows == 0:
            share = 1.0 if aims else keep_share(springs_error(term, data, x), levels.bound[t])
            error += (scale * share) ** 2 * springs_cost(term, data, x)
            continue
        if not aims:
            confine(term, data, mode, levels.bound[t], levels.held, levels.depth, residual)
        for i in range(first, end):
            residual[i] *= scale
            levels.depth[i] *= scale
            error += residual[i] * residual[i]
    return error, done


@jit
def linearise_rank(problem, levels, x, rank, steepness, work):
    """The linear model of what `measure_rank` wrote, and which variables are free to move.

    Rows of contacts that are only close are put aside, into levels.jacobian, with their depth in levels.ahead.
    """
    nodes, terms, data, variables = problem.nodes, problem.terms, problem.data, problem.variables
    jacobian, residual = work.jacobian, work.residual
    n, m = jacobian.shape
    for k in range(n):
        work.gradient[k] = work.diagonal[k] = 0.0
        for i in range(m):
            jacobian[k, i] = 0.0
    write_axes(nodes, work.poses, work.axes)
    push = math.sqrt(steepness)
    for t in range(terms.size):
        term = terms[t]
        aims, mode = levels.ranks[t] == rank, levels.modes[t]
        if not aims and mode == FREE:
            continue
        scale = levels.scale[t] if aims else levels.unit_scale[t] * push
        if term.rows == 0:
            share = 1.0 if aims else keep_share(springs_error(term, data, x), levels.bound[t])
            springs_gradient(term, data, x, scale * math.sqrt(share), False, work.gradient, work.diagonal)
            continue
        equal = aims or (mode == HELD and term.loss != CONTACT)  # all rows count, even where they are zero
        sticks_out = equal
        for i in range(term.row, term.row + term.rows):
            sticks_out = sticks_out or residual[i] != 0.0 or levels.depth[i] > NOWHERE
        if not sticks_out:
            continue
        call_jacobian(
            term.jacobian, term, data, work.world, x, nodes, problem.frames, work.poses, work.axes, scale, jacobian
        )
        for i in range(term.row, term.row + term.rows):
            if not equal and residual[i] == 0.0:
                for k in range(n):
                    levels.jacobian[k, i] = jacobian[k, i]
                    jacobian[k, i] = 0.0
    for k in range(n):
        work.free[k] = 1.0
        if x[k] <= variables[k].lower or x[k] >= variables[k].upper:
            uphill = work.gradient[k]
            for i in range(m):
                uphill += jacobian[k, i] * residual[i]
            if (x[k] <= variables[k].lower and uphill >= 0.0) or (x[k] >= variables[k].upper and uphill <= 0.0):
                work.free[k] = 0.0


@jit
def contact_aware_step(problem, levels, damping, work):
    """A damped step, in work.step, that makes no contact with what is close, as far as the linear model knows."""
    n, m = work.jacobian.shape
    prepare_step(problem, work)
    step_by_limbs(problem, damping, work)
    for _ in range(FORESIGHTS):
        any_touches = False
        for i in range(m):
            if levels.ahead[i] == NOWHERE:
                continue
            there = levels.ahead[i]
            for k in range(n):
                there += levels.jacobian[k, i] * work.step[k]
            if there > 0.0:
                any_touches = True
                work.residual[i] = levels.residual[i] = levels.ahead[i]
                levels.ahead[i] = NOWHERE
                for k in range(n):
                    work.jacobian[k, i] = levels.jacobian[k, i]
        if not any_touches:
            break
        prepare_step(problem, work)
        step_by_limbs(problem, damping, work)
    shorten(LONGEST_STEP, work)


@jit
def minimise_rank(problem, levels, rank, steepness, stall, run, work):
    """From work.best, in place, until steps gain less than a share `stall`. Returns the error, and if nothing is left to do."""
    best, x, variables = work.best, work.x, problem.variables
    if spent(run):
        return math.inf, False
    error, done = measure_rank(problem, levels, best, rank, steepness, run, work)
    damping, stalls = FIRST_DAMPING, 0
    for _ in range(STEPS):
        if done or stalls >= STALLS or not math.isfinite(error):
            break
        linearise_rank(problem, levels, best, rank, steepness, work)
        for i in range(work.residual.size):
            levels.residual[i] = work.residual[i]
            levels.ahead[i] = levels.depth[i] if work.residual[i] == 0.0 else NOWHERE
        before = error
        for _ in range(TRIES):
            if spent(run):
                return error, done
            contact_aware_step(problem, levels, damping * before + LEAST_DAMPING, work)
            for k in range(x.size):
                x[k] = clamp(best[k] + work.step[k], variables[k])
            ahead, done_there = measure_rank(problem, levels, x, rank, steepness, run, work)
            if ahead < error:
                for k in range(x.size):
                    best[k] = x[k]
                error, done = ahead, done_there
                damping *= BOLDER
                break
            damping *= WARIER
            for i in range(work.residual.size):
                work.residual[i] = levels.residual[i]
        if not error < before:
            break
        stalls = stalls + 1 if before - error < stall * before else 0
    return error, done


@jit
def settle_rank(problem, levels, rank, work):
    """Let the terms of a rank stay where work.best has them: within tolerance, or where they came to."""
    terms, data, x = problem.terms, problem.data, work.best
    place(problem.nodes, problem.frames, x, work.poses, work.world)
    for t in range(terms.size):
        term = terms[t]
        if levels.ranks[t] != rank:
            continue
        if term.rows > 0:
            call_residual(term.residual, term, data, work.world, x, work.residual)
        error, good = term_error(term, data, x, work.residual)
        within = good and not term.soft
        levels.modes[t] = WITHIN if within else HELD
        levels.bound[t] = INSIDE * term.tolerance if within else error
        if term.loss == CONTACT:
            margin = data[term.numbers + DISTANCE_MARGIN]
            levels.bound[t] = margin + (term.tolerance - CLEARANCE if within else error)
        for i in range(term.row, term.row + term.rows):
            levels.held[i] = work.residual[i]


@jit
def write_costs(problem, levels, x, outcome, work):
    """The squared error of every rank at a posture that was just verified; what is within tolerance costs nothing."""
    terms = problem.terms
    for k in range(levels.cost.size):
        levels.cost[k] = 0.0
    for t in range(terms.size):
        term = terms[t]
        if not term.soft and outcome[OUTCOME + terms.size + t] != 0.0:
            continue
        square = springs_cost(term, problem.data, x) if term.rows == 0 else 0.0
        for i in range(term.row, term.row + term.rows):
            square += work.residual[i] * work.residual[i]
        square *= levels.scale[t] * levels.scale[t]
        levels.cost[levels.ranks[t]] += square if math.isfinite(square) else math.inf


@jit
def compare(cost, least, ranks):
    """The first of so many ranks in which costs differ from the least known, and by which sign: -1 is better, 0 the same."""
    for k in range(ranks):
        if cost[k] == least[k]:
            continue
        if not math.isfinite(least[k]):
            return k, -1
        error, known = math.sqrt(cost[k]), math.sqrt(least[k])
        if error < (1.0 - SLACK) * known - TINY:
            return k, -1
        if not error <= (1.0 + SLACK) * known + TINY:
            return k, 1
    return ranks, 0


@jit
def consider(problem, levels, x, outcome, work):
    """Verify a posture, in place, and keep it if it is the best so far. Returns whether it is."""
    verify(problem, x, outcome, work)
    write_costs(problem, levels, x, outcome, work)
    rank, sign = compare(levels.cost, levels.least, levels.cost.size)
    if sign >= 0:
        return False
    for k in range(levels.cost.size):
        # Of ranks that are equal the least counts, so that many small losses do not add up.
        levels.least[k] = min(levels.cost[k], levels.least[k]) if k < rank else levels.cost[k]
    for k in range(x.size):
        levels.answer[k] = x[k]
    return True


@jit_part
def is_hopeless(levels, rank, error):
    """Whether a rank that costs `error` with a gentle mu, and will cost more with a steep one, is worse than what is known."""
    return math.sqrt(error) > (1.0 + SLACK) * math.sqrt(levels.least[rank]) + TINY


@jit
def bring_back(problem, levels, stall, run, work):
    """After the time has ended a descent: what is above comes back within tolerance, by a few more evaluations."""
    most = min(run.most, int(run.outcome[EVALUATIONS]) + GRACE)
    grace = Run(run.seed, most, 0.0, run.clock, run.state, run.outcome)
    if not spent(grace):
        call_minimise_rank(
            levels.addresses[0].minimise_rank, problem, levels, NOTHING, 1.0, stall, grace, work
        )  # fmt: skip


@jit
def descend_ranks(problem, levels, stall, run, work):
    """From work.best, in place, rank by rank, and keep what comes of it if it is the best so far. Returns whether it is."""
    count, best, minimise = levels.cost.size, work.best, levels.addresses[0].minimise_rank
    for t in range(problem.terms.size):
        levels.modes[t] = FREE
    level = True  # as good as the best so far in all ranks before
    for rank in range(count):
        for k in range(1 if rank == 0 else STEEPNESS.size):
            error, done = call_minimise_rank(minimise, problem, levels, rank, STEEPNESS[k], stall, run, work)
            if done or spent(run):
                break
            if k == 0 and level and is_hopeless(levels, rank, error):
                return False
        if spent(run):
            if rank > 0:
                bring_back(problem, levels, stall, run, work)
            break
        if rank > 0 and not done:  # with nothing else to do, what is above comes back within tolerance
            call_minimise_rank(minimise, problem, levels, NOTHING, 1.0, stall, run, work)
        settle_rank(problem, levels, rank, work)
        cost = 0.0 if done else error
        level = level and math.sqrt(cost) >= (1.0 - SLACK) * math.sqrt(levels.least[rank]) - TINY
    return consider(problem, levels, best, run.outcome, work)
