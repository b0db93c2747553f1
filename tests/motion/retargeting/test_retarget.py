"""Motions on other bodies: which bone leads which link, feet that stand, limits, headings, and files of plans."""

import json
from dataclasses import replace

import numpy as np
import pytest

import memetik as mk
from memetik.motion.retargeting.feet import bridged, find_contact, runs
from memetik.motion.retargeting.figure import PARTS, find_parts
from memetik_lab.claims.gmr import plan_of
from memetik_lab.claims.walker import NAMINGS, named, skeleton, walk

ROBOTS = {
    "g1": ("left_hip_yaw_link", "left_knee_link", "left_ankle_roll_link", "left_elbow_link", "torso_link"),
    "h1": ("left_hip_pitch_link", "left_knee_link", "left_ankle_link", "left_elbow_link", "torso_link"),
    "valkyrie": ("leftHipPitchLink", "leftKneePitchLink", "leftFoot", "leftForearmLink", "torso"),
    "nao": ("LThigh", "LTibia", "l_ankle", "LForeArm", None),
    "kyle": ("left_thigh", "left_shin", "left_foot", "left_lower_forearm", "chest"),
    "mannequin": ("left_thigh", "left_shin", "left_foot", "left_lower_forearm", "chest"),
}


@pytest.fixture(scope="module")
def clip():
    return walk(2.0, 60.0)


@pytest.fixture(scope="module")
def g1():
    return mk.load("g1")


@pytest.fixture(scope="module")
def walking(clip, g1):
    return mk.retarget(clip, g1)


@pytest.mark.quick
@pytest.mark.parametrize("naming", NAMINGS)
def test_parts_of_skeletons_are_found_by_their_names(naming):
    found = find_parts(skeleton(naming))
    assert {part: found[part].link for part in found} == {part: named(part, naming) for part in PARTS}


@pytest.mark.quick
@pytest.mark.parametrize("name", ROBOTS)
def test_parts_of_robots_are_found_by_their_names(name):
    found = find_parts(mk.load(name))
    upper, lower, foot, elbow, chest = ROBOTS[name]
    assert found["left_upper_leg"].link == upper
    assert found["left_lower_leg"].link == lower
    assert found["left_foot"].link == foot
    assert found["left_lower_arm"].link == elbow
    assert (found["chest"].link if chest else None) == chest
    for part, each in found.items():
        if part.startswith("left_"):
            left, right = np.array(each.joint), np.array(found[part.replace("left", "right")].joint)
            assert np.allclose(np.abs(left), np.abs(right), atol=2e-3)


@pytest.mark.quick
def test_a_figure_without_telling_names_is_found_by_its_structure():
    person = skeleton("cmu")
    links = {name: f"bone{k}" for k, name in enumerate(person.links)}
    joints = [
        replace(j, name=f"joint{k}", parent=links[j.parent], child=links[j.child])
        for k, j in enumerate(person.joints.values())
    ]
    body = mk.Body("nameless", [replace(link, name=links[link.name]) for link in person.links.values()], joints)
    found = find_parts(body)
    for part in ("left_upper_leg", "right_lower_leg"):
        assert found[part].link.startswith("bone")
    left, right = (body.forward(body.home)[found[f"{side}_upper_leg"].link][1, 3] for side in ("left", "right"))
    assert left > 0.0 > right


@pytest.mark.quick
def test_a_single_arm_is_no_figure():
    with pytest.raises(mk.errors.BodyError, match="no figure with two legs or two arms"):
        find_parts(mk.load("panda"))


@pytest.mark.quick
@pytest.mark.parametrize(
    ("name", "upper", "lower", "end"),
    [
        ("go2", "RL_thigh", "RL_calf", "RL_calf"),
        ("wolf", "hind_left_thigh", "hind_left_shank", "hind_left_metatarsus"),
    ],
)
def test_hind_legs_of_quadrupeds_are_legs_and_forelegs_arms(name, upper, lower, end):
    found = find_parts(mk.load(name))
    assert [found[f"left_{part}"].link for part in ("upper_leg", "lower_leg", "foot")] == [upper, lower, end]
    fore = found["left_upper_arm"].link
    assert fore == upper.replace("RL_", "FL_").replace("hind_left_thigh", "front_left_upper_arm")


