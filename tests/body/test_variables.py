"""Free variables: names, mimic chains, and limits that no follower can break."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from memetik import Body
from memetik.build import Joint, Link, Mimic
from memetik.errors import BodyError, MemetikWarning, UnknownNameError
from tests.naive.bodies import random_body
from tests.naive.kinematics import values_of

pytestmark = pytest.mark.quick


def hand(*joints):
    """A palm with one finger for each joint, given as (name, fields)."""
    links = [Link("palm"), *(Link(f"{name}_link") for name, _ in joints)]
    return Body(
        "hand",
        links,
        [Joint(name, **{"kind": "revolute", **f}, parent="palm", child=f"{name}_link") for name, f in joints],
    )


def test_fixed_and_mimic_joints_have_no_variable():
    body = hand(("a", {}), ("b", {"mimic": Mimic("a")}), ("c", {"kind": "fixed"}), ("d", {"kind": "cylindrical"}))
    assert body.joint_names == ("a", "d.turn", "d.slide") and body.dof == 3
    assert_array_equal(body.variables.turns, [True, True, False])


@given(seed=st.integers(0, 2**32 - 1), joints=st.integers(1, 14))
def test_drives_are_the_mimic_chains_multiplied_out(seed, joints):
    rng = np.random.default_rng(seed)
    body = random_body(rng, joints, ["revolute", "prismatic", "screw", "spherical"], mimics=0.7)
    q = body.sample(rng)
    for joint in body.joints.values():
        drives = body.variables.drives[joint.name]
        driven = [drive.ratio * q[drive.variable] + drive.offset for drive in drives]
        assert_allclose(driven, values_of(body, joint, q), rtol=0.0, atol=1e-12)


def test_a_joint_may_mimic_one_variable_of_several():
    body = hand(("shoulder", {"kind": "spherical"}), ("scapula", {"mimic": Mimic("shoulder.rz", 0.5, 0.1)}))
    assert body.joint_names == ("shoulder.rz", "shoulder.rx", "shoulder.ry")
    assert body.variables.drives["scapula"] == ((0, 0.5, 0.1),)


@pytest.mark.parametrize(
    ("joints", "message"),
    [
        ([("a", {"mimic": Mimic("a")})], "mimic joints follow each other in a circle: a -> a"),
        (
            [("a", {"mimic": Mimic("b")}), ("b", {"mimic": Mimic("c")}), ("c", {"mimic": Mimic("a")})],
            "in a circle: a -> b -> c -> a",
        ),
        (
            [("a", {"kind": "spherical"}), ("b", {"mimic": Mimic("a")})],
            "joint 'b' mimics 'a', a spherical joint without a variable of that name. Name one of a.rz",
        ),
        (
            [("a", {"kind": "fixed"}), ("b", {"mimic": Mimic("a")})],
            "a fixed joint .* Mimic a joint that moves",
        ),
        ([("a", {"kind": "xyz"}), ("a.x", {})], "two variables are named 'a.x'. Rename one of the joints"),
        (
            [("a", {"lower": 0, "upper": 1}), ("b", {"lower": 2, "upper": 3, "mimic": Mimic("a", 0.5)})],
            r"mimic joint 'b' \(limits 2 to 3\) can never follow 'a' \(limits 0 to 1\) with multiplier 0.5",
        ),
        (
            [("a", {}), ("b", {"lower": 1, "upper": 2, "mimic": Mimic("a", 0.0, 0.5)})],
            "mimic joint 'b' stands still at 0.5, outside its own limits",
        ),
    ],
)
def test_refused(joints, message):
    with pytest.raises(BodyError, match=message):
        hand(*joints)


def test_mimic_of_a_missing_joint():
    with pytest.raises(
        UnknownNameError, match=r"no joint named 'thum' in the body, but 'b' mimics it. Did you mean 'thumb'"
    ):
        hand(("thumb", {}), ("b", {"mimic": Mimic("thum")}))


@pytest.mark.parametrize(
    ("follower", "limits"),
    [
        ({"lower": -1.0, "upper": 1.0, "mimic": Mimic("a", 2.0)}, (-0.5, 0.5)),
        ({"lower": -1.0, "upper": 1.0, "mimic": Mimic("a", 2.0, 1.0)}, (-1.0, 0.0)),
        ({"lower": -1.0, "upper": 0.5, "mimic": Mimic("a", -1.0)}, (-0.5, 1.0)),
        ({"lower": -1.0, "upper": 0.5, "mimic": Mimic("a", -0.1)}, (-3.0, 3.0)),
        ({"lower": 0.0, "mimic": Mimic("a", 1.0)}, (0.0, 3.0)),
        ({"upper": 0.0, "mimic": Mimic("a", -1.0, 2.0)}, (2.0, 3.0)),
        ({"mimic": Mimic("a", 5.0)}, (-3.0, 3.0)),
        ({"lower": 0.0, "upper": 1.0, "mimic": Mimic("a", 0.0, 0.5)}, (-3.0, 3.0)),
    ],
)
def test_followers_tighten_the_limits_of_their_source(follower, limits):
    body = hand(("a", {"lower": -3.0, "upper": 3.0}), ("b", follower))
    assert_allclose((body.lower[0], body.upper[0]), limits)
    # At both ends the follower stands within its own limits.
    for q in (body.lower, body.upper):
        (value,) = values_of(body, body.joints["b"], q)
        assert body.joints["b"].lower[0] - 1e-12 <= value <= body.joints["b"].upper[0] + 1e-12


def test_a_chain_of_followers_tightens_through_all_of_them():
    body = hand(
        ("a", {}),
        ("b", {"mimic": Mimic("a", 2.0, 0.5)}),
        ("c", {"mimic": Mimic("b", -1.0, 1.0), "lower": -1.0, "upper": 1.0}),
    )
    # c = -(2 a + 0.5) + 1 = 0.5 - 2 a lies in [-1, 1], so a in [-0.25, 0.75].
    assert_allclose((body.lower[0], body.upper[0]), (-0.25, 0.75))
    assert body.home[0] == 0.0


def test_followers_bound_speed_and_acceleration():
    body = hand(
        ("a", {"velocity": 2.0, "acceleration": 10.0}),
        ("b", {"mimic": Mimic("a", -4.0), "velocity": 4.0, "acceleration": 60.0}),
    )
    assert_array_equal(body.variables.velocity, [1.0])
    assert_array_equal(body.variables.acceleration, [10.0])


def test_limits_that_meet_in_a_point_warn():
    with pytest.warns(MemetikWarning, match="'b' leaves its source 'a' no room to move: only 1 satisfies both"):
        body = hand(("a", {"lower": -1, "upper": 1}), ("b", {"lower": 2, "upper": 3, "mimic": Mimic("a", 2.0)}))
    assert body.lower[0] == body.upper[0] == body.home[0] == 1.0


def test_limits_that_miss_by_rounding_meet():
    """0.785398 * 2 is a little more than 1.570796 in a file with six digits; that is no contradiction."""
    with pytest.warns(MemetikWarning, match="no room"):
        body = hand(
            ("a", {"lower": 0.0, "upper": 0.785398}),
            ("b", {"lower": 1.570796 + 1e-10, "upper": 2.0, "mimic": Mimic("a", 2.0)}),
        )
    assert body.lower[0] <= body.upper[0] == 0.785398


@pytest.mark.parametrize(
    ("fields", "low", "high"),
    [
        ({}, -math.pi, math.pi),
        ({"kind": "prismatic"}, -1.0, 1.0),
        ({"lower": 1.0}, 1.0, 1.0 + 2.0 * math.pi),
        ({"upper": 1.0}, 1.0 - 2.0 * math.pi, 1.0),
        ({"kind": "prismatic", "lower": 5.0}, 5.0, 7.0),
        ({"lower": -0.1, "upper": 0.2}, -0.1, 0.2),
        ({"lower": 0.3, "upper": 0.3}, 0.3, 0.3),
    ],
)
def test_where_samples_come_from(fields, low, high, rng):
    body = hand(("a", fields))
    assert_allclose((body.variables.sample_lower[0], body.variables.sample_upper[0]), (low, high))
    drawn = np.array([body.sample(rng)[0] for _ in range(300)])
    assert np.all((low <= drawn) & (drawn <= high))
    if low < high:
        assert np.ptp(drawn) > 0.95 * (high - low)
