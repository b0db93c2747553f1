"""Small symmetric systems that need not be positive definite, solved without square roots or exchanges.

For matrices of the form [-P Q^T; Q N], with P positive definite and N + Q P^-1 Q^T too: negative pivots come first, then
positive ones, and no order of elimination can fail except by rounding. Only the upper triangle is read. Elimination runs
along rows, whose updates do not wait for each other.
"""

import numpy as np

from memetik.kernels.compiler.jit import jit_fast

LEAST_PIVOT = 1e-14  # for matrices whose entries are around one: below this a pivot is rounding

_ONE = np.uint64(1)


@jit_fast
def decompose(a, n, negative, right):
    """Eliminate below the diagonal of the upper triangle; it keeps D U of A = U^T D U, the diagonal 1 / D.

    `right` more columns, right sides, are carried along: `substitute_back` finds their solutions. The first `negative`
    pivots should be negative. Returns whether each has the right sign and is not lost in rounding.
    """
    end, wide = np.uint64(n), np.uint64(n + right)
    sound = True
    for p in range(end):
        pivot = a[p, p]
        sound = sound and (-pivot if p < negative else pivot) > LEAST_PIVOT
        reciprocal = 1.0 / pivot
        a[p, p] = reciprocal
        for i in range(p + _ONE, end):
            share = a[p, i] * reciprocal
            for j in range(i, wide):
                a[i, j] -= share * a[p, j]
    return sound


@jit_fast
def eliminate(a, n, b):
    """Carry a right side through an elimination that is done."""
    end = np.uint64(n)
    for p in range(end):
        share = b[p] * a[p, p]
        for i in range(p + _ONE, end):
            b[i] -= share * a[p, i]


@jit_fast
def substitute_back(a, n, b):
    """From a right side that was carried through the elimination to the solution, in place."""
    end = np.uint64(n)
    for back in range(end):
        p = end - _ONE - back
        total = b[p]
        for i in range(p + _ONE, end):
            total -= a[p, i] * b[i]
        b[p] = total * a[p, p]