def test_limbs_of_a_calibrated_body_point_as_those_of_the_skeleton(g1):
    person = skeleton("cmu")
    plan = mk.motion.retarget_plan(person, g1)
    standing = mk.Motion(person, [0.0, 1.0], [person.home, person.home])
    found = mk.retarget(standing, g1, plan=plan, contacts=None)
    parts, bones = find_parts(found.body), find_parts(person)
    poses, bone_poses = found.forward(), person.forward(person.home)

    def direction(upper, lower):
        at = {p: poses[parts[p].link][0] @ (*parts[p].joint, 1.0) for p in (upper, lower)}
        v = (at[lower] - at[upper])[:3]
        w = (bone_poses[bones[lower].link] - bone_poses[bones[upper].link])[:3, 3]
        return v @ w / np.linalg.norm(v) / np.linalg.norm(w)

    for side in ("left", "right"):
        assert direction(f"{side}_upper_leg", f"{side}_lower_leg") > np.cos(0.1)
        assert direction(f"{side}_lower_leg", f"{side}_foot") > np.cos(0.1)
        assert direction(f"{side}_upper_arm", f"{side}_lower_arm") > np.cos(0.25)
        assert direction(f"{side}_lower_arm", f"{side}_hand") > np.cos(0.25)


def test_feet_stand_still_on_the_floor_within_all_limits(walking):
    report = walking.report
    assert report.sliding < 0.01
    assert report.penetration < 0.002
    assert report.outside == 0
    assert report.reached.all()
    assert (walking.q >= walking.body.lower - 1e-12).all() and (walking.q <= walking.body.upper + 1e-12).all()
    for part, contact in walking.standing.items():
        assert 0.3 < contact.flat.mean() < 0.8, part


def test_what_is_reported_is_what_the_joint_vectors_do(walking):
    """The foot of the G1, measured here from the figures of its own file: the sole is 35 mm below the ankle roll link."""
    poses = walking.forward()
    contact = walking.standing["left_foot"].flat
    foot = poses["left_ankle_roll_link"]
    corners = np.array([(x, y, -0.035, 1.0) for x in (-0.066, 0.142) for y in (-0.035, 0.035)])
    world = corners @ np.swapaxes(foot[:, :3], 1, 2)
    assert -0.002 < world[..., 2].min() < 0.001
    assert np.abs(world[contact][..., 2]).max() < 0.004
    both = contact[1:] & contact[:-1]
    speed = np.linalg.norm(np.diff(world[..., :2], axis=0), axis=2)[both] * walking.rate
    assert speed.mean() < 0.01


def test_the_result_does_not_depend_on_the_heading(clip, walking, g1):
    for heading in (1.0, 2.5, -3.0):
        turned = mk.retarget(clip.turned(heading, about=(0.0, 0.0, 0.0)), g1)
        assert np.abs(turned.q[:, 6:] - walking.q[:, 6:]).max() < 1e-4


def test_the_unit_of_the_file_does_not_matter(clip, walking, g1):
    small = skeleton("cmu", 0.175)
    q = clip.q.copy()
    q[:, :3] *= 0.1
    found = mk.retarget(mk.Motion(small, clip.times, q), g1)
    assert np.abs(found.q[:, 6:] - walking.q[:, 6:]).max() < 1e-4


@pytest.mark.parametrize("name", ["h1", "valkyrie", "nao", "kyle"])
def test_other_bodies_walk_too(clip, name):
    found = mk.retarget(clip[:40], mk.load(name))
    assert found.report.outside == 0
    assert found.report.sliding < 0.03
    assert found.report.penetration < 0.005


