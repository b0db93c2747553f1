"""Reports of retargeting against measurements that know nothing of plans and targets (tests/naive/retargeting.py)."""

from dataclasses import replace

import numpy as np
import pytest

import memetik as mk
from memetik.motion.clips.turns import (
    balls_of,
    matrices,
    quaternions,
    quaternions_of_matrices,
    quaternions_of_vectors,
    steady_turns,
)
from memetik.motion.retargeting.figure import find_parts
from memetik_lab.claims.walker import NAMINGS, skeleton, walk
from tests.motion.retargeting.namings import skeleton as detailed_skeleton
from tests.naive import retargeting as naive


def dance(body, frames=40, rate=60.0, size=0.5, seed=0):
    """All joints of a skeleton turn about axes of their own, smoothly, after a first frame at rest."""
    rng = np.random.default_rng(seed)
    times = np.arange(frames) / rate
    q = np.tile(body.home, (frames, 1))
    wave = np.sin(2.0 * np.pi * times[:, None] * rng.uniform(0.5, 2.0, len(balls_of(body))))
    for k, ball in enumerate(balls_of(body)):
        axis = rng.normal(size=3)
        q[:, ball.columns] = steady_turns(
            ball.order, quaternions_of_vectors(wave[:, k : k + 1] * size * axis / np.linalg.norm(axis)), np.zeros(3)
        )
    q[:, :3] += np.stack((times, 0.3 * np.sin(times), 0.9 + 0.1 * np.cos(times)), axis=1)
    return mk.Motion(body, times, q, name="dance")


def robot_clip(name):
    found = mk.retarget(walk(0.5, 30.0), mk.load(name))
    return mk.Motion(found.body, found.times, found.q, name=f"{name} walks")


def lying(clip):
    """The clip of a skeleton that lies at rest and stands in its frames, as those of LAFAN1 and Rokoko."""
    turn = mk.rpy(0.0, 0.5 * np.pi, 0.0)
    joints = [replace(j, origin=mk.translation(*(turn @ j.origin[:3, 3]))) for j in clip.body.joints.values()]
    body, q = mk.Body("lying", clip.body.links.values(), joints), clip.q.copy()
    for ball in balls_of(body):
        rotations = matrices(quaternions(ball, q)) @ turn.T
        if body.joints[ball.joint].parent != body.root:
            rotations = turn @ rotations
        q[:, ball.columns] = steady_turns(ball.order, quaternions_of_matrices(rotations), np.zeros(3))
    return mk.Motion(body, clip.times, q, name="lying")


def mapped():
    """The clip of a skeleton with the map of a .vrm, which names one finger of each hand."""
    clip = dance(detailed_skeleton("vroid")[0])
    parts = {part: each.link for part, each in find_parts(clip.body).items()}
    parts |= {f"{side}_index_proximal": f"J_Bip_{side[0].upper()}_Index1" for side in ("left", "right")}
    body = mk.Body("mapped", clip.body.links.values(), clip.body.joints.values(), parts=parts)
    return mk.Motion(body, clip.times, clip.q)


def sliding():
    """The clip of a skeleton whose head, one arm and one leg also slide on their parents."""
    clip = dance(skeleton("mixamo"))
    loose = ("Head", "LeftArm", "RightUpLeg")
    joints = [
        mk.build.Joint(j.name, "floating", j.parent, j.child, j.origin, order=j.order) if j.child.endswith(loose) else j
        for j in clip.body.joints.values()
    ]
    body = mk.Body("sliding", clip.body.links.values(), joints)
    q = np.tile(body.home, (len(clip), 1))
    for joint in body.joints.values():
        own = clip.body.joints[joint.name].variables
        q[:, [body.index(name) for name in joint.variables[-len(own) :]]] = clip.q[:, list(map(clip.body.index, own))]
        if joint.child.endswith(loose):
            columns = [body.index(name) for name in joint.variables[:3]]
            q[:, columns] = 0.1 * np.sin(4.0 * clip.times[:, None] + (0.0, 1.0, 2.0))
    return mk.Motion(body, clip.times, q)


CLIPS = {
    **{naming: lambda naming=naming: dance(skeleton(naming)) for naming in NAMINGS},
    **{f"all bones of {each}": lambda each=each: dance(detailed_skeleton(each)[0], seed=1) for each in ("mixamo", "vroid")},
    "at rest lying": lambda: lying(dance(skeleton("lafan"))),
    "a finger in a map": mapped,
    "bones that slide": sliding,
    "walk": lambda: walk(0.5, 60.0),
    "kyle": lambda: robot_clip("kyle"),
    "g1": lambda: robot_clip("g1"),
}  # fmt: skip


@pytest.mark.parametrize("name", CLIPS)
def test_the_same_skeleton_moves_the_same(name):
    """Every link within 1 mm and 0.5 degrees, twists and fingers among them, whether or not it is a part of a figure."""
    clip = CLIPS[name]()
    found = mk.retarget(clip, clip.body, contacts=None, velocity_limits=None)
    for link, (away, angle) in naive.bone_errors(clip, found, [(each, each) for each in clip.body.links]).items():
        assert away.max() < 1e-3 and angle.max() < np.radians(0.5), link
    assert max(each.max() for each in found.report.position.values()) < 1e-3
    assert max(each.max() for each in found.report.rotation.values()) < np.radians(0.5)


