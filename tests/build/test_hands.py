"""The hand: degrees of freedom, names, chains, and tips in closed form."""

import math

import numpy as np
import pytest

from memetik.build.hands import ARM, FINGER, PALM, PEDESTAL, hand
from memetik.errors import BodyError


def test_the_arm_and_hand_of_ofkt_has_five_chains_of_eleven_joints():
    body = hand(5, 4, arm_joints=7)
    assert body.dof == 27 and body.root == "base"
    for k in range(1, 6):
        assert body.chain(f"finger_{k}").dof == 11
    assert body.chain("arm").dof == 7 and body.chain("arm").root == "base"
    assert body.chain("hand").dof == 20 and body.chain("hand").root == "palm"


@pytest.mark.parametrize(("fingers", "joints", "arm"), [(1, 1, 0), (2, 3, 0), (5, 4, 0), (3, 6, 2), (9, 4, 1)])
def test_any_hand_has_the_joints_it_was_asked_for(fingers, joints, arm):
    body = hand(fingers, joints, arm_joints=arm)
    assert body.dof == fingers * joints + arm
    names = [f"arm_joint_{i}" for i in range(1, arm + 1)]
    names += [f"finger_{k}_joint_{j}" for k in range(1, fingers + 1) for j in range(1, joints + 1)]
    assert list(body.joint_names) == names
    assert all(f"finger_{k}_tip" in body.links for k in range(1, fingers + 1))
    assert "arm" in body.chains if arm else body.root == "palm"


def test_a_straight_finger_reaches_its_length_beyond_the_knuckle():
    body = hand()
    tips = body.forward(np.zeros(body.dof))
    knuckles = 0.27 * np.array([1.5, 0.5, -0.5, -1.5])  # angles at the wrist, from the index to the little finger
    lengths = FINGER * (1 - 0.2 * np.array([1, 1 / 9, 1 / 9, 1]))
    for k, (a, length) in enumerate(zip(knuckles, lengths, strict=True), start=2):
        y = PALM * math.sin(a) + length * math.sin(a / 2)
        z = PALM * math.cos(a) + length * math.cos(a / 2)
        assert np.allclose(tips[f"finger_{k}_tip"][:3, 3], [0, y, z], rtol=0, atol=1e-15)


def test_a_single_finger_curls_towards_the_palm():
    body = hand(1, 2)
    first, second = FINGER / 1.75, 0.75 * FINGER / 1.75
    a, b = 0.4, 0.9
    x = first * math.sin(a) + second * math.sin(a + b)
    z = PALM + first * math.cos(a) + second * math.cos(a + b)
    assert np.allclose(body.forward([a, b])["finger_1_tip"][:3, 3], [x, 0, z], rtol=0, atol=1e-15)


def test_the_thumb_opposes_the_fingers():
    """Flexing brings the thumb's tip across the palm, nearer to every other finger's flexed tip."""
    body = hand()
    flexed = body.vector({name: 0.9 for name in body.joint_names if not name.endswith("joint_1")})
    open_hand, closed = body.forward(np.zeros(body.dof)), body.forward(flexed)

    def gap(poses, k):
        return math.dist(poses["finger_1_tip"][:3, 3], poses[f"finger_{k}_tip"][:3, 3])

    assert all(gap(closed, k) < 0.8 * gap(open_hand, k) for k in range(2, 6))
    assert closed["finger_1_tip"][0, 3] > open_hand["finger_1_tip"][0, 3]


def test_an_upright_arm_holds_the_palm_at_its_full_height():
    body = hand(arm_joints=6)
    assert np.allclose(body.forward(np.zeros(body.dof))["palm"][:3, 3], [0, 0, PEDESTAL + ARM], atol=1e-15)


def test_fingers_are_apart_at_home():
    """Phalanges of neighbouring fingers keep clear of each other: their centres are over two radii apart."""
    body = hand(6)
    poses = body.forward(body.home)
    for k in range(2, 6):
        for j in range(2, 5):
            shape = body.links[f"finger_{k}_link_{j}"].shapes[0]
            middle, other = ((poses[f"finger_{n}_link_{j}"] @ shape.link_from_shape)[:3, 3] for n in (k, k + 1))
            assert math.dist(middle, other) > 2 * shape.size[0]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"fingers": 0}, "fingers is 0. Give a whole number, at least 1"),
        ({"joints_per_finger": 0}, "joints_per_finger is 0"),
        ({"arm_joints": -1}, "arm_joints is -1. Give a whole number, at least 0"),
        ({"fingers": 2.5}, "fingers is 2.5"),
    ],
)
def test_hands_that_cannot_be_are_refused(options, says):
    with pytest.raises(BodyError, match=says):
        hand(**options)
