"""Rigid transforms: the group axioms, the shapes they accept, and what they refuse."""

import ast
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from memetik import geometry as g
from memetik.errors import GeometryError

RNG = np.random.default_rng(21)
I4 = np.eye(4)

quick = settings(deadline=None, derandomize=True, max_examples=20)


def random_transform(rng):
    return g.transform(rng.uniform(-2.0, 2.0, 3), g.random_rotation(rng))


transforms = st.integers(0, 2**32 - 1).map(lambda seed: random_transform(np.random.default_rng(seed)))


def assert_same(A, B, atol=1e-14):
    assert np.allclose(A, B, rtol=0.0, atol=atol), f"differ by {np.max(np.abs(np.asarray(A) - B))}"


# ---- The group -----------------------------------------------------------------------------------


@quick
@given(T=transforms)
def test_identity_and_inverse(T):
    assert np.array_equal(g.compose(T, I4), T) and np.array_equal(g.compose(I4, T), T)
    assert_same(g.compose(T, g.invert(T)), I4)
    assert_same(g.compose(g.invert(T), T), I4)
    assert_same(g.invert(g.invert(T)), T)
    assert_same(g.invert(T), np.linalg.inv(T))


@quick
@given(A=transforms, B=transforms, C=transforms)
def test_associativity_and_order(A, B, C):
    assert_same(g.compose(g.compose(A, B), C), g.compose(A, g.compose(B, C)))
    assert_same(g.compose(A, B, C), A @ B @ C)
    assert_same(g.invert(A @ B), g.invert(B) @ g.invert(A))


def test_compose_of_nothing_and_one():
    T = random_transform(RNG)
    assert np.array_equal(g.compose(), I4)
    assert np.array_equal(g.compose(T), T)
    assert np.array_equal(g.compose((1, 2, 3), ((0, 0, 1), None)), g.translation(1, 2, 4))


@quick
@given(A=transforms, B=transforms)
def test_apply_is_an_action(A, B):
    points = np.arange(24.0).reshape(2, 4, 3) / 10.0
    moved = g.apply(A, g.apply(B, points))
    assert moved.shape == points.shape
    assert_same(moved, g.apply(A @ B, points))
    assert_same(g.apply(A, points[1, 2]), (A @ [*points[1, 2], 1.0])[:3])
    assert_same(g.apply(g.invert(A), g.apply(A, points)), points)


def test_apply_turns_first_then_moves():
    T = g.transform((1, 0, 0), g.euler(90, order="z", degrees=True))
    assert_same(g.apply(T, (1, 0, 0)), (1, 1, 0))
    assert g.apply(T, np.empty((0, 3))).shape == (0, 3)


# ---- Making transforms ---------------------------------------------------------------------------


def test_transform_puts_position_and_rotation_in_place():
    R = g.random_rotation(RNG)
    T = g.transform((1, 2, 3), R)
    assert np.array_equal(T[:3, :3], R)
    assert T[:, 3].tolist() == [1, 2, 3, 1] and T[3].tolist() == [0, 0, 0, 1]
    assert T.dtype == np.float64
    assert np.array_equal(g.transform(), I4)
    assert np.array_equal(g.transform(rotation=R)[:3, :3], R)
    assert g.translation(1, 2, 3)[:3, 3].tolist() == [1, 2, 3]


def test_every_kind_of_pose_is_accepted():
    T = random_transform(RNG)
    R, p = T[:3, :3], T[:3, 3]
    for rotation in (R, T, g.to_quaternion(R), Rotation.from_matrix(R)):
        assert_same(g.as_transform((p, rotation)), T)
        assert_same(g.transform(p, rotation), T)
    assert np.array_equal(g.as_transform(T), T) and not np.shares_memory(g.as_transform(T), T)
    assert np.array_equal(g.as_transform(T.tolist()), T)
    assert np.array_equal(g.as_transform([p.tolist(), None]), g.translation(*p))
    assert np.array_equal(g.as_transform([1, 2, 3]), g.translation(1, 2, 3))


def test_coarse_transforms_become_exact():
    T = random_transform(RNG).astype(np.float32)
    T[3] += 1e-7
    exact = g.as_transform(T)
    assert exact[3].tolist() == [0, 0, 0, 1]
    assert_same(exact[:3, :3].T @ exact[:3, :3], np.eye(3))
    assert np.array_equal(exact[:3, 3], T[:3, 3].astype(float))


# ---- Blending and measuring ----------------------------------------------------------------------


