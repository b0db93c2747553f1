"""Joints: what each kind means, and what is refused with which words."""

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from memetik import Body
from memetik.body import joint as kinds
from memetik.build import Joint, Link, Mimic
from memetik.errors import BodyError
from tests.naive.bodies import KINDS, random_direction, random_origin
from tests.naive.kinematics import motion, suffixes

pytestmark = pytest.mark.quick

NAN, INF = math.nan, math.inf


def joint(kind="revolute", **fields):
    return Joint("elbow", kind, "upper", "lower", **fields)


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 2**32 - 1))
def test_transform(kind, seed):
    rng = np.random.default_rng(seed)
    order = str(rng.choice(["".join(letters) for letters in permutations("xyz")]))
    made = joint(kind, origin=random_origin(rng), axis=random_direction(rng), order=order, screw_pitch=rng.normal())
    values = rng.uniform(-7.0, 7.0, made.dof)
    assert_allclose(made.transform(values), made.origin @ motion(made, values), rtol=0.0, atol=1e-13)
    assert list(made.variables) == ["elbow" + suffix for suffix in suffixes(made)]


def test_a_row_of_the_table_is_all_of_a_kind(monkeypatch):
    """Every kind is tested, has as many motions as degrees of freedom, and a new one moves without another change."""
    assert set(kinds.KINDS) == set(KINDS)
    assert all(len(joint(kind).motions()) == row.dof for kind, row in kinds.KINDS.items())
    telescope = kinds.Kind(2, lambda made: tuple(kinds.Motion(f".{k}", made.axis, False, 1.0) for k in range(2)))
    monkeypatch.setitem(kinds.KINDS, "telescope", telescope)
    body = Body("crane", [Link("upper"), Link("lower")], [joint("telescope", lower=0, upper=1)])
    assert body.joint_names == ("elbow.0", "elbow.1") and not body.variables.turns.any()
    assert_allclose(body.forward([0.25, 0.5])["lower"][:3, 3], [0, 0, 0.75])
    assert_allclose(body.forward([0.25, 0.5])["lower"], body.joints["elbow"].transform([0.25, 0.5]))


def test_the_words_of_the_documentation():
    """Each kind once with numbers that can be checked in the head."""
    half = math.pi / 2
    tilted = joint("cylindrical", axis=(0, 2, 0)).transform([half, 0.5])
    assert_allclose(tilted, [[0, 0, 1, 0], [0, 1, 0, 0.5], [-1, 0, 0, 0], [0, 0, 0, 1]], atol=1e-15)
    screw = joint("screw", screw_pitch=0.1).transform([half])
    assert_allclose(screw[:3, 3], [0, 0, 0.1 * half])
    assert_allclose(joint("planar").transform([1, 2, half])[:3, 3], [1, 2, 0])
    assert_allclose(joint("planar", axis=(1, 0, 0)).transform([1, 2, 0])[:3, 3], [0, 2, -1], atol=1e-15)
    # zxy: first about z, then about the new x, then about the newest y.
    turned = joint("spherical").transform([half, half, 0])
    assert_allclose(turned[:3, :3], [[0, 0, 1], [1, 0, 0], [0, 1, 0]], atol=1e-15)
    assert joint("floating", order="xyz").variables == tuple(f"elbow.{v}" for v in ["x", "y", "z", "rx", "ry", "rz"])


def test_axis_of_any_length_is_made_a_unit():
    assert_allclose(joint(axis=(0, 3, 4)).axis, [0, 0.6, 0.8])


def test_one_limit_for_all_or_one_for_each():
    assert joint("xyz", lower=-1, upper=(1, 2, 3)).lower == (-1.0, -1.0, -1.0)
    assert joint("xyz", lower=-1, upper=(1, 2, 3)).upper == (1.0, 2.0, 3.0)
    assert joint("planar").lower == (-INF, -INF, -INF)
    assert joint(velocity=2.0).velocity == (2.0,) and joint().acceleration == (INF,)
    assert joint("fixed", lower=0.0, upper=0.0).lower == ()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"kind": "hinge"},
            "joint 'elbow' is of unknown kind 'hinge'. The kinds are: fixed, revolute, .*floating",
        ),
        ({"order": "xyx"}, "rotation order 'xyx' is not a permutation of 'xyz'"),
        ({"order": "xy"}, "rotation order 'xy' is not a permutation"),
        ({"lower": 1.0, "upper": -1.0}, "lower limit 1 is above upper limit -1. Swap or correct them"),
        ({"kind": "xyz", "lower": (0, 0, 2), "upper": 1}, "lower limit 2 is above upper limit 1"),
        ({"lower": NAN}, "lower limit is not a number"),
        ({"upper": NAN}, "upper limit is not a number"),
        ({"velocity": NAN}, "velocity limit is not a number"),
        ({"lower": INF}, "no value lies between the limits inf and inf"),
        ({"upper": -INF}, "no value lies between the limits -inf and -inf"),
        ({"lower": (0.0, 1.0)}, "lower limit has 2 numbers for 1 degrees of freedom"),
        ({"kind": "spherical", "upper": (1.0, 2.0)}, "upper limit has 2 numbers for 3 degrees of freedom"),
        ({"kind": "continuous", "upper": 3.0}, "is continuous and cannot have limits. Make it revolute"),
        ({"velocity": -1.0}, r"velocity or acceleration limit is negative \(-1\)"),
        ({"acceleration": -2.0}, r"velocity or acceleration limit is negative \(-2\)"),
        ({"axis": (0, 0, 0)}, r"the axis has no length. Give a direction such as \(0, 0, 1\)"),
        ({"axis": (0, NAN, 1)}, "axis must be three finite numbers"),
        ({"axis": (0, 1)}, "axis must be three finite numbers"),
        ({"origin": np.zeros((4, 4))}, "joint 'elbow': bad origin: "),
        ({"origin": (0, NAN, 0)}, "joint 'elbow': bad origin: "),
        ({"screw_pitch": INF}, "screw_pitch is inf. Give metres along the axis per radian"),
        ({"kind": "planar", "mimic": Mimic("a")}, "a planar joint cannot mimic; only joints of one degree"),
        ({"kind": "fixed", "mimic": Mimic("a")}, "a fixed joint cannot mimic"),
        ({"mimic": Mimic("a", NAN)}, "mimic multiplier and offset must be finite"),
        ({"mimic": Mimic("a", 1.0, INF)}, "mimic multiplier and offset must be finite"),
    ],
)
def test_refused(fields, message):
    with pytest.raises(BodyError, match=message):
        joint(**fields)


@pytest.mark.parametrize("name", ["", None, 7])
def test_a_joint_needs_a_name(name):
    with pytest.raises(BodyError, match="a joint has no name"):
        Joint(name, "fixed", "a", "b")


def test_a_joint_never_changes():
    axis, origin = np.array([0.0, 1.0, 0.0]), np.eye(4)
    made = joint(axis=axis, origin=origin)
    axis[:], origin[:] = 5.0, 5.0
    assert_array_equal(made.axis, [0, 1, 0])
    assert_array_equal(made.origin, np.eye(4))
    for array in (made.axis, made.origin, joint().axis):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    with pytest.raises(AttributeError):
        made.kind = "prismatic"
    welded = joint("fixed")
    welded.transform([])[0, 3] = 9.0
    assert_array_equal(welded.origin, np.eye(4))


def test_a_joint_takes_one_value_for_each_variable():
    with pytest.raises(ValueError):
        joint("xyz").transform([1.0, 2.0])
