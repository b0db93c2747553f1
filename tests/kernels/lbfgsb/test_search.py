"""The parts of the method: what is minimised and how it is scaled, when a descent ends, how guides fade."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import memetik as mk
from memetik.kernels.lbfgsb.minimiser import new_minimiser
from memetik.kernels.lbfgsb.search import (
    NEVER_STALL,
    STALL,
    Descents,
    attempt,
    bend,
    descend,
    draw,
    half_squares,
    search,
)
from memetik.kernels.problem.budget import ATTEMPTS, ERROR, EVALUATIONS
from memetik.kernels.runtime.random import seed_stream, uniform
from memetik.kernels.runtime.record import table_of
from memetik.objectives import Custom, JointValue, Position
from memetik.problem import Problem
from tests.kernels.flat import Flat, variables_of

pytestmark = pytest.mark.quick

MANY, MEMORY = 10_000, 5
REACHABLE, FAR = (0.9, 0.8, 0.0), (2.4, 3.2, 0.0)  # of a chain two metres long; FAR is four metres away


def chain(*objectives):
    """Two links of a metre in the plane."""
    return Flat(Problem(mk.build.planar_chain([1.0, 1.0]), list(objectives)))


class Search:
    """A problem with what the kernels need besides."""

    def __init__(self, flat, x):
        self.flat, self.descents = flat, Descents(new_minimiser(len(x), MEMORY), True, 0)
        self.own, self.x = table_of(self.descents), self.descents.minimiser.line.x
        self.x[:] = x
        flat.outcome[:] = 0.0
        flat.outcome[ERROR] = math.inf
        flat.work.x[:] = flat.work.best[:] = x

    def descend(self, softness=0.0, stall=STALL, most=MANY):
        return descend(self.flat.problem, self.own, softness, stall, self.flat.run(most), self.flat.work)

    def attempt(self, guided, number=1, most=MANY):
        self.flat.outcome[ATTEMPTS] = number
        return attempt(self.flat.problem, self.own, guided, False, self.flat.run(most), self.flat.work)

    def search(self, restarts, most=MANY, seed=0):
        own = table_of(self.descents._replace(restarts=restarts))
        search(self.flat.problem, self.flat.run(most, seed=seed), own, self.flat.work)
        return self.flat.work.best.copy()

    @property
    def evaluations(self):
        return int(self.flat.outcome[EVALUATIONS])

    def tip(self):
        """Where the chain ends at x."""
        a, b = self.x
        return np.array([math.cos(a) + math.cos(a + b), math.sin(a) + math.sin(a + b), 0.0])


@pytest.mark.parametrize("softness", [0.0, 0.3, 1.0])
def test_half_squares_and_their_gradient(softness, rng):
    guides = [JointValue("joint_1", 0.4, tolerance=None), JointValue("joint_2", -1.0, tolerance=None, weight=3.0)]
    flat = chain(Position("tip", REACHABLE), *guides)
    for _ in range(10):
        x, gradient, h = flat.sample(rng), np.full(2, np.nan), 1e-6
        f, satisfied = half_squares(flat.problem, x, softness, gradient, flat.run(), flat.work)
        assert f == pytest.approx(0.5 * flat.measure(x, softness)[0]) and not satisfied
        slopes = [
            0.5 * (flat.measure(x + e, softness)[0] - flat.measure(x - e, softness)[0]) / (2.0 * h)
            for e in h * np.eye(2)
        ]
        assert_allclose(gradient, slopes, rtol=1e-5, atol=1e-5 * np.abs(slopes).max())
    assert flat.outcome[EVALUATIONS] == 10


def test_half_squares_remember_the_best_posture():
    flat = Search(chain(Position("tip", REACHABLE)), [0.0, 0.0]).flat
    for x in ([0.0, 0.0], [0.2, 0.9], [3.0, 0.0]):
        half_squares(flat.problem, np.array(x), 0.0, np.zeros(2), flat.run(), flat.work)
    assert_array_equal(flat.work.best, [0.2, 0.9])


def test_bend_is_the_curvature_along_the_gradient(rng):
    """Against J^T J + D, dense; one where the gradient is zero."""
    flat = chain(Position("tip", FAR), JointValue("joint_1", 0.4, tolerance=None, weight=5.0))
    x, gradient = flat.sample(rng), np.zeros(2)
    half_squares(flat.problem, x, 1.0, gradient, flat.run(), flat.work)
    J = flat.work.jacobian[:, : flat.work.residual.size]
    expected = gradient @ (J @ J.T + np.diag(flat.work.diagonal)) @ gradient / (gradient @ gradient)
    assert bend(gradient, flat.variables, flat.work) == pytest.approx(expected)
    assert bend(np.zeros(2), flat.variables, flat.work) == 1.0


def test_a_descent_ends_where_it_is_satisfied():
    run = Search(chain(Position("tip", REACHABLE, tolerance=1e-6)), [0.1, 0.5])
    assert run.descend()
    assert np.linalg.norm(run.tip() - REACHABLE) <= 1e-6
    assert run.evaluations < 40


def assert_straight(x):
    """The arm points at FAR, whatever turns a descent took: its joints turn freely."""
    assert_allclose([math.remainder(angle, 2.0 * math.pi) for angle in x], [math.atan2(3.2, 2.4), 0.0], atol=1e-5)


def test_a_descent_that_cannot_be_satisfied_is_given_up_or_goes_to_the_minimum():
    impatient, patient = (Search(chain(Position("tip", FAR)), [-2.0, 0.5]) for _ in range(2))
    assert not impatient.descend()
    assert not patient.descend(stall=NEVER_STALL)
    assert impatient.evaluations <= patient.evaluations
    assert_straight(patient.x)


@pytest.mark.parametrize("most", [1, 2, 3, 7])
def test_a_descent_ends_with_the_evaluations(most):
    run = Search(chain(Position("tip", FAR)), [-2.0, 0.5])
    assert not run.descend(most=most)
    assert run.evaluations == most


def test_a_descent_from_where_nothing_is_defined_ends_at_once():
    run = Search(chain(Custom(lambda tip: tip.position[0] * math.nan, reads=["tip"])), [0.3, 0.2])
    assert not run.descend()
    assert run.evaluations == 1
    assert_array_equal(run.x, [0.3, 0.2])


def test_guides_fade_until_the_rest_is_satisfied():
    """A heavy guide keeps the tip off its target at first; what is left of its pull is not felt in the end."""
    guide = JointValue("joint_2", 0.3, tolerance=None, weight=10.0)
    run = Search(chain(Position("tip", REACHABLE), guide), [0.1, 0.5])
    assert not run.descend(softness=1.0)
    assert np.linalg.norm(run.tip() - REACHABLE) > 0.05
    run = Search(chain(Position("tip", REACHABLE), guide), [0.1, 0.5])
    assert run.attempt(guided=True)
    assert np.linalg.norm(run.tip() - REACHABLE) <= 1e-4


def test_later_attempts_begin_with_fainter_guides():
    guide = JointValue("joint_2", 0.3, tolerance=None, weight=10.0)
    evaluations = []
    for number in (1, 2, 3):
        run = Search(chain(Position("tip", REACHABLE), guide), [0.1, 0.5])
        assert run.attempt(guided=True, number=number)
        evaluations.append(run.evaluations)
    assert evaluations[0] > evaluations[2]


def test_an_attempt_ends_with_the_evaluations():
    for most in (1, 2, 5, 30):
        run = Search(chain(Position("tip", FAR), JointValue("joint_2", 0.5, tolerance=None)), [-2.0, 0.5])
        assert not run.attempt(guided=True, most=most)
        assert run.evaluations <= most


def test_postures_are_drawn_from_streams_of_their_own(rng):
    variables = variables_of([-1.0, 2.0], [1.0, 4.0])
    state, x = np.zeros(1, dtype=np.uint64), np.zeros(2)
    draw(x, 7, 3, variables, state)
    seed_stream(state, 7, 3)
    assert_allclose(x, [-1.0 + 2.0 * uniform(state), 2.0 + 2.0 * uniform(state)])
    other = np.zeros(2)
    draw(other, 7, 4, variables, state)
    assert (x != other).all()


def test_the_search_starts_again_until_it_is_satisfied():
    """A wall of joint limits: from the start the target cannot be seen, from other postures it can."""
    body = mk.build.planar_chain([1.0, 1.0])
    flat = Flat(
        Problem(body, Position("tip", (-1.0, 0.5, 0.0)), limits={"joint_1": (-3.0, 3.0), "joint_2": (0.1, 3.0)})
    )
    single = Search(flat, [-2.9, 0.1])
    stuck = single.search(restarts=False)
    assert flat.measure(stuck)[1] > 0.01 and flat.outcome[ATTEMPTS] == 1.0
    again = Search(flat, [-2.9, 0.1])
    found = again.search(restarts=True)
    assert flat.measure(found)[2] and flat.outcome[ATTEMPTS] > 1.0


def test_the_search_brings_what_is_closest_to_its_minimum():
    run = Search(chain(Position("tip", FAR)), [-2.0, 0.5])
    best = run.search(restarts=True, most=400)
    assert 100 < run.evaluations <= 400
    assert_straight(best)


def test_guides_alone_are_brought_to_their_balance():
    guides = [JointValue("joint_1", value, tolerance=None) for value in (0.2, 0.6)]
    run = Search(chain(*guides, Position("tip", REACHABLE, tolerance=None, weight=1e-9)), [2.0, 1.0])
    assert_allclose(run.search(restarts=True)[0], 0.4, atol=1e-4)
    assert run.flat.outcome[ATTEMPTS] == 1.0
