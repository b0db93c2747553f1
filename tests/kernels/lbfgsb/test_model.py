"""The model of L-BFGS-B, its Cauchy point and its minimum against dense matrices, and its linear algebra against numpy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from memetik.kernels.lbfgsb.cauchy import begin_path, cauchy_point, time_to_bound
from memetik.kernels.lbfgsb.memory import add_product, decompose_middle, multiply_middle, project, store_pair
from memetik.kernels.lbfgsb.minimiser import new_minimiser
from memetik.kernels.lbfgsb.minimum import find_minimum, model_gain
from memetik.kernels.lbfgsb.subspace import subspace_step, take_inside
from memetik.kernels.math.symmetric import decompose, eliminate, substitute_back
from memetik.kernels.runtime.record import table_of
from tests.naive import lbfgsb as naive

pytestmark = pytest.mark.quick

seeds = st.integers(0, 2**32 - 1)


class Curvature:
    """A model that has seen `seen` steps of a random convex function of n variables, and the dense twin."""

    def __init__(self, rng, n, memory, seen):
        self.n, self.memory = n, memory
        self.minimiser = new_minimiser(n, memory)
        self.line, self.model, _ = self.minimiser
        for array in (*self.line, *self.model):
            if array.dtype == float:
                array[:] = np.nan
        self.known = self.model.known[0]
        self.known.theta = 1.0
        root = rng.normal(size=(n, n))
        curvature = root @ root.T + 0.3 * np.eye(n)
        self.steps, self.changes = [], []
        for _ in range(seen):
            origin, before = rng.normal(size=(2, n))
            s = rng.normal(size=n) * 10.0 ** rng.uniform(-2.0, 1.0)
            self.learn(origin, s, before, curvature @ s)
        if seen:
            self.hessian = naive.hessian(self.steps, self.changes, self.known.theta)
        assert decompose_middle(self.model)

    def learn(self, origin, s, before, y):
        """A step and the change of the gradient."""
        line = self.line
        line.origin[:], line.x[:], line.before[:], line.gradient[:] = origin, origin + s, before, before + y
        store_pair(line, 1.0 / math.sqrt(s @ y), self.model)
        self.steps, self.changes = [*self.steps, s][-self.memory :], [*self.changes, y][-self.memory :]

    def at(self, x, lower, upper, gradient):
        """The line at a point with its gradient, within bounds."""
        self.line.x[:], self.line.lower[:], self.line.upper[:], self.line.gradient[:] = x, lower, upper, gradient
        return self.line

    def project(self, vector):
        """W^T vector."""
        small = np.zeros(2 * self.memory)
        project(self.model, vector, small)
        return small

    def middle(self, small):
        """M small."""
        small = small.copy()
        multiply_middle(self.model, small)
        return small

    def product(self, vector):
        """B vector."""
        taken = np.zeros(self.n)
        add_product(self.model, self.middle(self.project(vector)), taken)
        return self.known.theta * vector - taken

    def cauchy_point(self, *point):
        """The point, M W^T (point - x), and which variables are held there."""
        line = self.at(*point)
        held = begin_path(line)
        self.model.first[:] = self.project(line.direction)
        held += cauchy_point(line, self.model)
        assert held == np.sum(line.times == 0.0)
        return line.target.copy(), self.model.moved.copy(), line.times == 0.0

    def subspace_step(self, slope, times):
        """The step for a downhill slope, with the variables held whose time is zero."""
        self.line.direction[:], self.line.times[:], self.model.product[:] = slope, times, self.project(slope)
        assert subspace_step(self.line, np.sum(times == 0.0), self.model)
        return self.line.direction.copy()

    def find_minimum(self, *point):
        """The point that a line search heads for."""
        self.at(*point)
        assert find_minimum(table_of(self.minimiser))
        return self.line.target.copy()


def box(rng, n, tight):
    """A point with its gradient, and bounds: some infinite, some equal, some at the point."""
    x, gradient = rng.normal(size=(2, n))
    lower, upper = x - tight * rng.exponential(size=n), x + tight * rng.exponential(size=n)
    kind = rng.integers(0, 8, n)
    lower[kind == 0], upper[kind == 1] = -math.inf, math.inf
    lower[kind == 2] = upper[kind == 2] = x[kind == 2]
    lower[kind == 3], upper[kind == 4] = x[kind == 3], x[kind == 4]
    gradient[kind == 5] = 0.0
    return x, lower, upper, gradient


models = {"seed": seeds, "n": st.integers(1, 12), "memory": st.integers(1, 10), "seen": st.integers(1, 14)}


@given(**models)
def test_the_compact_model_is_the_bfgs_matrix(seed, n, memory, seen):
    rng = np.random.default_rng(seed)
    model = Curvature(rng, n, memory, min(seen, 2 * n))
    vector = rng.normal(size=n)
    expected = model.hessian @ vector
    assert_allclose(model.product(vector), expected, rtol=0.0, atol=1e-7 * np.abs(model.hessian).max())
    newest = model.product(model.steps[-1])  # the secant equation
    assert_allclose(newest, model.changes[-1], rtol=0.0, atol=1e-7 * np.abs(model.changes[-1]).max())


def test_time_to_bound():
    assert time_to_bound(1.0, 0.0, 4.0, 2.0) == 0.5
    assert time_to_bound(1.0, 0.0, 4.0, -2.0) == 1.5
    assert time_to_bound(0.0, 0.0, 4.0, 2.0) == time_to_bound(4.0, 0.0, 4.0, -2.0) == 0.0
    assert time_to_bound(1.0, -math.inf, math.inf, 2.0) == math.inf
    assert time_to_bound(1.0, 0.0, 4.0, 0.0) == math.inf
    assert time_to_bound(0.0, 0.0, 4.0, 0.0) == time_to_bound(2.0, 2.0, 2.0, -1.0) == 0.0


@given(**models, tight=st.sampled_from([0.03, 0.3, 3.0]))
def test_the_cauchy_point_is_the_first_minimum_of_the_path(seed, n, memory, seen, tight):
    rng = np.random.default_rng(seed)
    model = Curvature(rng, n, memory, min(seen, n))
    x, lower, upper, gradient = box(rng, n, tight)
    found, moved, held = model.cauchy_point(x, lower, upper, gradient)
    expected = naive.cauchy_point(model.hessian, x, lower, upper, gradient)
    assert_allclose(found, expected, rtol=0.0, atol=1e-6)
    assert (found >= lower).all() and (found <= upper).all()
    assert (held <= ((found == lower) | (found == upper))).all()
    expected = model.middle(model.project(found - x))
    assert_allclose(moved, expected, rtol=0.0, atol=1e-6 * (1.0 + np.abs(expected).max()))


@given(**models, holding=st.floats(0.0, 1.0))
def test_the_subspace_step_solves_the_free_part(seed, n, memory, seen, holding):
    """Any share of the variables may be held: either form of the system, and the short cut where none is."""
    rng = np.random.default_rng(seed)
    model = Curvature(rng, n, memory, min(seen, n))
    free = rng.random(n) >= holding
    times = np.where(free, rng.choice([0.1, math.inf], n), 0.0)
    slope = np.where(free, rng.normal(size=n), 0.0)
    step = model.subspace_step(slope, times)
    assert (step[~free] == 0.0).all()
    expected = np.zeros(n)
    expected[free] = np.linalg.solve(model.hessian[np.ix_(free, free)], slope[free])
    assert_allclose(step, expected, rtol=0.0, atol=1e-6 * (1e-9 + np.abs(expected).max()))


@given(**models, tight=st.sampled_from([0.03, 0.3, 3.0, 1e3]))
def test_the_minimum_is_within_bounds_and_below_the_cauchy_point(seed, n, memory, seen, tight):
    rng = np.random.default_rng(seed)
    model = Curvature(rng, n, memory, min(seen, n))
    x, lower, upper, gradient = box(rng, n, tight)
    found = model.find_minimum(x, lower, upper, gradient)
    assert (found >= lower).all() and (found <= upper).all()
    B = model.hessian
    cauchy = naive.cauchy_point(B, x, lower, upper, gradient)
    lowest = naive.model(B, gradient, x, cauchy)
    free = (cauchy > lower) & (cauchy < upper)
    beyond = naive.subspace_minimum(B, x, gradient, cauchy, free)
    if (beyond >= lower).all() and (beyond <= upper).all():
        lowest = naive.model(B, gradient, x, beyond)
    assert naive.model(B, gradient, x, found) <= lowest + 1e-7 * (1e-3 + abs(lowest))


def test_a_minimum_that_is_level_with_x_when_projected_is_not_aimed_at():
    """A bowl whose minimum, (-1, -2), lies beyond a wall at 0. The way to its projection begins level at (0.5, 0)."""
    rng = np.random.default_rng(0)
    model = Curvature(rng, 2, 2, 0)
    B = np.array([[8.0, 3.0], [3.0, 2.0]])
    for s in np.eye(2):
        model.learn(np.zeros(2), s, np.zeros(2), B @ s)
    B = naive.hessian(model.steps, model.changes, model.known.theta)
    lower, upper = np.array([0.0, -9.0]), np.full(2, 9.0)
    x, minimum = np.array([0.5, 0.0]), np.array([-1.0, -2.0])
    gradient = B @ (x - minimum)
    found = model.find_minimum(x, lower, upper, gradient)
    cauchy = naive.cauchy_point(B, x, lower, upper, gradient)
    projected = np.array([0.0, -2.0])
    assert naive.model(B, gradient, x, found) <= naive.model(B, gradient, x, cauchy) + 1e-9
    assert naive.model(B, gradient, x, found) < naive.model(B, gradient, x, projected) - 1e-3


@given(**models)
def test_what_the_model_gains(seed, n, memory, seen):
    rng = np.random.default_rng(seed)
    model = Curvature(rng, n, memory, min(seen, n))
    way, gradient = rng.normal(size=(2, n))
    expected = naive.model(model.hessian, gradient, np.zeros(n), way)
    found = model_gain(gradient, way, model.model)
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-6 * np.abs(model.hessian).max())


def test_whether_a_step_stays_within_bounds():
    line = new_minimiser(2, 1, lower=np.full(2, -1.0), upper=np.ones(2)).line
    for step, inside in (([1.0, -1.0], True), ([0.5, 1.001], False), ([-1.001, 0.0], False)):
        line.direction[:] = step
        assert take_inside(line) == inside
        assert_allclose(line.target, step)


@given(seed=seeds, n=st.integers(1, 8), m=st.integers(0, 8))
def test_symmetric_systems(seed, n, m):
    """[-P Q^T; Q N] with a right side in a column behind it, and one that comes later."""
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(n, n)), rng.normal(size=(m, m))
    P, N, Q = roots[0] @ roots[0].T + 0.1 * np.eye(n), roots[1] @ roots[1].T + 0.1 * np.eye(m), rng.normal(size=(m, n))
    whole, right = np.block([[-P, Q.T], [Q, N]]), rng.normal(size=n + m)
    upper = np.full((n + m, n + m + 3), np.nan)
    upper[:, : n + m] = np.where(np.tri(n + m, k=-1, dtype=bool), np.nan, whole)  # the lower triangle is never read
    upper[:, n + m] = right
    assert decompose(upper, n + m, n, 1)
    carried, later = upper[:, n + m].copy(), right.copy()
    substitute_back(upper, n + m, carried)
    assert_allclose(whole @ carried, right, rtol=0.0, atol=1e-9 * (1.0 + np.abs(carried).max()))
    eliminate(upper, n + m, later)
    substitute_back(upper, n + m, later)
    assert_allclose(later, carried, rtol=0.0, atol=1e-9 * (1.0 + np.abs(carried).max()))


def test_a_lost_pivot_is_noticed():
    assert decompose(np.array([[-1.0, 2.0], [0.0, 1.0]]), 2, 1, 0)
    assert not decompose(np.array([[1.0, 2.0], [0.0, 1.0]]), 2, 1, 0)  # the sign is wrong
    assert not decompose(np.array([[1.0, 1.0], [0.0, 1.0]]), 2, 0, 0)  # singular
    assert not decompose(np.array([[math.nan]]), 1, 0, 0)
