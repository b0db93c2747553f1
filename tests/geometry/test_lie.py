"""Exponential, logarithm and left Jacobian against the matrix exponential, from tiny angles to half turns."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from memetik import geometry as g
from memetik.errors import GeometryError

RNG = np.random.default_rng(22)
I3 = np.eye(3)
AXES = [(1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.6, 0.0, 0.8), (-0.48, 0.6, 0.64)]
ANGLES = [1e-300, 1e-16, 1e-9, 1e-4, 0.0999, 0.1001, 1.0, 2.5, *(math.pi - np.array([1e-5, 1e-9, 1e-15]))]

quick = settings(deadline=None, derandomize=True, max_examples=25)
vectors = st.tuples(*[st.floats(-1.8, 1.8)] * 3).map(np.array)
twists = st.tuples(*[st.floats(-1.8, 1.8)] * 6).map(np.array)


def assert_same(A, B, atol=1e-14):
    assert np.allclose(A, B, rtol=0.0, atol=atol), f"differ by {np.max(np.abs(np.asarray(A) - B))}"


def cross_matrix(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def jacobian_by_expm(v):
    """exp of [[K, I], [0, 0]] holds the integral of exp(s K) over s in [0, 1] in its upper right block."""
    return expm(np.block([[cross_matrix(v), I3], [np.zeros((3, 6))]]))[:3, 3:]


# ---- Rotations -----------------------------------------------------------------------------------


@quick
@given(v=vectors)
def test_exp_rotation_is_the_matrix_exponential(v):
    assert_same(g.exp_rotation(v), expm(cross_matrix(v)))
    assert_same(g.exp_rotation(v) @ g.exp_rotation(-v), I3)
    assert_same(g.exp_rotation(0.3 * v) @ g.exp_rotation(0.7 * v), g.exp_rotation(v))


@quick
@given(v=vectors)
def test_log_rotation_is_scipys(v):
    R = g.exp_rotation(v)
    assert_same(g.exp_rotation(g.log_rotation(R)), R)
    if math.hypot(*v) < math.pi - 1e-3:
        assert_same(g.log_rotation(R), v)
        assert_same(g.log_rotation(R), Rotation.from_matrix(R).as_rotvec())


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("angle", ANGLES)
def test_log_undoes_exp_at_every_scale(axis, angle):
    v = angle * np.array(axis)
    found = g.log_rotation(g.exp_rotation(v))
    assert math.hypot(*(found - v)) <= 2e-15 * angle


@pytest.mark.parametrize("axis", AXES)
def test_half_turn_and_beyond(axis):
    v = math.pi * np.array(axis)
    found = g.log_rotation(g.exp_rotation(v))
    assert math.hypot(*found) == pytest.approx(math.pi, abs=1e-15)
    assert min(math.hypot(*(found - v)), math.hypot(*(found + v))) < 2e-15
    past = (math.pi + 1e-6) * np.array(axis)
    assert_same(g.log_rotation(g.exp_rotation(past)), -(math.pi - 1e-6) * np.array(axis))


def test_exact_half_turns_point_to_the_positive_side():
    assert g.log_rotation(np.diag([-1.0, 1.0, -1.0])).tolist() == [0.0, math.pi, 0.0]
    assert g.log_rotation(np.diag([-1.0, -1.0, 1.0])).tolist() == [0.0, 0.0, math.pi]


def test_zero_and_identity():
    assert np.array_equal(g.exp_rotation((0, 0, 0)), I3)
    assert np.array_equal(g.log_rotation(I3), np.zeros(3))
    assert np.array_equal(g.exp_transform(np.zeros(6)), np.eye(4))
    assert np.array_equal(g.log_transform(np.eye(4)), np.zeros(6))
    assert np.array_equal(g.left_jacobian((0, 0, 0)), I3)
    assert np.array_equal(g.inverse_left_jacobian((0, 0, 0)), I3)


# ---- Transforms ----------------------------------------------------------------------------------


@quick
@given(twist=twists)
def test_exp_transform_is_the_matrix_exponential(twist):
    generator = np.zeros((4, 4))
    generator[:3, :3], generator[:3, 3] = cross_matrix(twist[3:]), twist[:3]
    T = g.exp_transform(twist)
    assert_same(T, expm(generator), atol=2e-14)
    assert_same(T @ g.exp_transform(-twist), np.eye(4))
    assert_same(g.exp_transform(0.3 * twist) @ g.exp_transform(0.7 * twist), T)
    assert_same(g.exp_transform(g.log_transform(T)), T)


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("angle", ANGLES)
def test_log_transform_undoes_exp_at_every_scale(axis, angle):
    twist = np.array([0.3, -0.5, 0.7, *(angle * np.array(axis))])
    found = g.log_transform(g.exp_transform(twist))
    assert_same(found[:3], twist[:3], atol=3e-15)
    assert math.hypot(*(found - twist)[3:]) <= 2e-15 * angle


def test_a_pure_translation_keeps_its_length():
    assert np.array_equal(g.exp_transform((1, 2, 3, 0, 0, 0)), g.translation(1, 2, 3))
    assert np.array_equal(g.log_transform((1, 2, 3)), [1, 2, 3, 0, 0, 0])


def test_the_screw_motion_ends_where_interpolate_ends():
    T0, T1 = (g.transform(RNG.uniform(-1, 1, 3), g.random_rotation(RNG)) for _ in range(2))
    screw = g.log_transform(T1 @ g.invert(T0))
    assert_same(g.exp_transform(screw) @ T0, g.interpolate(T0, T1, 1.0))
    half = g.exp_transform(0.5 * screw)
    assert_same(half @ half @ T0, T1)


# ---- Left Jacobian -------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("angle", [*ANGLES, 4.0, 6.0, 9.0])
def test_left_jacobian_and_its_inverse(axis, angle):
    v = angle * np.array(axis)
    J = g.left_jacobian(v)
    assert_same(J, jacobian_by_expm(v))
    assert_same(g.inverse_left_jacobian(v) @ J, I3, atol=3e-14)


@pytest.mark.parametrize("angle", [1e-8, 1e-5, 1e-2, 0.0999, 0.1001])
def test_second_order_terms_keep_their_digits_at_small_angles(angle):
    v = angle * np.array([0.6, 0.8, 0.0])  # for this axis [a]x is 0 at (0, 1) and [a]x^2 is 0.48
    s = angle**2
    sinc_rest = s / 6 - s**2 / 120 + s**3 / 5040 - s**4 / 362880 + s**5 / 39916800
    cotangent_rest = s / 12 + s**2 / 720 + s**3 / 30240 + s**4 / 1209600 + s**5 / 47900160
    assert g.left_jacobian(v)[0, 1] == pytest.approx(0.48 * sinc_rest, rel=2e-13, abs=0.0)
    assert g.inverse_left_jacobian(v)[0, 1] == pytest.approx(0.48 * cotangent_rest, rel=2e-13, abs=0.0)


@quick
@given(v=vectors)
def test_left_jacobian_is_the_derivative_of_exp(v):
    step = 1e-6
    for column, dv in enumerate(np.eye(3)):
        ahead, behind = g.exp_rotation(v + step * dv), g.exp_rotation(v - step * dv)
        velocity = g.log_rotation(ahead @ behind.T) / (2.0 * step)
        assert_same(velocity, g.left_jacobian(v)[:, column], atol=2e-9)


def test_very_long_vectors_do_not_overflow():
    J = g.left_jacobian((0.0, 1e200, 1e200))
    assert np.all(np.isfinite(J))
    assert_same(J @ (0.0, 1.0, 1.0), (0.0, 1.0, 1.0))


# ---- Errors --------------------------------------------------------------------------------------

BAD_CALLS = [
    (lambda: g.exp_rotation((1, 2)), r"v must be three numbers.*axis times the angle.*shape \(2,\)"),
    (lambda: g.exp_rotation((1, np.nan, 2)), r"v\[1\] is nan"),
    (lambda: g.log_rotation(2 * I3), "R is not a rotation"),
    (lambda: g.log_rotation(-I3), "R is left-handed"),
    (lambda: g.exp_transform((1, 2, 3)), "twist must be six numbers: three linear, then three angular"),
    (lambda: g.exp_transform((1, 2, 3, 4, np.inf, 6)), r"twist\[4\] is inf"),
    (lambda: g.log_transform(np.diag([2.0, 1.0, 1.0, 1.0])), r"T\[:3, :3\] is not a rotation"),
    (lambda: g.left_jacobian(I3), "v must be three numbers"),
    (lambda: g.inverse_left_jacobian("abc"), "v must be three numbers.*got str"),
    (lambda: g.inverse_left_jacobian((0, 2 * math.pi, 0)), "whole number of turns.*log_rotation"),
    (lambda: g.inverse_left_jacobian((0, 0, -4 * math.pi)), "whole number of turns"),
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("number", range(len(BAD_CALLS)))
def test_errors_say_what_where_and_how_to_mend(number):
    call, message = BAD_CALLS[number]
    with pytest.raises(GeometryError, match=message):
        call()
