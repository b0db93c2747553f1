"""What methods of sweeps do between sweeps: judge the posture, notice a standstill, and begin again elsewhere.

A standstill is answered in this order: guides fade, if there are any; the first start, which may lie on a line of
symmetry where every joint is pulled along itself, is nudged off it; then, with restarts, the joints that move an
objective that is missed are drawn again. The last part of the budget goes into the best posture found.
"""

import math

from memetik.kernels.compiler.jit import jit
from memetik.kernels.math.pose import constant
from memetik.kernels.math.vector import length, minus
from memetik.kernels.problem.budget import ATTEMPTS, EVALUATIONS, remember, spent
from memetik.kernels.problem.evaluate import measure, place, term_error
from memetik.kernels.problem.limits import clamp, sample
from memetik.kernels.runtime.random import seed_stream
from memetik.kernels.sweeps.coupled import link_variables
from memetik.kernels.sweeps.pull import split
from memetik.kernels.sweeps.wanted import free_axes
from memetik.kernels.terms.records import POINT

# Of 10 to 40 sweeps and 0.7 to 0.9, these solved most in equal numbers of sweeps, on arms, chains, a hand and a humanoid.
PATIENCE = 10  # sweeps in which the squared error must fall ...
GAIN = 0.9  # ... to this share, or another start is taken
DOUBLING = 16.0  # starts after which patience doubles: a target that is slow from everywhere is not given up each time
STANDSTILL = 1.0 - 1e-6  # the share if there is no other start
FADING, FAINTEST = 1e-2, 1e-5  # guides fade by this at a standstill, and are gone below that
NUDGE = 0.03  # of the range of a joint
GOLDEN = 0.6180339887498949  # its multiples, less their whole part, spread evenly
LAST_PART = 10  # one in so many evaluations goes into the best posture


@jit
def begin(problem, run, sweeps):
    """Before the first sweep: guides pull in full, if there are any. Returns whether the target is beyond reach."""
    link_variables(problem.nodes, sweeps.deepest, sweeps.above)
    seed_stream(run.state, run.seed, 0)
    run.outcome[ATTEMPTS] = 1.0
    beyond, progress = beyond_reach(problem), sweeps.progress[0]
    progress.restarts = sweeps.restarts and not beyond
    progress.last, progress.sweeps, progress.nudged, progress.settling = math.inf, 0, 0, 0
    progress.guides, progress.only_guides = 0.0, 1
    for t in range(problem.terms.size):
        if problem.terms[t].soft:
            progress.guides = 1.0
        else:
            progress.only_guides = 0
    progress.softness = progress.guides
    return beyond


@jit
def beyond_reach(problem):
    """Whether a single tip is wanted farther from the root than its links in a row are long: no start would help."""
    nodes, terms, data = problem.nodes, problem.terms, problem.data
    if problem.frames.size > 1:
        return False
    longest = length(constant(problem.frames[0])[4:])
    for i in range(nodes.size):
        if i > 0:
            longest += length(constant(nodes[i])[4:])
        variable = problem.variables[nodes[i].variable]
        for limit in (variable.lower, variable.upper):
            longest += abs(split(nodes[i], nodes[i].ratio * limit + nodes[i].offset)[1])
    for t in range(terms.size):
        term = terms[t]
        if term.goal == POINT and not term.soft and term.count == 0:
            a, b, c = free_axes(term, data)
            k = term.target + 4
            way = minus((data[k], data[k + 1], data[k + 2]), constant(nodes[0])[4:])
            if a + b + c == 0.0 and length(way) > longest + term.tolerance:
                return True
    return False


@jit
def nudge(x, variables, weights):
    """Move every variable that has a weight a little, each by another amount, the same every time."""
    for k in range(x.size):
        if weights[k] == 0.0:
            continue
        part = (k + 1) * GOLDEN
        part -= math.floor(part)
        off = NUDGE * (variables[k].sample_upper - variables[k].sample_lower)
        off *= 0.5 + part if part < 0.5 else -0.5 - part
        x[k] = clamp(x[k] + off, variables[k])


@jit
def redraw(problem, x, state, weights, work):
    """Draw the variables that have a weight and move an objective that is missed; the others stay."""
    nodes, terms = problem.nodes, problem.terms
    chosen = work.free
    for k in range(x.size):
        chosen[k] = 0.0
    for t in range(terms.size):
        if not terms[t].soft and not term_error(terms[t], problem.data, x, work.residual)[1]:
            i = problem.frames[terms[t].frame].node
            while i >= 0:
                chosen[nodes[i].variable] = 1.0
                i = nodes[i].parent
    for k in range(x.size):
        if chosen[k] != 0.0 and weights[k] != 0.0:
            x[k] = sample(problem.variables[k], state)


@jit
def over(problem, x, run, sweeps, work):
    """Place the body and judge it; at a standstill put another posture into x. Returns whether the search is over.

    Unless it is, work.poses and work.world are the forward kinematics of x.
    """
    terms, data, outcome, progress = problem.terms, problem.data, run.outcome, sweeps.progress[0]
    while True:
        place(problem.nodes, problem.frames, x, work.poses, work.world)
        outcome[EVALUATIONS] += 1.0
        error, hard, satisfied = measure(terms, data, work.world, x, progress.softness, work.residual)
        remember(x, error if progress.only_guides else hard, run, work)
        if (satisfied and progress.softness == 0.0) or spent(run):
            return True
        progress.sweeps += 1
        if progress.sweeps < PATIENCE * 2.0 ** (outcome[ATTEMPTS] // DOUBLING):
            return False
        progress.sweeps = 0
        share = GAIN if progress.restarts and not progress.settling else STANDSTILL
        moving = error < share * progress.last
        progress.last = error
        if moving:
            return False
        progress.last = math.inf
        if progress.softness > 0.0:
            if satisfied:
                return True
            progress.softness = progress.softness * FADING if progress.softness > FAINTEST else 0.0
            return False
        if not progress.nudged:
            progress.nudged = 1
            nudge(x, problem.variables, sweeps.weights)
        elif not progress.restarts or progress.settling:
            return True
        elif outcome[EVALUATIONS] >= run.most - run.most // LAST_PART:
            progress.settling = 1
            for k in range(x.size):
                x[k] = work.best[k]
        else:
            redraw(problem, x, run.state, sweeps.weights, work)
            outcome[ATTEMPTS] += 1.0
            progress.softness = progress.guides
