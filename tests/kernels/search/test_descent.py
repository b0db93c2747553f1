"""The local search: its step against numpy, and what an attempt does with its budget."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from memetik.build import planar_chain
from memetik.kernels.compiler.jit import jit
from memetik.kernels.problem.budget import ATTEMPTS, ERROR, EVALUATIONS
from memetik.kernels.problem.guides import FADING
from memetik.kernels.search import descent
from memetik.kernels.search.descent import (
    LONGEST_STEP,
    STEPS,
    descend,
    newton_step,
    take_step,
)
from memetik.kernels.search.pose_descent import attempt_pose
from memetik.objectives import Custom, Displacement, JointValue, Orientation, Pose, Position
from memetik.problem import Problem
from tests.kernels.flat import Flat
from tests.naive.bodies import random_body, random_origin, serial_arm
from tests.naive.steps import damped_step, held

pytestmark = pytest.mark.quick

seeds = st.integers(0, 2**32 - 1)


def fresh(problem):
    flat = Flat(problem)
    flat.outcome[ERROR], flat.outcome[ATTEMPTS] = math.inf, 1.0
    return flat


def reachable(body, link, rng):
    """Where the link is at a random posture."""
    return body.forward(body.sample(rng))[link]


# ---- One step -----------------------------------------------------------------------------------------------


@given(seed=seeds, joints=st.integers(2, 7), targets=st.integers(1, 3), softness=st.sampled_from([0.0, 1.0]))
def test_newton_step(seed, joints, targets, softness):
    """With more variables than residuals and fewer, with springs and joints at their limits."""
    rng = np.random.default_rng(seed)
    body = random_body(rng, joints, ["revolute", "prismatic"], mimics=0.2)
    objectives = [
        Position(body.frame(f"link{joints - k}", random_origin(rng)), rng.normal(size=3))
        for k in range(min(targets, joints))
    ]
    flat = Flat(
        Problem(body, [*objectives, JointValue(body.joint_names[-1], 0.3), Displacement(reference=body.sample(rng))])
    )
    at = rng.random(flat.variables.size)
    x = np.where(at < 0.3, flat.variables["lower"], np.where(at > 0.7, flat.variables["upper"], flat.sample(rng)))
    x = np.where(np.isfinite(x), x, 0.2)
    w, m, damping = flat.work, flat.work.residual.size, 0.3
    flat.linearise(x, softness)
    jacobian, residual, gradient, diagonal = (a.copy() for a in (w.jacobian[:, :m], w.residual, w.gradient, w.diagonal))
    stopped = held(x, flat.variables["lower"], flat.variables["upper"], jacobian @ residual + gradient)
    expected = damped_step(jacobian, residual, gradient, diagonal, ~stopped, damping)
    expected *= LONGEST_STEP / max(LONGEST_STEP, np.abs(expected).max())
    flat.measure(x, softness)
    newton_step(flat.problem, x, damping, softness, w)
    assert_allclose(w.step, expected, rtol=0.0, atol=1e-9)
    assert_array_equal(w.step[stopped], 0.0)


def test_a_long_step_is_shortened_as_a_whole(rng):
    flat = Flat(Problem(planar_chain(3), Position("tip", (100.0, 3.0, 0.0))))
    x = np.array([0.1, 0.2, 0.3])
    flat.measure(x)
    newton_step(flat.problem, x, 1e-9, 0.0, flat.work)
    assert np.abs(flat.work.step).max() == pytest.approx(LONGEST_STEP)


def test_a_step_stops_at_the_limits(rng):
    body = serial_arm(3)
    flat = Flat(Problem(body, Position("link3", (1, 1, 1)), limits={"joint0": (-0.1, 0.1), "joint1": (0.0, 0.5)}))
    flat.work.step[:] = 0.3, -0.3, 0.3
    x = np.array([0.0, 0.1, 0.2])
    take_step(x, flat.problem, flat.work)
    assert_allclose(x, [0.1, 0.0, 0.5])


@jit
def attempt(problem, x, run, work):
    """As kernels call it, which have no way in from Python."""
    return descent.attempt(problem, x, run, work)


@jit
def attempt_softly(problem, x, run, work):
    return descent.attempt_softly(problem, x, run, work)


# ---- One attempt --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [attempt, attempt_pose])
def test_an_attempt_succeeds_from_near(kernel, rng):
    body = serial_arm(6)
    q = body.sample(rng)
    flat = fresh(Problem(body, Pose("link6", body.forward(q)["link6"])))
    x = q + 0.05
    assert kernel(flat.problem, x, flat.run(), flat.work)
    assert flat.measure(x)[2]
    assert 1 < flat.outcome[EVALUATIONS] <= STEPS + 1
    assert_array_equal(flat.work.best, x)


@pytest.mark.parametrize("kernel", [attempt, attempt_pose])
def test_an_attempt_gives_up_where_nothing_is_gained(kernel, rng):
    body = serial_arm(4)
    target = np.eye(4)
    target[:3, 3] = 50.0
    flat = fresh(Problem(body, Pose("link4", target)))
    x = body.sample(rng)
    assert not kernel(flat.problem, x, flat.run(), flat.work)
    assert flat.outcome[EVALUATIONS] <= STEPS + 1
    assert flat.outcome[ERROR] == pytest.approx(flat.measure(flat.work.best.copy())[1], rel=1e-9)
    assert flat.outcome[ERROR] <= flat.measure(x)[1] + 1e-12


@pytest.mark.parametrize("kernel", [attempt, attempt_pose])
@pytest.mark.parametrize("most", [1, 2, 3])
def test_an_attempt_ends_with_the_evaluations(kernel, most, rng):
    body = serial_arm(6)
    flat = fresh(Problem(body, Pose("link6", reachable(body, "link6", rng))))
    kernel(flat.problem, body.sample(rng), flat.run(most), flat.work)
    assert flat.outcome[EVALUATIONS] == most


@pytest.mark.parametrize("seed", range(6))
def test_both_descents_go_the_same_way_at_first(seed):
    """The one for a single pose approximates the rotation rows, so they part slowly; errors are the same."""
    rng = np.random.default_rng(seed)
    body = serial_arm(7)
    flat = fresh(Problem(body, Pose("link7", reachable(body, "link7", rng))))
    start = body.sample(rng)
    errors = []
    for kernel in (attempt, attempt_pose):
        x = start.copy()
        flat.outcome[:] = 0.0
        flat.outcome[ERROR] = math.inf
        kernel(flat.problem, x, flat.run(1), flat.work)
        errors.append(flat.outcome[ERROR])
        assert_array_equal(x, start)
    assert errors[0] == pytest.approx(errors[1], rel=1e-12)


def test_after_an_attempt_the_workspace_shows_its_last_posture(rng):
    """The restart reads the poses of the frames from there."""
    body = serial_arm(5)
    target = np.eye(4)
    target[:3, 3] = 9.0
    flat = fresh(Problem(body, Pose("link5", target)))
    for kernel in (attempt, attempt_pose):
        x = body.sample(rng)
        kernel(flat.problem, x, flat.run(), flat.work)
        seen = flat.work.world.copy()
        flat.place(x)
        assert_allclose(seen, flat.work.world, rtol=0.0, atol=1e-12)


def test_guides_shape_the_solution(rng):
    """Of all postures that reach the point the one near the wish is found, and the point is reached."""
    body = planar_chain(4)
    q = np.array([0.4, -0.3, 0.8, 0.5])
    wish = np.array([0.7, 0.1, -0.2, 0.4])
    reach = Position("tip", body.forward(q)["tip"][:3, 3])
    with_guide = fresh(Problem(body, [reach, Displacement(reference=wish, weight=0.1)]))
    alone = fresh(Problem(body, [Position("tip", reach.target)]))
    guided, unguided = q.copy(), q.copy()
    assert attempt_softly(with_guide.problem, guided, with_guide.run(), with_guide.work)
    assert attempt(alone.problem, unguided, alone.run(), alone.work)
    assert with_guide.measure(guided)[2]
    assert np.linalg.norm(guided - wish) < 0.8 * np.linalg.norm(unguided - wish)


def test_later_attempts_begin_with_fainter_guides(rng):
    """From the third attempt on guides are silent, so the attempt is the one without guides."""
    body = planar_chain(4)
    reach = Position("tip", reachable(body, "tip", rng)[:3, 3])
    flat = fresh(Problem(body, [reach, Displacement(reference=np.ones(4))]))
    flat.outcome[ATTEMPTS] = 1 + FADING.size // 2
    start = body.sample(rng)
    x, plain = start.copy(), start.copy()
    attempt_softly(flat.problem, x, flat.run(), flat.work)
    descend(flat.problem, plain, 0.0, flat.run(), flat.work)
    assert_array_equal(x, plain)


@pytest.mark.parametrize("most", [1, 4, 9])
def test_a_soft_attempt_ends_with_the_evaluations(most, rng):
    body = planar_chain(4)
    flat = fresh(Problem(body, [Position("tip", (9.0, 0.0, 0.0)), Displacement(reference=np.ones(4))]))
    attempt_softly(flat.problem, body.sample(rng), flat.run(most), flat.work)
    assert flat.outcome[EVALUATIONS] <= most


def test_guides_alone_are_balanced(rng):
    """Two wishes of the same weight meet in the middle."""
    body = planar_chain(3)
    one, other = rng.normal(size=(2, 3))
    flat = fresh(Problem(body, [Displacement(reference=one), Displacement(reference=other)]))
    x = body.sample(rng)
    assert attempt_softly(flat.problem, x, flat.run(), flat.work)
    assert_allclose(x, 0.5 * (one + other), atol=0.05)


def undefined(frame):
    return math.nan


def test_an_attempt_ends_where_an_objective_is_not_defined(rng):
    body = planar_chain(3)
    flat = fresh(Problem(body, [Custom(undefined, reads=["tip"]), Orientation("tip", np.eye(3))]))
    start = body.sample(rng)
    x = start.copy()
    assert not attempt(flat.problem, x, flat.run(), flat.work)
    assert_array_equal(x, start)
    assert flat.outcome[EVALUATIONS] == 1
