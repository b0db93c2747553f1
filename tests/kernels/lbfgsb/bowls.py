"""Functions to minimise, with their gradients: (f, gradient) of x."""

from __future__ import annotations

import numpy as np
from scipy.optimize import rosen, rosen_der


def rosenbrock(x):
    """A curved valley; the minimum, 0, at ones."""
    return rosen(x), rosen_der(x)


def beale(x):
    """Two variables, sharp corners; the minimum, 0, at (3, 0.5)."""
    a, b = x
    residual = np.array([1.5 - a + a * b, 2.25 - a + a * b**2, 2.625 - a + a * b**3])
    by_a = np.array([b - 1.0, b**2 - 1.0, b**3 - 1.0])
    by_b = np.array([a, 2.0 * a * b, 3.0 * a * b**2])
    return residual @ residual, 2.0 * np.array([residual @ by_a, residual @ by_b])


def powell(x):
    """Powell's singular function, in fours: no curvature at the minimum, 0, at zeros."""
    a, b, c, d = x.reshape(-1, 4).T
    p, q, r, s = a + 10.0 * b, c - d, b - 2.0 * c, a - d
    by = (2.0 * p + 40.0 * s**3, 20.0 * p + 4.0 * r**3, 10.0 * q - 8.0 * r**3, -10.0 * q - 40.0 * s**3)
    return float(np.sum(p**2 + 5.0 * q**2 + r**4 + 10.0 * s**4)), np.stack(by, axis=1).ravel()


def styblinski_tang(x):
    """A double well in each variable."""
    return 0.5 * np.sum(x**4 - 16.0 * x**2 + 5.0 * x), 2.0 * x**3 - 16.0 * x + 2.5


def quadratic(n, condition=1e4, seed=0):
    """An ellipsoid along no axis; `condition` is how much longer than wide it is, squared."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(n, n)))[0]
    H = axes @ np.diag(np.geomspace(1.0, condition, n)) @ axes.T
    b = H @ rng.uniform(-2.0, 2.0, n)
    return lambda x: (0.5 * x @ H @ x - b @ x, H @ x - b)


def exponentials(n, seed=0):
    """A sum of exponentials of as many linear functions, and a pull: convex, and steep on one side."""
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(2 * n, n)) / np.sqrt(n), rng.normal(size=n)

    def function(x):
        e = np.exp(A @ x)
        return e.sum() + 0.5 * x @ x + b @ x, A.T @ e + x + b

    return function
