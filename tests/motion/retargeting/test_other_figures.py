"""A person on a wolf, a character on another one, and somersaults."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import memetik as mk
from memetik_lab.claims.walker import walk

ON_ALL_FOURS = {
    "hips": "pelvis", "chest": "chest", "head": "head",
    **{
        f"{side}_{part}": f"{where}_{side}_{link}"
        for side in ("left", "right")
        for part, where, link in (
            ("upper_leg", "hind", "thigh"), ("lower_leg", "hind", "shank"), ("foot", "hind", "toes"),
            ("upper_arm", "front", "upper_arm"), ("lower_arm", "front", "forearm"), ("hand", "front", "toes"),
        )
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def clip():
    return walk(2.2, 30.0)


def test_arms_of_a_person_lead_the_forelegs_of_a_wolf(clip):
    wolf = mk.load("wolf", base="floating")
    plan = mk.motion.retarget_plan(clip, wolf, link_map=ON_ALL_FOURS)
    for side in ("left", "right"):  # shorter, so that paws do not reach below the floor
        plan = plan.edit(f"{side}_hand", scale=1.1, rotation=0.0)
    found = mk.retarget(clip, wolf, plan=plan)
    report = found.report
    assert report.outside == 0 and report.sliding < 0.01 and report.penetration < 0.002
    assert report.reached.all()
    poses, person = found.forward(), clip.forward()
    # Upright stays upright: the back is level, and the belly is below it.
    assert np.abs(poses["chest"][:, 2, 3] - poses["pelvis"][:, 2, 3]).max() < 0.15
    for side in ("left", "right"):
        # Paws swing forward when the hands and feet of the person do.
        for paw, bone, root, hips in (
            (f"front_{side}_paw", f"{side.capitalize()}Hand", "chest", "Spine1"),
            (f"hind_{side}_paw", f"{side.capitalize()}Foot", "pelvis", "Hips"),
        ):
            ahead = poses[paw][:, 0, 3] - poses[root][:, 0, 3]
            theirs = person[bone][:, 0, 3] - person[hips][:, 0, 3]
            assert np.corrcoef(ahead, theirs)[0, 1] > 0.95
        assert poses[f"front_{side}_paw"][:, 2, 3].min() > -0.02


@pytest.mark.parametrize(("one", "other"), [("kyle", "mannequin"), ("mannequin", "kyle")])
def test_a_character_moves_as_another_one(clip, one, other):
    first = mk.retarget(clip, mk.load(one))
    found = mk.retarget(first, mk.load(other))
    assert found.report.outside == 0 and found.report.sliding < 0.01 and found.report.penetration < 0.002
    mine, theirs = found.forward(), first.forward()
    for side in ("left", "right"):
        for above, below in (("upper_arm", "forearm"), ("forearm", "hand"), ("thigh", "shin"), ("shin", "foot")):
            limbs = []
            for poses, plan in ((mine, found.plan), (theirs, first.plan)):
                names = {
                    "upper_arm": "upper_arm", "forearm": "lower_arm", "thigh": "upper_leg", "shin": "lower_leg",
                    "hand": "hand", "foot": "foot",
                }  # fmt: skip
                a, b = (poses[plan[f"{side}_{names[each]}"].link][:, :3, 3] for each in (above, below))
                limbs.append((b - a) / np.linalg.norm(b - a, axis=1, keepdims=True))
            angles = np.degrees(np.arccos(np.clip((limbs[0] * limbs[1]).sum(axis=1), -1.0, 1.0)))
            assert np.median(angles) < 12.0


@pytest.mark.parametrize("axis", [(0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (0.3, 1.0, 0.2)])
def test_a_somersault_is_the_same_posture_all_the_way_round(clip, axis):
    """The base turns through every orientation; what the joints do is what they do standing."""
    frames = 48
    rows = []
    for angle in np.linspace(0.0, 4.0 * np.pi, frames):
        turned = clip[:1].transformed(
            mk.transform((0.0, 0.0, 1.0)) @ mk.transform((0.0, 0.0, 0.0), mk.axis_angle(axis, angle))
        )
        rows.append(turned.body.to_qpos(turned.q[0]))
    times = np.arange(frames) / 30.0
    over = mk.Motion(clip.body, times, clip.body.from_qpos(rows), name="somersault")
    still = mk.Motion(clip.body, times, np.tile(clip.q[0], (frames, 1)))
    body = mk.load("g1")
    plan = mk.motion.retarget_plan(clip, body)
    rolled, standing = (mk.retarget(each, body, plan=plan, contacts=None) for each in (over, still))
    # The base takes a little of what calm asks for, of which there is none where nothing turns.
    assert_allclose(rolled.q[:, 6:], standing.q[:, 6:], atol=0.02)
    assert rolled.report.cost.max() < 1.05 * standing.report.cost.max()
    pelvis = rolled.forward()[plan.matches[0].link][:, :3, :3]
    steps = np.arccos((np.trace(np.swapaxes(pelvis[1:], 1, 2) @ pelvis[:-1], axis1=1, axis2=2) - 1.0) / 2.0)
    assert_allclose(steps, 4.0 * np.pi / (frames - 1), atol=0.02)
