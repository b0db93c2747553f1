"""Pieces of a path, each followed from one posture as far as it goes, and the chain of them that passes the whole path.

Joints that turn freely are followed without their limits: how many whole turns they begin with is decided at the end, when it
is known how far they turn. A piece goes on at a singularity either as it is or as it moved (`leads`), which end in different
branches.

A chain goes from piece to piece where two are near each other. Each change that is farther than allowed is a reconfiguration;
of the chains with the fewest, the one is taken that moves least.
"""

import math
from typing import NamedTuple

from memetik.kernels.body.balls import angle_between
from memetik.kernels.compiler.jit import jit
from memetik.kernels.problem.budget import ERROR, spent
from memetik.kernels.problem.function_pointers import call_attempt
from memetik.kernels.problem.limits import clamp
from memetik.kernels.problem.problem_record import VARIABLE, Problem
from memetik.kernels.problem.solve import begin_solve, cost_of
from memetik.kernels.problem.verify import REACHED, verify
from memetik.kernels.runtime.cancel import AT_FIRST, keep_gil, take_gil
from memetik.kernels.runtime.record import Array, floats, integers, records
from memetik.kernels.search.search_record import memetic_arrays
from memetik.kernels.terms.springs import rest_at_start

RECONFIGURATION = 1e6  # what one costs beside squared changes [rad^2 or m^2]
SWITCH = 1e-3  # what a change to another piece costs besides


class Pieces(NamedTuple):
    """The targets of a path, and postures for a stretch of it in each row."""

    columns: Array = integers("columns")  # where the targets go in the data of the problem
    targets: Array = floats("steps", "columns")
    variables: Array = records(VARIABLE, "variables")  # without limits where joints turn freely
    ratio: Array = floats("variables")  # changes are multiplied by it before they are compared
    x: Array = floats("pieces", "steps", "variables")
    cost: Array = floats("pieces", "steps")  # of guides
    first: Array = integers("pieces")  # the step where a piece begins ...
    end: Array = integers("pieces")  # ... and the one after its last


class Following(NamedTuple):
    """How a piece is followed."""

    begin: int  # the step whose posture the piece has
    forwards: int  # 1 to follow the steps in their order, -1 backwards
    leads: (
        bool  # whether a step begins where the last two lead to, or at the last one; the other is tried if that fails
    )
    pull: float  # rad or m by which each step begins nearer to its guide at most
    jump: float  # by what a joint may change from step to step, scaled
    attempt: int  # addresses of the local search of the first step ...
    later: int  # ... and of the others
    guide: Array = floats("steps", "variables")  # postures, or NaN for none; no rows for none at all


class Chain(NamedTuple):
    """Scratch of `chain_pieces`, and its result."""

    cost: Array = floats("both", "pieces")
    order: Array = integers("pieces")  # by cost
    before: Array = integers("steps", "pieces")
    chosen: Array = integers("steps")  # the piece of each step, -1 where there is none


@jit
def scaled_change(x, last, ratio, variables, balls):
    """As largest_change of all_solutions.py, each change multiplied by the ratio of its variable."""
    largest = 0.0
    for i in range(balls.size):
        largest = max(largest, ratio[balls[i].variable] * angle_between(balls[i], x, last))
    for k in range(x.size):
        if not variables[k].ball:
            largest = max(largest, ratio[k] * abs(x[k] - last[k]))
    return largest


