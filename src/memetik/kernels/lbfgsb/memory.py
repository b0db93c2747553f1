"""The quadratic model of L-BFGS-B: curvature from the last few steps, in compact form (Byrd, Nocedal, Schnabel 1994).

A pair is a step s and the change y of the gradient along it. A pair and its multiples tell the same, so each is kept
scaled to s . y = 1. With the pairs as columns of S and Y, in the order of their age,

    B = theta I - W M W^T,    W = [Y S],    M^-1 = [ -I         L^T / theta    ]
                                                   [ L / theta  S^T S / theta  ]

where S^T Y = L + I + R, L where the step is newer than the change, R where it is older, and theta = y . y of the newest
pair. Products with M eliminate its first half, which leaves theta S^T S + L L^T, positive definite.

The pairs lie in a ring of slots. No formula above depends on the order of the slots, only on which of two is newer, so a
new pair overwrites the oldest and nothing is moved. A vector as long as W is wide has the changes in its first `memory`
places and the steps behind them, `count` of each in use.
"""

from memetik.kernels.compiler.jit import jit_fast
from memetik.kernels.math.symmetric import decompose, eliminate, substitute_back


@jit_fast
def store_pair(line, scale, model):
    """Put the step from line.origin to line.x into the next slot, times `scale`; theta is that of this pair then."""
    x, origin, gradient, before = line.x, line.origin, line.gradient, line.before
    pairs, older, newer, steps, changes = model.pairs, model.older, model.newer, model.steps, model.changes
    known, memory = model.known[0], older.shape[0]
    slot, count = known.next, min(known.count + 1, memory)
    known.next, known.count = (slot + 1) % memory, count
    y, s = pairs[slot], pairs[memory + slot]
    for k in range(x.size):
        y[k] = scale * (gradient[k] - before[k])
        s[k] = scale * (x[k] - origin[k])
    for j in range(count):
        step_change, change_step, step_step, change_change = 0.0, 0.0, 0.0, 0.0
        for k in range(x.size):
            step_change += s[k] * pairs[j, k]
            change_step += y[k] * pairs[memory + j, k]
            step_step += s[k] * pairs[memory + j, k]
            change_change += y[k] * pairs[j, k]
        older[slot, j], older[j, slot] = step_change, 0.0
        newer[slot, j], newer[j, slot] = change_step, 0.0
        steps[slot, j] = steps[j, slot] = step_step
        changes[slot, j] = changes[j, slot] = change_change
    older[slot, slot] = newer[slot, slot] = 0.0
    known.theta = changes[slot, slot]


@jit_fast
def decompose_middle(model):
    """Prepare for products with M. Returns whether rounding let it."""
    older, steps, middle = model.older, model.steps, model.middle
    theta, count = model.known[0].theta, model.known[0].count
    for i in range(count):
        for j in range(i + 1):
            total = theta * steps[i, j]
            for k in range(count):
                total += older[i, k] * older[j, k]
            middle[j, i] = total
    return decompose(middle, count, 0, 0)


@jit_fast
def multiply_middle(model, vector):
    """vector = M vector, in place: u = (theta S^T S + L L^T)^-1 (theta v2 + L v1), then (L^T u - v1, theta u)."""
    older, middle, memory = model.older, model.middle, model.older.shape[0]
    theta, count = model.known[0].theta, model.known[0].count
    first, last = vector[:memory], vector[memory:]
    for i in range(count):
        total = theta * last[i]
        for j in range(count):
            total += older[i, j] * first[j]
        last[i] = total
    eliminate(middle, count, last)
    substitute_back(middle, count, last)
    for j in range(count):
        first[j] = -first[j]
    for i in range(count):
        for j in range(count):
            first[j] += older[i, j] * last[i]
    for i in range(count):
        last[i] *= theta


@jit_fast
def project(model, vector, out):
    """out = W^T vector."""
    pairs, count, memory = model.pairs, model.known[0].count, model.older.shape[0]
    for j in range(count):
        change, step = 0.0, 0.0
        for k in range(vector.size):
            change += pairs[j, k] * vector[k]
            step += pairs[memory + j, k] * vector[k]
        out[j], out[memory + j] = change, step


@jit_fast
def add_product(model, vector, out):
    """out += W vector."""
    pairs, count, memory = model.pairs, model.known[0].count, model.older.shape[0]
    for j in range(count):
        change, step = vector[j], vector[memory + j]
        for k in range(out.size):
            out[k] += change * pairs[j, k] + step * pairs[memory + j, k]


@jit_fast
def dot_used(model, a, b):
    """a . b of two vectors as long as W is wide."""
    memory = model.older.shape[0]
    total = 0.0
    for j in range(model.known[0].count):
        total += a[j] * b[j] + a[memory + j] * b[memory + j]
    return total


@jit_fast
def add_used(model, share, a, b):
    """b += share * a."""
    memory = model.older.shape[0]
    for j in range(model.known[0].count):
        b[j] += share * a[j]
        b[memory + j] += share * a[memory + j]
