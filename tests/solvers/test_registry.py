"""Methods by name, and solvers in place of a name."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import memetik as mk
from memetik.errors import ProblemError, UnknownNameError
from memetik.solvers import Memetic, solve
from memetik.solvers.stepping import DampedLeastSquares

pytestmark = pytest.mark.quick


@pytest.fixture
def reach():
    return mk.Problem(mk.build.planar_chain([0.5, 0.4, 0.3]), mk.Position("tip", (0.7, 0.5, 0.0)))


@pytest.mark.parametrize("start", [None, np.array([0.3, -0.2, 0.9])])
def test_a_solver_in_place_of_its_name(reach, start):
    budget = mk.Budget(evaluations=60)
    for name, solver in (("memetic", Memetic(seed=3)), ("dls", DampedLeastSquares(seed=3))):
        by_name = solve(reach, start, method=name, seed=3, budget=budget)
        by_solver = solve(reach, start, method=solver, budget=budget)
        assert_array_equal(by_solver.q, by_name.q)
        assert by_solver.method == name and by_solver.evaluations == by_name.evaluations <= 60


def test_what_is_no_method_is_refused(reach):
    with pytest.raises(UnknownNameError, match=r"no method named 'dsl'. Did you mean 'dls'"):
        solve(reach, method="dsl")
    for wrong in (DampedLeastSquares, 7, None):
        with pytest.raises(
            ProblemError, match=r"give a name from mk.methods\(\), or a solver such as mk.solvers.BioIK\(\)"
        ):
            solve(reach, method=wrong)
    with pytest.raises(ProblemError, match=r"Memetic\(.* has a seed of its own"):
        solve(reach, method=Memetic(), seed=4)


def test_a_solver_by_name_has_parameters():
    assert mk.solver("dls", damping=0.1, seed=3) == mk.solvers.DampedLeastSquares(damping=0.1, seed=3)
    assert mk.solver("memetic") == mk.solvers.Memetic()
    with pytest.raises(
        UnknownNameError, match=r"no parameter named 'dampin' in method 'dls'. There are: seed, restarts, .*damping"
    ):
        mk.solver("dls", dampin=0.1)


@pytest.mark.parametrize("row", mk.methods(), ids=lambda row: row.name)
def test_every_method_is_built_by_name(row):
    assert isinstance(mk.solver(row.name, seed=1), row.solver)