def test_a_larger_skeleton_of_other_proportions_copies_all_rotations():
    """Spine, neck, collarbones and rolls of the limbs turn as the source's do, though bones are longer."""
    clip = dance(skeleton("mixamo"))
    joints = [
        mk.build.Joint(
            joint.name, joint.kind, joint.parent, joint.child,
            origin=mk.translation(*(joint.origin[:3, 3] * (1.3 if "Arm" in joint.child else 1.1))),
        )
        for joint in clip.body.joints.values()
        if joint.parent != clip.body.root
    ]  # fmt: skip
    large = mk.Body("large", [mk.build.Link(name) for name in clip.body.links if name != clip.body.root], joints)
    found = mk.retarget(clip, large.with_base("floating"), contacts=None)
    errors = naive.bone_errors(clip, found, [(each, each) for each in large.links])
    assert max(angle.max() for _, angle in errors.values()) < np.radians(0.5)


# The largest differences [m, rad, m/s, or of a count or share]: round shapes have finitely many points, here and in the library.
ROUNDING = {
    "position": 1e-9, "rotation": 1e-6, "direction": 1e-6, "sole": 2e-4, "penetration": 2e-4, "sliding": 5e-4, "limits": 0.0,
    "fastest": 1e-9, "reached, but off the floor": 2e-4,
}  # fmt: skip


@pytest.mark.parametrize("name", ["g1", "h1", "valkyrie", "nao", "kyle", "mannequin", "go2", "pr2"])
def test_every_figure_of_the_report_is_measured_anew(name):
    """Of humanoids, characters, a quadruped, and a machine that stands fixed, whose arms are seen from its hips."""
    clip = walk(1.5, 60.0)
    found = mk.retarget(clip, mk.load(name))
    apart = naive.differences(clip, found)
    assert set(apart) == set(ROUNDING) - (
        set() if found.standing else {"sole", "sliding", "reached, but off the floor"}
    )
    assert {each: value for each, value in apart.items() if value > ROUNDING[each]} == {}
    assert (found.report.outside, found.report.too_fast, found.report.too_hard) == (0, 0, 0)
    assert all(f"not led: {', '.join(found.plan.missing)}" in found.report.warnings for _ in found.plan.missing)


def test_a_report_sees_what_is_wrong_with_a_motion():
    """Bent joints, a base under the floor and a jump show in the figures."""
    found = mk.retarget(walk(1.0, 60.0), mk.load("g1"))
    q = found.q.copy()
    q[:, 2] -= 0.05
    q[30, found.body.index("left_elbow_joint")] += 0.8
    q[:, found.body.index("waist_yaw_joint")] += 0.3
    worse = found.measure(q)
    assert worse.penetration == pytest.approx(0.05, abs=1e-3)
    assert not worse.reached.any()
    assert worse.too_fast >= 1 and worse.fastest > 1.0
    assert worse.rotation["chest"].mean() > 0.2
    assert worse.position["hips"].mean() > found.report.position["hips"].mean() + 0.03


def test_a_source_whose_feet_never_stand_is_told():
    """As recordings of the body alone, without the floor, whose figures drift."""
    clip = walk(0.5, 60.0)
    assert not any("no foot of the source stands" in each for each in mk.retarget(clip, mk.load("g1")).report.warnings)
    rising = clip.with_q(clip.q + np.eye(clip.body.dof)[2] * clip.times[:, None])
    assert any("no foot of the source stands" in each for each in mk.retarget(rising, mk.load("g1")).report.warnings)


@pytest.fixture(scope="module")
def leap():
    """Arms that leap from hanging down to above the head within a twentieth of a second."""
    clip = walk(1.0, 60.0)
    q = clip.q.copy()
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        joint = clip.body.joints[f"{side}Arm_joint"]
        q[30:, clip.body.index(joint.variables[joint.order.index("x")])] += sign * 2.5
    return mk.Motion(clip.body, clip.times, q, name="leap")


@pytest.mark.parametrize("name", ["g1", "h1", "nao"])
def test_limits_of_velocity_are_kept_and_those_who_want_can_do_without(leap, name):
    kept = mk.retarget(leap, mk.load(name))
    assert naive.limit_violations(kept.body, kept.times, kept.q) == (0, 0, 0)
    assert kept.report.too_fast == 0 and 0.9 < kept.report.fastest <= 1.0
    free = mk.retarget(leap, mk.load(name), velocity_limits=None)
    outside, fast, _ = naive.limit_violations(free.body, free.times, free.q)
    assert outside == 0 and fast > 0 and free.report.too_fast == fast and free.report.fastest > 1.0
    long = mk.retarget(leap, mk.load(name), velocity_limits="stretch")
    assert naive.limit_violations(long.body, long.times, long.q) == (0, 0, 0)
    assert long.duration > leap.duration and np.array_equal(long.q, free.q)
    assert (np.diff(long.times) >= np.diff(leap.times) - 1e-12).all()


def with_accelerations(body, limit):
    """The body with limits of acceleration."""
    joints = [
        mk.build.Joint(
            j.name, j.kind, j.parent, j.child, j.origin, j.axis, j.lower, j.upper, j.velocity,
            limit if j.kind == "revolute" else (), j.mimic, j.screw_pitch, j.order, j.effort,
        )
        for j in body.joints.values()
    ]  # fmt: skip
    return mk.Body(body.name, body.links.values(), joints)


def test_limits_of_acceleration_are_kept(leap):
    body = with_accelerations(mk.load("g1"), 150.0)
    kept = mk.retarget(leap, body)
    assert naive.limit_violations(kept.body, kept.times, kept.q) == (0, 0, 0)
    assert kept.report.too_hard == 0 and kept.report.hardest > 0.9
    long = mk.retarget(leap, body, velocity_limits="stretch")
    assert naive.limit_violations(long.body, long.times, long.q) == (0, 0, 0)


@pytest.mark.quick
def test_a_way_to_keep_limits_that_there_is_not_is_refused(leap):
    with pytest.raises(mk.errors.ProblemError, match="velocity_limits"):
        mk.retarget(leap, mk.load("g1"), velocity_limits="slow")
