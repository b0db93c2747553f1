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