def test_frames_have_the_least_cost_of_the_given_targets(clip, g1):
    """Against SciPy on the same sum of squares, from the same posture."""
    optimize = pytest.importorskip("scipy.optimize")
    plan = plan_of(mk.motion.retarget_plan(clip, g1), 1, 1.75)
    found = mk.retarget(clip[:3], g1, plan=plan, contacts=None)
    body, k = found.body, 2
    lines = [m for m in plan.matches if m.position or m.rotation]

    def residuals(q):
        poses, rows = body.forward(q), []
        for m in lines:
            rows.append(m.position * (poses[m.link][:3, 3] - found.targets.points[m.part][k]))
            axis, angle = mk.geometry.to_axis_angle(poses[m.link][:3, :3].T @ found.targets.rotations[m.part][k])
            rows.append(m.rotation * angle * np.asarray(axis))
        return np.concatenate(rows)

    best = optimize.least_squares(residuals, found.q[k], bounds=(body.lower - 1e-9, body.upper + 1e-9))
    assert np.sum(residuals(found.q[k]) ** 2) < 2.0 * best.cost * 1.001
    assert found.report.cost[k] == pytest.approx(np.sum(residuals(found.q[k]) ** 2), rel=1e-6)


def test_many_clips_at_once_are_those_one_by_one(clip, walking, g1):
    both = mk.retarget([clip, clip[:30]], g1)
    assert np.array_equal(both[0].q, walking.q)
    assert len(both[1]) == 30


@pytest.mark.parametrize("threads", [1, 2])
def test_clips_are_taken_and_given_one_after_another(clip, walking, g1, threads):
    taken, told = [], []

    def clips():
        for k in range(9):
            taken.append(k)
            yield clip if k == 0 else clip[k : k + 4]

    plan = mk.motion.retarget_plan(clip, g1)
    results = mk.motion.retarget_each(clips(), g1, plan=plan, threads=threads, progress=lambda *both: told.append(both))
    first = next(results)
    assert np.array_equal(first.q, walking.q)
    assert len(taken) <= 2 * threads  # no more than its threads are busy with
    rest = list(results)
    assert [found.times[0] for found in rest] == [clip.times[k] for k in range(1, 9)]
    assert told[-1] == (len(clip) + 32, 0) and len(told) == 9  # how many there will be is not known


def test_progress_of_a_list_knows_all_frames(clip, g1):
    told = []
    mk.retarget([clip[:5], clip[:7]], g1, progress=lambda *both: told.append(both))
    assert told == [(5, 12), (12, 12)]


def test_targets_are_those_that_were_followed(clip, g1):
    found = mk.retarget(clip[:20], g1)
    assert found.measure(found.q).cost == pytest.approx(found.report.cost, rel=1e-12)


def test_errors_say_which_clip(clip, g1):
    kneeling = mk.Motion(
        clip.body, clip.times[:3], clip.transformed(mk.transform((0, 0, 0), mk.rpy(np.pi, 0, 0))).q[:3]
    )
    lying = mk.Motion(clip.body, kneeling.times, kneeling.q, name="upside down")
    bare = mk.Body("stone", [mk.build.Link("stone")], []).with_base("floating")
    stone = mk.Motion(bare, [0.0], [bare.home], name="a stone")
    with pytest.raises(mk.errors.BodyError, match=r"clip 2 \(a stone\): body 'stone' is no figure"):
        mk.retarget([clip[:3], lying, stone], g1)
    with pytest.raises(mk.errors.ProblemError, match="clip 1: 7 is not a motion"):
        list(mk.motion.retarget_each([clip[:3], 7], g1))


