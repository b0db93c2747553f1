"""The last act of every solver: whole turns, limits, and a verdict on the vector that is really returned."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from memetik.kernels.problem.budget import OUTCOME
from memetik.kernels.problem.verify import CLOSEST, INVALID, REACHED, judge, verify, wrap_towards
from memetik.objectives import Custom, Displacement, Orientation, Position
from memetik.problem import Problem
from memetik.problem.scratch import Scratch
from tests.conftest import COMPILED
from tests.kernels.flat import Flat
from tests.naive import errors as naive
from tests.naive import kinematics
from tests.naive.bodies import serial_arm

pytestmark = pytest.mark.quick

seeds = st.integers(0, 2**32 - 1)
TURN = 2.0 * math.pi


def some_bounds(rng, n):
    """Limits from less than a turn to many turns wide, or none on either side; whole turns count for some."""
    lower = np.where(rng.random(n) < 0.3, -np.inf, rng.uniform(-20.0, 0.0, n))
    upper = np.where(rng.random(n) < 0.3, np.inf, np.maximum(lower, -20.0) + rng.uniform(0.0, 30.0, n))
    finite_lower = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - 25.0, -25.0))
    finite_upper = np.where(np.isfinite(upper), upper, finite_lower + 50.0)
    return np.array([lower, upper, finite_lower, finite_upper, rng.random(n) < 0.7]).astype(float)


@given(seeds)
def test_wrapping_finds_the_copy_nearest_to_the_start(seed):
    """Against all copies within fifty turns."""
    rng = np.random.default_rng(seed)
    bounds = some_bounds(rng, 8)
    before, start = rng.uniform(*bounds[2:4]), rng.uniform(*bounds[2:4])
    x = before.copy()
    wrap_towards(x, start, bounds)
    for k in range(8):
        if bounds[4, k] == 0.0:
            assert x[k] == before[k]
            continue
        copies = before[k] + TURN * np.arange(-50, 51)
        allowed = copies[(copies >= bounds[0, k]) & (copies <= bounds[1, k])]
        assert bounds[0, k] <= x[k] <= bounds[1, k]
        assert abs(x[k] - start[k]) == pytest.approx(np.abs(allowed - start[k]).min(), abs=1e-12)
        assert np.abs(copies - x[k]).min() < 1e-12


@pytest.mark.parametrize(("before", "start", "lower", "upper", "after"), [
    (3.0, -3.0, -np.inf, np.inf, 3.0 - TURN),  # across pi
    (3.0, -3.0, -math.pi, math.pi, 3.0),  # the nearer copy is out of limits
    (7.0, 0.0, -math.pi, 8.0, 7.0 - TURN),
    (-3.0, 3.0, -4.0, 4.0, TURN - 3.0),
    (0.5, 0.5, 0.0, 1.0, 0.5),
    (100.0, 0.0, -np.inf, np.inf, 100.0 - 16 * TURN),
])  # fmt: skip
def test_wrapping_by_example(before, start, lower, upper, after):
    x = np.array([before])
    wrap_towards(x, np.array([start]), np.array([[lower], [upper], [lower], [upper], [1.0]]))
    assert x[0] == pytest.approx(after, abs=1e-12)


# ---- Verdicts -----------------------------------------------------------------------------------------------


def undefined_far_out(frame):
    return math.nan if frame.position[0] > 1e-9 else 0.0


class Judged:
    """What `verify` makes of some variables."""

    def __init__(self, body, objectives, x, start=None):
        flat = Flat(Problem(body, objectives))
        self.flat = flat
        self.x = np.array(x, dtype=np.float64)
        self.errors, self.satisfied = np.full(flat.terms.size, np.nan), np.full(flat.terms.size, np.nan)
        start = self.x.copy() if start is None else start
        self.status = verify(
            flat.nodes, flat.frames, flat.terms, flat.data, flat.bounds, self.x, start, flat.work.poses,
            flat.work.world, flat.work.residual, self.errors, self.satisfied,
        )  # fmt: skip


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
    assert judge(*scratch.record, q, *scratch.arrays) == CLOSEST
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
    errors, satisfied = np.empty(1), np.empty(1)
    returned = x.copy()
    status = verify(
        flat.nodes, flat.frames, flat.terms, flat.data, flat.bounds, returned, x, flat.work.poses, flat.work.world,
        flat.work.residual, errors, satisfied,
    )  # fmt: skip
    assert returned[1] == limited.upper[1] and returned[0] == x[0]
    assert status == CLOSEST
    assert errors[0] == pytest.approx(naive.lengths(world(arm, returned)[:3, 3] - world(arm, x)[:3, 3]), rel=1e-9)


# Plain Python has no cosine of an infinite angle and raises.
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf] if COMPILED else [math.nan])
def test_a_variable_that_is_no_number_is_invalid_or_clamped(arm, x, bad):
    broken = x.copy()
    broken[1] = bad
    judged = Judged(arm, Position("link3", (0, 0, 0)), broken, start=x)
    assert judged.status == INVALID or np.isfinite(judged.x).all()
