"""One damped step, solved by numpy on the free variables alone."""

from __future__ import annotations

import numpy as np


def damped_step(jacobian, residual, springs, diagonal, free, damping):
    """Solve (J^T J + D + damping) step = -(J^T r + g) for the variables that are free; the others stay.

    `jacobian` is J transposed: (variables, residuals).
    """
    moving = np.flatnonzero(free)
    J = jacobian[moving].T
    normal = J.T @ J + np.diag(diagonal[moving] + damping)
    step = np.zeros(len(free))
    step[moving] = -np.linalg.solve(normal, J.T @ residual + springs[moving])
    return step


def held(x, lower, upper, uphill):
    """Which variables a limit holds: those at a limit that going downhill would push through it."""
    return ((x <= lower) & (uphill >= 0.0)) | ((x >= upper) & (uphill <= 0.0))


def as_residuals(jacobian, residual, springs, diagonal, free):
    """A and b of |b + A step|^2: the springs become residuals of their own, held variables columns of zeros."""
    stiff = np.sqrt(diagonal)
    A = np.vstack([jacobian.T, np.diag(stiff)]) * free
    b = np.concatenate([residual, np.divide(springs, stiff, out=np.zeros(len(stiff)), where=stiff > 0.0)])
    return A, b


def transpose_step(A, b):
    """-alpha A^T b with alpha = <b, A A^T b> / <A A^T b, A A^T b>."""
    back = A @ A.T @ b
    return -(b @ back) / (back @ back) * A.T @ b


def svd_dls_step(A, b, damping, singular):
    """1 / sigma becomes sigma / (sigma^2 + lambda^2), with a lambda that grows from 0 at `singular` to full at 0."""
    left, sigma, right = np.linalg.svd(A, full_matrices=False)
    square = damping**2 * np.maximum(0.0, 1.0 - (sigma / singular) ** 2)
    return -right.T @ (sigma / (sigma**2 + square) * (left.T @ b))


def sdls_step(A, b, targets, gamma):
    """Buss and Kim (2005), each direction by itself; `targets` are the rows of A that belong together."""
    left, sigma, right = np.linalg.svd(A, full_matrices=False)
    step = np.zeros(A.shape[1])
    for u, s, v in zip(left.T, sigma, right, strict=True):
        if s < 1e-10:
            continue
        N = sum(np.linalg.norm(u[rows]) for rows in targets)
        M = sum(abs(v[j]) * np.linalg.norm(A[rows, j]) for rows in targets for j in range(A.shape[1])) / s
        step -= clamp((u @ b) / s * v, gamma * min(1.0, N / M))
    return clamp(step, gamma)


def clamp(step, most):
    """Scaled so that no entry is larger than `most`."""
    return step * min(1.0, most / max(np.abs(step).max(), 1e-300))
