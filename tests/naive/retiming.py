"""The exact extremes of a retimed path, by polynomials of SciPy, and its least time by toppra."""

import numpy as np
import toppra
from scipy.interpolate import CubicHermiteSpline, PPoly
from toppra.interpolator import AbstractGeometricPath

toppra.setup_logging("ERROR")


def _product(*factors):
    """Of polynomials (degree + 1, pieces), highest power first."""
    result = factors[0]
    for factor in factors[1:]:
        wide = np.zeros((len(result) + len(factor) - 1, result.shape[1]))
        for i, row in enumerate(result):
            wide[i : i + len(factor)] += row * factor
        result = wide
    return result


def _roots(breaks, coefficients):
    """Where a polynomial by pieces (degree + 1, pieces) is zero, within its pieces."""
    roots = PPoly(coefficients, breaks).roots(discontinuity=False, extrapolate=False)
    return roots[np.isfinite(roots)]


def _candidates(breaks, coefficients, at):
    """The values at these points, and at both ends of every piece."""
    h = np.diff(breaks)
    ends = [coefficients[-1], sum(row * h**k for k, row in enumerate(coefficients[::-1]))]
    return np.concatenate([*ends, PPoly(coefficients, breaks)(at)])


def extremes(trajectory):
    """Of each joint: the least and the greatest position, the greatest speed and the greatest acceleration (dof, 4).

    With s a quadratic in time, ds/dt squared is x = x0 + 2 u (s - s0), so q'^2 x and q' u + q'' x are polynomials in s.
    """
    timing = trajectory.timing
    s, h = timing.s, np.diff(timing.s)
    x = timing.speed**2
    u = np.diff(x) / (2.0 * h)
    squared = np.stack([2.0 * u, x[:-1]])
    rows = []
    for values, slopes in zip(timing.spline.values.T, timing.spline.slopes.T, strict=True):
        spline = CubicHermiteSpline(timing.spline.knots, values, slopes)
        middle = 0.5 * (s[1:] + s[:-1])  # of each part, where it is clear which piece counts
        q, first, second, third = (spline(middle, k) for k in range(4))
        back = -0.5 * h
        second0 = second + back * third
        first0 = first + back * (second + back * third / 2.0)
        q0 = q + back * (first + back * (second / 2.0 + back * third / 6.0))
        slope = np.stack([third / 2.0, second0, first0])
        bend = np.stack([third, second0])
        hard = _product(bend, squared)
        hard += slope * u
        course = np.stack([third / 6.0, second0 / 2.0, first0, q0])
        positions = _candidates(s, course, _roots(s, slope))
        # The speed is greatest where its derivative by s, the acceleration over the root of x, is zero.
        speeds = _candidates(s, _product(slope, slope, squared), _roots(s, hard))
        accelerations = _candidates(s, hard, _roots(s, np.stack([2.0 * hard[0], hard[1]])))
        fast, hardest = np.sqrt(max(speeds.max(), 0.0)), np.abs(accelerations).max()
        rows.append((positions.min(), positions.max(), fast, hardest))
    return np.array(rows)


class _Path(AbstractGeometricPath):
    """A spline of ours as toppra asks for it."""

    def __init__(self, spline):
        self._orders = [CubicHermiteSpline(spline.knots, spline.values, spline.slopes)]
        self._orders += [self._orders[0].derivative(k) for k in (1, 2)]

    def __call__(self, positions, order=0):
        return self._orders[order](positions)

    @property
    def dof(self):
        return self._orders[0].c.shape[2]

    @property
    def path_interval(self):
        return self._orders[0].x[[0, -1]]

    @property
    def waypoints(self):
        return self._orders[0].x, self._orders[0](self._orders[0].x)


def toppra_duration(spline, grid, velocity, acceleration):
    """By toppra on the same path, planned at the same points; None where it finds nothing."""
    limits = [
        toppra.constraint.JointVelocityConstraint(np.stack([-velocity, velocity], axis=1)),
        toppra.constraint.JointAccelerationConstraint(np.stack([-acceleration, acceleration], axis=1)),
    ]
    instance = toppra.algorithm.TOPPRA(
        limits, _Path(spline), gridpoints=grid, parametrizer="ParametrizeConstAccel", solver_wrapper="seidel"
    )
    trajectory = instance.compute_trajectory()
    return None if trajectory is None else trajectory.duration
