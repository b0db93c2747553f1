"""The quadratic model of L-BFGS-B: curvature from the last few steps, in compact form (Byrd, Nocedal, Schnabel 1994).

A pair is a step s and the change y of the gradient along it. A pair and its multiples tell the same, so each is stored
scaled to s . y = 1. With the pairs as columns of S and Y, in the order of their age,

    B = theta I - W M W^T,    W = [Y S],    M^-1 = [ -I         L^T / theta    ]
                                                   [ L / theta  S^T S / theta  ]

L is the part of S^T Y where the step is newer than the change, R the rest of it, theta = y . y of the newest pair.
Eliminating the first half leaves theta S^T S + L L^T, positive definite, whose Cholesky factor is kept.

The pairs lie in a ring of slots. No formula above depends on the order of the slots, only on which of two is newer, so a
new pair overwrites the oldest and nothing is moved.
"""

from __future__ import annotations

from memetik.kernels.jit import jit_fast
from memetik.kernels.linear import factorise, substitute

LOST = 1e7  # reciprocal of a Cholesky pivot beyond which rounding has eaten the matrix


@jit_fast
def store_pair(pairs, slot, count, memory, scale, x, origin, gradient, before, older, newer, overlap):
    """Put the step from `origin` to `x` into a slot, scaled; `count` pairs are stored then. Returns theta."""
    for j in range(count):
        older[slot, j] = older[j, slot] = 0.0
        newer[slot, j] = newer[j, slot] = 0.0
        overlap[slot, j] = 0.0
    theta = 0.0
    for k in range(x.size):
        s = scale * (x[k] - origin[k])
        y = scale * (gradient[k] - before[k])
        theta += y * y
        pairs[k, slot], pairs[k, memory + slot] = y, s
        for j in range(count):
            older[slot, j] += s * pairs[k, j]
            newer[j, slot] += y * pairs[k, memory + j]
            overlap[slot, j] += s * pairs[k, memory + j]
    for j in range(count):
        overlap[j, slot] = overlap[slot, j]
    older[slot, slot] = 0.0
    return theta


@jit_fast
def factorise_middle(theta, count, older, overlap, middle):
    """The Cholesky factor of theta S^T S + L L^T. Returns whether it can be trusted."""
    for i in range(count):
        for j in range(i + 1):
            total = theta * overlap[i, j]
            for k in range(count):
                total += older[i, k] * older[j, k]
            middle[i, j] = total
    return factorise_surely(middle, count)


@jit_fast
def factorise_surely(matrix, count):
    """Cholesky in place. Returns whether no pivot was lost."""
    factorise(matrix, count)
    for i in range(count):
        if not matrix[i, i] < LOST:
            return False
    return True


@jit_fast
def multiply_middle(theta, count, memory, older, middle, vector):
    """vector = M vector, in place: u = (theta S^T S + L L^T)^-1 (theta v2 + L v1), then (L^T u - v1, theta u)."""
    for i in range(count):
        total = theta * vector[memory + i]
        for j in range(count):
            total += older[i, j] * vector[j]
        vector[memory + i] = total
    substitute(middle, count, vector[memory:])
    for i in range(count):
        vector[i] = -vector[i]
    for j in range(count):
        u = vector[memory + j]
        for i in range(count):
            vector[i] += older[j, i] * u
        vector[memory + j] = theta * u


@jit_fast
def dot_row(pairs, k, count, memory, vector):
    """Row k of W times a vector."""
    total = 0.0
    for j in range(count):
        total += pairs[k, j] * vector[j] + pairs[k, memory + j] * vector[memory + j]
    return total

