"""The model of L-BFGS-B, its Cauchy point and its minimum against dense matrices, and its linear algebra against numpy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from memetik.kernels.lbfgsb import find_minimum
from memetik.kernels.lbfgsb_cauchy import begin_path, cauchy_point, time_to_bound
from memetik.kernels.lbfgsb_memory import add_product, decompose_middle, multiply_middle, project, store_pair
from memetik.kernels.lbfgsb_room import COUNT, COUNTERS, NEXT, THETA, cut, room_size
from memetik.kernels.lbfgsb_subspace import subspace_step, take_step
from memetik.kernels.symmetric import decompose, eliminate, substitute_back
from tests.naive import lbfgsb as naive

pytestmark = pytest.mark.quick

seeds = st.integers(0, 2**32 - 1)


class Model:
    """A model that has seen `seen` steps of a random convex function of n variables, and the dense twin."""

    def __init__(self, rng, n, memory, seen):
        self.n, self.memory = n, memory
        room = np.full(room_size(n, memory), np.nan)
        self.work = w = getattr(cut, "py_func", cut)(room, n, memory)  # a compiled kernel cannot return arrays
        self.places = np.zeros(COUNTERS, dtype=np.int64)
        root = rng.normal(size=(n, n))
        curvature = root @ root.T + 0.3 * np.eye(n)
        self.steps, self.changes = [], []
        for _ in range(seen):
            w.origin[:], w.before[:] = rng.normal(size=(2, n))
            s = rng.normal(size=n) * 10.0 ** rng.uniform(-2.0, 1.0)
            y = curvature @ s
            slot, count = self.places[NEXT], min(self.places[COUNT] + 1, memory)
            self.places[NEXT], self.places[COUNT] = (slot + 1) % memory, count
            w.gradient[:] = w.before + y
            w.scalars[THETA] = store_pair(
                w.origin + s, w.origin, w.gradient, w.before, 1.0 / math.sqrt(s @ y), slot, count, memory, w.pairs,
                w.older, w.newer, w.steps, w.changes,
            )  # fmt: skip
            self.steps, self.changes = [*self.steps, s][-memory:], [*self.changes, y][-memory:]
        self.theta, self.count = w.scalars[THETA], self.places[COUNT]
        self.hessian = naive.hessian(self.steps, self.changes, self.theta)
        assert decompose_middle(self.theta, self.count, w.older, w.steps, w.middle)

    def product(self, vector):
        """B vector by the kernels."""
        w, small = self.work, np.zeros(2 * self.memory)
        project(w.pairs, self.count, self.memory, vector, small)
        multiply_middle(self.theta, self.count, self.memory, w.older, w.middle, small)
        taken = np.zeros(self.n)
        add_product(w.pairs, self.count, self.memory, small, taken)
        return self.theta * vector - taken

    def cauchy_point(self, x, lower, upper, gradient):
        """The point, M W^T (point - x), and which variables are held there."""
        w = self.work
        held = begin_path(x, lower, upper, gradient, w.times, w.direction)
        project(w.pairs, self.count, self.memory, w.direction, w.first)
        held += cauchy_point(
            x, lower, upper, gradient, self.theta, self.count, self.memory, w.pairs, w.older, w.middle, w.first, w.times,
            w.path, w.moved, w.corner, w.product, w.target,
        )  # fmt: skip
        assert held == np.sum(w.times == 0.0)
        return w.target.copy(), w.moved[: 2 * self.memory].copy(), w.times == 0.0

    def subspace_step(self, slope, times):
        """The step for a downhill slope, with the variables held whose time is zero."""
        w, step, small = self.work, slope.copy(), np.zeros(2 * self.memory)
        project(w.pairs, self.count, self.memory, step, small)
        assert subspace_step(
            self.theta, self.count, self.memory, self.places[NEXT], w.pairs, w.older, w.newer, w.steps, w.changes, times,
            np.sum(times == 0.0), w.corner, w.system, small, step,
        )  # fmt: skip
        return step

    def find_minimum(self, x, lower, upper, gradient):
        w = self.work
        w.gradient[:] = gradient
        assert find_minimum(x, lower, upper, self.count, self.memory, self.places, w)
        return w.target.copy()


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
    model = Model(rng, n, memory, min(seen, 2 * n))
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
    model = Model(rng, n, memory, min(seen, n))
    x, lower, upper, gradient = box(rng, n, tight)
    found, moved, held = model.cauchy_point(x, lower, upper, gradient)
    expected = naive.cauchy_point(model.hessian, x, lower, upper, gradient)
    assert_allclose(found, expected, rtol=0.0, atol=1e-6)
    assert (found >= lower).all() and (found <= upper).all()
    assert (held <= ((found == lower) | (found == upper))).all()
    w, small = model.work, np.zeros(2 * memory)
    project(w.pairs, model.count, memory, found - x, small)
    multiply_middle(model.theta, model.count, memory, w.older, w.middle, small)
    assert_allclose(moved, small, rtol=0.0, atol=1e-6 * (1.0 + np.abs(small).max()))


@given(**models, holding=st.floats(0.0, 1.0))
def test_the_subspace_step_solves_the_free_part(seed, n, memory, seen, holding):
    """Any share of the variables may be held: either form of the system, and the short cut where none is."""
    rng = np.random.default_rng(seed)
    model = Model(rng, n, memory, min(seen, n))
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
    model = Model(rng, n, memory, min(seen, n))
    x, lower, upper, gradient = box(rng, n, tight)
    found = model.find_minimum(x, lower, upper, gradient)
    assert (found >= lower).all() and (found <= upper).all()
    B, (cauchy, _, held) = model.hessian, model.cauchy_point(x, lower, upper, gradient)
    beyond = naive.subspace_minimum(B, x, gradient, cauchy, ~held)
    if (beyond >= lower).all() and (beyond <= upper).all():
        lowest = naive.model(B, gradient, x, beyond)
        assert naive.model(B, gradient, x, found) <= lowest + 1e-7 * (1.0 + abs(lowest))
    downhill = gradient @ (found - x)
    assert downhill < 0.0 or (found == x).all() or np.abs(gradient[~held]).max(initial=0.0) < 1e-8


def test_a_minimum_beyond_the_bounds_is_projected_or_the_step_is_shortened():
    """From the Cauchy point (0.5, 0): projected where that still leads downhill, else up to the first bound."""
    x, lower, upper = np.zeros(2), np.full(2, -1.0), np.full(2, 1.0)
    target = np.array([0.5, 0.0])
    take_step(x, lower, upper, np.array([-1.0, 0.0]), np.array([3.0, 0.25]), target)
    assert_allclose(target, [1.0, 0.25])
    target = np.array([0.5, 0.0])
    take_step(x, lower, upper, np.array([-1.0, 1.0]), np.array([1.0, 4.0]), target)  # (1, 1) is level with x
    assert_allclose(target, [0.75, 1.0])
    target = np.array([0.5, 0.0])
    take_step(x, lower, upper, np.array([-1.0, -1.0]), np.array([-1.5, -4.0]), target)
    assert_allclose(target, [0.125, -1.0])


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
