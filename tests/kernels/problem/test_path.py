"""A path as one least-squares problem, against the same written out with dense matrices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import memetik as mk
from memetik.kernels.problem.path import PathModel, bend_path, judge_path, model_path
from memetik.problem.columns import target_columns
from memetik.problem.scratch import scratch_pool

pytestmark = pytest.mark.quick


def made(steps=5, seed=1):
    """A planar arm whose tip follows points, with a distance to a ball."""
    body = mk.build.planar_chain((0.5, 0.4, 0.3))
    reach = mk.Position("tip", (0.5, 0.5, 0.0))
    problem = mk.Problem(body, [reach, mk.Distance(body.frame("tip"), [(0.6, 0.2, 0.0, 0.5)], weight=3.0)])
    rng = np.random.default_rng(seed)
    columns = target_columns(problem, {reach: rng.normal(scale=0.5, size=(steps, 3)) * (1, 1, 0)}, "test")
    x = rng.uniform(-1.0, 1.0, (steps, body.dof))
    scratch = scratch_pool(problem.compiled).lease()
    return problem, columns, x, scratch


def model_at(x, columns, scratch, factor=(1.0, 2.0)):
    count, n = x.shape
    path = PathModel(
        columns.places, columns.rows, x.copy(), np.array(factor), np.zeros(count), np.zeros((count, n)), np.zeros((count, n, n))
    )  # fmt: skip
    model_path(scratch.table, path)
    return path


def test_gradient_is_the_derivative_of_the_cost():
    _, columns, x, scratch = made()
    path = model_at(x, columns, scratch)
    assert path.cost.min() > 0.0
    h = 1e-6
    for k in range(x.shape[1]):
        up, down = x.copy(), x.copy()
        up[:, k] += h
        down[:, k] -= h
        change = (model_at(up, columns, scratch).cost - model_at(down, columns, scratch).cost) / (2.0 * h)
        assert_allclose(2.0 * path.gradient[:, k], change, atol=1e-5)


def test_step_is_that_of_the_dense_system():
    problem, columns, x, scratch = made()
    path = model_at(x, columns, scratch)
    count, n = x.shape
    rng = np.random.default_rng(2)
    before, after = rng.normal(scale=0.3, size=(2, n)), rng.normal(scale=0.3, size=(1, n))
    around = np.concatenate([before, x, after])
    stiffness, damping = 0.7, 0.01
    step = np.empty((count, n))
    bend_path(scratch.table, path, around, 2, stiffness, damping, np.empty((count * n, 2 * n + 1)), step)
    # Second differences of the whole sequence, as a matrix; postures that stay are no unknowns.
    second = np.kron(np.diff(np.eye(len(around)), n=2, axis=0), np.eye(n))
    free = slice(2 * n, (2 + count) * n)
    normal = damping * np.eye(count * n) + stiffness * second[:, free].T @ second[:, free]
    for i in range(count):
        low = np.tril(path.normal[i])
        normal[i * n : (i + 1) * n, i * n : (i + 1) * n] += low + np.tril(low, -1).T
    right = -path.gradient.ravel() - stiffness * second[:, free].T @ (second @ around.ravel())
    expected = x + np.linalg.solve(normal, right).reshape(count, n)
    assert_allclose(step, np.clip(expected, problem.body.lower, problem.body.upper), atol=1e-7)


def test_a_joint_at_its_limit_stays():
    problem, columns, x, scratch = made()
    limited = mk.Problem(problem.body, problem.objectives, limits={problem.body.joint_names[0]: (-0.2, 0.2)})
    scratch = scratch_pool(limited.compiled).lease()
    x[:, 0] = 0.2
    path = model_at(x, columns, scratch)
    step = np.empty_like(x)
    bend_path(scratch.table, path, x, 0, 0.0, 0.1, np.empty((x.size, 2 * x.shape[1] + 1)), step)
    pushed = path.gradient[:, 0] < 0.0
    assert pushed.any()
    assert (step[pushed, 0] == 0.2).all() and (step[:, 0] <= 0.2).all()


def test_the_verdict_is_that_of_single_solutions():
    problem, columns, x, scratch = made(steps=4)
    errors, statuses = np.zeros((4, problem.compiled.terms.size)), np.zeros(4, dtype=np.int64)
    judge_path(scratch.table, columns.places, columns.rows, x, errors, statuses, scratch.outcome)
    for k, (single, q) in enumerate(zip(columns.problems(problem), x, strict=True)):
        solution = mk.Solution.of(single, q)
        assert int(solution.status) == statuses[k]
        assert_allclose(solution.term_errors, errors[k], atol=1e-12)
