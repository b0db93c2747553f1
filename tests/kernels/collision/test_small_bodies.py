"""Proofs between postures and counts of contacts on bodies so small that they are known by hand."""

import numpy as np
import pytest

import memetik as mk

pytestmark = pytest.mark.quick

ARM = mk.build.planar_chain([0.5, 0.5])


def reaching(others, **options):
    return mk.Problem(ARM, [mk.Distance("tip", others, radius=0.05, **options)])


def test_a_tip_that_swings_past_a_ball_is_proved_free_or_not():
    """The tip of the straight arm goes round on a circle of 1 m."""
    path = np.array([(0.0, 0.0), (1.0, 0.0)])
    free = mk.motion.check_motion(reaching([(0.4, 0.4, 0.0, 0.05)]), path)
    assert free.free
    met = mk.motion.check_motion(reaching([(np.cos(0.5), np.sin(0.5), 0.0, 0.05)]), path)
    assert not met.free
    near = mk.motion.check_motion(reaching([(1.12 * np.cos(0.5), 1.12 * np.sin(0.5), 0.0, 0.05)]), path)
    assert near.free
    asked = mk.motion.check_motion(
        reaching([(1.12 * np.cos(0.5), 1.12 * np.sin(0.5), 0.0, 0.05)], clearance=0.05), path
    )
    assert not asked.free


def test_an_obstacle_that_moves_meets_a_tip_that_stands():
    world = mk.World({"ball": mk.Shape("sphere", (0.05,), mk.translation(1.0, -1.0, 0.0))}, capacity=1)
    keep = mk.Distance("tip", world, radius=0.05)
    problem = mk.Problem(ARM, [keep])
    way = np.array([mk.translation(1.0, -1.0, 0.0), mk.translation(1.0, 1.0, 0.0)])
    still = np.zeros((2, 2))
    assert mk.motion.check_motion(problem, still).free
    assert not mk.motion.check_motion(problem, still, targets={keep: {"ball": way}}).free


def test_links_that_can_and_cannot_meet_are_told_apart():
    """Capsules on a chain that folds back on itself, and one so far out that it cannot come back."""
    thin = (mk.Shape("capsule", (0.02, 0.3), mk.transform((0.2, 0.0, 0.0), mk.rpy(0.0, np.pi / 2, 0.0))),)
    links = [mk.build.Link(name, shapes=thin) for name in ("a", "b", "c")]
    joints = [
        mk.build.Joint("one", "revolute", "a", "b", mk.translation(0.4, 0.0, 0.0), lower=(-3.0,), upper=(3.0,)),
        mk.build.Joint("two", "revolute", "b", "c", mk.translation(0.4, 0.0, 0.0), lower=(-3.0,), upper=(3.0,)),
    ]
    found = mk.collision.find_collision_pairs(mk.Body("folding", links, joints), samples=30, boxes=20)
    assert [(pair.link1, pair.link2) for pair in found.of("sometimes")] == [("a", "c")]
    stiff = [
        joints[0],
        mk.build.Joint("two", "revolute", "b", "c", mk.translation(0.4, 0.0, 0.0), lower=(-0.1,), upper=(0.1,)),
    ]
    never = mk.collision.find_collision_pairs(mk.Body("stiff", links, [stiff[0], stiff[1]]), samples=10, boxes=60)
    assert ("a", "c") in [(pair.link1, pair.link2) for pair in never.of("never")]
