"""Rotations against scipy, and every way to get them wrong."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from memetik import geometry as g
from memetik.errors import GeometryError, MemetikError

RNG = np.random.default_rng(20)
THREE_LETTERS = ["".join(p) for p in itertools.product("xyz", repeat=3) if p[0] != p[1] != p[2]]
TWO_LETTERS = ["".join(p) for p in itertools.permutations("xyz", 2)]
LOWER_ORDERS = THREE_LETTERS + TWO_LETTERS + list("xyz")
ALL_ORDERS = LOWER_ORDERS + [order.upper() for order in LOWER_ORDERS]
FULL_ORDERS = THREE_LETTERS + [order.upper() for order in THREE_LETTERS]

quick = settings(deadline=None, derandomize=True, max_examples=20)
angle = st.floats(-7.0, 7.0)
three_angles = st.tuples(angle, angle, angle)
rotations = st.integers(0, 2**32 - 1).map(lambda seed: g.random_rotation(np.random.default_rng(seed)))
directions = st.tuples(*[st.floats(-1.0, 1.0)] * 3).filter(lambda v: math.hypot(*v) > 1e-3)


def assert_rotation(R):
    assert R.shape == (3, 3) and R.dtype == np.float64
    assert np.allclose(R.T @ R, np.eye(3), rtol=0.0, atol=1e-14)
    assert np.linalg.det(R) > 0.0


def assert_same(A, B, atol=1e-14, label=""):
    assert np.allclose(A, B, rtol=0.0, atol=atol), f"{label} differ by {np.max(np.abs(np.asarray(A) - B))}"


# ---- Euler angles --------------------------------------------------------------------------------


@quick
@given(angles=three_angles)
def test_euler_is_scipys_for_every_order(angles):
    for order in ALL_ORDERS:
        given_angles = angles[: len(order)]
        expected = Rotation.from_euler(order, given_angles if len(order) > 1 else angles[0]).as_matrix()
        assert_same(g.euler(*given_angles, order=order), expected, label=order)


@quick
@given(angles=three_angles)
def test_to_euler_is_scipys_for_every_order(angles):
    for order in FULL_ORDERS:
        R = g.euler(*angles, order=order)
        found = g.to_euler(R, order)
        swing = found[1] if order[0] == order[2] else found[1] + math.pi / 2
        beside_lock = min(swing, math.pi - swing)
        atol = 1e-14 if beside_lock > 1e-10 else 1e-14 + 4.0 * beside_lock
        assert_same(g.euler(*found, order=order), R, atol=atol, label=order)
        if beside_lock > 1e-3:
            turns = (found - Rotation.from_matrix(R).as_euler(order)) / (2.0 * math.pi)
            assert_same(turns, np.round(turns), atol=1e-12, label=order)


@pytest.mark.parametrize("end", [0, 1])
def test_gimbal_lock_sets_the_last_angle_to_zero(end):
    for order in FULL_ORDERS:
        locked = end * math.pi if order[0] == order[2] else (end - 0.5) * math.pi
        R = g.euler(0.4, locked, -1.1, order=order)
        found = g.to_euler(R, order)
        assert found[2] == 0.0, order
        assert found[1] == pytest.approx(locked, abs=1e-14), order
        assert_same(g.euler(*found, order=order), R, label=order)


@pytest.mark.parametrize("distance", [1e-4, 1e-7, 1e-9, 1e-11])
def test_euler_round_trip_beside_gimbal_lock(distance):
    for order in FULL_ORDERS:
        locked = 0.0 if order[0] == order[2] else -0.5 * math.pi
        R = g.euler(0.4, locked + distance, -1.1, order=order)
        atol = 1e-14 if distance > 1e-10 else 4.0 * distance
        assert_same(g.euler(*g.to_euler(R, order), order=order), R, atol=atol, label=order)


def test_euler_angles_stay_in_their_ranges():
    for order in FULL_ORDERS:
        low, high = (0.0, math.pi) if order[0] == order[2] else (-math.pi / 2, math.pi / 2)
        for _ in range(8):
            first, middle, last = g.to_euler(g.random_rotation(RNG), order)
            assert -math.pi <= first <= math.pi and -math.pi <= last <= math.pi
            assert low <= middle <= high


def test_degrees():
    assert_same(g.euler(90, order="z", degrees=True), [[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    assert_same(g.rpy(10, 20, 30, degrees=True), g.rpy(*np.radians([10, 20, 30])))
    assert_same(g.to_euler(g.euler(10, 20, 30, degrees=True), degrees=True), [10, 20, 30], atol=1e-12)
    assert_same(g.axis_angle((0, 0, 2), 90, degrees=True), g.euler(math.pi / 2, order="z"))
    assert g.to_axis_angle(g.euler(30, order="y", degrees=True), degrees=True)[1] == pytest.approx(30.0)


def test_rpy_is_the_urdf_convention():
    roll, pitch, yaw = 0.3, -0.5, 1.2
    about_x, about_y, about_z = g.euler(roll, order="x"), g.euler(pitch, order="y"), g.euler(yaw, order="z")
    assert_same(g.rpy(roll, pitch, yaw), about_z @ about_y @ about_x)
    assert_same(g.rpy(roll, pitch, yaw), g.euler(yaw, pitch, roll, order="ZYX"))


# ---- Quaternions, axis and angle -----------------------------------------------------------------


@quick
@given(R=rotations)
def test_quaternion_round_trip(R):
    q = g.to_quaternion(R)
    assert_same(g.rotation_matrix(q), R)
    assert_same(g.rotation_matrix(-q), R)
    assert math.hypot(*q) == pytest.approx(1.0, abs=1e-15) and q[0] >= 0.0
    x, y, z, w = Rotation.from_matrix(R).as_quat(canonical=True)
    assert_same(q, [w, x, y, z])


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (-1, 2, 3), (0, -1, 1)])
@pytest.mark.parametrize("turn", [0.0, 1e-12, 1.0, 2.2, math.pi - 1e-9, math.pi, math.pi + 1e-9, 5.0])
def test_quaternion_takes_every_branch(axis, turn):
    unit = np.array(axis) / math.hypot(*axis)
    expected = np.array([math.cos(turn / 2), *(math.sin(turn / 2) * unit)])
    q = g.to_quaternion(g.axis_angle(axis, turn))
    assert_same(q * math.copysign(1.0, q @ expected), expected, atol=1e-15)


def test_half_turn_has_one_quaternion():
    assert g.to_quaternion(np.diag([1.0, -1.0, -1.0])).tolist() == [0, 1, 0, 0]
    assert g.to_quaternion(np.diag([-1.0, -1.0, 1.0])).tolist() == [0, 0, 0, 1]
    q = g.to_quaternion([[-1.0, 0.0, 0.0], [0.0, -0.28, -0.96], [0.0, -0.96, 0.28]])
    assert_same(q, [0.0, 0.0, 0.6, -0.8])
    assert not np.any(np.signbit(q[:2]))


@quick
@given(axis=directions, turn=angle)
def test_axis_angle_is_scipys(axis, turn):
    unit = np.array(axis) / math.hypot(*axis)
    R = g.axis_angle(axis, turn)
    assert_rotation(R)
    assert_same(R, Rotation.from_rotvec(turn * unit).as_matrix())


@quick
@given(axis=directions, turn=st.floats(1e-12, math.pi - 1e-12))
def test_axis_angle_round_trip(axis, turn):
    found_axis, found_turn = g.to_axis_angle(g.axis_angle(axis, turn))
    assert found_turn == pytest.approx(turn, rel=1e-14, abs=1e-15)
    assert_same(found_axis, np.array(axis) / math.hypot(*axis), atol=2e-15)


def test_identity_has_the_x_axis():
    axis, turn = g.to_axis_angle(np.eye(3))
    assert axis.tolist() == [1, 0, 0] and turn == 0.0


@pytest.mark.parametrize("length", [5e-324, 1e-200, 1.0, 1e200, 1.7e308])
def test_an_axis_may_have_any_length(length):
    assert_same(g.axis_angle((0, -length, length), 0.7), g.axis_angle((0, -1, 1), 0.7))


# ---- rotation_matrix -----------------------------------------------------------------------------


@quick
@given(R=rotations)
def test_every_kind_of_rotation_is_accepted(R):
    T = np.eye(4)
    T[:3, :3] = R
    for kind in (R, R.tolist(), T, g.to_quaternion(R), Rotation.from_matrix(R), R.astype(">f8")):
        assert_same(g.rotation_matrix(kind), R)


def test_exact_rotations_are_kept_and_copied():
    R = g.random_rotation(RNG)
    kept = g.rotation_matrix(R)
    assert np.array_equal(kept, R) and not np.shares_memory(kept, R)
    T = g.transform((1, 2, 3), R)
    assert not np.shares_memory(g.rotation_matrix(T), T)


def test_rounding_is_cleaned_to_the_nearest_rotation():
    R = g.random_rotation(RNG)
    coarse = g.rotation_matrix(R.astype(np.float32))
    assert_rotation(coarse)
    assert_same(coarse, R, atol=1e-7)
    stretch = np.diag([1.0 + 3e-7, 1.0, 1.0 - 2e-7])
    assert_same(g.rotation_matrix(R @ stretch), R)
    assert_same(g.quaternion(1.0 + 5e-7, 0, 0, 0), [1, 0, 0, 0], atol=0.0)


# ---- Directions, measures, blends ----------------------------------------------------------------


@quick
@given(forward=directions, up=directions)
def test_look_rotation_has_x_forward_and_z_near_up(forward, up):
    f, u = (np.array(v) / math.hypot(*v) for v in (forward, up))
    assume(math.hypot(*np.cross(f, u)) > 1e-3)
    R = g.look_rotation(forward, up)
    assert_rotation(R)
    assert_same(R[:, 0], f)
    assert R[:, 1] @ u == pytest.approx(0.0, abs=1e-12)
    assert R[:, 2] @ u > 0.0


def test_look_rotation_default_up_is_z():
    assert_same(g.look_rotation((1, 0, 0)), np.eye(3))
    assert_same(g.look_rotation((0, 2, 0)), g.euler(90, order="z", degrees=True))


@quick
@given(a=directions, b=directions)
def test_between_takes_a_to_b_by_the_shortest_way(a, b):
    u, v = (np.array(d) / math.hypot(*d) for d in (a, b))
    R = g.between(a, b)
    assert_rotation(R)
    assert_same(R @ u, v, atol=1e-15)
    shortest = math.atan2(math.hypot(*np.cross(u, v)), u @ v)
    assert g.angle_between(np.eye(3), R) == pytest.approx(shortest, abs=1e-14)


@pytest.mark.parametrize("a", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 2, 3), (-0.3, 1e-9, 0.4)])
@pytest.mark.parametrize("distance", [0.0, 1e-15, 1e-13, 1e-8, 1e-6, 1e-3])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_between_near_parallel_and_opposite(a, distance, sign):
    u = np.array(a) / math.hypot(*a)
    sideways = np.cross(u, (0.6, -0.48, 0.64))
    v = sign * u + distance * sideways / math.hypot(*sideways)
    R = g.between(u, v)
    assert_rotation(R)
    assert_same(R @ u, v / math.hypot(*v), atol=4e-15)


@pytest.mark.parametrize("turn", [0.0, 1e-14, 1e-9, 0.5, 3.0, math.pi - 1e-9, math.pi - 1e-14, math.pi])
def test_angle_between_is_accurate_everywhere(turn):
    for _ in range(10):
        R = g.random_rotation(RNG)
        axis = RNG.standard_normal(3)
        assert g.angle_between(R, R @ g.axis_angle(axis, turn)) == pytest.approx(turn, abs=1e-15)


@quick
@given(R0=rotations, R1=rotations, t=st.floats(-0.5, 1.5))
def test_slerp_moves_at_constant_speed(R0, R1, t):
    whole = g.angle_between(R0, R1)
    assume(abs(t) * whole < math.pi)
    R = g.slerp(R0, R1, t)
    assert_rotation(R)
    assert g.angle_between(R0, R) == pytest.approx(abs(t) * whole, abs=1e-14)
    if 0.0 <= t <= 1.0:
        assert g.angle_between(R, R1) == pytest.approx((1.0 - t) * whole, abs=1e-14)


def test_slerp_ends():
    R0, R1 = g.random_rotation(RNG), g.random_rotation(RNG)
    assert_same(g.slerp(R0, R1, 0.0), R0)
    assert_same(g.slerp(R0, R1, 1.0), R1)
    assert_same(g.slerp(np.eye(3), g.euler(math.pi, order="z"), 0.5), g.euler(math.pi / 2, order="z"))


def test_random_rotation_is_uniform_and_repeatable():
    rng, twin = np.random.default_rng(4), np.random.default_rng(4)
    drawn = np.array([g.random_rotation(rng) for _ in range(2000)])
    assert np.array_equal(drawn[0], g.random_rotation(twin))
    assert_rotation(drawn[0])
    assert np.max(np.abs(drawn.mean(axis=0))) < 0.05  # every entry has mean 0 ...
    assert np.max(np.abs((drawn**2).mean(axis=0) - 1.0 / 3.0)) < 0.025  # ... and variance 1/3
    turns = np.sort([g.angle_between(np.eye(3), R) for R in drawn])
    haar = (turns - np.sin(turns)) / math.pi  # the distribution of the angle under the Haar measure
    assert np.max(np.abs(haar - (np.arange(2000) + 0.5) / 2000)) < 0.035


# ---- Errors --------------------------------------------------------------------------------------

EYE = np.eye(3)
TRANSPOSED = np.eye(4)
TRANSPOSED[3, 0] = 0.2

BAD_CALLS = [
    (lambda: g.rotation_matrix(2.0 * EYE), r"rotation is not a rotation.*scale"),
    (lambda: g.rotation_matrix(1e300 * np.ones((3, 3))), "rotation is not a rotation"),
    (lambda: g.rotation_matrix(np.zeros((3, 3))), "rotation is not a rotation"),
    (lambda: g.rotation_matrix(np.diag([1, 1, -1])), "rotation is left-handed.*negate one of its columns"),
    (lambda: g.rotation_matrix(np.full((3, 3), np.nan)), r"rotation\[0\]\[0\] is nan"),
    (lambda: g.rotation_matrix([1, 0, 0, np.inf]), r"rotation\[3\] is inf; give a finite number"),
    (lambda: g.rotation_matrix([0.1, 0.2, 0.3]), r"rotation must be one rotation.*euler.*shape \(3,\)"),
    (lambda: g.rotation_matrix([[1, 0, 0], [0, 1]]), "rotation must be one rotation.*cannot be read"),
    (lambda: g.rotation_matrix("xyz"), "rotation must be one rotation.*got str"),
    (lambda: g.rotation_matrix(None), "rotation must be one rotation.*got NoneType"),
    (lambda: g.rotation_matrix(1j * EYE), "does not hold plain real numbers"),
    (lambda: g.rotation_matrix([0.5, 0.5, 0.5, 0.6]), r"norm 1.05.*\(w, x, y, z\) is expected"),
    (lambda: g.rotation_matrix([0, 0, 0, 0]), "rotation has norm 0"),
    (lambda: g.rotation_matrix(Rotation.random(5, rng=0)), r"pick one.*shape \(5, 3, 3\)"),
    (lambda: g.rotation_matrix(TRANSPOSED), "bottom row.*transpose"),
    (lambda: g.rotation_matrix(np.diag([1, 1, -1, 1])), r"rotation\[:3, :3\] is left-handed"),
    (lambda: g.rotation_matrix(2 * EYE, name="target"), "target is not a rotation"),
    (lambda: g.quaternion(1, 0, 0, 1e-2), r"quaternion has norm.*\(w, x, y, z\) is expected"),
    (lambda: g.quaternion(1, 0, np.nan, 0), r"quaternion\[2\] is nan"),
    (lambda: g.euler(1, 2, 3, order="xya"), "order is 'xya'; give one to three of the letters x, y, z"),
    (lambda: g.euler(1, order=""), "order is ''"),
    (lambda: g.euler(1, 2, 3, 4, order="xyzx"), "order is 'xyzx'"),
    (lambda: g.euler(1, 2, 3, order=None), "order is None"),
    (lambda: g.euler(1, 2, 3, order="xYz"), "mixes cases; write 'xyz'.*or 'XYZ'"),
    (lambda: g.euler(1, 2, 3, order="xxz"), "an axis twice in a row"),
    (lambda: g.euler(1), r"angles must be one number for each letter of order='xyz'.*shape \(1,\)"),
    (lambda: g.euler(1, 2, 3, "zyx"), "angles must be.*keywords"),
    (lambda: g.euler([1, 2, 3]), r"angles must be.*shape \(1, 3\)"),
    (lambda: g.euler(1, np.inf, 3), r"angles\[1\] is inf"),
    (lambda: g.to_euler(EYE, "xy"), "to_euler needs three"),
    (lambda: g.to_euler(2 * EYE), "R is not a rotation"),
    (lambda: g.axis_angle((0, 0, 0), 1), "axis is the zero vector"),
    (lambda: g.axis_angle((0, 1), 1), r"axis must be three numbers.*shape \(2,\)"),
    (lambda: g.axis_angle((0, 0, 1), np.nan), "angle is nan"),
    (lambda: g.axis_angle((0, 0, 1), [1, 2]), "angle must be one number"),
    (lambda: g.to_quaternion(np.zeros((2, 2))), "R must be one rotation"),
    (lambda: g.to_axis_angle(-EYE), "R is left-handed"),
    (lambda: g.look_rotation((0, 0, 1)), "up is parallel to forward"),
    (lambda: g.look_rotation((1, 0, 0), (-2, 0, 0)), "up is parallel to forward"),
    (lambda: g.look_rotation((0, 0, 0)), "forward is the zero vector"),
    (lambda: g.look_rotation((1, 0, 0), (0, 0, 0)), "up is the zero vector"),
    (lambda: g.between((0, 0, 0), (1, 0, 0)), "a is the zero vector"),
    (lambda: g.between((1, 0, 0), (1, np.nan, 0)), r"b\[1\] is nan"),
    (lambda: g.slerp(2 * EYE, EYE, 0.5), "R0 is not a rotation"),
    (lambda: g.slerp(EYE, -EYE, 0.5), "R1 is left-handed"),
    (lambda: g.slerp(EYE, EYE, np.nan), "t is nan"),
    (lambda: g.angle_between(EYE, "a"), "R1 must be one rotation"),
    (lambda: g.random_rotation(7), "rng is a int; give a numpy Generator"),
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("number", range(len(BAD_CALLS)))
def test_errors_say_what_where_and_how_to_mend(number):
    call, message = BAD_CALLS[number]
    with pytest.raises(GeometryError, match=message) as caught:
        call()
    assert isinstance(caught.value, MemetikError) and isinstance(caught.value, ValueError)
