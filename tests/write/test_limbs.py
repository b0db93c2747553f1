"""Colours by limb: branches apart, small parts with what carries them."""

import numpy as np

from memetik.body import Body, Link
from memetik.build.builder import BodyBuilder
from memetik.build.chains import snake
from memetik.build.hands import hand
from memetik.write.colors import RAMP, TRUNK
from memetik.write.limbs import RAMP_STEPS, link_colors


def limb(builder, parent, name, joints):
    for i in range(1, joints + 1):
        builder.add(parent, f"{name}_joint_{i}", "revolute", f"{name}_{i}")
        parent = f"{name}_{i}"


def test_every_finger_has_its_own_colour_and_the_arm_that_of_the_trunk():
    colors = link_colors(hand(arm_joints=7))
    fingers = [{colors[f"finger_{k}_link_{j}"] for j in range(1, 5)} for k in range(1, 6)]
    assert all(len(colors_of_one) == 1 for colors_of_one in fingers)
    assert len(set.union(*fingers)) == 5
    assert {colors["base"], colors["arm_link_3"], colors["palm"]} == {TRUNK}


def test_the_heaviest_branch_is_the_trunk_and_small_ones_are_no_limbs():
    builder = BodyBuilder("dog", "pelvis")
    limb(builder, "pelvis", "spine", 4)
    limb(builder, "pelvis", "left_leg", 3)
    limb(builder, "pelvis", "right_leg", 3)
    limb(builder, "spine_4", "left_arm", 3)
    limb(builder, "spine_4", "right_arm", 3)
    limb(builder, "spine_4", "ear", 1)
    colors = link_colors(builder.build())
    assert colors["pelvis"] == colors["spine_4"] == colors["ear_1"] == TRUNK
    assert len({colors[name] for name in ("left_leg_1", "right_leg_1", "left_arm_1", "right_arm_1")}) == 4
    assert colors["left_leg_1"] == colors["left_leg_3"]


def test_a_single_limb_runs_along_the_ramp_in_few_colours():
    body = snake(200)
    colors = link_colors(body)
    assert colors["base"] == RAMP[0] and np.allclose(colors["tip"], RAMP[-1])
    assert len(set(colors.values())) == RAMP_STEPS + 1


def test_a_body_of_one_link_has_a_colour():
    assert link_colors(Body("one", [Link("link")], [])) == {"link": RAMP[0]}
