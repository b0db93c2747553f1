"""The last act of every solver: whole turns, limits, and a verdict on the vector that is really returned."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from memetik.kernels.problem.budget import OUTCOME
from memetik.kernels.problem.solve import judge
from memetik.kernels.problem.verify import CLOSEST, INVALID, REACHED, verify
from memetik.objectives import Custom, Displacement, Orientation, Position
from memetik.problem import Problem
from memetik.problem.scratch import Scratch
from tests.conftest import COMPILED
from tests.kernels.flat import Flat
from tests.naive import errors as naive
from tests.naive import kinematics
from tests.naive.bodies import serial_arm

pytestmark = pytest.mark.quick


def undefined_far_out(frame):
    return math.nan if frame.position[0] > 1e-9 else 0.0


class Judged:
    """What `verify` makes of some variables."""

    def __init__(self, body, objectives, x, start=None):
        flat = Flat(Problem(body, objectives))
        self.flat = flat
        self.x = np.array(x, dtype=np.float64)
        flat.work.start[:] = self.x if start is None else start
        flat.outcome[:] = np.nan
        self.status = verify(flat.problem, self.x, flat.outcome, flat.work)
        self.errors, self.satisfied = flat.outcome[OUTCOME:].reshape(2, -1)


@pytest.fixture
def arm():
    return serial_arm(3)


@pytest.fixture
def x(arm, rng):
    return arm.sample(rng)


def world(arm, x):
    return kinematics.pose(arm, "link3", x)


def test_reached(arm, x):
    T = world(arm, x)
    judged = Judged(arm, [Position("link3", T[:3, 3]), Orientation("link3", T[:3, :3])], x)
    assert judged.status == REACHED
    assert_allclose(judged.errors, 0.0, atol=1e-13)
    assert_array_equal(judged.satisfied, 1.0)


def test_closest_and_how_far(arm, x):
    T = world(arm, x)
    near, far = Position("link3", T[:3, 3] + (1e-5, 0, 0)), Position("link3", T[:3, 3] + (0, 0.3, 0.4))
    judged = Judged(arm, [near, far], x)
    assert judged.status == CLOSEST
    assert_allclose(judged.errors, [1e-5, 0.5], rtol=1e-9)
    assert_array_equal(judged.satisfied, [1.0, 0.0])


def test_judge_says_the_same_of_a_joint_vector(arm, x):
    T = world(arm, x)
    objectives = [Position("link3", T[:3, 3] + (0, 0.3, 0.4)), Orientation("link3", T[:3, :3]), Displacement()]
    problem = Problem(arm, objectives)
    scratch = Scratch(problem.compiled)
    outcome = scratch.outcome
    outcome[:] = 7.0
    q = x.copy()
    assert judge(scratch.table, q, outcome) == CLOSEST
    assert_array_equal(q, x)
    assert_array_equal(outcome[:OUTCOME], 7.0)
    assert_allclose(outcome[OUTCOME : OUTCOME + 2], [0.5, 0.0], atol=1e-12)
    assert_array_equal(outcome[OUTCOME + 3 :], [0.0, 1.0, 1.0])


@pytest.mark.parametrize(("off", "expected"), [(0.999, REACHED), (1.001, CLOSEST)])
def test_the_tolerance_decides(arm, x, off, expected):
    target = world(arm, x)[:3, 3] + (0.02 * off, 0, 0)
    assert Judged(arm, Position("link3", target, tolerance=0.02), x).status == expected


@pytest.mark.parametrize(("tolerance", "expected"), [((0.02, 1e-3, 0.1), REACHED), ((0.2, 0.2, 1e-3), CLOSEST)])
def test_a_tolerance_for_each_axis(arm, x, tolerance, expected):
    target = world(arm, x)[:3, 3] - (0.01, 0.0, 0.05)
    assert Judged(arm, Position("link3", target, tolerance=tolerance), x).status == expected


def test_guides_are_measured_and_do_not_block(arm, x):
    T = world(arm, x)
    objectives = [Position("link3", T[:3, 3]), Position("link2", (9, 9, 9), tolerance=None), Displacement()]
    judged = Judged(arm, objectives, x)
    assert judged.status == REACHED
    far = naive.lengths(kinematics.pose(arm, "link2", x)[:3, 3] - (9, 9, 9))
    assert judged.errors[1] == pytest.approx(far)
    assert_array_equal(judged.satisfied, 1.0)


def test_an_error_that_is_not_a_number_is_never_good_enough(arm, x):
    T = world(arm, x)
    reach = Position("link3", T[:3, 3])
    frame = arm.frame("link3", np.linalg.inv(T) @ kinematics.slide((1, 0, 0), 1.0))  # at x = 1 m in the world
    hard = Custom(undefined_far_out, reads=[frame], tolerance=1.0)
    judged = Judged(arm, [reach, hard], x)
    assert judged.status == INVALID
    assert math.isnan(judged.errors[1]) and judged.satisfied[1] == 0.0
    soft = Custom(undefined_far_out, reads=[frame], tolerance=None)
    judged = Judged(arm, [reach, soft], x)
    assert judged.status == REACHED
    assert math.isnan(judged.errors[1]) and judged.satisfied[1] == 1.0


def test_what_is_out_of_limits_is_clamped_before_it_is_judged(arm, x):
    """The verdict is on the vector that is returned, not on the one that the search liked."""
    target = Position("link3", world(arm, x)[:3, 3])
    limited = Problem(arm, target, limits={"joint1": (x[1] - 2.0, x[1] - 1.0)})
    flat = Flat(limited)
    returned = x.copy()
    flat.work.start[:] = x
    status = verify(flat.problem, returned, flat.outcome, flat.work)
    assert returned[1] == limited.upper[1] and returned[0] == x[0]
    assert status == CLOSEST
    assert flat.outcome[OUTCOME] == pytest.approx(
        naive.lengths(world(arm, returned)[:3, 3] - world(arm, x)[:3, 3]), rel=1e-9
    )


# Plain Python has no cosine of an infinite angle and raises.
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf] if COMPILED else [math.nan])
def test_a_variable_that_is_no_number_is_invalid_or_clamped(arm, x, bad):
    broken = x.copy()
    broken[1] = bad
    judged = Judged(arm, Position("link3", (0, 0, 0)), broken, start=x)
    assert judged.status == INVALID or np.isfinite(judged.x).all()
