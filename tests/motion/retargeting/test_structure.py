"""Figures by the map of their file, by names of more programs, and by structure where names say nothing or mislead."""

from dataclasses import replace

import numpy as np
import pytest

import memetik as mk
from memetik.motion.retargeting.figure import PARTS, find_parts
from memetik.motion.retargeting.stance import describe, stance
from memetik_lab.claims.walker import skeleton, walk
from tests.motion.retargeting.namings import skeleton as detailed_skeleton

XSENS = {
    "hips": "Pelvis", "spine": "L5", "chest": "T8", "neck": "Neck", "head": "Head", "shoulder": "Shoulder",
    "upper_arm": "UpperArm", "lower_arm": "Forearm", "hand": "Hand", "upper_leg": "UpperLeg", "lower_leg": "LowerLeg",
    "foot": "Foot", "toes": "Toe",
}  # fmt: skip
ROKOKO = {
    **XSENS, "hips": "Hips", "spine": "Spine1", "chest": "Spine4", "upper_arm": "Arm", "lower_arm": "ForeArm",
    "upper_leg": "Thigh", "lower_leg": "Shin",
}  # fmt: skip
RIGIFY = {
    "hips": "spine", "spine": "spine.001", "chest": "spine.003", "neck": "spine.004", "head": "spine.006",
    "shoulder": "shoulder", "upper_arm": "upper_arm", "lower_arm": "forearm", "hand": "hand", "upper_leg": "thigh",
    "lower_leg": "shin", "foot": "foot", "toes": "toe",
}  # fmt: skip
POSER = {
    "hips": "hip", "spine": "abdomen", "chest": "chest", "neck": "neck", "head": "head", "shoulder": "Collar",
    "upper_arm": "Shldr", "lower_arm": "ForeArm", "hand": "Hand", "upper_leg": "Thigh", "lower_leg": "Shin", "foot": "Foot",
    "toes": "Toe",
}  # fmt: skip


def renamed(body, name_of, **options):
    """The body with other names of links."""
    names = {link: name_of(k, link) for k, link in enumerate(body.links)}
    joints = [
        replace(joint, name=f"joint{k}", parent=names[joint.parent], child=names[joint.child])
        for k, joint in enumerate(body.joints.values())
    ]
    return mk.Body("renamed", [replace(link, name=names[link.name]) for link in body.links.values()], joints, **options)


def part_names(style, table):
    """The walker's skeleton as a program names it, and the name of each part."""
    body, plain = skeleton("cmu"), skeleton("cmu")
    parts = {part: each.link for part, each in find_parts(plain).items()}
    bones = {
        **parts,
        "spine": "Spine",
        "neck": "Neck",
        "left_shoulder": "LeftShoulder",
        "right_shoulder": "RightShoulder",
    }
    named = {}
    for part, bone in bones.items():
        side, _, kind = part.partition("_")
        named[bone] = style(side, table[kind]) if side in ("left", "right") else table[part]
    return renamed(body, lambda k, link: named.get(link, link)), {part: named[bone] for part, bone in parts.items()}


@pytest.mark.quick
@pytest.mark.parametrize(
    ("style", "table"),
    [
        (lambda side, name: f"{side.capitalize()}{name}", XSENS),
        (lambda side, name: f"{side.capitalize()}{name}", ROKOKO),
        (lambda side, name: f"{name}.{side[0].upper()}", RIGIFY),
        (lambda side, name: f"DEF-{name}.{side[0].upper()}", RIGIFY),
        (lambda side, name: f"{side[0]}{name}", POSER),
    ],
    ids=["xsens", "rokoko", "rigify", "rigify, deforming bones", "poser"],
)
def test_more_programs_are_known_by_names(style, table):
    body, named = part_names(style, table)
    assert {part: each.link for part, each in find_parts(body).items()} == named


@pytest.mark.quick
@pytest.mark.parametrize("name", ["mixamo", "cmu", "vroid", "lafan"])
def test_a_skeleton_without_names_has_the_same_parts(name):
    """But for the head of some, whose end the eyes and hair below it hide."""
    body, _ = detailed_skeleton(name)
    known = {part: each.link for part, each in find_parts(body).items()}
    numbers = {link: f"bone{k}" for k, link in enumerate(body.links)}
    found = {part: each.link for part, each in find_parts(renamed(body, lambda k, link: f"bone{k}")).items()}
    assert set(found) >= set(PARTS) - {"head", "left_toes", "right_toes"}
    limbs = [part for part in found if part not in ("head", "left_toes", "right_toes")]
    assert {part: found[part] for part in limbs} == {part: numbers[known[part]] for part in limbs}


def test_a_clip_without_names_moves_a_robot_as_the_one_with_names_does():
    clip = walk(0.5, 30.0)
    nameless = mk.Motion(renamed(clip.body, lambda k, link: f"bone{k}"), clip.times, clip.q)
    one, other = (mk.retarget(each, mk.load("g1")) for each in (clip, nameless))
    assert np.abs(one.q - other.q).max() < 1e-9


