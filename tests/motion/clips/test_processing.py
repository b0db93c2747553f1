"""Clips that repeat, run at another time, are smoothed, walk on the spot, or whose feet slide: judged by what they do."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import PchipInterpolator
from scipy.ndimage import gaussian_filter1d
from scipy.spatial.transform import Rotation

import memetik as mk
from memetik.errors import ProblemError
from memetik.motion.clips.filtering import monotone

FEET = ("left_midfoot", "right_midfoot")


@pytest.fixture(scope="module")
def walk():
    kyle = mk.load("kyle", base="floating")
    feet = [kyle.frame(name, offset=(0.03, 0.0, -0.095)) for name in FEET]
    return mk.motion.gait(kyle, {feet[0]: 0.0, feet[1]: 0.5}, stride=0.6, cycles=2, rate=60.0)


def sliding(motion):
    """The speed of soles on the ground in the frames in which they stand in the middle of a contact [m/s]."""
    found = []
    for name in FEET:
        sole = motion.body.frame(name, offset=(0.03, 0.0, -0.095))
        stands = next(iter(motion.contacts([sole], speed=0.3).values()))
        inner = stands & np.roll(stands, 3) & np.roll(stands, -3)
        found.append(np.linalg.norm(motion.frame_velocities(sole)[inner, :2], axis=1))
    return np.concatenate(found)


def test_a_walk_goes_on_as_often_as_it_is_asked(walk):
    far = walk.looped(4, blend=0.3)
    one, all_of_it = (each.root_path() for each in (walk, far))
    assert far.duration > 2.0 * walk.duration  # each begins at the step that fits
    speed = (one[-1, :2] - one[0, :2]) / walk.duration
    assert_allclose((all_of_it[-1, :2] - all_of_it[0, :2]) / far.duration, speed, rtol=0.1, atol=0.02)
    assert np.abs(far.velocities()).max() < 1.5 * np.abs(walk.velocities()).max()
    assert walk.looped(1) is walk
    with pytest.raises(ProblemError, match="count"):
        walk.looped(0)


def test_time_runs_as_it_is_told(walk):
    end = walk.end
    slow = walk.warped({0.0: 0.0, 0.5: 1.0, end: end + 0.5})
    assert slow.end == pytest.approx(end + 0.5, abs=1.0 / walk.rate) and slow.rate == pytest.approx(walk.rate)
    assert_allclose(slow.at(1.0), walk.at(0.5), atol=1e-9)
    assert_allclose(walk.warped({0.7: 0.7}).q, walk.resampled(walk.rate).q, atol=1e-9)
    assert_allclose(walk.warped({0.5: 1.5}).at([1.0, 1.5]), walk.at([0.0, 0.5]), atol=1e-9)  # later as a whole
    for wrong in ({}, {0.5: 1.0, 0.4: 2.0}, {0.2: 1.0, 0.4: 0.9}, {-1.0: 0.0}, {0.5: np.nan}, 3):
        with pytest.raises(ProblemError, match="warped"):
            walk.warped(wrong)


def test_the_cubic_is_that_of_scipy_inside_and_never_goes_back(rng):
    x, y = np.cumsum(rng.uniform(0.1, 1.0, 9)), np.cumsum(rng.uniform(0.01, 3.0, 9))
    at = np.linspace(x[0], x[-1], 500)
    inner = (at > x[1]) & (at < x[-2])
    assert_allclose(monotone(x, y, at)[inner], PchipInterpolator(x, y)(at)[inner], atol=1e-12)
    assert (np.diff(monotone(x, y, at)) >= 0.0).all()


def test_a_filter_takes_noise_away_without_a_delay(walk, rng):
    noisy = walk.with_q(walk.q + rng.normal(0.0, 0.02, walk.q.shape))
    smooth = noisy.filtered(4.0)
    assert np.abs(smooth.q - walk.q).mean() < 0.5 * np.abs(noisy.q - walk.q).mean()
    sigma = np.sqrt(np.log(2.0)) / (2.0 * np.pi * 4.0) * walk.rate
    column = walk.body.index("left_elbow")
    theirs = gaussian_filter1d(noisy.q[:, column], sigma)
    assert_allclose(smooth.q[20:-20, column], theirs[20:-20], atol=1e-6)
    assert (smooth.q >= np.minimum(walk.body.lower, noisy.q.min(axis=0))).all()
    with pytest.raises(ProblemError, match="evenly spaced"):
        mk.Motion(walk.body, np.cumsum(np.linspace(0.01, 0.1, len(walk))), walk.q).filtered(4.0)


def test_a_filter_turns_the_short_way(rng):
    """The hips turn round several times; an average of angles would stop and go back at each."""
    kyle = mk.load("kyle", base="floating")
    turn = np.linspace(0.0, 6.0 * np.pi, 240)
    rest = mk.Motion(kyle, np.arange(240) / 60.0, np.tile(kyle.home, (240, 1)))
    spun = rest.with_root_path(np.column_stack([0.0 * turn, 0.0 * turn, turn]))
    found = spun.filtered(5.0)
    one, two = (Rotation.from_matrix(each.poses(each.root.child)[30:-30, :3, :3]) for each in (spun, found))
    assert (one.inv() * two).magnitude().max() < 1e-3


def test_what_is_taken_out_of_a_root_can_be_put_back(walk):
    path, still = walk.root_path(), walk.in_place()
    assert_allclose(still.root_path(), np.broadcast_to(path[0], path.shape), atol=1e-9)
    assert_allclose(still.poses(walk.root.child)[:, 2, 3], walk.poses(walk.root.child)[:, 2, 3], atol=1e-9)
    back = still.with_root_path(path)
    for link in ("head", *FEET):
        assert_allclose(back.poses(link), walk.poses(link), atol=1e-9)
    with pytest.raises(ProblemError, match="with_root_path"):
        walk.with_root_path(path[:-1])
    with pytest.raises(ProblemError, match="floating"):
        mk.Motion(mk.load("ur5"), [0.0, 1.0], np.zeros((2, 6))).in_place()


def test_feet_that_slide_are_locked(walk):
    path = walk.root_path()
    path[:, 0] = path[0, 0] + 1.08 * (path[:, 0] - path[0, 0])  # feet slide ahead by 8 % of the way
    slides = walk.with_root_path(path)
    found = slides.locked()
    before, after = sliding(slides), sliding(found)
    assert np.median(before) > 0.04 and np.median(after) < 0.002  # a foot that rolls off moves in both
    assert np.percentile(after, 95) < 0.7 * np.percentile(before, 95)
    assert np.abs(found.poses("head")[:, :3, 3] - slides.poses("head")[:, :3, 3]).max() < 0.03
    with pytest.raises(ProblemError, match="Name them"):
        mk.Motion(mk.load("ur5"), [0.0, 1.0], np.zeros((2, 6))).locked()
