"""Quadratic programs of the servo, against SciPy."""

import numpy as np
import pytest
from scipy.optimize import minimize

from memetik.kernels.runtime.record import allocate
from memetik.kernels.servo.quadratic_program import invert, solve_program
from memetik.kernels.servo.record import ProgramArrays


def program(rng, n, rows):
    """A random program whose unconstrained minimum misses some rows and bounds."""
    sizes = {"variables": n, "rows": rows, "constraints": rows + 2 * n, "active": n + rows}
    qp = allocate(ProgramArrays, sizes)
    root = rng.normal(size=(n, n))
    hessian = root @ root.T + 0.1 * np.eye(n)
    qp.rows[:], qp.limits[:] = rng.normal(size=(rows, n)), rng.normal(-0.3, 0.5, rows)
    qp.low[:], qp.high[:] = -rng.uniform(0.5, 2.0, n), rng.uniform(0.5, 2.0, n)
    qp.hessian[:] = hessian
    invert(qp.hessian, qp.inverse)
    qp.v[:] = rng.normal(size=n)
    return qp, hessian


@pytest.mark.quick
def test_the_inverse_is_one(rng):
    qp, hessian = program(rng, 7, 3)
    assert qp.inverse @ hessian == pytest.approx(np.eye(7), abs=1e-9)


@pytest.mark.quick
@pytest.mark.parametrize(("n", "rows"), [(1, 1), (3, 2), (7, 4), (7, 12), (20, 10)])
def test_the_minimum_is_that_of_scipy(rng, n, rows):
    for _ in range(5):
        qp, hessian = program(rng, n, rows)
        start = qp.v.copy()
        found = minimize(
            lambda v, h=hessian, s=start: 0.5 * (v - s) @ h @ (v - s),
            np.zeros(n),
            jac=lambda v, h=hessian, s=start: h @ (v - s),
            bounds=list(zip(qp.low, qp.high, strict=True)),
            constraints={"type": "ineq", "fun": lambda v, q=qp: q.rows @ v - q.limits, "jac": lambda v, q=qp: q.rows},
            method="SLSQP",
            options={"maxiter": 500, "ftol": 1e-14},
        )
        solve_program(qp, rows)
        assert (qp.v >= qp.low).all() and (qp.v <= qp.high).all()
        if found.success:
            assert (qp.rows @ qp.v - qp.limits).min() > -1e-6
            assert 0.5 * (qp.v - start) @ hessian @ (qp.v - start) <= found.fun + 1e-6
            assert qp.v == pytest.approx(found.x, abs=1e-4)


@pytest.mark.quick
def test_a_row_that_cannot_be_had_is_missed_by_as_little_as_the_bounds_allow(rng):
    qp, _ = program(rng, 4, 1)
    qp.limits[0] = 100.0
    solve_program(qp, 1)
    most = np.maximum(qp.rows[0] * qp.low, qp.rows[0] * qp.high).sum()
    assert qp.rows[0] @ qp.v == pytest.approx(most, rel=1e-4)


@pytest.mark.quick
def test_rows_that_yield_are_missed_before_others(rng):
    """Two rows that contradict each other, of which one is kept."""
    for yields in ((1, 0), (0, 1)):
        qp, _ = program(rng, 4, 2)
        qp.rows[1], qp.limits[:], qp.yields[:] = -qp.rows[0], 0.1, yields
        solve_program(qp, 2)
        kept = yields.index(0)
        assert qp.rows[kept] @ qp.v == pytest.approx(0.1, abs=1e-5)
