"""The losses of the thesis against their twins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from memetik.geometry import random_rotation, transform
from memetik.kernels.problem.evaluate import measure, place
from memetik.kernels.problem.losses import (
    MEAN,
    PUBLISHED,
    SMOOTH,
    average,
    distance_loss,
    position_loss,
    published_distance_loss,
    term_loss,
    write_losses,
)
from memetik.objectives import (
    Direction,
    Displacement,
    Distance,
    FunctionalRelation,
    Ground,
    JointValue,
    LookAt,
    Orientation,
    Pose,
    Position,
    Projection,
)
from memetik.problem import Problem
from tests.naive import kinematics, losses
from tests.naive.bodies import serial_arm

pytestmark = pytest.mark.quick


def losses_of(problem, q):
    """The loss of every term at a joint vector, and the fitness."""
    c = problem.compiled
    c.record  # noqa: B018 - compiles the terms, which the kernels call by address
    x = np.ascontiguousarray(q[c.active])
    poses, world = np.empty((c.nodes.size, 7)), np.empty((c.frames.size, 7))
    residual = np.zeros(max(int((c.terms["row"] + c.terms["rows"]).max()), 1))
    place(c.nodes, c.frames, x, poses, world)
    measure(c.terms, c.data, world, x, 1.0, residual)
    found = [term_loss(term, c.data, world, x, residual) for term in c.terms]
    residual[:], written = math.nan, np.zeros(c.terms.size)  # it computes its own residuals
    write_losses(c.terms, c.data, world, x, residual, written)
    assert_array_equal(written, found)
    return found, average(c.terms, written, c.terms["weight"].copy(), PUBLISHED)


@pytest.fixture
def arm(rng):
    body = serial_arm(6, rng)
    return body, body.sample(rng), "link6"


def test_position_follows_equation_4_4(arm, rng):
    body, q, tip = arm
    for target in rng.normal(scale=0.5, size=(10, 3)):
        found, _ = losses_of(Problem(body, Position(tip, target)), q)
        expected = losses.position(kinematics.pose(body, tip, q), target, losses.chain_length(body, tip))
        assert_allclose(found, [expected])
        assert 0.0 <= found[0] < math.pi


def test_position_loss_is_bounded_and_defined_at_the_root():
    assert position_loss(0.0, 1.0, 0.0) == 0.0
    assert position_loss(1e-9, 1.0, 0.0) < 1e-3
    assert_allclose(position_loss(1e12, 1.0, 0.5), math.pi)


def test_orientation_follows_equation_4_5(arm, rng):
    body, q, tip = arm
    for _ in range(10):
        target = random_rotation(rng)
        found, _ = losses_of(Problem(body, Orientation(tip, target)), q)
        assert_allclose(found, [losses.orientation(kinematics.pose(body, tip, q)[:3, :3], target)], atol=1e-9)


def test_orientation_is_exact_near_zero(arm):
    body, q, tip = arm
    R = kinematics.pose(body, tip, q)[:3, :3]
    found, _ = losses_of(Problem(body, Orientation(tip, R @ kinematics.turn((0, 0, 1), 1e-9)[:3, :3])), q)
    assert_allclose(found, [1e-9], rtol=1e-5)


def test_direction_follows_equation_4_6(arm, rng):
    body, q, tip = arm
    T = kinematics.pose(body, tip, q)
    for point in rng.normal(size=(10, 3)):
        found, _ = losses_of(Problem(body, LookAt(tip, point, axis=(1, 2, 0))), q)
        assert_allclose(found, [losses.direction(T, (1, 2, 0), point)], atol=1e-7)
        found, _ = losses_of(Problem(body, Direction(tip, point, axis=(0, 1, 0))), q)
        assert_allclose(found, [losses.direction(T, (0, 1, 0), T[:3, 3] + point)], atol=1e-7)


def test_distance_follows_equation_4_7(arm):
    """A ball around the tip and balls at known distances from it, some of them beyond the margin."""
    body, q, tip = arm
    centre = kinematics.pose(body, tip, q)[:3, 3]
    for gaps in ([0.03], [0.01, 0.02, 0.3], [0.2, 0.05], [-0.01, 0.02]):
        others = [[*(centre + np.array([0.0, 0.0, 0.15 + gap])), 0.05] for gap in gaps]
        found, fitness = losses_of(Problem(body, Distance(tip, np.array(others), radius=0.1, margin=0.05)), q)
        assert_allclose(found, [sum(losses.distance(gap, 0.05) for gap in gaps)], rtol=1e-6, atol=1e-12)
        assert fitness == found[0]
    assert_allclose(distance_loss(1e-6, 0.05), 1e-6, rtol=1e-4)  # slopes like the shortfall where it begins
    assert distance_loss(0.0, 0.0) == 0.0


def test_distance_can_follow_equation_4_7_as_published(arm):
    """Every pair counts at any distance, however many there are; what is judged is the same as with the margin."""
    body, q, tip = arm
    centre = kinematics.pose(body, tip, q)[:3, 3]
    for clearance in (0.0, 0.004):
        for gaps in ([0.03], [0.01, 0.02, 3.0], [0.2, 0.05], [-0.01, 0.02], [0.0], [0.1 + 0.01 * k for k in range(40)]):
            others = [[*(centre + np.array([0.0, 0.0, 0.15 + gap + clearance])), 0.05] for gap in gaps]
            keep = Distance(
                tip, np.array(others), radius=0.1, margin=0.05, clearance=clearance, loss="published", weight=0.3
            )
            found, fitness = losses_of(Problem(body, keep), q)
            expected = sum(losses.published_distance(gap) for gap in gaps)
            if min(gaps) == 0.0:  # rounding decides; the loss is beyond all others either way
                assert found[1] > 1e10
                continue
            assert_allclose(found[1], expected, rtol=1e-9)
            if min(gaps) > 0.0:
                assert_allclose(fitness, math.sqrt(0.3 * expected**2 / 2.0), rtol=1e-9)
            else:
                assert found[0] == found[1] == math.inf
    assert published_distance_loss(99.75, 100.0) == 4.0 and published_distance_loss(100.0, 100.0) == math.inf


def test_displacement_and_joint_value_follow_equations_4_8_and_4_9(arm, rng):
    body, q, _ = arm
    reference, weights = body.sample(rng), rng.uniform(0.1, 2.0, size=body.dof)
    named = dict(zip(body.joint_names, weights, strict=True))
    found, _ = losses_of(Problem(body, Displacement(reference=reference, stiffness=named)), q)
    assert_allclose(found, [losses.displacement(q, reference, weights)])
    found, _ = losses_of(Problem(body, JointValue("joint3", 0.4)), q)
    assert_allclose(found, [losses.joint_value(q[3], 0.4)])


def test_functional_relation_follows_equation_4_10(arm):
    body, q, _ = arm
    relation = FunctionalRelation("joint0", lambda a, b: a * b + 0.1, sources=["joint4", "joint2"])
    found, _ = losses_of(Problem(body, relation), q)
    assert_allclose(found, [losses.functional_relation(q[0], q[4] * q[2] + 0.1)])


def test_a_projection_is_the_mean_of_position_and_orientation(arm):
    """Eq. 4.11, with the ray straight along V to a plane that faces it."""
    body, q, tip = arm
    T = kinematics.pose(body, tip, q)
    view, normal = T[:3, 0], -T[:3, 0] + 0.3 * T[:3, 1]
    ground = T[:3, 3] + 0.2 * view
    found, fitness = losses_of(
        Problem(body, Projection(tip, Ground(ground, normal), direction=(1, 0, 0), weight=4.0)), q
    )
    expected = [
        losses.position(T, ground, losses.chain_length(body, tip)),
        losses.direction(T, (1, 0, 0), T[:3, 3] - normal),
    ]
    assert_allclose(found, expected)
    assert_allclose(fitness, losses.fitness([losses.projection(*expected)], [4.0]))


def test_fitness_follows_equation_4_3(arm, rng):
    """A pose has two losses with its weight; objectives without a tolerance count like the others."""
    body, q, tip = arm
    T, R = kinematics.pose(body, tip, q), random_rotation(rng)
    objectives = [
        Pose(tip, transform((0.1, 0.2, 0.3), R), weight=2.0),
        LookAt("link4", (1.0, 0.0, 0.0), weight=0.5),
        Displacement(reference=body.home, weight=0.01),
    ]
    _, fitness = losses_of(Problem(body, objectives), q)
    expected = [
        losses.position(T, (0.1, 0.2, 0.3), losses.chain_length(body, tip)),
        losses.orientation(T[:3, :3], R),
        losses.direction(kinematics.pose(body, "link4", q), (1, 0, 0), (1.0, 0.0, 0.0)),
        losses.displacement(q, body.home, np.ones(body.dof)),
    ]
    assert_allclose(fitness, losses.fitness(expected, [2.0, 2.0, 0.5, 0.01]), rtol=1e-7)


def test_the_mean_of_losses(arm, rng):
    body, q, tip = arm
    problem = Problem(body, [Pose(tip, transform((0.1, 0.2, 0.3), random_rotation(rng)), weight=2.0),
                             Projection(tip, Ground((0, 0, -5.0), (0, 0, 1)), direction=(1, 0, 0), weight=3.0)])  # fmt: skip
    (a, b, c, d), _ = losses_of(problem, q)
    terms = problem.compiled.terms
    found = average(terms, np.array([a, b, c, d]), terms["weight"].copy(), MEAN)
    assert_allclose(found, losses.mean_error([a, b, losses.projection(c, d)], [2.0, 2.0, 3.0]))
    found = average(terms, np.array([a, b, c, d]), terms["weight"].copy(), SMOOTH)
    assert_allclose(found, losses.fitness([a, b, losses.smooth_projection(c, d)], [2.0, 2.0, 3.0]))
