"""Methods of a family keep their record with the scratch of a problem: for solvers alike, and for no others."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import memetik as mk
from memetik.solvers.evolution import DE, PSO
from memetik.solvers.stepping import DampedLeastSquares, Interpolated, Pseudoinverse, Transpose

SOLVERS = [
    DampedLeastSquares(), DampedLeastSquares(damping=0.5), DampedLeastSquares(damping=0.5, seed=3), Pseudoinverse(),
    Interpolated(waypoints=3), Transpose(), Transpose(length=0.02), DE(), DE(base="random", population=9), PSO(neighbours=1),
    DampedLeastSquares(restarts=False),
]  # fmt: skip


@pytest.fixture
def make():
    body = mk.build.planar_chain([1.0, 0.7, 0.5])
    return lambda: mk.Problem(body, mk.Position("tip", (1.1, 0.8, 0.0)))


def test_a_solver_is_not_given_the_record_of_another(make):
    """On one problem, one after the other and again, all answer as on a problem of their own."""
    shared, start, budget = make(), np.array([0.1, 0.2, 0.3]), mk.Budget(evaluations=60)
    for solver in SOLVERS * 2:
        alone, here = solver.solve(make(), start, budget), solver.solve(shared, start, budget)
        assert_array_equal(here.q, alone.q)
        assert here.evaluations == alone.evaluations


def test_a_record_is_kept_for_solvers_alike(make, monkeypatch):
    made = []
    plain = DampedLeastSquares.make_record
    monkeypatch.setattr(DampedLeastSquares, "make_record", lambda self, c: made.append(self) or plain(self, c))
    problem = make()
    for solver in (DampedLeastSquares(), DampedLeastSquares(seed=5), mk.solver("dls"), DampedLeastSquares(patience=9)):
        solver.solve(problem)
    assert [solver.patience for solver in made] == [4, 9]
