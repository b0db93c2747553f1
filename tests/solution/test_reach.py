"""How far a chain can reach: never less than it does, and exactly as far for chains without bends."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import memetik as mk
from memetik import Body
from memetik.build import Joint, Link
from memetik.build.chains import planar_chain
from memetik.objectives import JointValue, Pose, Position
from memetik.problem import Problem
from memetik.solution.reach import beyond, reach
from tests.naive.bodies import random_body

quick = pytest.mark.quick


def ball(body, frame, q=None, **conditions):
    problem = Problem(body, JointValue(body.joint_names[-1], 0.0), **conditions)
    return reach(problem, body.frame(frame), body.home if q is None else np.asarray(q))


@given(st.integers(0, 2**32 - 1))
def test_no_posture_leaves_the_ball(seed):
    rng = np.random.default_rng(seed)
    body = random_body(rng, 8)
    if body.dof == 0:
        return
    link = list(body.links)[-1]
    frame = body.frame(link, offset=(0.1, -0.2, 0.3))
    around = ball(body, frame)
    for _ in range(5):
        if around is not None:
            point = (body.forward(body.sample(rng))[link] @ frame.link_from_frame)[:3, 3]
            assert math.dist(point, around.center) <= around.length + 1e-9


@quick
def test_a_straight_chain_reaches_as_far_as_it_is_long():
    body = planar_chain([0.5, 0.3, 0.2])
    around = ball(body, body.frame("tip", offset=(0.1, 0.0, 0.0)))
    assert around.joint == "joint_1"
    np.testing.assert_allclose(around.center, 0.0)
    assert around.length == pytest.approx(1.1)


@quick
def test_locked_joints_are_rigid():
    """With the first joint locked at 90 degrees and the third at 90 degrees, the elbow is the centre."""
    body = planar_chain([0.5, 0.3, 0.4])
    problem = Problem(body, JointValue("joint_2", 0.0), lock={"joint_1": math.pi / 2, "joint_3": math.pi / 2})
    around = reach(problem, body.frame("tip"), problem.start(None))
    assert around.joint == "joint_2"
    np.testing.assert_allclose(around.center, (0.0, 0.5, 0.0), atol=1e-12)
    assert around.length == pytest.approx(0.5)  # hypot(0.3, 0.4)


@quick
@pytest.mark.parametrize(
    ("kind", "limits", "length"),
    [
        ("prismatic", {"lower": -0.2, "upper": 0.7}, 0.7),
        ("screw", {"lower": -2.0, "upper": 1.0, "screw_pitch": 0.1}, 0.2),
        ("xyz", {"lower": -1.0, "upper": (1.0, 2.0, 2.0)}, 3.0),
        ("xyz", {}, math.inf),
        ("revolute", {"lower": -1.0, "upper": 1.0}, 0.0),
    ],
)
def test_slides_reach_as_far_as_they_go(kind, limits, length):
    body = Body("one", [Link("a"), Link("b")], [Joint("j", kind, "a", "b", **limits)])
    assert ball(body, "b").length == pytest.approx(length)


@quick
def test_what_nothing_moves_has_no_reach():
    body = planar_chain([0.5, 0.3])
    assert ball(body, "base") is None


@quick
def test_a_target_beyond_the_ball():
    body = planar_chain([0.5, 0.5])
    far = Position("tip", (0.0, 3.0, 0.0))
    there = beyond(Problem(body, far), far, body.home)
    assert there == ("joint_1", pytest.approx(3.0), pytest.approx(1.0))
    pose = Pose("tip", mk.translation(0.0, 0.0, -2.0))
    assert beyond(Problem(body, pose), pose, body.home).distance == pytest.approx(2.0)


@quick
@pytest.mark.parametrize(
    "objective",
    [
        Position("tip", (0.3, 0.2, 0.0)),
        Position("tip", (0.3, 0.2, 9.0), mask=(1, 1, 0)),  # its height does not matter
        Position("tip", (1.1, 0.0, 0.0), tolerance=0.2),
        Position("tip", (1.1, 0.0, 0.0), tolerance=(0.2, 0.0, 0.0)),
        Position("tip", (9.0, 0.0, 0.0), tolerance=None),
        Position("tip", (9.0, 0.0, 0.0), relative_to="link_1"),  # nobody knows where that is
        JointValue("joint_1", 0.5),
    ],
)
def test_no_verdict_where_nothing_is_proven(objective):
    body = planar_chain([0.5, 0.5])
    assert beyond(Problem(body, objective), objective, body.home) is None
