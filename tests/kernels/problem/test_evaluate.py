"""From variables to residuals and derivatives: against naive errors and finite differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from memetik.kernels.problem.evaluate import measure, term_error
from memetik.kernels.terms.springs import SPRINGS, springs_cost
from memetik.objectives import (
    CenterJoints,
    Cone,
    Direction,
    Displacement,
    JointValue,
    LookAt,
    Orientation,
    Pose,
    Position,
)
from memetik.problem import Problem
from tests.kernels.flat import Flat
from tests.naive import errors as naive
from tests.naive import kinematics
from tests.naive.bodies import random_body, random_direction, random_origin, serial_arm

pytestmark = pytest.mark.quick

seeds = st.integers(0, 2**32 - 1)
STEP = 1e-6


def whole(problem, x, q):
    """A joint vector with the variables at their places."""
    q = q.copy()
    q[problem.compiled.active] = x
    return q


def mixture(rng, body):
    """Objectives of every family, hard and soft, with targets in the world and on other frames."""
    one, other = body.frame("link4", random_origin(rng)), body.frame("link2", random_origin(rng))
    return [
        Position(one, rng.normal(size=3), tolerance=0.3, weight=2.0),
        Orientation(one, random_origin(rng)[:3, :3], relative_to=other, tolerance=None, mask=(1, 0, 1)),
        LookAt(one, rng.normal(size=3), relative_to="link1", weight=0.3),
        Displacement(reference=rng.normal(size=body.dof), weight=0.5),
        Cone("link3", random_direction(rng), 0.2, tolerance=None),
        Pose("link4", random_origin(rng), orientation_tolerance=None),
        JointValue(body.joint_names[0], 0.4, weight=3.0),
    ]


@given(seeds)
def test_place(seed):
    rng = np.random.default_rng(seed)
    body = random_body(rng, 5).with_base("planar")
    offset = random_origin(rng)
    problem = Problem(body, [Position(body.frame("link5", offset), (0, 0, 0)), Position("link2", (0, 0, 0))])
    flat = Flat(problem)
    x = flat.sample(rng)
    flat.place(x)
    q = whole(problem, x, body.home)
    for pose, link, moved in zip(flat.work.world, ("link5", "link2"), (offset, np.eye(4)), strict=True):
        T = kinematics.pose(body, link, q) @ moved
        assert_allclose(pose[4:], T[:3, 3], rtol=0.0, atol=1e-12)
        turned = naive.Rotation.from_quat(pose[[1, 2, 3, 0]]).as_matrix()
        assert_allclose(turned, T[:3, :3], rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("softness", [0.0, 1e-4, 1.0])
def test_measure_sums_what_the_terms_say(rng, softness):
    body = random_body(rng, 4, ["revolute", "screw", "spherical"])
    flat = Flat(Problem(body, mixture(rng, body)))
    x = flat.sample(rng)
    error, hard, satisfied = flat.measure(x, softness)
    parts = {0: 0.0, 1: 0.0}
    for term in flat.terms:
        if term["kind"] == SPRINGS.number:
            square = springs_cost(term, flat.data, x)
        else:
            square = (flat.work.residual[term["row"] : term["row"] + term["rows"]] ** 2).sum()
        parts[int(term["soft"])] += term["scale"] ** 2 * square
    assert hard == pytest.approx(parts[0], rel=1e-12)
    assert error == pytest.approx(parts[0] + (softness * parts[1] if softness else 0.0), rel=1e-12)
    assert satisfied is False or not satisfied


def test_measure_is_satisfied_exactly_when_every_hard_term_is(rng):
    arm = serial_arm(3)
    x = arm.sample(rng)
    T = kinematics.pose(arm, "link3", x)
    guide = Position("link2", (5, 5, 5), tolerance=None)
    for target, satisfied in ((T[:3, 3], True), (T[:3, 3] + (0, 0, 2e-4), False)):
        flat = Flat(Problem(arm, [Orientation("link3", T[:3, :3]), Position("link3", target), guide]))
        assert flat.measure(x, 1.0)[2] == satisfied


@given(seed=seeds, softness=st.sampled_from([0.0, 1e-2, 1.0]))
def test_linearise_against_differences(seed, softness):
    rng = np.random.default_rng(seed)
    body = random_body(rng, 4, ["revolute", "prismatic", "screw", "cylindrical"])
    flat = Flat(Problem(body, mixture(rng, body)))
    x = flat.sample(rng)
    n, m = x.size, flat.work.residual.size

    def scaled(x):
        flat.linearise(x, softness)
        return flat.work.residual.copy()

    slopes = np.array([(scaled(x + d) - scaled(x - d)) / (2 * STEP) for d in STEP * np.eye(n)])
    flat.work.jacobian[...] = np.nan
    flat.linearise(x, softness)
    size = max(1.0, np.abs(slopes).max())
    assert_allclose(flat.work.jacobian[:, :m], slopes, rtol=0.0, atol=1e-6 * size)
    assert_array_equal(flat.work.jacobian[:, m:], 0.0)
    cost = [
        (flat.measure(x + d, softness)[0] - flat.measure(x - d, softness)[0]) / (2 * STEP) for d in STEP * np.eye(n)
    ]
    flat.linearise(x, softness)
    uphill = flat.work.jacobian[:, :m] @ flat.work.residual + flat.work.gradient
    assert_allclose(uphill, 0.5 * np.array(cost), rtol=0.0, atol=1e-5 * max(1.0, np.abs(cost).max()))


def test_without_softness_guides_are_silent(rng):
    body = serial_arm(4)
    guides = [Position("link4", (1, 1, 1), tolerance=None), CenterJoints()]
    flat = Flat(Problem(body, [Direction("link4", (0, 0, 1)), *guides]))
    x = flat.sample(rng)
    flat.measure(x, 1.0)
    flat.linearise(x, 0.0)
    assert flat.work.jacobian[:, :3].any() and flat.work.residual[:3].any()
    assert not flat.work.jacobian[:, 3:].any() and not flat.work.residual[3:].any()
    assert not flat.work.gradient.any() and not flat.work.diagonal.any()


def test_term_error(rng):
    arm = serial_arm(3)
    x = arm.sample(rng)
    T = kinematics.pose(arm, "link3", x)[None]
    target = random_origin(rng)[None]
    objectives = [
        Position("link3", target[0, :3, 3], mask=(1, 0, 1), tolerance=9.0),
        Orientation("link3", target[0, :3, :3], tolerance=9.0),
        Direction("link3", target[0, :3, 0], tolerance=1e-9),
        JointValue("joint1", 0.4),
    ]
    flat = Flat(Problem(arm, objectives))
    flat.measure(x)
    upright = np.eye(4) + 0.0 * target
    upright[:, :3, 3] = target[:, :3, 3]
    expected = [
        naive.lengths(naive.position_gap(T, upright, (1, 0, 1)))[0],
        naive.lengths(naive.orientation_gap(T, target))[0],
        naive.aim_gap(T[:, :3, 2], target[:, :3, 0])[0],
        abs(x[1] - 0.4),
    ]
    told = [term_error(term, flat.data, x, flat.work.residual) for term in flat.terms]
    assert_allclose([error for error, _ in told], expected, rtol=0.0, atol=1e-12)
    assert [good for _, good in told] == [True, True, False, False]


def test_measure_leaves_the_residuals_of_silent_guides_alone(rng):
    """They may be from another posture, so nobody may read them; linearise writes zeros there."""
    arm = serial_arm(2)
    flat = Flat(Problem(arm, [Position("link2", (1, 0, 0)), Position("link1", (1, 0, 0), tolerance=None)]))
    flat.work.residual[:] = 7.5
    measure(flat.terms, flat.data, flat.work.world, arm.sample(rng), 0.0, flat.work.residual)
    assert_array_equal(flat.work.residual[3:], 7.5)
