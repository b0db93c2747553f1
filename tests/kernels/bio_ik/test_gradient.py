"""The gradient of Bio IK's objective function: of every objective, by the chain rule and by differences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from memetik.geometry import random_rotation, transform
from memetik.objectives import Custom, Distance, Ground, LookAt, Pose, Position, Projection
from memetik.problem import Problem
from memetik.solvers.bio_ik import GRADIENTS, LOSSES
from tests.conftest import COMPILED
from tests.kernels.bio_ik.evolution import Evolution
from tests.naive.bodies import dressed, serial_arm
from tests.objectives.test_jacobians import EXAMPLES, NAMES, every_kind

pytestmark = pytest.mark.quick

CASES = [(name, k) for name, makers in EXAMPLES.items() for k in range(len(makers))]


def central_differences(evolution, x, step=1e-6):
    """The twin: how the fitness differs on either side."""
    gradient = np.zeros(x.size)
    for k in range(x.size):
        sides = []
        for sign in (1.0, -1.0):
            y = x.copy()
            y[k] += sign * step
            sides.append(evolution.fitness(y))
        gradient[k] = (sides[0] - sides[1]) / (2.0 * step)
    return gradient


@pytest.mark.parametrize(("name", "k"), CASES)
def test_the_chain_rule_for_every_objective(name, k):
    """Beside a pose, so that the slopes of several losses mix; on a body with every kind of joint and with mimic joints."""
    checked = 0
    for seed in range(4 if COMPILED else 1):
        rng = np.random.default_rng(seed)
        body, left, right = every_kind(rng)
        body = dressed(body, np.random.default_rng(7))
        objective = EXAMPLES[name][k](NAMES, body, left, right, rng)
        q = body.sample(rng)
        pose = Pose(left, transform(rng.normal(scale=0.5, size=3), random_rotation(rng)), weight=0.7)
        evolution = Evolution(Problem(body, [objective, pose]), loss=LOSSES[seed % 2])
        x = q[evolution.active]
        fitness, gradient = evolution.gradient(x)
        if math.isfinite(fitness):  # solids may touch
            expected = central_differences(evolution, x)
            assert_allclose(gradient, expected, atol=2e-5 * max(1.0, np.abs(expected).max()))
            checked += 1
    assert checked or name in ("Distance", "SelfDistance")


@pytest.mark.parametrize("gradient", GRADIENTS)
def test_the_published_loss_of_distances(gradient, rng):
    body = serial_arm(4, rng)
    q = body.sample(rng)
    keep = Distance("link4", rng.normal(size=(3, 3)) + 2.0, radius=0.1, loss="published", weight=0.5)
    evolution = Evolution(Problem(body, [keep, Position("link3", (0.1, 0.2, 0.3))]), gradient=gradient)
    fitness, found = evolution.gradient(q[evolution.active])
    expected = central_differences(evolution, q[evolution.active])
    assert math.isfinite(fitness) and np.abs(expected).max() > 1e-3
    assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_projection_as_published_and_smooth(loss, rng):
    """By the chain rule, beside differences; only the smooth one has no jump in its slope where one of its losses is zero."""
    body = serial_arm(5, rng)
    q = body.sample(rng)
    V, p = body.forward(q)["link5"][:3, 0], body.forward(q)["link5"][:3, 3]
    onto = Projection("link5", Ground(p + 0.05 * V, -V), direction=(1, 0, 0))  # it faces the ground, 5 cm above it
    for smooth in (True, False):
        evolution = Evolution(Problem(body, onto), loss=loss, smooth_projection=smooth)
        x = q[evolution.active] + 0.1
        assert_allclose(evolution.gradient(x)[1], central_differences(evolution, x), atol=1e-5)
        x = q[evolution.active]
        k = int(np.abs(body.jacobian("link5", q)[3:]).sum(axis=0).argmax())
        aside = np.eye(x.size)[k] * 1e-4
        jump = abs(evolution.fitness(x + aside) + evolution.fitness(x - aside) - 2.0 * evolution.fitness(x)) / 1e-4
        assert (jump < 0.01) == (smooth and loss == "rmse"), jump


def problem_with_all(rng):
    """Targets in the world, on other frames, masked, without any; a projection; a mimic joint drives several motions."""
    body, left, right = every_kind(rng)
    wanted = [
        Pose(left, transform(rng.normal(size=3), random_rotation(rng)), weight=2.0),
        Position(right, rng.normal(size=3), relative_to=left, weight=0.5),
        LookAt(right, rng.normal(size=3)),
        Projection(left, Ground((0, 0, -3.0), (0.1, 0, 1)), direction=(1, 0, 0.2)),
    ]
    return Problem(body, wanted)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("ofkt", [True, False])
def test_all_ways_agree(rng, loss, ofkt):
    problem = problem_with_all(rng)
    ways = [Evolution(problem, loss=loss, gradient=way, ofkt=ofkt) for way in GRADIENTS]
    for _ in range(3):
        x = ways[0].sample(rng)
        before = x.copy()
        found = [way.gradient(x) for way in ways]
        assert_array_equal(x, before)
        assert found[0][0] == found[1][0] == found[2][0]
        for _, gradient in found[1:]:
            assert_allclose(gradient, found[0][1], atol=2e-6)


def test_differences_go_inwards_at_the_upper_limit(rng):
    body = serial_arm(5, rng)
    only_inside = Custom(lambda value: value if value <= 1.0 else math.nan, joints=["joint0"])
    evolution = Evolution(Problem(body, only_inside, limits={"joint0": (-1.0, 1.0)}), gradient="ofkt")
    assert_allclose(evolution.gradient(np.array([1.0]))[1], [1.0], atol=1e-6)


def test_what_a_gradient_costs(rng):
    problem = problem_with_all(rng)
    n = problem.compiled.active.size
    for way, cost in zip(GRADIENTS, (1, 1 + n, 1 + n), strict=True):
        evolution = Evolution(problem, gradient=way)
        evolution.gradient(evolution.sample(rng))
        assert evolution.tally.spent == cost


def test_at_a_solution_the_gradient_is_finite(rng):
    body = serial_arm(5, rng)
    q = body.sample(rng)
    for way in ("analytic", "ofkt"):
        evolution = Evolution(Problem(body, Position("link5", body.forward(q)["link5"][:3, 3])), gradient=way)
        fitness, gradient = evolution.gradient(q[evolution.active])
        assert fitness < 1e-12
        assert np.isfinite(gradient).all()
