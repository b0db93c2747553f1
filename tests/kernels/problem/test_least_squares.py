"""The damped step through either system, against numpy."""

import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from memetik.kernels.compiler.jit import jit
from memetik.kernels.problem.least_squares import bounded_step, linear_model, step_by_residuals, step_by_variables
from memetik.kernels.problem.workspace import Workspace
from memetik.kernels.runtime.record import allocate
from memetik.objectives import JointValue, Position
from memetik.problem import Problem
from tests.kernels.flat import NO_BLOCKS, Flat, variables_of
from tests.naive.bodies import random_body
from tests.naive.steps import damped_step

pytestmark = pytest.mark.quick

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 12)


def system(rng, n, m, held=0.3, springs=0.5):
    """A random step: each variable moves a run of residuals, some are held, some have springs."""
    spans = np.sort(rng.integers(0, m + 1, (n, 2)), axis=1)
    jacobian = np.zeros((n, m))
    for k, (first, end) in enumerate(spans):
        jacobian[k, first:end] = rng.normal(size=end - first)
    with_spring = rng.random(n) < springs
    diagonal = np.where(with_spring, rng.uniform(0.0, 2.0, n), 0.0)
    pull = np.where(with_spring, rng.normal(size=n), 0.0)
    free = (rng.random(n) >= held).astype(float)
    return jacobian, spans, rng.normal(size=m), pull, diagonal, free, 10.0 ** rng.uniform(-3.0, 0.0)


def solved(step, jacobian, spans, residual, springs, diagonal, free, damping):
    """The step that a kernel writes; it may not read what it has not written."""
    n, m = jacobian.shape[0], len(residual)
    sizes = {"nodes": 0, "frames": 0, "variables": n, "residuals": m, "system": max(n, m), **NO_BLOCKS}
    work = allocate(Workspace, sizes, jacobian=np.ascontiguousarray(jacobian), residual=residual, gradient=springs,
                    diagonal=diagonal, free=free)  # fmt: skip
    for scratch in (work.system, work.right, work.step):
        scratch[...] = np.nan
    step(variables_of(np.zeros(n), 0.0, row_begin=spans[:, 0], row_end=spans[:, 1]), damping, work)
    return work.step


by_residuals = functools.partial(solved, step_by_residuals)
by_variables = functools.partial(solved, step_by_variables)


@given(seed=seeds, n=sizes, m=sizes)
def test_both_ways_give_the_step_of_numpy(seed, n, m):
    rng = np.random.default_rng(seed)
    given_system = system(rng, n, m)
    jacobian, _, residual, springs, diagonal, free, damping = given_system
    expected = damped_step(jacobian[:, :m], residual, springs, diagonal, free, damping)
    close = {"rtol": 0.0, "atol": 1e-9 * max(1.0, np.abs(expected).max())}
    assert_allclose(by_residuals(*given_system), expected, **close)
    assert_allclose(by_variables(*given_system), expected, **close)


@given(seed=seeds, n=sizes)
def test_springs_alone(seed, n):
    """Without residuals every variable goes its own way: -g / (D + damping)."""
    rng = np.random.default_rng(seed)
    jacobian, spans, _, springs, diagonal, free, damping = system(rng, n, 1, springs=1.0)
    spans[:] = 0
    expected = -free * springs / (diagonal + damping)
    step = by_residuals(jacobian[:, :0], spans, np.empty(0), springs, diagonal, free, damping)
    assert_allclose(step, expected, rtol=1e-12)
    assert_allclose(
        by_variables(jacobian[:, :0], spans, np.empty(0), springs, diagonal, free, damping), expected, rtol=1e-12
    )


def test_held_variables_do_not_move_and_do_not_matter(rng):
    n, m = 6, 4
    jacobian, spans, residual, springs, diagonal, free, damping = system(rng, n, m, held=0.0)
    free[[1, 4]] = 0.0
    other = jacobian.copy()
    other[[1, 4], :m] = 7.0 * (np.arange(m) < spans[[1, 4], 1:]) * (np.arange(m) >= spans[[1, 4], :1])
    for solve in (by_residuals, by_variables):
        step = solve(jacobian, spans, residual, springs, diagonal, free, damping)
        assert_array_equal(step[[1, 4]], 0.0)
        assert_array_equal(step, solve(other, spans, residual, springs, diagonal, free, damping))


def test_all_variables_held(rng):
    *numbers, _, damping = system(rng, 5, 3)
    for solve in (by_residuals, by_variables):
        assert_array_equal(solve(*numbers, np.zeros(5), damping), 0.0)


def test_numbers_outside_the_spans_are_not_read(rng):
    jacobian, spans, *rest = system(rng, 8, 6)
    spoiled = jacobian.copy()
    for k, (first, end) in enumerate(spans):
        spoiled[k, :first] = spoiled[k, end:] = np.nan
    for solve in (by_residuals, by_variables):
        assert_array_equal(solve(spoiled, spans, *rest), solve(jacobian, spans, *rest))


def test_little_damping_gives_the_shortest_solution(rng):
    """With more variables than residuals the limit is the pseudo-inverse."""
    n, m = 9, 5
    jacobian, spans = np.zeros((n, m)), np.tile([0, m], (n, 1))
    jacobian[:, :m] = rng.normal(size=(n, m))
    residual, none, every = rng.normal(size=m), np.zeros(n), np.ones(n)
    expected = -np.linalg.pinv(jacobian[:, :m].T) @ residual
    step = by_residuals(jacobian, spans, residual, none, none, every, 1e-12)
    assert_allclose(step, expected, rtol=0.0, atol=1e-9)


@jit
def bounded(problem, x, damping, longest, work):
    linear_model(problem, x, 1.0, work)
    bounded_step(problem, x, damping, longest, work)


@given(seed=seeds, joints=st.integers(3, 7), longest=st.sampled_from([0.2, 1.5]))
def test_a_bounded_step_makes_up_for_what_is_stopped(seed, joints, longest):
    """Those that would pass a limit stop there, and the others solve for what is left."""
    rng = np.random.default_rng(seed)
    body = random_body(rng, joints, ["revolute", "prismatic"])
    tip = Position(f"link{joints}", rng.normal(size=3))
    flat = Flat(Problem(body, [tip, JointValue(body.joint_names[0], 0.3)]))
    w, damping, x = flat.work, 0.05, flat.sample(rng)
    lower, upper = flat.variables["lower"], flat.variables["upper"]
    flat.linearise(x, 1.0)
    model = [a.copy() for a in (w.jacobian, w.residual, w.gradient, w.diagonal)]
    step = damped_step(*model, np.ones(x.size), damping)
    to = x + step * min(1.0, longest / np.abs(step).max())
    past = (to < lower) | (to > upper)
    moves = np.where(past, np.clip(to, lower, upper) - x, 0.0)
    model[1] = model[1] + moves @ model[0]
    expected = moves + damped_step(*model, ~past, damping)
    flat.measure(x, 1.0)
    bounded(flat.problem, x, damping, longest, w)
    assert_allclose(w.step, expected * min(1.0, longest / np.abs(expected).max()), rtol=0.0, atol=1e-9)
