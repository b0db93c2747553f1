"""The population by component, against its postures one by one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import memetik as mk
from memetik.kernels.search.population_poses import add_angles, add_distances, load_poses, take_best
from memetik.solvers.memetic_plan import memetic_plan
from tests.naive import kinematics

pytestmark = pytest.mark.quick


@pytest.fixture(scope="module")
def problem():
    body = mk.load("iiwa14")
    target = body.forward(body.sample(np.random.default_rng(5)))["tool0"]
    return mk.Problem(body, [mk.Pose("tool0", target), mk.Position("link_4", (0, 0, 1))])


def test_every_posture_is_placed(problem):
    c, plan = problem.compiled, memetic_plan(problem.compiled)
    world = np.empty((c.frames.size, 7))
    for k in (0, 17, len(plan.population.genes) - 1):
        load_poses(c.record, plan.population.frame_poses, k, world)
        for f, frame in enumerate(("tool0", "link_4")):
            expected = kinematics.pose(problem.body, frame, plan.population.genes[k])
            assert_allclose(world[f, 4:], expected[:3, 3], atol=1e-12)
            assert_allclose(mk.geometry.rotation_matrix(world[f, :4]), expected[:3, :3], atol=1e-12)


def test_distances_and_angles(problem):
    plan, pose = memetic_plan(problem.compiled), problem.objectives[0]
    target = tuple(pose._pose.numbers)
    distances, angles = np.full(len(plan.population.genes), 0.5), np.full(len(plan.population.genes), 0.25)
    add_distances(plan.population.frame_poses[0], target, 2.0, distances)
    add_angles(plan.population.frame_poses[0], target, 3.0, angles)
    for k in range(0, len(plan.population.genes), 16):
        there = kinematics.pose(problem.body, "tool0", plan.population.genes[k])
        gap = there[:3, 3] - pose.target[:3, 3]
        turn = np.arccos(np.clip((np.trace(pose.target[:3, :3].T @ there[:3, :3]) - 1.0) / 2.0, -1.0, 1.0))
        assert distances[k] == pytest.approx(0.5 + 2.0 * gap @ gap)
        assert angles[k] == pytest.approx(0.25 + 3.0 * 8.0 * (1.0 - math.cos(turn / 2.0)), rel=1e-6)


def test_the_best_is_taken_once():
    score = np.array([3.0, 1.0, 2.0, 1.0])
    assert [take_best(score) for _ in range(4)] == [1, 3, 2, 0]
    assert_array_equal(score, np.full(4, np.inf))
