"""Lines, arcs and waypoints: where they lead, how fast, against SciPy's slerp and plain geometry."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm, logm
from scipy.spatial.transform import Rotation, Slerp

import memetik as mk
from memetik.errors import GeometryError

pytestmark = pytest.mark.quick


def random_pose(rng):
    return mk.transform(rng.normal(size=3), mk.geometry.random_rotation(rng))


def rigid(poses):
    R = poses[:, :3, :3]
    return np.allclose(R @ R.transpose(0, 2, 1), np.eye(3)) and np.allclose(poses[:, 3], (0, 0, 0, 1))


@pytest.mark.parametrize("seed", range(5))
def test_line_is_straight_and_turns_as_slerp(seed):
    rng = np.random.default_rng(seed)
    a, b = random_pose(rng), random_pose(rng)
    path = mk.motion.straight_line(a, b, steps=11)
    shares = np.linspace(0.0, 1.0, 11)
    assert rigid(path)
    assert_allclose(path[[0, -1]], [a, b], atol=1e-12)
    assert_allclose(path[:, :3, 3], a[:3, 3] + shares[:, None] * (b - a)[:3, 3], atol=1e-12)
    expected = Slerp([0.0, 1.0], Rotation.from_matrix([a[:3, :3], b[:3, :3]]))(shares).as_matrix()
    assert_allclose(path[:, :3, :3], expected, atol=1e-9)


def test_screw_is_the_exponential():
    rng = np.random.default_rng(7)
    a, b = random_pose(rng), random_pose(rng)
    path = mk.motion.straight_line(a, b, steps=5, screw=True)
    twist = logm(np.linalg.inv(a) @ b).real
    assert_allclose(path, [a @ expm(t * twist) for t in np.linspace(0, 1, 5)], atol=1e-8)


def test_line_with_nothing_to_turn_or_to_move():
    a = mk.transform((1, 2, 3), mk.euler(0.1, 0.2, 0.3))
    assert_allclose(mk.motion.straight_line(a, a, steps=4), np.tile(a, (4, 1, 1)), atol=1e-15)
    assert_allclose(mk.motion.straight_line(a, a, steps=4, screw=True), np.tile(a, (4, 1, 1)), atol=1e-15)


@pytest.mark.parametrize("seed", range(5))
def test_arc_is_a_circle_through_three_points(seed):
    rng = np.random.default_rng(seed)
    a, b = random_pose(rng), random_pose(rng)
    via = rng.normal(size=3)
    path = mk.motion.arc(a, via, b, steps=400)
    points = path[:, :3, 3]
    assert rigid(path)
    assert_allclose(path[[0, -1]], [a, b], atol=1e-9)
    chords = np.linalg.norm(np.diff(points, axis=0), axis=1)
    assert_allclose(chords, chords[0], rtol=1e-9)
    assert np.linalg.norm(points - via, axis=1).min() <= chords[0], "it passes through via"
    normal = np.cross(via - points[0], points[-1] - points[0])
    assert_allclose((points - points[0]) @ normal, 0.0, atol=1e-9)


def test_arc_takes_the_side_of_via():
    a, b = mk.translation(1, 0, 0), mk.translation(0, 1, 0)
    near = mk.motion.arc(a, (np.sqrt(0.5), np.sqrt(0.5), 0), b)
    far = mk.motion.arc(a, (-np.sqrt(0.5), -np.sqrt(0.5), 0), b)
    lengths = [np.linalg.norm(np.diff(path[:, :3, 3], axis=0), axis=1).sum() for path in (near, far)]
    assert_allclose(lengths, [0.5 * np.pi, 1.5 * np.pi], rtol=1e-3)
    with pytest.raises(GeometryError, match="one line"):
        mk.motion.arc(a, (2, 0, 0), mk.translation(3, 0, 0))
    with pytest.raises(GeometryError, match="one line"):
        mk.motion.arc(a, (2, 0, 0), a)


CORNER = [mk.translation(0, 0, 0), mk.translation(1, 0, 0), mk.translation(1, 1, 0)]


def speeds(path, rate):
    return np.linalg.norm(np.diff(path[:, :3, 3], axis=0), axis=1) * rate


def test_waypoints_keep_their_speeds():
    path = mk.motion.waypoints(CORNER, speed=(0.5, 0.25), rate=100)
    assert len(path) == 601 and rigid(path)
    assert_allclose(path[[0, 200, -1], :3, 3], [(0, 0, 0), (1, 0, 0), (1, 1, 0)], atol=1e-9)
    assert_allclose(speeds(path, 100), np.repeat((0.5, 0.25), (200, 400)), rtol=1e-6)


def test_a_blend_cuts_the_corner():
    path = mk.motion.waypoints(CORNER, speed=0.5, blend=0.2, rate=500)
    points = path[:, :3, 3]
    nearest = np.linalg.norm(points - (1, 0, 0), axis=1).min()
    assert 0.05 < nearest <= 0.1, "half the blend at most"
    assert_allclose(speeds(path, 500)[:-1], 0.5, rtol=1e-3)
    sharp = mk.motion.waypoints(CORNER, speed=0.5, rate=500)
    turns = [np.linalg.norm(np.diff(p[:-1, :3, 3], n=2, axis=0), axis=1).max() for p in (path, sharp)]
    assert turns[0] < 0.05 * turns[1], "the direction does not jump"


def test_waypoints_with_acceleration_start_and_end_at_rest():
    path = mk.motion.waypoints(CORNER, speed=(0.5, 0.2), tip_acceleration=1.0, blend=0.1, rate=1000)
    v = speeds(path, 1000)[:-1]
    assert v[0] < 0.01 and v[-1] < 0.01 and v.max() == pytest.approx(0.5, rel=1e-3)
    assert np.abs(np.diff(v)).max() * 1000 < 1.1


def test_a_turn_on_the_spot_takes_its_time():
    poses = [np.eye(4), mk.transform((0, 0, 0), mk.euler(0, 0, 1.0)), mk.transform((0.1, 0, 0), mk.euler(0, 0, 1.0))]
    path = mk.motion.waypoints(poses, speed=0.1, turn_speed=0.5, rate=100)
    assert len(path) == 301  # 2 s to turn, 1 s to move
    angles = Rotation.from_matrix(path[:, :3, :3]).magnitude()
    assert_allclose(angles[:201], np.linspace(0, 1, 201), atol=1e-9)


def test_what_is_wrong_is_said():
    with pytest.raises(GeometryError, match="two poses or more"):
        mk.motion.waypoints([np.eye(4)])
    with pytest.raises(GeometryError, match="speed"):
        mk.motion.waypoints(CORNER, speed=0)
    with pytest.raises(GeometryError, match="one for each line"):
        mk.motion.waypoints(CORNER, speed=(1, 2, 3))
    with pytest.raises(GeometryError, match="steps"):
        mk.motion.straight_line(np.eye(4), np.eye(4), steps=1)
    assert mk.motion.waypoints([np.eye(4), np.eye(4)]).shape == (1, 4, 4)
