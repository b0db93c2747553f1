"""The singular value decomposition of a linear model: independent directions of motion, each with its own effect.

With the springs as residuals of their own, sqrt(D_k) s_k + g_k / sqrt(D_k) for each variable k, the model is |b + A s|^2 and

    A = sum_i sigma_i left_i right_i^T        a step of 1 / sigma_i along right_i moves the errors by 1 along left_i

so all steps of this family are s = -sum_i f(sigma_i) (left_i·b) right_i and differ in f alone.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.svd import decompose


class Directions(NamedTuple):
    """c directions of a model with n variables and h residuals, those of springs last."""

    sigma: np.ndarray  # (c,) effect, in no order
    wrong: np.ndarray  # (c,) left_i·b, the error along each
    left: np.ndarray  # (c, h) in the space of residuals
    right: np.ndarray  # (c, n) in the space of variables


def size(n: int, residuals: int, springs: bool) -> int:
    """How many numbers the directions need; `springs` says whether any term has them."""
    height = residuals + (n if springs else 0)
    count = min(height, n)
    return count * (2 + height + n)


@jit
def directions(room, work):
    """Decompose the model in the workspace, in `room`; held variables take no part."""
    n, m = work.step.size, work.residual.size
    height = m
    for k in range(n):
        if work.diagonal[k] > 0.0:
            height = m + n
    count = min(height, n)
    at = 2 * count
    sigma, wrong = room[:count], room[count:at]
    left = room[at : at + count * height].reshape((count, height))
    at += count * height
    right = room[at : at + count * n].reshape((count, n))
    if height < n:  # the vectors that are turned are the rows of A, else its columns
        for i in range(m):
            for k in range(n):
                right[i, k] = work.jacobian[k, i] * work.free[k]
        decompose(right, left, sigma)
    else:
        for k in range(n):
            for i in range(m):
                left[k, i] = work.jacobian[k, i] * work.free[k]
            for i in range(m, height):
                left[k, i] = 0.0
            if height > m:
                left[k, m + k] = math.sqrt(work.diagonal[k]) * work.free[k]
        decompose(left, right, sigma)
    for i in range(count):
        wrong[i] = 0.0
        for j in range(m):
            wrong[i] += left[i, j] * work.residual[j]
        for j in range(m, height):
            if work.diagonal[j - m] > 0.0:
                wrong[i] += left[i, j] * work.gradient[j - m] / math.sqrt(work.diagonal[j - m])
    return Directions(sigma, wrong, left, right)


@jit_part
def combine(directions, work):
    """Write work.step = -sum_i wrong_i right_i, once `wrong` has been multiplied by f."""
    for k in range(work.step.size):
        total = 0.0
        for i in range(directions.sigma.size):
            total += directions.wrong[i] * directions.right[i, k]
        work.step[k] = -total
