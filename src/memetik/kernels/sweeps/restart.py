"""What methods of sweeps do between sweeps: judge the posture, notice a standstill, and begin again elsewhere.

A standstill is answered in this order: guides fade, if there are any; the first start, which may lie on a line of
symmetry where every joint is pulled along itself, is nudged off it; then, with restarts, the joints that move an
objective that is missed are drawn anew. The last part of the budget goes into the best posture found.
"""

from __future__ import annotations

import math

from memetik.kernels.body.records import SCREW, SLIDE
from memetik.kernels.compiler.jit import jit
from memetik.kernels.compiler.random import seed_stream
from memetik.kernels.problem.budget import ATTEMPTS, EVALUATIONS, remember, spent
from memetik.kernels.problem.evaluate import measure, place, term_error
from memetik.kernels.problem.limits import clamp, sample
from memetik.kernels.sweeps.wanted import free_axes
from memetik.kernels.terms.records import POINT

# The memory of a search: how hard guides pull, and at first; whether there is nothing else; the squared error when it was
# last compared and the sweeps since; whether the start was nudged; whether the best posture is being improved.
SOFTNESS, GUIDES, ONLY_GUIDES, LAST, SWEEPS, NUDGED, SETTLING, MEMORY = 0, 1, 2, 3, 4, 5, 6, 7

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
def begin(terms, seed, state, memory, outcome):
    """Before the first sweep: guides pull in full, if there are any."""
    seed_stream(state, seed, 0)
    outcome[ATTEMPTS] = 1.0
    for k in range(MEMORY):
        memory[k] = 0.0
    memory[LAST] = math.inf
    memory[ONLY_GUIDES] = 1.0
    for t in range(terms.size):
        if terms[t].soft:
            memory[SOFTNESS] = memory[GUIDES] = 1.0
        else:
            memory[ONLY_GUIDES] = 0.0


@jit
def beyond_reach(problem):
    """Whether a single tip is wanted farther from the root than its links in a row are long: no start would help."""
    nodes, frames, terms, data, variables = (
        problem.nodes,
        problem.frames,
        problem.terms,
        problem.data,
        problem.variables,
    )
    if frames.size > 1:
        return False
    frame = frames[0]
    length = math.sqrt(frame.px * frame.px + frame.py * frame.py + frame.pz * frame.pz)
    for i in range(nodes.size):
        node = nodes[i]
        if i > 0:
            length += math.sqrt(node.px * node.px + node.py * node.py + node.pz * node.pz)
        if node.motion == SLIDE or node.motion == SCREW:
            pitch = node.pitch if node.motion == SCREW else 1.0
            for side in range(2):
                length += abs(pitch * (node.ratio * variables[side, node.variable] + node.offset))
    for t in range(terms.size):
        term = terms[t]
        if term.goal == POINT and not term.soft and term.count == 0:
            a, b, c = free_axes(term, data)
            k = term.target + 4
            x, y, z = data[k] - nodes[0].px, data[k + 1] - nodes[0].py, data[k + 2] - nodes[0].pz
            if a + b + c == 0.0 and math.sqrt(x * x + y * y + z * z) > length + term.tolerance:
                return True
    return False


@jit
def nudge(x, variables):
    """Move every variable a little, each by another amount, the same every time."""
    for k in range(x.size):
        part = (k + 1) * GOLDEN
        part -= math.floor(part)
        off = (
            NUDGE
            * (variables[k].sample_upper - variables[k].sample_lower)
            * (0.5 + part if part < 0.5 else -0.5 - part)
        )
        x[k] = clamp(x[k] + off, variables[k])


@jit
def redraw(problem, x, state, work):
    """Draw the variables that move an objective that is missed; the others stay."""
    nodes, frames, terms, data, variables = (
        problem.nodes,
        problem.frames,
        problem.terms,
        problem.data,
        problem.variables,
    )
    chosen = work.free
    for k in range(x.size):
        chosen[k] = 0.0
    for t in range(terms.size):
        if not terms[t].soft and not term_error(terms[t], data, x, work.residual)[1]:
            i = frames[terms[t].frame].node
            while i >= 0:
                chosen[nodes[i].variable] = 1.0
                i = nodes[i].parent
    for k in range(x.size):
        if chosen[k] != 0.0:
            x[k] = sample(variables[k], state)


@jit
def over(problem, x, restarts, most, deadline, clock, state, memory, outcome, work):
    """Place the body and judge it; at a standstill put another posture into x. Returns whether the search is over.

    Unless it is, work.poses and work.world are the forward kinematics of x.
    """
    nodes, frames, terms, data, variables = (
        problem.nodes,
        problem.frames,
        problem.terms,
        problem.data,
        problem.variables,
    )
    while True:
        place(nodes, frames, x, work.poses, work.world)
        outcome[EVALUATIONS] += 1.0
        error, hard, satisfied = measure(terms, data, work.world, x, memory[SOFTNESS], work.residual)
        remember(x, error if memory[ONLY_GUIDES] != 0.0 else hard, outcome, work)
        if (satisfied and memory[SOFTNESS] == 0.0) or spent(outcome, most, deadline, clock):
            return True
        memory[SWEEPS] += 1.0
        if memory[SWEEPS] < PATIENCE * 2.0 ** (outcome[ATTEMPTS] // DOUBLING):
            return False
        memory[SWEEPS] = 0.0
        share = GAIN if restarts and memory[SETTLING] == 0.0 else STANDSTILL
        moving = error < share * memory[LAST]
        memory[LAST] = error
        if moving:
            return False
        memory[LAST] = math.inf
        if memory[SOFTNESS] > 0.0:
            if satisfied:
                return True
            memory[SOFTNESS] = memory[SOFTNESS] * FADING if memory[SOFTNESS] > FAINTEST else 0.0
            return False
        if memory[NUDGED] == 0.0:
            memory[NUDGED] = 1.0
            nudge(x, variables)
        elif not restarts or memory[SETTLING] != 0.0:
            return True
        elif outcome[EVALUATIONS] >= most - most // LAST_PART:
            memory[SETTLING] = 1.0
            for k in range(x.size):
                x[k] = work.best[k]
        else:
            redraw(problem, x, state, work)
            outcome[ATTEMPTS] += 1.0
            memory[SOFTNESS] = memory[GUIDES]
