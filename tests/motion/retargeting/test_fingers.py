"""Fingers: found by their names, bent as those of the skeleton, whatever the hand does."""

import numpy as np
import pytest

import memetik as mk
from memetik.motion.retargeting.figure import find_parts
from memetik.motion.retargeting.fingers import FINGER_PARTS, find_fingers
from memetik_lab.claims.walker import HEIGHT, SHAPE, named

BENDS = (0.5, 0.8, 0.4)  # rad, of the three joints of each finger
PLACES = {
    "Thumb": (0.035, 0.03),
    "Index": (0.03, 0.09),
    "Middle": (0.01, 0.095),
    "Ring": (-0.01, 0.09),
    "Pinky": (-0.03, 0.08),
}
NAMINGS = {
    "mixamo": lambda side, finger, k: f"mixamorig:{side.capitalize()}Hand{finger}{k}",
    "vroid": lambda side, finger, k: f"J_Bip_{side[0].upper()}_{finger.replace('Pinky', 'Little')}{k}",
    "vrm": lambda side, finger, k: (
        f"{side}{finger.replace('Pinky', 'Little')}{('Proximal', 'Intermediate', 'Distal', 'Tip')[k - 1]}"
    ),
    "unreal": lambda side, finger, k: f"{finger.lower()}_0{k}_{side[0]}",
}


def person(naming="mixamo"):
    """A person in T pose, palms down, with five fingers of three bones and a tip at each hand."""
    whole = "mixamo" if naming == "mixamo" else "vrm"
    links, joints = [named("hips", whole)], []
    for part, parent, offset in SHAPE[1:]:
        links.append(named(part, whole))
        origin = mk.translation(*(HEIGHT * share for share in offset))
        joints.append(mk.build.Joint(f"{links[-1]}_joint", "spherical", named(parent, whole), links[-1], origin=origin))
    for side, sign in (("left", 1.0), ("right", -1.0)):
        for finger, (x, y) in PLACES.items():
            parent, offset = named(f"{side}_hand", whole), (x, sign * y, 0.0)
            for k in (1, 2, 3, 4):
                links.append(NAMINGS[naming](side, finger, k))
                origin = mk.translation(*offset)
                joints.append(mk.build.Joint(f"{links[-1]}_joint", "spherical", parent, links[-1], origin=origin))
                parent, offset = links[-1], (0.0, 0.03 * sign, 0.0)
    return mk.Body("person", [mk.build.Link(name) for name in links], joints).with_base("floating")


def grasping(body, frames=12):
    """Hands that close within half of the frames and stay closed, wrists that turn up meanwhile."""
    q = np.tile(body.home, (frames, 1))
    share = np.clip(2.0 * np.arange(frames) / frames, 0.0, 1.0)
    for side, sign in (("Left", -1.0), ("Right", 1.0)):
        for finger in PLACES:
            for k, bend in enumerate(BENDS, 1):
                joint = body.joints[f"mixamorig:{side}Hand{finger}{k}_joint"]
                q[:, body.index(joint.variables[joint.order.index("x")])] = sign * bend * share
        joint = body.joints[f"mixamorig:{side}Hand_joint"]
        q[:, body.index(joint.variables[joint.order.index("y")])] = 0.4 * share
    return mk.Motion(body, np.arange(frames) / 30.0, q, name="grasp")


@pytest.mark.quick
@pytest.mark.parametrize("naming", NAMINGS)
def test_fingers_of_skeletons_are_found_by_their_names(naming):
    body = person(naming)
    found = find_fingers(body, find_parts(body))
    assert set(found) == set(FINGER_PARTS)
    assert found["left_little_distal"].link == NAMINGS[naming]("left", "Pinky", 3)
    assert found["right_thumb_proximal"].link == NAMINGS[naming]("right", "Thumb", 1)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("name", "count", "distal"),
    [("kyle", 28, "left_index_3"), ("valkyrie", 24, "leftIndexFingerPitch3Link"), ("g1", 0, None)],
)
def test_fingers_of_bodies_are_found_by_their_names(name, count, distal):
    body = mk.load(name)
    found = find_fingers(body, find_parts(body))
    assert len(found) == count
    assert not count or found["left_index_distal"].link == distal


@pytest.mark.parametrize("name", ["kyle", "valkyrie"])
def test_fingers_bend_by_the_angles_of_the_skeleton(name):
    clip = grasping(person())
    body = mk.load(name, base="floating")
    plan = mk.motion.retarget_plan(clip, body)
    found = mk.retarget(clip, body, plan=plan, velocity_limits=None)  # fingers of Valkyrie turn at 1 rad/s
    home, last = body.forward(body.home), body.forward(found.q[-1])
    for side in ("left", "right"):
        before = f"{side}_hand"
        for joint, bend in zip(("proximal", "intermediate", "distal"), BENDS, strict=True):
            part = f"{side}_middle_{joint}"
            at_rest, bent = (
                poses[plan[before].link][:3, :3].T @ poses[plan[part].link][:3, :3] for poses in (home, last)
            )
            angle = np.arccos((np.trace(at_rest.T @ bent) - 1.0) / 2.0)
            assert angle == pytest.approx(bend, abs=0.03)
            before = part
        # A closed hand: the tip is nearer to the wrist than at rest.
        tip, wrist = plan[f"{side}_middle_distal"].link, plan[f"{side}_hand"].link
        near, far = (np.linalg.norm(poses[tip][:3, 3] - poses[wrist][:3, 3]) for poses in (last, home))
        assert near < 0.9 * far
    assert max(found.report.rotation[part][-1] for part in found.report.rotation if "middle" in part) < 0.05


def test_what_only_one_has_is_said_and_a_hand_without_knuckles_is_left_alone(tmp_path):
    clip = grasping(person(), 4)
    plan = mk.motion.retarget_plan(clip, mk.load("g1"))
    assert {"left_fingers", "right_fingers"} <= set(plan.missing)
    kyle = mk.motion.retarget_plan(clip, mk.load("kyle"))
    assert "left_thumb_distal" in kyle.missing and "left_fingers" not in kyle.missing
    assert kyle["left_index_distal"].relative and kyle["left_index_distal"].parent == "left_index_intermediate"
    kyle.save(tmp_path / "plan.json")
    assert mk.motion.RetargetPlan.load(tmp_path / "plan.json") == kyle
    with pytest.raises(mk.errors.FormatError, match="relative needs a parent"):
        mk.motion.BoneMatch("hips", "hips", "hips", relative=True)
