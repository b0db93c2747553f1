"""Small strictly convex quadratic programs, by the dual active-set method of Goldfarb and Idnani (1983).

    minimise  (v - v0)^T H (v - v0) / 2        subject to  a_i v >= b_i  for each row,  low <= v <= high

From the unconstrained minimum v0, one violated constraint after another is added, and others are dropped where their multipliers
would become negative. Rows may be missed at a price, the reciprocal of `give`, so a program is feasible whenever its bounds are:
what cannot be had is missed by as little as the bounds allow. Rows that yield have a far lower price: they are missed before any
other is.
"""

import math

from memetik.kernels.compiler.jit import jit, jit_part

MISSED = 1e-9  # by which a row or a bound may be missed
TINY = 1e-14
GIVE, YIELDING = 1e-10, 1e-4  # of a row, and of one that yields, as shares of a H^-1 a


@jit
def invert(matrix, inverse):
    """Write the inverse of a symmetric positive definite matrix, which is overwritten by its Cholesky factor."""
    n = matrix.shape[0]
    for j in range(n):
        total = matrix[j, j]
        for k in range(j):
            total -= matrix[j, k] * matrix[j, k]
        matrix[j, j] = math.sqrt(max(total, TINY))
        for i in range(j + 1, n):
            total = matrix[i, j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = total / matrix[j, j]
    for c in range(n):
        for i in range(c, n):
            total = 1.0 if i == c else 0.0
            for k in range(c, i):
                total -= matrix[i, k] * inverse[k, c]
            inverse[i, c] = total / matrix[i, i]
        for i in range(n - 1, c - 1, -1):
            total = inverse[i, c]
            for k in range(i + 1, n):
                total -= matrix[k, i] * inverse[k, c]
            inverse[i, c] = total / matrix[i, i]
    for i in range(n):
        for c in range(i + 1, n):
            inverse[i, c] = inverse[c, i]


@jit_part
def slack_of(qp, count, i):
    """By how much constraint i is kept, below zero if it is missed; what an active row gives way counts as kept."""
    n = qp.v.size
    if i < count:
        total = -qp.limits[i]
        for k in range(n):
            total += qp.rows[i, k] * qp.v[k]
        return total + qp.give[i] * qp.multiplier[i]
    k, upper = (i - count) // 2, (i - count) % 2
    return qp.high[k] - qp.v[k] if upper else qp.v[k] - qp.low[k]


@jit_part
def most_violated(qp, count):
    """The constraint that is missed most of those that are not active, -1 if none is."""
    worst, least = -1, -MISSED
    for i in range(count + 2 * qp.v.size):
        if qp.is_active[i]:
            continue
        slack = slack_of(qp, count, i)
        if slack < least:
            worst, least = i, slack
    return worst


@jit_part
def solved_normal(qp, count, i, out):
    """Write H^-1 a for constraint i into a row of `out`. Returns a H^-1 a."""
    n, inverse = qp.v.size, qp.inverse
    if i >= count:
        k, upper = (i - count) // 2, (i - count) % 2
        sign = -1.0 if upper else 1.0
        for j in range(n):
            out[j] = sign * inverse[j, k]
        return inverse[k, k]
    square = 0.0
    for j in range(n):
        total = 0.0
        for k in range(n):
            total += inverse[j, k] * qp.rows[i, k]
        out[j] = total
        square += total * qp.rows[i, j]
    return square


@jit_part
def along_normal(qp, count, i, x):
    """a x for constraint i."""
    if i >= count:
        k, upper = (i - count) // 2, (i - count) % 2
        return -x[k] if upper else x[k]
    total = 0.0
    for k in range(x.size):
        total += qp.rows[i, k] * x[k]
    return total


@jit_part
def solve_gram(qp, count, active, p):
    """Solve (N^T H^-1 N + give) r = N^T H^-1 a for the active constraints and the normal of constraint p, into qp.r."""
    gram, r = qp.gram, qp.r
    for s in range(active):
        i = qp.active[s]
        for t in range(s + 1):
            gram[s, t] = along_normal(qp, count, i, qp.solved[t])
        if i < count:
            gram[s, s] += qp.give[i]
        r[s] = along_normal(qp, count, i, qp.normal)
    for j in range(active):
        total = gram[j, j]
        for k in range(j):
            total -= gram[j, k] * gram[j, k]
        gram[j, j] = math.sqrt(max(total, TINY))
        for i in range(j + 1, active):
            total = gram[i, j]
            for k in range(j):
                total -= gram[i, k] * gram[j, k]
            gram[i, j] = total / gram[j, j]
        total = r[j]
        for k in range(j):
            total -= gram[j, k] * r[k]
        r[j] = total / gram[j, j]
    for j in range(active - 1, -1, -1):
        total = r[j]
        for k in range(j + 1, active):
            total -= gram[k, j] * r[k]
        r[j] = total / gram[j, j]


@jit_part
def drop(qp, active, s):
    """Take the active constraint at place s out."""
    gone = qp.active[s]
    qp.is_active[gone], qp.multiplier[gone] = 0, 0.0
    for t in range(s, active - 1):
        qp.active[t] = qp.active[t + 1]
        for k in range(qp.v.size):
            qp.solved[t, k] = qp.solved[t + 1, k]


@jit_part
def add(qp, count, active, p, budget):
    """Keep constraint p, dropping others where their multipliers would become negative. Returns how many are active, -1 if
    the budget of steps ran out."""
    n = qp.v.size
    square = solved_normal(qp, count, p, qp.normal)
    if p < count:
        qp.give[p] = (YIELDING if qp.yields[p] else GIVE) * square + TINY
    while budget > 0:
        budget -= 1
        solve_gram(qp, count, active, p)
        for k in range(n):
            qp.z[k] = qp.normal[k]
        for s in range(active):
            for k in range(n):
                qp.z[k] -= qp.r[s] * qp.solved[s, k]
        ease = along_normal(qp, count, p, qp.z) + (qp.give[p] if p < count else 0.0)
        slack = slack_of(qp, count, p)
        full = -slack / ease if ease > TINY * square else math.inf
        step, blocking = full, -1
        for s in range(active):
            if qp.r[s] > 0.0 and qp.multiplier[qp.active[s]] < step * qp.r[s]:
                step, blocking = qp.multiplier[qp.active[s]] / qp.r[s], s
        if step == math.inf:
            return active  # a bound that contradicts others: rounding only
        for k in range(n):
            qp.v[k] += step * qp.z[k]
        for s in range(active):
            qp.multiplier[qp.active[s]] -= step * qp.r[s]
        qp.multiplier[p] += step
        if blocking < 0:
            if active == qp.active.size:
                return active
            qp.active[active], qp.is_active[p] = p, 1
            for k in range(n):
                qp.solved[active, k] = qp.normal[k]
            return active + 1
        drop(qp, active, blocking)
        active -= 1
    return -1


@jit
def solve_program(qp, count):
    """Solve the program with so many rows: v holds v0, and then the solution. Returns how many constraints are active."""
    for i in range(count + 2 * qp.v.size):
        qp.is_active[i], qp.multiplier[i] = 0, 0.0
    active, most = 0, 4 * (qp.v.size + 4)
    for _ in range(most):
        p = most_violated(qp, count)
        if p < 0:
            break
        after = add(qp, count, active, p, most)
        if after < 0:
            break
        active = after
    for k in range(qp.v.size):
        qp.v[k] = min(max(qp.v[k], qp.low[k]), qp.high[k])
    return active