@quick
@given(T0=transforms, T1=transforms, t=st.floats(0.0, 1.0))
def test_interpolate_is_straight_and_even(T0, T1, t):
    metres, radians = g.pose_distance(T0, T1)
    done = g.pose_distance(T0, g.interpolate(T0, T1, t))
    left = g.pose_distance(g.interpolate(T0, T1, t), T1)
    assert_same(done, (t * metres, t * radians))
    assert_same(left, ((1.0 - t) * metres, (1.0 - t) * radians))


def test_interpolate_ends_and_beyond():
    T0, T1 = random_transform(RNG), random_transform(RNG)
    assert_same(g.interpolate(T0, T1, 0.0), T0)
    assert_same(g.interpolate(T0, T1, 1.0), T1)
    assert_same(g.interpolate((0, 0, 0), (1, 2, 3), 2.0), g.translation(2, 4, 6))


def test_pose_error_is_in_metres_and_radians():
    metres, radians = g.pose_distance((1, 2, 3), ((4, 2, 7), g.euler(0.25, order="y")))
    assert metres == pytest.approx(5.0) and radians == pytest.approx(0.25)
    assert g.pose_distance(I4, I4) == (0.0, 0.0)
    assert g.pose_distance((-1e200, 0, 0), (1e200, 0, 0))[0] == 2e200


# ---- Errors --------------------------------------------------------------------------------------

MIRROR = np.diag([1.0, -1.0, 1.0, 1.0])
SCALED = np.diag([2.0, 2.0, 2.0, 1.0])
TRANSPOSED = g.translation(0.1, 0.2, 0.3).T

BAD_CALLS = [
    (lambda: g.transform((1, 2)), r"position must be three numbers \(x, y, z\); got .* shape \(2,\)"),
    (lambda: g.transform((1, 2, np.nan)), r"position\[2\] is nan; give a finite number"),
    (lambda: g.transform(rotation=MIRROR), "rotation.* is left-handed.*negate"),
    (lambda: g.translation(0, np.inf, 0), r"position\[1\] is inf"),
    (lambda: g.as_transform(TRANSPOSED), "pose is not a rigid transform: its bottom row.*transpose"),
    (lambda: g.as_transform(SCALED), r"pose\[:3, :3\] is not a rotation.*scale"),
    (lambda: g.as_transform(np.eye(3)), r"pose must be one rigid transform.*\(rotation=R\).*\(3, 3\)"),
    (lambda: g.as_transform(Rotation.identity()), "pose must be one rigid transform.*got Rotation"),
    (lambda: g.as_transform(((1, 2), None)), r"pose\[0\] must be three numbers"),
    (lambda: g.as_transform(((1, 2, 3), 2 * np.eye(3))), r"pose\[1\] is not a rotation"),
    (lambda: g.as_transform("home", name="target"), "target must be one rigid transform.*got str"),
    (lambda: g.as_transform(np.full((4, 4), np.inf)), r"pose\[0\]\[0\] is inf"),
    (lambda: g.invert(MIRROR), r"T\[:3, :3\] is left-handed"),
    (lambda: g.compose(I4, SCALED), r"transforms\[1\]\[:3, :3\] is not a rotation"),
    (lambda: g.apply(I4, (1, 2)), r"points must be one point.*shape \(2,\)"),
    (lambda: g.apply(I4, 1.0), "points must be one point"),
    (lambda: g.apply(I4, [[0, 0, 0], [0, np.nan, 0]]), r"points\[1\]\[1\] is nan"),
    (lambda: g.apply(SCALED, (1, 2, 3)), "T.* is not a rotation"),
    (lambda: g.interpolate(I4, SCALED, 0.5), r"T1\[:3, :3\] is not a rotation"),
    (lambda: g.interpolate(I4, I4, np.inf), "t is inf"),
    (lambda: g.pose_distance(MIRROR, I4), "T0.* is left-handed"),
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("number", range(len(BAD_CALLS)))
def test_errors_say_what_where_and_how_to_mend(number):
    call, message = BAD_CALLS[number]
    with pytest.raises(GeometryError, match=message):
        call()


# ---- The room ------------------------------------------------------------------------------------


def test_every_exported_name_exists_once():
    assert len(set(g.__all__)) == len(g.__all__)
    assert all(hasattr(g, name) for name in g.__all__)


def test_the_room_needs_numpy_alone():
    imported = set()
    for file in Path(g.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported.update(alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                imported.add(str(node.module).split(".")[0])
    assert imported - set(sys.stdlib_module_names) == {"numpy", "memetik"}
