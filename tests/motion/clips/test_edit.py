"""Editing: spans with ease, what is held and what is locked, and the blends of 4.7.2."""

import numpy as np
import pytest

import memetik as mk
from memetik.errors import MemetikWarning, ProblemError
from memetik.motion.clips.stiffness import stiffness


@pytest.fixture(scope="module")
def kyle():
    return mk.load("kyle", base="floating")


@pytest.fixture(scope="module")
def clip(kyle):
    """A second in which the arms swing a little."""
    swing = {"left_shoulder_y": 0.3, "right_shoulder_y": -0.3}
    known = {name: value for name, value in swing.items() if name in kyle.joint_names}
    return mk.Motion(kyle, [0.0, 1.0], [kyle.home, kyle.vector(known)]).resampled(20.0)


FEET = ("left_midfoot", "right_midfoot")


def test_strength_of_a_span():
    times = np.linspace(0.0, 2.0, 201)
    hand = mk.Position("hand", (0, 0, 0))
    span = mk.motion.Span(hand, 0.5, 1.5, ease=0.25)
    strength = span.strength(times)
    assert not strength[times <= 0.5].any() and not strength[times >= 1.5].any()
    assert (strength[(times >= 0.75) & (times <= 1.25)] == 1.0).all()
    assert strength[62] == pytest.approx(0.5, abs=0.05)  # halfway through the ease
    assert np.abs(np.diff(strength)).max() < 0.07
    assert (mk.motion.Span(hand).strength(times) == 1.0).all()
    assert set(mk.motion.Span(hand, 0.5, ease=0.0).strength(times)) == {0.0, 1.0}


def test_a_span_eases_in_and_out_while_the_feet_are_held(clip):
    """The pelvis goes down by 10 cm between 0.25 and 0.75 s; before and after it, the clip is untouched."""
    span = mk.motion.Span(mk.Position("pelvis", (0, 0, 0), tolerance=1e-3), 0.2, 0.8, ease=0.2, offset=(0, 0, -0.1))
    edited = mk.motion.edit(clip, span, hold=FEET)
    outside = (clip.times <= 0.2) | (clip.times >= 0.8)
    assert np.array_equal(edited.q[outside], clip.q[outside])
    down = (edited.poses("pelvis") - clip.poses("pelvis"))[:, 2, 3]
    np.testing.assert_allclose(down, -0.1 * span.strength(clip.times), atol=2e-3)
    for foot in FEET:
        np.testing.assert_allclose(edited.poses(foot)[:, :3, 3], clip.poses(foot)[:, :3, 3], atol=1e-3)
    assert np.abs(np.diff(edited.q, axis=0)).max() < 0.5


def test_only_the_joints_that_are_named_move(clip, kyle):
    box = (1.0, 0.6, 1.2)
    moving = [name for name in kyle.joint_names if "neck" in name or "head" in name or "spine" in name]
    edited = mk.motion.edit(clip[:6], mk.motion.Span(mk.LookAt("head_look", box, tolerance=0.01)), joints=moving)
    others = [k for k, name in enumerate(kyle.joint_names) if name not in moving]
    assert np.array_equal(edited.q[:, others], clip.q[:6, others])
    heads = edited.poses("head_look")
    ways = box - heads[:, :3, 3]
    cosine = (heads[:, :3, 0] * ways).sum(axis=1) / np.linalg.norm(ways, axis=1)
    assert np.arccos(cosine.clip(-1, 1)).max() < 0.02


def test_blend_mixes_the_result_with_the_clip(clip):
    span = mk.motion.Span(mk.Position("pelvis", (0, 0, 0), tolerance=1e-3), offset=(0, 0, -0.1))
    part = clip[:3]
    assert np.array_equal(mk.motion.edit(part, span, hold=FEET, blend=1.0).q, part.q)
    full, half = (mk.motion.edit(part, span, hold=FEET, weight=1.0, blend=share) for share in (0.0, 0.5))
    np.testing.assert_allclose(half.q, full.blended(part, 0.5).q, atol=1e-9)


def test_a_path_of_targets(clip):
    part = clip[:4]
    path = part.poses("left_hand")
    path[:, 0, 3] += 0.05
    edited = mk.motion.edit(part, mk.motion.Span(mk.Pose("left_hand", np.eye(4)), path=path))
    np.testing.assert_allclose(edited.poses("left_hand"), path, atol=1e-3)


