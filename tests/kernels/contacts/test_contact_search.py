"""The search that looks at contacts last: its answers are free, by coal, and it keeps to what every search keeps to."""

import coal
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from memetik import (
    Body,
    Budget,
    Distance,
    Pose,
    Position,
    Problem,
    Shape,
    Status,
    load,
    solve,
    transform,
)
from memetik.build import Joint, Link, planar_chain
from memetik.geometry import random_rotation
from memetik.kernels.contacts.contact_search import contact_stage
from memetik.solvers.memetic_plan import memetic_plan

KINDS = {"sphere": coal.Sphere, "capsule": coal.Capsule, "cylinder": coal.Cylinder, "box": coal.Box}


def apart(body, q, link, obstacles):
    """The least distance by coal."""
    pose, least = body.forward(q)[link], np.inf
    for shape in body.links[link].shapes:
        place = pose @ shape.link_from_shape
        one = coal.Transform3s(place[:3, :3], place[:3, 3])
        for other in obstacles:
            two = coal.Transform3s(other.link_from_shape[:3, :3], other.link_from_shape[:3, 3])
            args = KINDS[shape.kind](*shape.size), one, KINDS[other.kind](*other.size), two
            least = min(least, coal.distance(*args, coal.DistanceRequest(), coal.DistanceResult()))
    return least


def boxed(shape):
    """A shape that floats, with a point of it that shall be somewhere."""
    return Body("one", [Link("world"), Link("thing", shapes=(shape,))], [Joint("base", "floating", "world", "thing")])


SHAPES = [("sphere", (0.1,)), ("capsule", (0.06, 0.3)), ("cylinder", (0.08, 0.2)), ("box", (0.2, 0.1, 0.3))]


@pytest.mark.parametrize("clearance", [0.0, 0.01])
@pytest.mark.parametrize("kind", range(4))
def test_what_is_reached_is_free_by_coal(kind, clearance, rng):
    """The clearance that was asked for, for every pair of kinds, with a point of the body at the surface of an obstacle."""
    body = boxed(Shape(*SHAPES[kind]))
    for other in range(4):
        obstacles = [
            Shape(*SHAPES[other], transform(rng.uniform(-0.3, 0.3, 3), random_rotation(rng))),
            Shape(*SHAPES[(other + 1) % 4], transform(rng.uniform(-0.3, 0.3, 3), random_rotation(rng))),
        ]
        reach = Position(
            body.frame("thing", offset=(0.0, 0.0, 0.45)), obstacles[0].link_from_shape[:3, 3], tolerance=0.3
        )
        problem = Problem(body, [reach, Distance("thing", obstacles, clearance=clearance)])
        assert memetic_plan(problem.compiled).first_stage is contact_stage
        solution = solve(problem, body.home)
        assert solution.success
        assert apart(body, solution.q, "thing", obstacles) >= clearance - 1e-6


def arm():
    body = load("panda").chain("panda_link0", "panda_hand")
    return body, Pose("panda_hand", body.forward(body.home)["panda_hand"])


def test_a_start_that_is_the_answer_is_kept():
    body, pose = arm()
    problem = Problem(body, [pose, Distance("panda_link5", [(0.0, 1.0, 0.0, 0.1)])])
    solution = solve(problem, body.home)
    assert solution.success
    assert_array_equal(solution.q, body.home)


def test_what_touches_at_the_start_is_pushed_out_nearby():
    """A ball that cuts into the elbow: the arm gives way, and its hand stays."""
    body, pose = arm()
    elbow = body.forward(body.home)["panda_link4"][:3, 3]
    ball = Shape("sphere", (0.08,), transform(np.add(elbow, (0.0, 0.12, 0.0))))
    problem = Problem(body, [pose, Distance("panda_link4", [ball])])
    assert apart(body, body.home, "panda_link4", [ball]) < 0.0
    solution = solve(problem, body.home)
    assert solution.success
    assert apart(body, solution.q, "panda_link4", [ball]) >= -1e-6
    assert np.abs(solution.q - body.home).max() < 1.0


def test_the_same_again_and_within_budget():
    body, pose = arm()
    inside = Shape("box", (0.3, 0.3, 0.3), transform(pose.target[:3, 3]))  # the hand cannot be free there
    problem = Problem(body, [pose, Distance("panda_hand", [inside])])
    for most in (1, 2, 5, 40, 300):
        one, two = (solve(problem, body.home, budget=Budget(evaluations=most)) for _ in range(2))
        assert_array_equal(one.q, two.q)
        assert one.status == Status.CLOSEST
        assert one.evaluations <= most + 1


ARM = planar_chain([0.5, 0.5])
BENT = np.array([0.4, 0.9])


def in_the_way(radius):
    """The tip where it is with the elbow to one side, and a ball where the elbow would be."""
    (elbow,) = (joint.child for joint in list(ARM.joints.values())[1:2])
    poses = ARM.forward(BENT)
    reach = Position("tip", poses["tip"][:3, 3], tolerance=1e-5)
    ball = (*poses[elbow][:3, 3], radius)
    return Problem(ARM, [reach, Distance(elbow, [ball], radius=0.05)])


@pytest.mark.quick
def test_where_nothing_can_be_pushed_out_the_search_goes_on_elsewhere():
    """The elbow is between two circles and cannot leave the ball: the other posture of the arm is mirrored, by hand."""
    solution = solve(in_the_way(0.1), BENT)
    assert solution.success
    assert solution.attempts > 2
    assert_allclose(solution.q, [BENT[0] + BENT[1], -BENT[1]], atol=1e-3)


@pytest.mark.quick
def test_a_search_that_goes_on_ends_with_its_budget():
    """The ball is where the elbow is in both postures."""
    problem = in_the_way(2.0)
    for most in (1, 7, 120):
        one, two = (solve(problem, BENT, budget=Budget(evaluations=most)) for _ in range(2))
        assert_array_equal(one.q, two.q)
        assert one.status == Status.CLOSEST
        assert one.evaluations <= most + 1
