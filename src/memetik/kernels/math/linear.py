"""Small dense linear algebra for one damped step.

Sums may be reassociated: no NaN or infinity enters here, and the same machine always adds in the same order. Indices are
unsigned where a loop does not start at zero: for a signed one Numba must allow for negative values, which count from the
end, and the loop is then not vectorised (three times slower, measured on the step of a humanoid).
"""

import math

import numpy as np

from memetik.kernels.compiler.jit import jit_fast

LOST = 1e-15  # a pivot that is a smaller share of its entry on the diagonal is what rounding has left


@jit_fast
def reciprocal_root(pivot, whole):
    """One over the root of a pivot, of which `whole` stood on the diagonal; zero if it is lost.

    So its unknown is zero in the solution: a system of lower rank has one without that unknown. A tiny pivot in its place
    would make the solution overflow. A kernel of its own, which straight-line code can choose in (cuda/trace.py).
    """
    return 1.0 / math.sqrt(pivot) if pivot > LOST * whole else 0.0


@jit_fast
def factorise(a, n):
    """Cholesky in place, lower triangle; the diagonal keeps the reciprocals, zero for a pivot that is lost."""
    for i in range(n):
        for j in range(i):
            s = a[i, j]
            for k in range(j):
                s -= a[i, k] * a[j, k]
            a[i, j] = s * a[j, j]
        s = whole = a[i, i]
        for k in range(i):
            s -= a[i, k] * a[i, k]
        a[i, i] = reciprocal_root(s, whole)


@jit_fast
def substitute(a, n, b):
    """Solve L L^T b = b in place; both ways run along the rows of L."""
    for i in range(n):
        s = b[i]
        for k in range(i):
            s -= a[i, k] * b[k]
        b[i] = s * a[i, i]
    for back in range(n):
        last = np.uint64(n - 1 - back)
        b[last] *= a[last, last]
        for k in range(last):
            b[k] -= a[last, k] * b[last]
