"""From the postures that a closed form offers to those that are solutions."""

from __future__ import annotations

import math

from memetik.kernels.compiler.jit import jit
from memetik.kernels.problem.budget import EVALUATIONS
from memetik.kernels.problem.evaluate import count_residuals
from memetik.kernels.problem.verify import REACHED, verify
from memetik.kernels.problem.workspace import carve

REPEATED = 3  # a solution that was offered before
SAME = 1e-5  # rad; offers nearer to each other are one, such as the two ways to bend an arm that is straight


@jit
def same(x, y, bounds):
    """Whether two postures are one, whole turns apart where they do not matter (bounds row 4)."""
    most = 0.0
    for k in range(x.size):
        off = x[k] - y[k]
        if bounds[4, k] != 0.0:
            off -= 2.0 * math.pi * round(off / (2.0 * math.pi))
        most = max(most, abs(off))
    return most <= SAME


@jit
def filter_candidates(
    nodes, frames, terms, data, bounds, spans, active, limits, q, offers, known, statuses, costs, verdicts, flags, clock,
    state, buffer, outcome,
):  # fmt: skip
    """Bring every row of `offers` near to the start q by whole turns and within the limits, and judge what it is then.

    statuses: that of each row, REPEATED for one that stands among the rows before it. The first `known` rows are
    solutions from before. costs: the distance of a solution from the start (the joint that moves most), else the sum of
    squares of the scaled errors. verdicts: the error of every term and whether it is satisfied.
    """
    n, count = active.size, terms.size
    work = carve(buffer, nodes.size, frames.size, n, count_residuals(terms), 0)
    for k in range(n):
        work.start[k] = q[active[k]]
    for r in range(known, offers.shape[0]):
        x = offers[r]
        errors, satisfied = verdicts[r, :count], verdicts[r, count:]
        status = verify(
            nodes, frames, terms, data, bounds, x, work.start, work.poses, work.world, work.residual, errors, satisfied
        )
        outcome[EVALUATIONS] += 1.0
        cost = 0.0
        if status == REACHED:
            for k in range(n):
                cost = max(cost, abs(x[k] - work.start[k]))
            for before in range(r):
                if statuses[before] == REACHED and same(x, offers[before], bounds):
                    status = REPEATED
        else:
            for t in range(count):
                cost += (terms[t].scale * errors[t]) ** 2
        statuses[r] = status
        costs[r] = cost
