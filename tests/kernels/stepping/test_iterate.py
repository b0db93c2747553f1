"""The loop of the Jacobian methods: when it stops, when it begins again, how guides fade, and what it keeps."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from memetik.build import planar_chain
from memetik.kernels.compiler.function_pointers import address
from memetik.kernels.problem.budget import ATTEMPTS, ERROR, EVALUATIONS
from memetik.kernels.problem.guides import FADING, any_guides, first_fading
from memetik.kernels.runtime.random import seed_stream, uniform
from memetik.kernels.runtime.record import allocate, table_of
from memetik.kernels.stepping.iterate import STEP, SteppingRecord, attempt, iterate, note
from memetik.kernels.stepping.normal_equations import GaussNewtonRecord, gauss_newton_step
from memetik.objectives import Custom, Displacement, JointValue, Position
from memetik.problem import Problem
from tests.kernels.flat import Flat

pytestmark = pytest.mark.quick


class Loop:
    """Damped least squares on a problem."""

    def __init__(self, problem, x, *, restarts=True, patience=4, progress=0.2, damping=0.03):
        self.flat = flat = Flat(problem)
        self.outcome, self.best, self.x = flat.outcome, flat.work.best, flat.work.x
        self.outcome[ERROR] = math.inf
        self.x[:] = x
        stepping = allocate(
            SteppingRecord, flat.compiled.sizes, step=address(gauss_newton_step, STEP), restarts=restarts,
            patience=patience, progress=progress, longest_step=1.0,
        )  # fmt: skip
        self.own = allocate(
            GaussNewtonRecord, flat.compiled.sizes, stepping=stepping, damping=damping, line_search=False
        )

    def iterate(self, most=1000, seed=0):
        iterate(self.flat.problem, self.flat.run(most, seed=seed), table_of(self.own), self.flat.work)
        return self.outcome[ERROR] < 0.0

    def attempt(self, most=1000, number=1):
        self.outcome[ATTEMPTS] = number
        return attempt(self.flat.problem, self.x, self.flat.run(most), table_of(self.own), self.flat.work)


def reach(point, *more):
    return Problem(planar_chain([1.0, 1.0]), [Position("tip", (*point, 0.0)), *more])


def test_an_attempt_ends_where_all_is_satisfied():
    loop = Loop(reach((1.0, 1.0)), [0.3, 0.9])
    assert loop.attempt()
    assert loop.flat.measure(loop.best.copy())[2]
    assert_array_equal(loop.best, loop.x)
    assert 3 <= loop.outcome[EVALUATIONS] <= 12


def test_a_start_that_satisfies_all_is_kept():
    q = np.array([0.4, 0.8])
    tip = planar_chain([1.0, 1.0]).forward(q)["tip"][:2, 3]
    loop = Loop(reach(tip), q)
    assert loop.iterate()
    assert loop.outcome[EVALUATIONS] == 1 and loop.outcome[ATTEMPTS] == 1
    assert_array_equal(loop.best, q)


@pytest.mark.parametrize("patience", [1, 3, 10])
def test_an_attempt_ends_after_so_many_steps_without_progress(patience):
    """The arm is stretched towards a point that it cannot reach: no step gains anything."""
    loop = Loop(reach((3.0, 0.0)), [0.0, 0.0], patience=patience)
    loop.flat.work.best[:] = 9.0
    assert not loop.attempt()
    # Nothing moves there at all, so the first step says that it leads nowhere; a little off, all of the patience is used.
    assert loop.outcome[EVALUATIONS] == 1
    loop = Loop(reach((3.0, 0.0)), [1e-4, -1e-4], patience=patience)
    assert not loop.attempt()
    assert loop.outcome[EVALUATIONS] == 1 + patience
    assert loop.outcome[ERROR] == pytest.approx(loop.flat.measure(loop.best.copy())[1])


def test_without_restarts_there_is_one_attempt():
    loop = Loop(reach((3.0, 0.0)), [1.0, -0.5], restarts=False, patience=20, damping=5.0)
    assert not loop.iterate()
    assert loop.outcome[ATTEMPTS] == 1 and loop.outcome[EVALUATIONS] < 100
    assert_allclose(loop.best, 0.0, atol=0.1)


def test_with_restarts_the_budget_is_spent():
    loop = Loop(reach((3.0, 0.0)), [1.0, -0.5])
    assert not loop.iterate(most=200)
    assert loop.outcome[EVALUATIONS] == 200 and loop.outcome[ATTEMPTS] > 5


def test_restarts_are_drawn_within_the_limits_from_a_stream_of_their_own():
    """Attempt k begins at stream k of the seed, however many numbers the others took."""
    body = planar_chain([1.0, 1.0], limits=(-0.5, 1.5))
    problem = Problem(body, Position("tip", (3.0, 0.0, 0.0)))
    loop = Loop(problem, [0.0, 0.0])
    loop.iterate(most=2, seed=5)  # one evaluation at the start, where nothing moves, and one at the next
    state = np.zeros(1, dtype=np.uint64)
    seed_stream(state, 5, 1)
    assert_allclose(loop.x, [-0.5 + 2.0 * uniform(state), -0.5 + 2.0 * uniform(state)], rtol=1e-15)


def test_where_an_objective_is_not_defined_the_attempt_ends():
    problem = reach((1.0, 1.0), Custom(only_low, reads=["tip"]))
    loop = Loop(problem, [2.0, 0.5])
    assert not loop.attempt()
    assert loop.outcome[EVALUATIONS] == 1
    loop = Loop(problem, [2.0, 0.5])
    assert loop.iterate()
    assert loop.outcome[ATTEMPTS] > 1


def only_low(tip):
    return math.nan if tip.position[1] > 1.2 else 0.0


# ---- Guides -------------------------------------------------------------------------------------------------


def test_where_guides_begin_to_fade():
    with_guides, without = Flat(reach((1.0, 1.0), Displacement())), Flat(reach((1.0, 1.0)))
    last = len(FADING) - 1
    assert [first_fading(attempts) for attempts in (1, 2, 3, 9)] == [0, 2, last, last]
    assert any_guides(with_guides.terms) and not any_guides(without.terms)


def test_guides_fade_until_the_rest_is_satisfied():
    """A strong guide holds the arm back; satisfied it is only when it has faded."""
    loop = Loop(reach((1.0, 1.0), Displacement(reference=[0.0, 1.2], weight=10.0)), [0.0, 1.2])
    assert loop.attempt()
    assert loop.flat.measure(loop.best.copy())[2]


def test_guides_alone_come_to_their_balance():
    guides = [Position("tip", (1.0, 1.0, 0.0), tolerance=None), JointValue("joint_2", 0.3, tolerance=None)]
    loop = Loop(Problem(planar_chain([1.0, 1.0]), guides), [0.4, 1.0])
    assert loop.iterate()
    loop.flat.linearise(loop.best.copy(), 1.0)
    w = loop.flat.work
    slope = w.jacobian[:, : w.residual.size] @ w.residual + w.gradient
    assert np.abs(slope).max() < 0.02
    assert loop.outcome[EVALUATIONS] < 40


def test_the_best_is_one_that_satisfies_and_then_the_least_error():
    loop = Loop(reach((1.0, 1.0)), [0.0, 0.0])
    seen = [(0.5, 0.3, False), (0.6, 0.2, False), (0.4, 0.29, False), (0.9, 0.5, True), (0.1, 0.1, False)]
    seen += [(0.95, 0.4, True), (0.8, 0.6, True)]
    kept = []
    for k, (error, hard, satisfied) in enumerate(seen):
        note(np.array([k, k], dtype=float), error, hard, satisfied, loop.flat.run(), loop.flat.work)
        kept.append(int(loop.best[0]))
    assert kept == [0, 1, 1, 3, 3, 3, 6]
