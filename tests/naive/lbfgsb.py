"""Twins of the parts of L-BFGS-B: a dense Hessian, a walk along the projected gradient, a solve over the free variables."""

from __future__ import annotations

import numpy as np


def hessian(steps, changes, theta):
    """The BFGS matrix: theta I updated by one pair after the other, oldest first."""
    B = theta * np.eye(len(steps[0]))
    for s, y in zip(steps, changes, strict=True):
        B += np.outer(y, y) / (y @ s) - np.outer(B @ s, B @ s) / (s @ B @ s)
    return B


def model(B, gradient, x, point):
    """What the quadratic model gains from x to a point."""
    d = point - x
    return gradient @ d + 0.5 * d @ B @ d


def projected(x, lower, upper, gradient, t):
    """x(t), the point of the projected gradient path."""
    return np.clip(x - t * gradient, lower, upper)


def cauchy_point(B, x, lower, upper, gradient):
    """The first local minimum of the model along x(t), one straight piece of the path after the other."""
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = np.where(gradient < 0.0, upper, lower)
        times = np.where(gradient == 0.0, np.inf, (x - bound) / gradient)
    time = 0.0
    for end in [*sorted(set(times[(times > 0.0) & np.isfinite(times)])), np.inf]:
        point = projected(x, lower, upper, gradient, time)
        direction = np.where(times > time, -gradient, 0.0)
        slope = direction @ (gradient + B @ (point - x))
        if slope >= 0.0 or not direction.any():
            break
        step = -slope / (direction @ B @ direction)
        if time + step < end:
            return projected(x, lower, upper, gradient, time + step)
        time = end
    return projected(x, lower, upper, gradient, time)


def subspace_minimum(B, x, gradient, point, free):
    """The minimum of the model over the free variables, the others as they are at `point`; bounds do not count."""
    found = point.copy()
    slope = gradient + B @ (point - x)
    found[free] -= np.linalg.solve(B[np.ix_(free, free)], slope[free])
    return found
