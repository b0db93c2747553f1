"""Bodies joined to bodies: each moves as it did alone, seen from where it is fixed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import memetik as mk
from memetik.errors import BodyError, UnknownNameError
from tests.naive.bodies import random_body

pytestmark = pytest.mark.quick

EXACT = {"rtol": 0.0, "atol": 1e-12}
OFFSET = mk.transform((0.1, -0.2, 0.3), mk.euler(20, -40, 70, degrees=True))


def test_a_gripper_moves_as_alone():
    arm, gripper = mk.load("ur5"), mk.load("panda").subtree("panda_hand")
    both = arm.attach(gripper, at="tool0", offset=OFFSET)
    assert both.joint_names == arm.joint_names + gripper.joint_names
    assert both.dof == 7  # the second finger mimics the first
    rng = np.random.default_rng(3)
    q, fingers = arm.sample(rng), gripper.sample(rng)
    poses, alone = both.forward(np.concatenate([q, fingers])), arm.forward(q)
    for link in arm.links:
        assert_allclose(poses[link], alone[link], **EXACT)
    held = gripper.forward(fingers)
    for link in gripper.links:
        assert_allclose(poses[link], alone["tool0"] @ OFFSET @ held[link], **EXACT)


@pytest.mark.parametrize("seed", range(5))
def test_any_two_bodies(seed):
    rng = np.random.default_rng(seed)
    one, other = random_body(rng, 6, mimics=0.4), random_body(rng, 5, mimics=0.4)
    at = one.frame(str(rng.choice(list(one.links))), (0.1, 0.2, 0.3))
    both = one.attach(other, at, offset=OFFSET, prefix="b/")
    q, p = one.sample(rng), other.sample(rng)
    named = dict(zip(one.joint_names, q, strict=True)) | {
        f"b/{name}": x for name, x in zip(other.joint_names, p, strict=True)
    }
    poses = both.forward(both.vector(named))
    base = one.forward(q, at) @ OFFSET
    alone = other.forward(p)
    for link in other.links:
        assert_allclose(poses[f"b/{link}"], base @ alone[link], **EXACT)
    assert_allclose([both.lower[both.index(f"b/{n}")] for n in other.joint_names], other.lower)
    assert_allclose([both.home[both.index(f"b/{n}")] for n in other.joint_names], other.home)
    assert both.mass == pytest.approx(one.mass + other.mass)


def test_two_hands_of_a_kind():
    hand = mk.load("panda").subtree("panda_hand")
    arm = mk.build.planar_chain(3)
    both = arm.attach(hand, prefix="left_").attach(hand, at="tip", offset=(0.0, 0.1, 0.0), prefix="right_")
    assert "left_panda_hand" in both.links and "right_panda_hand" in both.links
    assert both.joints["right_panda_hand_mount"].parent == "tip"
    assert {frozenset(("left_panda_hand", "left_panda_leftfinger"))} & both.touching or not hand.touching


def test_chains_and_touching_come_along():
    builder = mk.build.BodyBuilder("claw", root_link="palm").add(
        "palm", "close", "revolute", "jaw", lower=0, upper=1, home=0.5
    )
    claw = builder.chain("grip", "palm", "jaw").touching("palm", "jaw").build()
    both = mk.build.planar_chain(2).attach(claw, prefix="l_")
    assert both.chains["l_grip"] == mk.body.Chain("l_palm", ("l_jaw",))
    assert frozenset(("l_palm", "l_jaw")) in both.touching
    assert both.home[both.index("l_close")] == 0.5
    assert both.chain("l_grip").joint_names == ("l_close",)


def test_what_cannot_be_attached():
    arm = mk.build.planar_chain(2)
    with pytest.raises(BodyError, match=r"has a link 'base' already.*prefix='left_'"):
        arm.attach(arm, at="tip")
    with pytest.raises(UnknownNameError, match="no link named 'hand'"):
        arm.attach(arm, at="hand", prefix="b_")
    with pytest.raises(BodyError, match="body to attach"):
        arm.attach(mk.Shape("sphere", (0.1,)))
    with pytest.raises(BodyError, match="has 5 tips"):
        mk.build.hand(5).attach(arm, prefix="b_")
    with pytest.raises(BodyError, match="prefix is 3"):
        arm.attach(arm, prefix=3)


def test_the_first_body_does_not_change():
    arm, claw = mk.build.planar_chain(2), mk.build.planar_chain(1)
    arm.attach(claw, prefix="b_")
    assert arm.dof == 2 and len(arm.links) == 4
    assert_array_equal(arm.home, np.zeros(2))
