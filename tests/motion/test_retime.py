"""Retiming: as fast as toppra, and never beyond a limit in what is sampled."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import CubicSpline, PchipInterpolator

import memetik as mk
from memetik.errors import ProblemError
from memetik.motion.retime import limits_of, retime
from memetik.motion.spline import Spline, _monotone_slopes, _natural_slopes, spline_through
from tests.naive.retiming import extremes, toppra_duration
from tests.stress import retiming


@pytest.fixture(scope="module")
def arm():
    return mk.load("panda").chain("panda_link0", "panda_hand")


def waves(body, steps, seed):
    rng = np.random.default_rng(seed)
    t = np.linspace(0.0, 0.9, steps)[:, None]
    swing = np.sin(2 * np.pi * t * rng.integers(1, 3, body.dof) + rng.uniform(0, 6, body.dof))
    return np.clip(body.home + 0.4 * swing, body.lower, body.upper)


def worst(trajectory, rate, v, a):
    """The largest velocity and acceleration as shares of their limits, by differences of samples."""
    q = trajectory.sample(rate).q
    fast, hard = np.abs(np.diff(q, axis=0)) * rate / v, np.abs(np.diff(q, n=2, axis=0)) * rate**2 / a
    return fast.max(), hard.max()


@pytest.mark.quick
def test_slopes_are_those_of_scipy():
    rng = np.random.default_rng(1)
    knots, values = np.cumsum(rng.uniform(0.1, 1.0, 12)), rng.normal(size=(12, 3))
    s = np.linspace(knots[0], knots[-1], 101)
    for slopes, theirs in (
        (_natural_slopes(knots, values), CubicSpline(knots, values, bc_type="natural")),
        (_monotone_slopes(knots, values), PchipInterpolator(knots, values)),
    ):
        q, first, second = Spline(knots, values, slopes).at(s)
        inner = (s > knots[1]) & (s < knots[-2])  # SciPy's slopes at the ends of a monotone one are not zero
        assert_allclose(q[inner], theirs(s)[inner], atol=1e-12)
        assert_allclose(first[inner], theirs(s, 1)[inner], atol=1e-10)
        assert_allclose(second[inner], theirs(s, 2)[inner], atol=1e-9)


@pytest.mark.parametrize("steps", [2, 5, 20, 200])
def test_limits_hold_at_every_rate(arm, steps):
    for seed in range(3):
        path = waves(arm, steps, seed)
        v, a = arm.variables.velocity, np.full(arm.dof, 5.0)
        trajectory = retime(arm, path, None, a)
        for rate in (30, 250, 1000):
            fast, hard = worst(trajectory, rate, v, a)
            assert fast <= 1 + 1e-6 and hard <= 1 + 1e-6
        fine = trajectory.sample(1000)
        assert max(worst(trajectory, 1000, v, a)) > 0.98, "some limit is used"
        assert_allclose(fine.q[[0, -1]], path[[0, -1]], atol=1e-12)
        assert_allclose(fine.qd[[0, -1]], 0.0, atol=1e-6)
        assert (fine.q >= arm.lower).all() and (fine.q <= arm.upper).all()
        assert_allclose(trajectory.at(trajectory.times)[0], path, atol=1e-9)
        assert_allclose(np.diff(fine.q, axis=0) * 1000, 0.5 * (fine.qd[1:] + fine.qd[:-1]), atol=0.01)


@pytest.mark.parametrize("kind", retiming.KINDS)
def test_exact_extremes_keep_the_limits_as_fast_as_toppra(arm, kind):
    for seed in range(4):
        rng = np.random.default_rng([7, seed])
        path = kind(arm, rng)
        v, a = rng.uniform(0.2, 4.0, arm.dof), rng.uniform(0.5, 20.0, arm.dof)
        trajectory = retime(arm, path, v, a)
        low, high, fast, hard = extremes(trajectory).T
        assert (low >= arm.lower - 1e-12).all() and (high <= arm.upper + 1e-12).all()
        assert (fast <= v * (1 + 1e-9)).all() and (hard <= a * (1 + 1e-9)).all()
        theirs = toppra_duration(trajectory.timing.spline, trajectory.timing.s, v, a)
        assert trajectory.duration <= 1.01 * theirs


@pytest.mark.quick
def test_positions_between_steps_keep_the_limits(arm):
    path = np.clip(waves(arm, 15, 3) + 0.8 * np.sin(np.arange(15.0))[:, None], arm.lower, arm.upper)
    free = Spline(np.arange(15.0), path, _natural_slopes(np.arange(15.0), path))
    least, greatest = free.ranges()
    assert (least.min(axis=0) < arm.lower).any() or (greatest.max(axis=0) > arm.upper).any()
    kept = spline_through(free.knots, path, arm.lower, arm.upper)
    least, greatest = kept.ranges()
    assert (least >= arm.lower - 1e-15).all() and (greatest <= arm.upper + 1e-15).all()
    changed = (kept.slopes != free.slopes).any(axis=0)
    assert changed.any() and not changed.all(), "only joints that would leave their limits are changed"


@pytest.mark.quick
@pytest.mark.parametrize("held", [1, 30, 499])
def test_hold_jump_hold_has_a_finite_duration(arm, held):
    path = np.repeat([arm.home, arm.home + 0.1], held, axis=0)
    trajectory = retime(arm, path, 1.0, 2.0)
    assert trajectory.duration == pytest.approx(2.0 * np.sqrt(0.1 / 2.0), rel=1e-3)
    assert_allclose(trajectory.at(trajectory.times)[0], path, atol=1e-12)


@pytest.mark.quick
def test_a_slow_drift_is_followed(arm):
    path = arm.home + np.append(np.arange(2000) * 4e-10, [0.1, 0.2])[:, None]
    trajectory = retime(arm, path, 1.0, 2.0)
    assert_allclose(trajectory.at(trajectory.times)[0], path, atol=2e-9)


@pytest.mark.quick
def test_a_path_without_a_duration_is_refused(arm):
    path = np.repeat([arm.home, arm.home + 0.1], 3, axis=0)
    with pytest.raises(ProblemError, match="no finite duration"):
        retime(arm, path, 1.0, 5e-324)
    path[4, 2] = np.nan
    with pytest.raises(ProblemError, match="step 4 of the path"):
        retime(arm, path, 1.0, 1.0)


@pytest.mark.quick
def test_one_joint_is_a_trapezoid():
    body = mk.build.planar_chain((1.0,))
    trajectory = retime(body, np.array([[0.0], [1.0]]), 1.0, 2.0)
    assert trajectory.duration == pytest.approx(1.5, rel=1e-4)
    assert trajectory.at(0.75)[0] == pytest.approx(0.5, abs=1e-3)
    assert retime(body, np.array([[0.0], [1.0]]), 1e3, 4.0).duration == pytest.approx(1.0, rel=1e-4)


@pytest.mark.quick
def test_steps_that_stand_still_take_no_time():
    body = mk.build.planar_chain((1.0, 1.0))
    path = np.repeat([[0.0, 0.0], [0.5, 0.2], [1.0, 0.0]], 4, axis=0)
    trajectory = retime(body, path, 1.0, 2.0)
    assert trajectory.times.shape == (12,) and (np.diff(trajectory.times) >= 0.0).all()
    assert trajectory.times[4] == trajectory.times[7] < trajectory.times[8]
    still = retime(body, path[:3], 1.0, 2.0)
    assert still.duration == 0.0
    assert_allclose(still.sample(100).q, path[:1])
    assert retime(body, path[:1], 1.0, 2.0).duration == 0.0


@pytest.mark.quick
def test_limits_as_users_give_them(arm):
    assert_allclose(limits_of(arm, None, "velocity"), arm.variables.velocity)
    assert_allclose(limits_of(arm, None, "acceleration"), 1.0)
    assert_allclose(limits_of(arm, 3, "velocity"), 3.0)
    some = limits_of(arm, {"panda_joint2": 0.5}, "velocity")
    assert some[1] == 0.5 and some[0] == arm.variables.velocity[0]
    path = np.array([arm.home, arm.home + 0.1])
    for bad, message in (((1, 2), "has shape"), (-1, "zero or positive"), ("fast", "must be numbers"), (0, "is zero")):
        with pytest.raises(ProblemError, match=message):
            retime(arm, path, bad, None)


def test_a_track_in_time(arm):
    pose = mk.Pose("panda_hand", np.eye(4))
    start = arm.forward(arm.home, "panda_hand")
    path = mk.motion.straight_line(start, mk.translation(0.1, 0.2, -0.1) @ start, steps=50)
    problem = mk.Problem(arm, pose)
    followed = mk.track(problem, {pose: path}, start=arm.home, acceleration=4.0)
    assert followed.success and followed.trajectory is not None
    assert_allclose(followed.times, followed.trajectory.times)
    assert followed.trajectory.duration == pytest.approx(followed.retime(acceleration=4.0).duration)
    assert mk.track(problem, {pose: path}, start=arm.home).trajectory is None
    sampled = followed.trajectory.sample(250)
    tips = arm.forward(sampled.q, "panda_hand")[:, :3, 3]
    way = (path[-1] - path[0])[:3, 3]
    off = np.linalg.norm(np.cross(tips - path[0, :3, 3], way / np.linalg.norm(way)), axis=1)
    assert off.max() < 2e-4, "also between the steps the hand is on the line"