def test_a_raised_hand_leaves_the_head_where_it_is(clip):
    """Without stiffness the whole body leans over, and the head goes half a metre."""
    span = mk.motion.Span(mk.Position("left_hand", (0, 0, 0), tolerance=1e-3), offset=(0.0, 0.0, 0.45))
    part = clip[:2]

    def moved(link, **options):
        edited = mk.motion.edit(part, span, hold=FEET, **options)
        return np.linalg.norm((edited.poses(link) - part.poses(link))[:, :3, 3], axis=1).max()

    assert moved("left_hand") == pytest.approx(0.45, abs=1e-3)
    assert moved("head") < 0.03 and moved("pelvis") < 0.01 and moved("right_hand") < 0.03
    plain = dict.fromkeys(clip.body.joint_names, 1.0)
    assert moved("head", stiffness=plain) > 0.3
    assert moved("left_hand", stiffness={"left_elbow": 5.0}) == pytest.approx(0.45, abs=1e-3)


def test_stiffness_grows_from_the_limb_to_the_root(kyle):
    weights = stiffness(kyle, {"left_hand"})
    order = ("left_wrist_x", "left_elbow", "left_shoulder_y", "spine_y", "pelvis_y", "base.z")
    assert [weights[name] for name in order] == sorted(weights[name] for name in order)
    assert weights["base.x"] == pytest.approx(3.0 * np.sqrt(kyle.mass))
    assert stiffness(kyle, {"head"})["left_shoulder_y"] == weights["left_shoulder_y"]
    skeleton = mk.build.BodyBuilder("skeleton").add("base", "hips", "floating", "hips")
    for side, y in (("left", 0.2), ("right", -0.2)):
        skeleton = skeleton.add("hips", f"{side}_arm", "spherical", f"{side}_arm", origin=(0.0, y, 0.5))
        skeleton = skeleton.add(f"{side}_arm", f"{side}_hand", "spherical", f"{side}_hand", origin=(0.0, y, 0.0))
        skeleton = skeleton.add(f"{side}_hand", f"{side}_tip", "fixed", f"{side}_tip", origin=(0.0, 0.1, 0.0))
    found = stiffness(skeleton.build(), {"left_hand"})
    assert found["hips.x"] > found["left_arm.rx"] > found["left_hand.rx"] > 0.0
    assert found["left_arm.rx"] == found["left_arm.rz"]


def test_frames_that_miss_are_told(clip):
    far = mk.motion.Span(mk.Position("left_hand", (9.0, 0.0, 0.0)))
    arm = [name for name in clip.body.joint_names if name.startswith("left_shoulder")]
    with pytest.warns(MemetikWarning, match="2 of 2 frames miss"):
        mk.motion.edit(clip[:2], far, joints=arm)


@pytest.mark.parametrize(
    "make",
    [
        lambda hand: mk.motion.Span(3), lambda hand: mk.motion.Span(hand, 1.0, 0.5), lambda hand: mk.motion.Span(hand, ease=-1.0),
        lambda hand: mk.motion.Span(hand, np.nan), lambda hand: mk.motion.Span(hand, offset=(1, 2)),
        lambda hand: mk.motion.Span(hand, offset=(0, 0, 1), path=[(0, 0, 1)]),
        lambda hand: mk.motion.Span(mk.Displacement(), offset=(0, 0, 1)),
    ],
)  # fmt: skip
def test_spans_that_are_none(make):
    with pytest.raises(ProblemError):
        make(mk.Position("left_hand", (0, 0, 0)))


@pytest.mark.parametrize(
    "wrong",
    [{"spans": []}, {"spans": [3]}, {"motion": 3}, {"weight": 2.0}, {"blend": -1.0}, {"joints": ["no_such"]},
     {"hold": ["no_such"]}, {"hold": 3}, {"stiffness": {"no_such": 1.0}}, {"stiffness": {"left_elbow": -1.0}}],
)  # fmt: skip
def test_edits_that_cannot_be(clip, wrong):
    given = {"motion": clip[:1], "spans": mk.motion.Span(mk.Position("left_hand", (0, 0, 0))), **wrong}
    with pytest.raises(mk.MemetikError):
        mk.motion.edit(given.pop("motion"), given.pop("spans"), **given)
    with pytest.raises(ProblemError, match="path has shape"):
        mk.motion.edit(clip[:1], mk.motion.Span(mk.Position("left_hand", (0, 0, 0)), path=np.zeros((5, 3))))
