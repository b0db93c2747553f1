"""Limited jerk: what the average of a retimed path keeps, at every moment."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad_vec

import memetik as mk
from memetik.motion.between import _lines
from memetik.motion.moving_average import window_and_acceleration
from memetik.motion.retime import retime
from tests.stress import retiming


@pytest.fixture(scope="module")
def arm():
    return mk.load("panda").chain("panda_link0", "panda_hand")


@pytest.mark.parametrize("kind", retiming.KINDS)
def test_all_limits_hold_at_every_moment(arm, kind):
    """By differences of samples, which are means of the derivatives, at a low and at a high rate."""
    for seed in range(3):
        rng = np.random.default_rng([11, seed])
        path = kind(arm, rng)
        v, a = rng.uniform(0.2, 4.0, arm.dof), rng.uniform(0.5, 20.0, arm.dof)
        j, within = rng.uniform(5.0, 200.0, arm.dof), 10.0 ** rng.uniform(-4.0, -1.0)
        trajectory = retime(arm, path, v, a, j, within)
        if trajectory.duration == 0.0:
            continue
        for rate in (40.0, 700.0):
            q = np.concatenate([np.repeat(path[:1], 4, 0), trajectory.sample(rate).q, np.repeat(path[-1:], 4, 0)])
            for order, limits in enumerate((v, a, j), start=1):
                rounding = 2.0 ** (order + 2) * 1e-15 * rate**order * (1.0 + np.abs(q).max())
                assert (
                    np.abs(np.diff(q, order, axis=0)).max(axis=0) * rate**order <= limits * (1 + 1e-9) + rounding
                ).all()
            assert (q >= np.minimum(arm.lower, path.min(axis=0))).all()
            assert (q <= np.maximum(arm.upper, path.max(axis=0))).all()
        assert (np.abs(trajectory.q - path) <= within + 1e-9).all(), "steps are passed"
        assert_allclose(trajectory.q[[0, -1]], path[[0, -1]], atol=1e-10)
        ends = trajectory.at([0.0, trajectory.duration])
        assert_allclose(ends[0], path[[0, -1]], atol=1e-10)
        assert_allclose(ends[1:], 0.0, atol=1e-6)


def test_it_is_the_mean_over_the_window(arm, rng):
    """Posture, velocity and acceleration against an integral by SciPy and differences."""
    path = arm.home + np.cumsum(rng.normal(0.0, 0.1, (12, arm.dof)), axis=0)
    timing = retime(arm, path, 1.0, 3.0, 30.0).timing
    h = 1e-5
    for t in rng.uniform(0.0, timing.times[-1], 10):
        breaks = np.concatenate([timing.timing.times, [0.0, timing.timing.times[-1]]])
        inner = breaks[(breaks > t - timing.window) & (breaks < t)]
        mean = (
            quad_vec(lambda x: timing.timing.at(np.array([x]))[0][0], t - timing.window, t, points=inner)[0]
            / timing.window
        )
        q, qd, qdd = (rows[0] for rows in timing.at(np.array([t])))
        assert_allclose(q, mean, atol=1e-9)
        near = timing.at(np.array([t - h, t + h]))
        assert_allclose(qd, np.diff(near[0], axis=0)[0] / (2.0 * h), atol=1e-4)
        assert_allclose(qdd, np.diff(near[1], axis=0)[0] / (2.0 * h), atol=1e-3)


@pytest.mark.quick
def test_the_window_is_as_long_as_it_pays():
    a, j = np.array([2.0, 1.0]), np.array([20.0, 20.0])
    window, slowed = window_and_acceleration(a, j, 0.1)
    assert window == pytest.approx(0.2) and slowed.tolist() == [2.0, 1.0]  # 2 a / j, and all of the acceleration
    window, slowed = window_and_acceleration(a, j, 1e-4)
    assert window < 0.2 and (slowed * window**2 / 24.0 <= 1e-4 * (1 + 1e-12)).all()
    assert (2.0 * slowed / window <= j * (1 + 1e-12)).all()
    for other in (0.9 * window, 1.1 * window):  # any other lets the first joint accelerate less
        assert min(2.0, 0.5 * 20.0 * other, 24.0 * 1e-4 / other**2) < slowed[0]
    assert window_and_acceleration(a, np.array([np.inf, np.inf]), 1e-3) == (0.0, a)
    # The figures of docs/trajectories.md.
    assert window_and_acceleration(np.array([5.0]), np.array([50.0]), 1e-3)[1] == pytest.approx(2.5, abs=0.05)
    assert window_and_acceleration(np.array([5.0]), np.array([50.0]), 1e-2)[1] == 5.0


@pytest.mark.quick
def test_one_joint_takes_longer_by_the_window():
    body = mk.build.planar_chain((1.0,))
    path = np.array([[0.0], [1.0]])
    plain, smooth = retime(body, path, 1.0, 2.0), retime(body, path, 1.0, 2.0, 20.0, 0.1)
    assert smooth.duration == pytest.approx(plain.duration + 0.2)
    assert smooth.at(0.5 * smooth.duration)[0] == pytest.approx(0.5, abs=1e-3)
    unlimited = retime(body, path, 1.0, 2.0, np.inf)
    assert unlimited.duration == plain.duration
    by_name = retime(body, path, 1.0, 2.0, {"joint_1": 20.0}, 0.1)
    assert by_name.duration == smooth.duration


def test_a_check_of_the_motion_counts_the_distance_from_the_path():
    """Where a corner is cut, the lines that a check looks at are left by no more than it allows for, and by more than the spline
    leaves them."""
    body = mk.build.planar_chain((1.0, 1.0))
    share = np.linspace(0.0, 1.0, 30)[:, None]
    path = np.concatenate([share * [1.0, 0.0], [1.0, 0.0] + share[1:] * [0.0, 1.0]])
    trajectory = retime(body, path, 1.0, 2.0, 10.0, 0.02)
    rows, bends, _ = _lines(trajectory)
    points = rows[:-1, None] + np.linspace(0.0, 1.0, 40)[:, None] * np.diff(rows, axis=0)[:, None]
    away = np.abs(trajectory.sample(200).q[:, None, None] - points)
    assert ((away - bends[:, None]).max(axis=3).min(axis=(1, 2)) <= 1e-3).all()
    without = bends - trajectory.timing.deviation
    assert (away - without[:, None]).max(axis=3).min(axis=(1, 2)).max() > 2e-3


@pytest.mark.quick
@pytest.mark.parametrize(
    ("jerk", "within", "says"),
    [
        (0.0, 1e-3, "jerk of joint 'joint_1' is 0.0; it must be at least 1e-09"),
        (np.nan, 1e-3, "must be at least 1e-09"),
        ({"elbow": 1.0}, 1e-3, "elbow"),
        ([1.0, 2.0], 1e-3, "jerk has shape"),
        (1.0, 0.0, "within is 0.0"),
    ],
)
def test_what_is_wrong_is_said(jerk, within, says):
    with pytest.raises(mk.MemetikError, match=says):
        retime(mk.build.planar_chain((1.0,)), np.array([[0.0], [1.0]]), 1.0, 2.0, jerk, within)


def test_a_track_takes_a_limit_of_jerk(arm):
    pose = mk.Position("panda_hand", (0.5, 0.0, 0.4))
    heights = np.linspace(0.4, 0.6, 20)
    track = mk.track(mk.Problem(arm, pose), {pose: [(0.5, 0.0, z) for z in heights]}, arm.home)
    trajectory = track.retime(acceleration=5.0, jerk=50.0)
    assert trajectory.duration > track.retime(acceleration=5.0).duration
    assert np.abs(np.diff(trajectory.sample(500).q, 3, axis=0)).max() * 500**3 <= 50.0 * (1 + 1e-6)
    assert len(trajectory.times) == len(track.q) and np.abs(trajectory.q - track.q).max() <= 1e-3


@pytest.mark.parametrize(("acceleration", "jerk"), [(0.1, 1e4), (0.01, 1e4), (5.0, 5e3)])
def test_a_short_window_late_on_a_long_path_keeps_its_digits(arm, acceleration, jerk):
    """Second differences of samples keep the acceleration, however small the window is beside the time that has passed."""
    angle = np.linspace(0.0, 40.0 * np.pi, 1601)[:, None]
    path = arm.home + 0.2 * np.sin(angle + np.arange(arm.dof))
    trajectory = retime(arm, path, 1.0, acceleration, jerk)
    end = trajectory.duration
    for begin in (0.1 * end, 0.7 * end, end - 0.5):
        q = trajectory.at(begin + np.arange(400) * 1e-3)[0]
        rounding = 8.0 * 1e-15 * 1e6 * (1.0 + np.abs(q).max()) + 4e-16 * end * 1e6
        assert np.abs(np.diff(q, 2, axis=0)).max() * 1e6 <= acceleration * (1.0 + 1e-6) + rounding
    assert_allclose(trajectory.at([end])[0][0], path[-1], atol=1e-12)
