"""Targets that only guide: steps against dense algebra, frames against SciPy, and where a motion leads to."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import memetik as mk
from memetik.kernels.problem.budget import EVALUATIONS
from memetik.kernels.tracking.guided import GuidedPath, extrapolate, follow_guides, tree_step
from memetik.motion.guided import _ancestors, follow, follow_windows, windows_of
from memetik.problem.columns import target_columns
from memetik.problem.scratch import Scratch
from tests.kernels.flat import Flat

pytestmark = pytest.mark.quick


def fork():
    """A floating trunk with a turn, and two arms of two turns on it."""
    links = ["base", "trunk", *(f"{side}{k}" for side in ("left", "right") for k in (1, 2))]
    joints = [mk.build.Joint("waist", "revolute", "base", "trunk", axis=(0, 0, 1), lower=-2.0, upper=2.0)]
    for side, sign in (("left", 1.0), ("right", -1.0)):
        for k, parent, axis in ((1, "trunk", (0, 1, 0)), (2, f"{side}1", (1, 0, 0))):
            origin = mk.translation(0.3, 0.2 * sign, 0.1)
            joints.append(
                mk.build.Joint(
                    f"{side}{k}_turn", "revolute", parent, f"{side}{k}", axis=axis, lower=-2.0, upper=2.0, origin=origin
                )
            )
    return mk.Body("fork", [mk.build.Link(name) for name in links], joints).with_base("floating")


def guides(body):
    return [
        mk.Position(body.frame("left2", offset=(0.3, 0, 0)), (0.5, 0.3, 0.4), tolerance=None),
        mk.Position(body.frame("right2", offset=(0.3, 0, 0)), (0.5, -0.3, 0.4), tolerance=None),
        mk.Orientation("base", np.eye(3), tolerance=None),
        mk.Position("base", (0.0, 0.0, 0.0), tolerance=None),
        mk.Displacement(weight=0.01),
    ]


def test_limbs_have_nothing_to_do_with_each_other():
    problem = mk.Problem(fork(), guides(fork()))
    depth, above = _ancestors(problem.compiled)
    assert depth.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 7, 8]
    assert above[10, :8].tolist() == [0, 1, 2, 3, 4, 5, 6, 9]


@pytest.mark.parametrize("held", [(), (2, 7)])
def test_a_step_is_that_of_dense_normal_equations(held, rng):
    body = fork()
    problem = mk.Problem(body, guides(body))
    flat = Flat(problem)
    flat.linearise(0.3 * rng.normal(size=body.dof), 1.0)
    work, n = flat.work, body.dof
    work.free[:] = 1.0
    work.free[list(held)] = 0.0
    depth, above = _ancestors(problem.compiled)
    none = np.zeros((0, n))
    path = GuidedPath(
        windows_of([0], 1, n),
        np.zeros(0, np.int64),
        np.zeros((0, 0)),
        none,
        none,
        none,
        depth,
        above,
        np.zeros((n, n)),
        np.zeros(n),
        np.full((2, n), np.inf),
        np.zeros(0),
        problem.compiled.variables.copy(),
    )
    jacobian, residual = work.jacobian.copy(), work.residual.copy()
    tree_step(flat.problem, 0.01, path, work)
    free = work.free != 0.0
    uphill = jacobian @ residual + work.gradient
    dense = (jacobian @ jacobian.T + np.diag(work.diagonal) + 0.01 * np.eye(n))[np.ix_(free, free)]
    assert_allclose(path.uphill, uphill, atol=1e-12)
    assert_allclose(work.step[free], np.linalg.solve(dense, -uphill[free]), atol=1e-9)
    assert (work.step[~free] == 0.0).all()


@pytest.mark.parametrize("guessed", [False, True])
def test_every_frame_is_the_balance_near_the_one_before(guessed):
    """Against SciPy from the frame before, on the same sum of squares."""
    optimize = pytest.importorskip("scipy.optimize")
    body = mk.build.planar_chain([0.4, 0.3, 0.3])
    reach, calm = mk.Position("tip", (0, 0, 0), tolerance=None, weight=4.0), mk.Displacement(weight=0.2)
    problem = mk.Problem(body, [reach, calm])
    angle = np.linspace(0.0, 0.6, 7)
    points = np.stack([0.7 * np.cos(angle), 0.7 * np.sin(angle), 0.0 * angle], axis=1)
    start = np.array([-0.6, 0.8, 0.4])
    guess = start + np.linspace(0.0, 0.5, 7)[:, None] if guessed else None
    q = follow(problem, target_columns(problem, {reach: points}, "test"), start, guess)
    scale = 2.0 * 5.0 / 1.0  # the root of the weight, and five over the reach
    last = start
    for row, point in zip(q, points, strict=True):

        def squares(x, last=last, point=point):
            tip = body.forward(x)["tip"][:3, 3]
            return np.concatenate(((tip - point) * scale, np.sqrt(0.2) * (x - last)))

        best = optimize.least_squares(squares, last, xtol=1e-14, ftol=1e-14, gtol=1e-14)
        assert_allclose(row, best.x, atol=2e-5)
        last = row


def test_a_motion_leads_on_by_the_same_change_and_balls_by_the_same_turn():
    body = mk.Body("ball", [mk.build.Link("world")], []).with_base("floating")
    problem = mk.Problem(body, [mk.Pose("world", np.eye(4), position_tolerance=None, orientation_tolerance=None)])
    scratch = Scratch(problem.compiled)
    before, after = body.from_qpos([0, 0, 0, 1, 0, 0, 0]), body.from_qpos([0.1, 0, 0.2, 0.8, 0.6, 0, 0])
    last = body.from_qpos([1, 2, 3, 0.6, 0, 0.8, 0])
    x = np.zeros(6)
    extrapolate(scratch.arrays.problem, last, before, after, x)
    q = np.zeros(6)
    q[problem.compiled.active] = x
    expected = body.forward(after)["world"][:3, :3] @ body.forward(last)["world"][:3, :3]
    pose = body.forward(q)["world"]
    assert_allclose(pose[:3, 3], (1.1, 2.0, 3.2), atol=1e-12)
    assert_allclose(pose[:3, :3], expected, atol=1e-12)


def test_all_frames_together_keep_to_the_evaluations():
    body = mk.build.planar_chain(3)
    reach = mk.Position("tip", (9, 0, 0), tolerance=None)
    problem = mk.Problem(body, [reach, mk.Displacement(weight=0.1)])
    columns = target_columns(problem, {reach: np.tile((9.0, 1.0, 0.0), (4, 1))}, "test")
    depth, above = _ancestors(problem.compiled)
    none = np.empty((0, 3))
    path = GuidedPath(
        windows_of([4], 4, 3),
        columns.places,
        columns.rows,
        none,
        none,
        np.empty((4, 3)),
        depth,
        above,
        np.zeros((3, 3)),
        np.zeros(3),
        np.full((2, 3), np.inf),
        np.zeros(0),
        problem.compiled.variables.copy(),
    )
    scratch = Scratch(problem.compiled)
    follow_guides(scratch.table, path, np.full(3, 0.5), scratch.outcome, 6)
    assert np.isfinite(path.q).all()
    assert scratch.outcome[EVALUATIONS] < 6 + 4 * 5


def test_frames_that_rest_somewhere_are_solved_one_by_one():
    body = mk.build.planar_chain([0.4, 0.3, 0.3])
    reach = mk.Position("tip", (0, 0, 0), tolerance=None, weight=4.0)
    problem = mk.Problem(body, [reach, mk.Displacement(weight=0.2)])
    points = np.array([(0.7, 0.1, 0.0), (0.5, -0.4, 0.0), (0.6, 0.3, 0.0)])
    rest = np.array([(0.3, -0.5, 0.4), (-0.9, 0.5, 0.3), (0.4, 0.2, -0.6)])
    columns = target_columns(problem, {reach: points}, "test")
    together = follow(problem, columns, rest[0], rest=rest)
    for k in (2, 1, 0):
        alone = follow(problem, columns._replace(rows=columns.rows[k : k + 1]), rest[k], rest=rest[k : k + 1])
        assert np.array_equal(alone[0], together[k])
        # At the balance nothing is left of the gradient: J' W (p - target) + w (q - rest) = 0.
        jacobian = body.jacobian("tip", together[k])[:3]
        missed = body.forward(together[k])["tip"][:3, 3] - points[k]
        assert_allclose(4.0 * 25.0 * jacobian.T @ missed + 0.2 * (together[k] - rest[k]), 0.0, atol=1e-4)


def swinging(frames):
    """A fork whose hands swing, and the targets of so many frames."""
    body = fork()
    objectives = guides(body)
    left, right, *_ = objectives
    angle = np.linspace(0.0, 2.0, frames)
    up, zero = 0.1 * np.sin(angle), 0.0 * angle
    rows = {
        left: np.stack([0.5 + up, 0.3 + zero, 0.4 - up], axis=1),
        right: np.stack([0.5 - up, zero - 0.3, 0.4 + up], axis=1),
    }
    problem = mk.Problem(body, objectives)
    return problem, target_columns(problem, rows, "test")


@pytest.mark.parametrize("guessed", [False, True])
def test_windows_come_to_what_frames_in_one_go_are(guessed):
    problem, columns = swinging(10)
    start = problem.body.home
    whole = follow(problem, columns, start)
    guess = whole + 0.01 if guessed else None
    windows = windows_of([10], 3, problem.body.dof)
    assert windows.first.tolist() == [0, 3, 6, 9] and windows.end.tolist() == [3, 6, 9, 10]
    windows.edges[:] = start + 0.3
    windows.edges[0] = start
    found = follow_windows(problem, columns, windows, guess)
    assert_allclose(found, whole, atol=2e-5)
    assert windows.rounds[0] == 1 and windows.rounds[1:].min() >= 2
    assert windows.stirred.sum() == 0


def test_clips_one_after_another_know_nothing_of_each_other():
    problem, columns = swinging(8)
    start = problem.body.home
    apart = [
        follow(problem, columns._replace(rows=columns.rows[part].copy()), start) for part in (slice(5), slice(5, 8))
    ]
    windows = windows_of([5, 3], 3, problem.body.dof)
    assert windows.begin.tolist() == [0, 0, 5] and windows.end.tolist() == [3, 5, 8]
    windows.edges[:] = start
    assert_allclose(follow_windows(problem, columns, windows), np.vstack(apart), atol=2e-5)