@pytest.mark.quick
def test_the_map_of_a_file_comes_before_names():
    """Names that say the opposite, left for right, are not looked at where the file has a map."""
    body = skeleton("mixamo")
    known = {part: each.link for part, each in find_parts(body).items()}
    swapped = {
        link: link.replace("Left", "@").replace("Right", "Left").replace("@", "Right") for link in known.values()
    }
    parts = {part: swapped[link] for part, link in known.items()}
    every = {link: link.replace("Left", "@").replace("Right", "Left").replace("@", "Right") for link in body.links}
    other = renamed(body, lambda k, link: every[link], parts=parts)
    assert {part: each.link for part, each in find_parts(other).items()} == parts


@pytest.mark.quick
@pytest.mark.parametrize("name", ["shadow_hand", "panda", "ur5"])
def test_hands_and_arms_are_no_figures(name):
    with pytest.raises(mk.errors.BodyError, match="no figure with two legs or two arms"):
        find_parts(mk.load(name))


@pytest.mark.quick
def test_grippers_are_no_figures():
    """Two fingers are two equal chains on the left and right, as two legs are, but for their names."""
    links = [
        mk.build.Link("palm"),
        *(mk.build.Link(f"{side}_finger_{k}") for side in ("left", "right") for k in (1, 2)),
    ]
    joints = [
        mk.build.Joint(f"{side}_{k}", "revolute", "palm" if k == 1 else f"{side}_finger_1", f"{side}_finger_{k}",
                 mk.translation(0.0, sign * 0.02 * (k == 1), -0.05), (1.0, 0.0, 0.0), -1.0, 1.0)
        for side, sign in (("left", 1.0), ("right", -1.0)) for k in (1, 2)
    ]  # fmt: skip
    with pytest.raises(mk.errors.BodyError, match="no figure with two legs or two arms"):
        find_parts(mk.Body("gripper", links, joints))


def test_a_thing_that_lies_beside_a_machine_is_no_base():
    """It stays where it is, and the arms are seen from the hips, as those of a machine that stands fixed."""
    alone = mk.load("baxter")
    box = mk.build.Joint("free", "floating", alone.root, "box")
    both = mk.Body("both", [*alone.links.values(), mk.build.Link("box")], [box, *alone.joints.values()])
    found = mk.retarget(walk(0.5, 30.0), both)
    assert found.body.dof == both.dof and not found.report.sole
    assert not found.q[:, [both.index(name) for name in both.joints["free"].variables]].any()
    assert np.degrees(found.report.direction["left_lower_arm"].mean()) < 45.0


@pytest.mark.parametrize("name", ["baxter", "pr2"])
def test_machines_with_two_arms_and_no_legs_move_these(name):
    clip = walk(0.5, 30.0)
    found = mk.retarget(clip, mk.load(name))
    assert found.body.dof == mk.load(name).dof  # its base is not freed
    assert not found.report.sole and found.report.outside == found.report.too_fast == 0
    assert np.ptp(found.q, axis=0).max() > 0.02
    assert np.degrees(found.report.direction["left_lower_arm"].mean()) < 45.0


def test_plans_without_the_usual_parts_are_followed():
    """A plan of one's own may lead whatever it names, hips or thighs or neither."""
    clip = walk(0.2, 30.0)
    plan = mk.motion.retarget_plan(clip, mk.load("g1"))
    few = plan.without(*(match.part for match in plan.matches if match.part.endswith(("arm", "hand"))))
    root = replace(few["hips"], part="pelvis")
    feet = [replace(few[f"{side}_foot"], parent="pelvis") for side in ("left", "right")]
    own = replace(few, matches=(root, *feet))
    found = mk.retarget(clip, mk.load("g1"), plan=own)
    assert found.report.outside == 0 and set(found.report.position) == {"pelvis", "left_foot", "right_foot"}


@pytest.mark.quick
def test_a_body_that_lies_is_refused_and_told_how_it_lies():
    body = mk.load("g1")
    turned = [
        replace(joint, origin=mk.transform((0, 0, 0), mk.rpy(np.pi / 2, 0.0, 0.0)) @ joint.origin)
        if joint.parent == body.root
        else joint
        for joint in body.joints.values()
    ]
    lying = mk.Body("lying", body.links.values(), turned)
    with pytest.raises(mk.errors.BodyError, match=r"'lying' does not stand in its home posture.*along [+-]y"):
        mk.motion.retarget_plan(skeleton("cmu"), lying)


@pytest.mark.quick
def test_stances_and_sizes_are_said():
    body = skeleton("cmu")
    parts = find_parts(body)

    def at(q):
        poses = body.forward(q)
        return {part: poses[each.link][:3, 3] for part, each in parts.items()}

    def arms(angle):
        values = {}
        for side, sign in (("Left", -1.0), ("Right", 1.0)):
            joint = body.joints[f"{side}Arm_joint"]
            values[joint.variables[joint.order.index("x")]] = sign * angle
        return at(body.vector(values))

    found = [stance(arms(angle)) for angle in (0.0, np.radians(45.0), np.radians(80.0), np.radians(-60.0))]
    assert found == ["T-pose", "A-pose", "arms down", "arms raised"]
    assert "T-pose, faces +x, 1.5" in describe(arms(0.0))
    large = {part: 100.0 * point for part, point in arms(0.0).items()}
    assert "no person's size: read the file with scale=" in describe(large)
    assert "T-pose" in mk.motion.retarget_plan(body, mk.load("g1")).notes[0]
