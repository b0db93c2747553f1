"""What is likely a mistake is said in a warning at the user's line; what may be meant is left alone."""

import math
import re
import time
import warnings

import numpy as np
import pytest

import memetik as mk
from memetik.build.chains import serial_chain
from memetik.errors import MemetikWarning, ProblemError
from memetik.problem import Problem

pytestmark = pytest.mark.quick


@pytest.fixture
def arm():
    """Limits of ±2 rad, 0.9 m long."""
    free = serial_chain([0.3, 0.3, 0.2, 0.1], "zyyx")
    joints = [
        mk.build.Joint(j.name, "revolute", j.parent, j.child, j.origin, j.axis, lower=-2.0, upper=2.0) if j.dof else j
        for j in free.joints.values()
    ]
    return mk.Body("arm", free.links.values(), joints)


def doubt(*words):
    return pytest.warns(MemetikWarning, match=".*".join(map(re.escape, words)))


# ---- Millimetres ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [(400.0, 100.0, 200.0), (0.0, 0.0, 150.0)])
def test_a_target_in_millimetres_is_doubted(arm, target):
    with doubt("<Position tip>", "times as far as the chain is long", "divide millimetres by 1000"):
        Problem(arm, mk.Position("tip", target))
    pose = np.eye(4)
    pose[:3, 3] = target
    with doubt("<Pose tip>", "millimetres"):
        Problem(arm, mk.Pose("tip", pose))


def test_targets_that_are_merely_out_of_reach_are_not(arm):
    Problem(arm, mk.Position("tip", (3.0, 0.0, 0.0)))
    Problem(arm, mk.Position("tip", (50.0, 0.0, 0.0)))
    Problem(arm, mk.Position("tip", (1e6, 0.0, 0.0)))  # as far as it goes that way
    Problem(arm, mk.Position("tip", (0.3, 0.1, 500.0), mask=(1, 1, 0)))  # the height is free
    Problem(arm, mk.LookAt("tip", (500.0, 0.0, 0.0)))  # one may look far


def test_a_body_that_goes_anywhere_may_go_far(arm):
    Problem(arm.with_base("floating"), mk.Position("tip", (500.0, 100.0, 0.0)))
    with doubt("millimetres"):
        Problem(arm.with_base("xyz", lower=-1.0, upper=1.0), mk.Position("tip", (500.0, 100.0, 0.0)))


# ---- Degrees ----------------------------------------------------------------------------------------------


def test_joint_values_in_degrees_are_doubted(arm):
    with doubt("JointValue", "'joint_2' is 90 rad", "math.radians(90)"):
        Problem(arm, mk.JointValue("joint_2", 90.0))
    with doubt("limits", "'joint_1' is -45 rad"):
        Problem(arm, mk.Position("tip", (0.3, 0.1, 0.2)), limits={"joint_1": (-45.0, 45.0)})
    with pytest.raises(ProblemError, match=r"locked at 45, outside.*math\.radians"):
        Problem(arm, mk.Position("tip", (0.3, 0.1, 0.2)), lock={"joint_1": 45.0})


def test_a_start_in_degrees_is_doubted_once(arm):
    problem = Problem(arm, mk.Position("tip", (0.3, 0.1, 0.2)))
    with doubt("the start: joint 'joint_1' is at 30 rad", "radians"):
        problem.start([30.0, -45.0, 60.0, 0.0])
    problem.start([30.0, -45.0, 60.0, 0.0])


def test_values_that_may_be_meant_are_not(arm):
    problem = Problem(
        arm,
        [mk.Position("tip", (0.3, 0.1, 0.2)), mk.JointValue("joint_2", 2.5, tolerance=None)],
        limits={"joint_1": (-math.pi, math.pi), "joint_3": (-math.inf, 1.0)},
    )
    problem.start([2.5, -3.0, 2.0 * math.pi, 0.0])  # outside the limits, but not by turns
    wheel = mk.Body("wheel", [mk.build.Link("a"), mk.build.Link("b")], [mk.build.Joint("w", "continuous", "a", "b")])
    Problem(wheel, mk.JointValue("w", 40.0)).start([100.0])  # joints without limits count their turns
    slide = mk.Body(
        "slide",
        [mk.build.Link("a"), mk.build.Link("b")],
        [mk.build.Joint("s", "prismatic", "a", "b", lower=-1.0, upper=1.0)],
    )
    Problem(slide, mk.JointValue("s", 0.5)).start([90.0])


def test_euler_angles_in_degrees_are_doubted():
    with doubt("(180, 0, 0)", "look like degrees", "degrees=True"):
        mk.euler(180, 0, 0)
    with doubt("(0, 90, 45)"):
        mk.rpy(0, 90, 45)
    mk.euler(180, 0, 0, degrees=True)
    mk.euler(math.pi, 0, 2 * math.pi)
    mk.euler(0, 0, 7.3)  # an angle that grows with time
    mk.euler(1, 2, 3)


# ---- Frames that stand still ------------------------------------------------------------------------------


def test_a_frame_that_nothing_moves_is_doubted(arm):
    with doubt("no free joint moves base", "exchange frame and relative_to"):
        Problem(arm, mk.Position("base", (0.3, 0.1, 0.2), relative_to="tip"))
    with doubt("no free joint moves base"):
        Problem(arm, mk.objective(reads=["base"], joints=["joint_1"])(lambda base, angle: angle - base.position[0]))


def test_standing_still_is_fine_for_what_others_are_seen_from(arm):
    Problem(arm, mk.Position("tip", (0.3, 0.1, 0.2), relative_to="base"))
    Problem(arm, mk.objective(reads=["tip", "base"])(lambda tip, base: tip.position[0] - base.position[0] - 0.3))
    Problem(arm, mk.objective(joints=["joint_1"])(lambda angle: angle - 0.3))


# ---- Where and how fast -----------------------------------------------------------------------------------


def test_a_warning_points_at_the_line_of_the_user(arm):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mk.euler(180, 0, 0)
        Problem(arm, mk.Position("tip", (400.0, 100.0, 200.0)))
    assert [one.filename for one in caught] == [__file__, __file__]


@pytest.mark.timed
def test_a_start_is_checked_for_next_to_nothing(arm):
    """A usual start takes as long as one of a problem that doubts nothing."""
    problem, careless = (Problem(arm, mk.Position("tip", (0.3, 0.1, 0.2))) for _ in range(2))
    careless._look_beyond(math.inf)
    start = np.array([0.1, 0.2, 0.3, 0.4])

    def seconds(one):
        best = math.inf
        for _ in range(20):
            begin = time.perf_counter()
            for _ in range(2000):
                one.start(start)
            best = min(best, (time.perf_counter() - begin) / 2000)
        return best

    assert seconds(problem) < seconds(careless) + 0.5e-6
