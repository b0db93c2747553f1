"""Systems whose entries all lie near the diagonal: Cholesky within the band.

Row p of `band` holds the entries (p, p), (p, p - 1), ... of the lower triangle, as many as the band is wide.
"""

import math

from memetik.kernels.compiler.jit import jit_fast


@jit_fast
def solve_banded(band, right):
    """Solve A x = right for a positive definite A, in place of both; a lost pivot is replaced by a tiny one."""
    size, wide = band.shape
    for p in range(size):
        for j in range(max(0, p - wide + 1), p):
            s = band[p, p - j]
            for k in range(max(0, p - wide + 1), j):
                s -= band[p, p - k] * band[j, j - k]
            band[p, p - j] = s * band[j, 0]
        s = band[p, 0]
        for k in range(max(0, p - wide + 1), p):
            s -= band[p, p - k] * band[p, p - k]
        band[p, 0] = 1.0 / math.sqrt(max(s, 1e-30))
    for p in range(size):
        s = right[p]
        for k in range(max(0, p - wide + 1), p):
            s -= band[p, p - k] * right[k]
        right[p] = s * band[p, 0]
    for back in range(size):
        p = size - 1 - back
        right[p] *= band[p, 0]
        for k in range(max(0, p - wide + 1), p):
            right[k] -= band[p, p - k] * right[p]
