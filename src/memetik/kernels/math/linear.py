"""Small dense linear algebra for one damped step.

Sums may be reassociated: no NaN or infinity enters here, and the same machine always adds in the same order. Indices are
unsigned where a loop does not start at zero: for a signed one Numba must allow for negative values, which count from the
end, and the loop is then not vectorised (three times slower, measured on the step of a humanoid).
"""

from __future__ import annotations

import math

import numpy as np

from memetik.kernels.compiler.jit import jit_fast

_ONE = np.uint64(1)


@jit_fast
def factorise(a, n):
    """Cholesky in place, lower triangle; the diagonal keeps the reciprocals. A lost pivot is replaced by a tiny one."""
    for i in range(n):
        for j in range(i):
            s = a[i, j]
            for k in range(j):
                s -= a[i, k] * a[j, k]
            a[i, j] = s * a[j, j]
        s = a[i, i]
        for k in range(i):
            s -= a[i, k] * a[i, k]
        a[i, i] = 1.0 / math.sqrt(max(s, 1e-30))


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


@jit_fast
def step_by_residuals(jacobian, spans, residual, springs, diagonal, free, damping, system, right, step):
    """Solve (J^T J + D + damping) step = -(J^T r + g) through a system as large as the residuals.

    For few residuals and many variables. `springs` is g, `diagonal` D; a variable with free 0 stays where it is. Row k of
    the transposed Jacobian is zero outside spans[k, 0] to spans[k, 1].
    With E = damping / (damping + D):  (damping + J E J^T) y = r - J (E / damping) g,  step = -E (g / damping + J^T y).
    """
    n, m = jacobian.shape[0], residual.size
    for i in range(m):
        right[i] = residual[i]
        for j in range(i + 1):
            system[i, j] = 0.0
        system[i, i] = damping
    for k in range(n):
        if free[k] == 0.0:
            continue
        ease = damping / (damping + diagonal[k])
        pull = springs[k] / (damping + diagonal[k])
        first, end = np.uint64(spans[k, 0]), np.uint64(spans[k, 1])
        for i in range(first, end):
            right[i] -= jacobian[k, i] * pull
            a = jacobian[k, i] * ease
            for j in range(first, i + _ONE):
                system[i, j] += a * jacobian[k, j]
    factorise(system, m)
    substitute(system, m, right)
    for k in range(n):
        if free[k] == 0.0:
            step[k] = 0.0
            continue
        s = 0.0
        for i in range(np.uint64(spans[k, 0]), np.uint64(spans[k, 1])):
            s += jacobian[k, i] * right[i]
        step[k] = -(damping * s + springs[k]) / (damping + diagonal[k])


@jit_fast
def step_by_variables(jacobian, spans, residual, springs, diagonal, free, damping, system, step):
    """The same step through a system as large as the variables, for many residuals."""
    n = jacobian.shape[0]
    for k in range(n):
        g = springs[k]
        for i in range(np.uint64(spans[k, 0]), np.uint64(spans[k, 1])):
            g += jacobian[k, i] * residual[i]
        step[k] = -g * free[k]
        for j in range(k + 1):
            s = 0.0
            if free[k] * free[j] != 0.0:
                first, end = max(spans[k, 0], spans[j, 0]), min(spans[k, 1], spans[j, 1])
                for i in range(np.uint64(first), np.uint64(max(first, end))):
                    s += jacobian[k, i] * jacobian[j, i]
            system[k, j] = s
        system[k, k] += diagonal[k] + damping
    factorise(system, n)
    substitute(system, n, step)
