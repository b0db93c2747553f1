"""The limbs of bodies: what a person would take hold of first."""

import numpy as np
import pytest

import memetik as mk
from memetik import scenes
from memetik.scenes.limbs import limbs


@pytest.mark.parametrize(
    ("name", "tips"),
    [
        ("ur5", {"tool0"}),
        ("panda", {"panda_hand_tcp"}),  # not its two fingers
        ("baxter", {"right_gripper", "left_gripper"}),  # neither the head nor cameras
        ("pr2", {"r_gripper_palm_link", "l_gripper_palm_link"}),  # no casters
        ("valkyrie", {"rightPalm", "leftPalm", "rightFootSixAxis_Frame", "leftFootSixAxis_Frame"}),
        ("g1", {"left_ankle_roll_link", "right_ankle_roll_link", "left_hand_palm_link", "right_hand_palm_link"}),
        ("go2", {"FL_foot", "FR_foot", "RL_foot", "RR_foot"}),
        ("shadow_hand", {"rh_fftip", "rh_mftip", "rh_rftip", "rh_lftip", "rh_thtip"}),  # large beside its body
        ("mannequin", {"left_hand_tip", "right_hand_tip", "left_foot", "right_foot"}),
    ],
)
def test_limbs_are_what_people_would_name(name, tips):
    assert {limb.tip for limb in limbs(mk.load(name))} == tips


def test_a_foot_is_held_in_its_middle():
    """The link of G1's foot begins at the ankle, above its shapes."""
    body = mk.load("g1")
    limb = next(limb for limb in limbs(body) if limb.tip == "left_ankle_roll_link")
    assert limb.offset[2] < -0.01
    scene = scenes.blank(scenes.BodySource("bundled", "g1"), body)
    wish = scene.wish("left_ankle_roll_link")
    expected = body.forward(body.home)[limb.tip] @ (*limb.offset, 1.0)
    np.testing.assert_allclose(wish.values["position"], expected[:3], atol=1e-8)


def test_a_long_tail_leaves_legs_in():
    builder = mk.build.BodyBuilder("lizard", "trunk")
    for limb, count, at in (
        ("tail", 30, (-1, 0, 0)),
        ("left", 5, (0, 1, 0)),
        ("right", 5, (0, -1, 0)),
        ("eye", 2, (1, 0, 0)),
    ):
        parent = "trunk"
        for k in range(count):
            builder.add(parent, f"{limb}{k}", "revolute", f"{limb} {k}", axis=(0, k % 2, 1 - k % 2), origin=at)
            parent = f"{limb} {k}"
    assert {limb.tip for limb in limbs(builder.build())} == {"tail 29", "left 4", "right 4"}


def test_a_body_without_joints_has_no_limbs():
    assert limbs(mk.Body("stone", [mk.build.Link("stone")], [])) == []


def test_there_are_not_too_many():
    builder = mk.build.BodyBuilder("star")
    for k in range(20):
        builder = builder.add("base", f"turn {k}", "revolute", f"arm {k}", axis=(0, 0, 1), origin=(k, 0, 0))
    assert len(limbs(builder.build())) == 8
