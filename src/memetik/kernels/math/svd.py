"""Singular values of small matrices by one-sided Jacobi rotations (Hestenes 1958): short, accurate, no allocation.

    A = sum_i sigma_i left_i right_i^T

The rows of A are turned in pairs, each pair in its own plane by the angle that makes the two orthogonal, until all are.
The lengths of the rows are then the singular values, their directions the right singular vectors, and the turns, applied
to the identity as well, the left ones. Fed with the columns of A instead, left and right change places; the fewer the
vectors the less there is to do, so take the shorter side.
"""

import math

from memetik.kernels.compiler.jit import jit_fast

SWEEPS = 30  # over all pairs; six to ten do, so this is never reached but by numbers that are not finite
ORTHOGONAL = 1e-15  # cosine between two vectors that counts as a right angle


@jit_fast
def decompose(vectors, turns, sigma):
    """Decompose the matrix whose rows are `vectors` (c, l), in place; sigma (c,) is not sorted.

    Afterwards the rows of `vectors` and of `turns` (c, c) are unit singular vectors of either side. A singular value of
    zero leaves the row of `vectors` at zero; that of `turns` is a unit vector all the same.
    """
    count, length = vectors.shape
    for i in range(count):
        for j in range(count):
            turns[i, j] = 0.0
        turns[i, i] = 1.0
    for _ in range(SWEEPS):
        for i in range(count):  # squared lengths, kept up to date through a sweep
            sigma[i] = 0.0
            for k in range(length):
                sigma[i] += vectors[i, k] * vectors[i, k]
        turned = False
        for i in range(count - 1):
            for j in range(i + 1, count):
                dot = 0.0
                for k in range(length):
                    dot += vectors[i, k] * vectors[j, k]
                if dot * dot <= ORTHOGONAL * ORTHOGONAL * max(
                    sigma[i] * sigma[j], 0.0
                ):  # rounding can leave less than 0
                    continue
                turned = True
                # tan of the smaller of the two angles that make them orthogonal
                half = (sigma[j] - sigma[i]) / (2.0 * dot)
                tangent = 1.0 / (abs(half) + math.sqrt(1.0 + half * half))
                if half < 0.0:
                    tangent = -tangent
                cosine = 1.0 / math.sqrt(1.0 + tangent * tangent)
                sine = cosine * tangent
                sigma[i] -= tangent * dot
                sigma[j] += tangent * dot
                for k in range(length):
                    a, b = vectors[i, k], vectors[j, k]
                    vectors[i, k] = cosine * a - sine * b
                    vectors[j, k] = sine * a + cosine * b
                for k in range(count):
                    a, b = turns[i, k], turns[j, k]
                    turns[i, k] = cosine * a - sine * b
                    turns[j, k] = sine * a + cosine * b
        if not turned:
            break
    for i in range(count):
        square = 0.0
        for k in range(length):
            square += vectors[i, k] * vectors[i, k]
        sigma[i] = math.sqrt(square)
        scale = 1.0 / sigma[i] if sigma[i] > 0.0 else 0.0
        for k in range(length):
            vectors[i, k] *= scale