@jit
def follow_piece(table, pieces, piece, how, q, outcome, most, seconds):
    """Follow the targets from the posture that row `piece` has at a step, until one is lost. Returns how many were met."""
    whole = memetic_arrays(table)
    arrays = whole.solve
    keep_gil(arrays.clock, AT_FIRST)
    run = begin_solve(arrays, q, outcome, 0, most, seconds)
    given, work, n = arrays.problem, arrays.work, arrays.work.x.size
    variables, rows, ratio = pieces.variables, pieces.x[piece], pieces.ratio
    problem = Problem(
        given.nodes, given.frames, given.terms, variables, given.limits, given.data, given.affects, given.blocks, given.order,
        given.balls, given.mounts,
    )  # fmt: skip
    x, last, steps = work.x, work.start, pieces.targets.shape[0]
    for k in range(n):
        last[k] = rows[how.begin, k]
    count, step, guide = 0, how.begin, how.guide
    while 0 <= step < steps and not spent(run):
        for c in range(pieces.columns.size):
            problem.data[pieces.columns[c]] = pieces.targets[step, c]
        rest_at_start(problem.terms, problem.data, last)
        met = False
        for trial in range(2 if count > 1 and guide.shape[0] == 0 else 1):
            ahead = count > 1 and how.leads != (trial == 1)
            for k in range(n):
                x[k] = last[k]
                if guide.shape[0] > 0 and math.isfinite(guide[step, k]):
                    x[k] = clamp(last[k] + min(max(guide[step, k] - last[k], -how.pull), how.pull), variables[k])
                elif ahead and not variables[k].ball:
                    x[k] = clamp(2.0 * last[k] - rows[step - 2 * how.forwards, k], variables[k])
            outcome[ERROR] = math.inf
            call_attempt(how.later if count > 0 else how.attempt, problem, x, run, work)
            met = verify(problem, x, outcome, work) == REACHED
            met = met and (count == 0 or scaled_change(x, last, ratio, variables, problem.balls) <= how.jump)
            if met:
                break
        if not met:
            break
        for k in range(n):
            rows[step, k] = last[k] = x[k]
        pieces.cost[piece, step] = cost_of(problem, x, work)
        count += 1
        step += how.forwards
    take_gil(arrays.clock)
    return count


@jit
def price(pieces, source, piece, step, balls, jump, most):
    """What it costs a chain to come from a piece to a step of another; infinite if it is known to be more than `most`.

    Whole turns of joints that turn freely do not count.
    """
    x, last, ratio, variables = pieces.x[piece, step], pieces.x[source, step - 1], pieces.ratio, pieces.variables
    total, far = 0.0, False
    for k in range(x.size):
        if not variables[k].ball:
            change = x[k] - last[k]
            if variables[k].whole_turn and variables[k].lower == -math.inf:
                change -= 2.0 * math.pi * round(change / (2.0 * math.pi))
            total += change * change
            if not far and ratio[k] * abs(change) > jump:
                far, total = True, total + RECONFIGURATION
            if total > most:
                return math.inf
    for i in range(balls.size):
        angle = angle_between(balls[i], x, last)
        total += angle * angle
        if not far and ratio[balls[i].variable] * angle > jump:
            far, total = True, total + RECONFIGURATION
    return total


@jit
def sort_by_cost(order, count, cost):
    """Sort the first entries of `order` by what they cost; they are nearly so."""
    for i in range(1, count):
        p, k = order[i], i
        while k > 0 and cost[order[k - 1]] > cost[p]:
            order[k] = order[k - 1]
            k -= 1
        order[k] = p


@jit
def chain_pieces(pieces, count, chain, balls, jump, rooted, every):
    """Write the piece of each step, of the first `count`. Returns what it costs.

    rooted: the piece to begin with, -1 for any. every: pieces are changed at each so-manieth step only.
    """
    steps = pieces.x.shape[1]
    for t in range(steps):
        old, new = chain.cost[(t + 1) % 2], chain.cost[t % 2]
        if t == 0:
            for p in range(count):
                begins = pieces.first[p] == 0 and pieces.end[p] > 0 and (rooted < 0 or p == rooted)
                new[p], chain.order[p] = pieces.cost[p, t] if begins else math.inf, p
            continue
        if t % every == 0:
            sort_by_cost(chain.order, count, old)
        for p in range(count):
            new[p] = math.inf
            chain.before[t, p] = -1
            if not pieces.first[p] <= t < pieces.end[p]:
                continue
            least, source = math.inf, -1
            if pieces.first[p] < t:
                least, source = old[p] + price(pieces, p, p, t, balls, jump, math.inf), p
            for i in range(count if t % every == 0 else 0):
                o = chain.order[i]
                if not old[o] + SWITCH < least:
                    break
                if o != p:
                    total = old[o] + SWITCH + price(pieces, o, p, t, balls, jump, least - old[o])
                    if total < least:
                        least, source = total, o
            new[p], chain.before[t, p] = least + pieces.cost[p, t], source
    best = 0
    last = chain.cost[(steps - 1) % 2]
    for p in range(count):
        if last[p] < last[best]:
            best = p
    for t in range(steps - 1, -1, -1):
        chain.chosen[t] = best
        if t > 0 and best >= 0:
            best = chain.before[t, best]
    return last[chain.chosen[steps - 1]]