def test_plans_are_kept_edited_and_printed(clip, g1, tmp_path):
    plan = mk.motion.retarget_plan(clip, g1)
    text = str(plan)
    assert "LeftUpLeg" in text and "left_hip_yaw_link" in text
    edited = plan.edit("chest", rotation=0.0).weighted(left_hand=(2.0, 0.5)).without("right_hand")
    assert edited["chest"].rotation == 0.0 and edited["left_hand"].position == 2.0
    with pytest.raises(mk.errors.UnknownNameError, match="right_hand"):
        edited["right_hand"]
    edited.save(tmp_path / "plan.json")
    assert mk.motion.RetargetPlan.load(tmp_path / "plan.json") == edited


@pytest.mark.quick
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "cannot be read"),
        ("[]", "no plan"),
        ('{"format": "other"}', "no plan"),
        (json.dumps({"format": "memetik retargeting plan 1"}), "wrong"),
        (json.dumps({"format": "memetik retargeting plan 1", "skeleton": "a", "body": "b", "matches": [{"part": 1}]}), "wrong"),
        (
            json.dumps({
                "format": "memetik retargeting plan 1", "skeleton": "a", "body": "b",
                "matches": [{"part": "hips", "bone": "a", "link": "b", "scale": "wide"}],
            }),
            "scale",
        ),
        (json.dumps({"format": "memetik retargeting plan 1", "skeleton": "a", "body": "b", "matches": []}), "no lines"),
    ],
)  # fmt: skip
def test_plans_that_are_none_are_refused(text, message, tmp_path):
    path = tmp_path / "plan.json"
    path.write_text(text)
    with pytest.raises(mk.MemetikError, match=message):
        mk.motion.RetargetPlan.load(path)


def test_wrong_arguments_are_refused(clip, g1):
    with pytest.raises(mk.errors.ProblemError, match="contacts"):
        mk.retarget(clip, g1, contacts="some")
    with pytest.raises(mk.errors.ProblemError, match="not a motion"):
        mk.retarget([3], g1)
    with pytest.raises(mk.errors.ProblemError, match="posture"):
        mk.motion.retarget_plan(clip, g1, posture=[0.0, 1.0])
    lying = clip.transformed(mk.transform((0, 0, 0), mk.rpy(np.pi / 2, 0.0, 0.0)))
    with pytest.raises(mk.errors.BodyError, match="never stands upright"):
        mk.motion.retarget_plan(clip.body, g1, posture=lying.q[0])
    with pytest.raises(mk.errors.UnknownNameError, match="tail"):
        mk.motion.retarget_plan(clip, g1, bone_map={"tail": "Hips"})


@pytest.mark.quick
def test_offsets_between_holds_keep_value_and_speed():
    times = np.linspace(0.0, 1.0, 101)
    held = (times < 0.3) | (times > 0.7)
    values = np.stack([0.1 * times, np.where(times < 0.5, 0.2, -0.1), 0.0 * times], axis=1)
    found = bridged(times, values, held)
    assert np.array_equal(found[held], values[held])
    step = np.abs(np.diff(found, axis=0)).max(axis=0)
    assert (step < (0.003, 0.02, 1e-12)).all()


@pytest.mark.quick
def test_contacts_are_where_a_foot_is_low_and_slow():
    times = np.arange(200) / 100.0
    x = np.clip(times - 0.5, 0.0, 0.5) * 2.0
    ankle = np.stack([x, 0.0 * x, np.where((times > 0.5) & (times < 1.0), 0.2, 0.08)], axis=1)
    contact = find_contact(times, ankle, None, 0.9)
    (first, second) = runs(contact.flat)
    assert first[0] == 0 and abs(first[1] - 50) <= 2
    assert abs(second[0] - 100) <= 2 and second[1] == 200


@pytest.mark.quick
@pytest.mark.parametrize("content", ["[" * 100_000, '{"format": ' + "1" * 5000 + "}"], ids=["nested", "a long number"])
def test_a_plan_that_no_reader_of_json_takes_is_refused(tmp_path, content):
    path = tmp_path / "plan.json"
    path.write_text(content)
    with pytest.raises(mk.errors.FormatError, match=r"plan.json: cannot be read as a plan"):
        mk.motion.RetargetPlan.load(path)
