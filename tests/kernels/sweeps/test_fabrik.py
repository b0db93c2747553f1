"""FABRIK's sweep on real joints: on planar bodies the textbook's, on others what its halves promise."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from memetik.build import BodyBuilder, planar_chain
from memetik.geometry import random_rotation, transform
from memetik.kernels.sweeps.fabrik import LEVER, TIP
from memetik.objectives import Direction, LookAt, Orientation, Pose, Position
from memetik.problem import Problem
from tests.kernels.sweeps.sweeping import Sweeping
from tests.naive import fabrik
from tests.naive.bodies import random_body, serial_arm
from tests.naive.pose import matrix

pytestmark = pytest.mark.quick

seeds = st.integers(0, 2**32 - 1)


def star(rng, branches):
    """A planar trunk of two joints that splits into branches of two joints each; its points and their parents."""
    builder = BodyBuilder("star")
    builder.add("base", "trunk1", "continuous", "trunk1").add(
        "trunk1", "trunk2", "continuous", "trunk2", origin=(rng.uniform(0.2, 1.0), 0, 0)
    )
    fork = (rng.uniform(0.2, 1.0), 0, 0)
    parents = [-1, 0, 1]
    for b in range(branches):
        builder.add("trunk2", f"a{b}", "continuous", f"a{b}", origin=fork)
        builder.add(f"a{b}", f"b{b}", "continuous", f"b{b}", origin=(rng.uniform(0.2, 1.0), 0, 0))
        builder.add(f"b{b}", f"to_tip{b}", "fixed", f"tip{b}", origin=(rng.uniform(0.2, 1.0), 0, 0))
        parents += [2, len(parents)]
    return builder.build(), parents


def place_in_plane(rng):
    return np.array([*rng.uniform(-1.0, 1.0, 2), 0.0])


@given(seed=seeds, joints=st.integers(2, 12))
def test_a_planar_chain_is_swept_as_in_the_textbook(seed, joints):
    rng = np.random.default_rng(seed)
    target = place_in_plane(rng)
    flat = Sweeping(Problem(planar_chain(rng.uniform(0.1, 0.5, joints), limits=None), Position("tip", target)))
    x = flat.sample(rng)
    flat.place(x)
    points = np.vstack([flat.work.poses[:, 4:], flat.work.world[:, 4:]])
    for _ in range(3):
        points = fabrik.sweep(points, range(-1, joints), {joints: target})
        x = flat.fabrik(x, ahead=0.0)
        flat.place(x)
        assert_allclose(np.vstack([flat.work.poses[:, 4:], flat.work.world[:, 4:]]), points, atol=1e-6)


@given(seed=seeds, branches=st.integers(2, 4))
def test_branches_meet_at_their_centroid(seed, branches):
    rng = np.random.default_rng(seed)
    body, parents = star(rng, branches)
    targets = [place_in_plane(rng) for _ in range(branches)]
    flat = Sweeping(Problem(body, [Position(f"tip{b}", target) for b, target in enumerate(targets)]))
    x = flat.sample(rng)
    # Points: two joints of the trunk, the fork, and for each branch its second joint and its tip.
    rows = [list(body.joint_names).index(name) for name in ("trunk1", "trunk2", *(f"b{b}" for b in range(branches)))]

    def points():
        flat.place(x)
        nodes, tips = flat.work.poses[:, 4:], flat.work.world[:, 4:]
        fork = nodes[list(body.joint_names).index("a0")]
        branch = [point for b in range(branches) for point in (nodes[rows[2 + b]], tips[b])]
        return np.array([nodes[rows[0]], nodes[rows[1]], fork, *branch])

    expected = fabrik.sweep(points(), parents, {4 + 2 * b: target for b, target in enumerate(targets)})
    x = flat.fabrik(x, ahead=0.0)
    assert_allclose(points(), expected, atol=1e-6)


@given(seed=seeds, joints=st.integers(2, 8))
def test_a_target_out_of_reach_lays_the_chain_out(seed, joints):
    rng = np.random.default_rng(seed)
    direction = rng.uniform(-math.pi, math.pi)
    target = 3.0 * np.array([math.cos(direction), math.sin(direction), 0.0])
    flat = Sweeping(Problem(planar_chain(joints, limits=None), Position("tip", target)))
    x = flat.sample(rng)
    flat.place(x)
    points = np.vstack([flat.work.poses[:, 4:], flat.work.world[:, 4:]])
    flat.place(flat.fabrik(x, ahead=0.0, far=1e4))
    straight = fabrik.lay_out(points, target)
    assert_allclose(np.vstack([flat.work.poses[:, 4:], flat.work.world[:, 4:]]), straight, atol=2e-4)


@given(seed=seeds, joints=st.integers(2, 7), ahead=st.sampled_from([0.0, 0.5, 1.0]))
def test_the_first_half_puts_the_tip_on_the_target_and_keeps_every_joint(seed, joints, ahead):
    rng = np.random.default_rng(seed)
    body = random_body(rng, joints, ["revolute", "prismatic", "screw"], mimics=0.0)
    link = [joint.child for joint in body.joints.values()][-1]
    target = transform(rng.normal(size=3), random_rotation(rng))
    flat = Sweeping(Problem(body, Pose(link, target)))
    x = flat.fabrik_forward(flat.sample(rng), ahead)
    assert flat.within_limits(x)
    swept = [matrix(row) for row in flat.own.swept]
    frame = flat.frames[0]
    assert_allclose(
        swept[-1] @ matrix([frame[name] for name in ("w", "x", "y", "z", "px", "py", "pz")]), target, atol=1e-9
    )
    flat.place(x)  # the same shape, somewhere else
    placed = [matrix(row) for row in flat.work.poses]
    for i, node in enumerate(flat.nodes):
        if node["parent"] > 0:  # the first joint has nothing behind it to follow, and keeps its value
            here = np.linalg.inv(placed[node["parent"]]) @ placed[i]
            assert_allclose(np.linalg.inv(swept[node["parent"]]) @ swept[i], here, atol=1e-9)


@given(seed=seeds, joints=st.integers(1, 7))
def test_the_second_half_comes_nearer_to_the_swept_links_with_every_pass(seed, joints):
    """All points count alike with ahead = 1, and each joint lessens the same sum of squares."""
    rng = np.random.default_rng(seed)
    body = serial_arm(joints, rng)
    target = transform(rng.normal(size=3), random_rotation(rng))
    flat = Sweeping(Problem(body, Pose(f"link{joints}", target)))

    def away(x):
        flat.place(x)
        tip = matrix(flat.work.world[0])
        points = ((flat.work.poses[:, 4:] - flat.own.swept[:, 4:]) ** 2).sum()
        lever = 0.5 * (LEVER * flat.terms[0].reach) ** 2
        return points + TIP * (((tip - target)[:3, 3] ** 2).sum() + lever * ((tip - target)[:3, :3] ** 2).sum())

    x = flat.fabrik_forward(flat.sample(rng))
    last = away(x)
    for _ in range(4):
        x = flat.track_targets(x)
        now = away(x)
        assert now <= last * (1.0 + 1e-12) + 1e-12
        last = now


@given(seed=seeds, joints=st.integers(1, 8))
def test_sweeps_keep_the_limits(seed, joints):
    rng = np.random.default_rng(seed)
    body = random_body(rng, joints, ["revolute", "prismatic", "screw", "spherical"], mimics=0.4)
    links = rng.choice([joint.child for joint in body.joints.values()], 3)
    objectives = [
        Position(links[0], rng.normal(size=3)),
        Orientation(links[1], random_rotation(rng)),
        Direction(links[2], random_rotation(rng)[0]),
        LookAt(links[2], rng.normal(size=3) + 3.0),
    ]
    flat = Sweeping(Problem(body, objectives))
    x = flat.sample(rng)
    for _ in range(3):
        x = flat.fabrik(x)
        assert flat.within_limits(x)


@given(seed=seeds, joints=st.integers(1, 7), ahead=st.sampled_from([0.0, 0.5, 1.0]))
def test_a_posture_that_satisfies_all_stays(seed, joints, ahead):
    rng = np.random.default_rng(seed)
    body = random_body(rng, joints, ["revolute", "prismatic", "screw"], mimics=0.3)
    q = body.sample(rng)
    poses = body.forward(q)
    links = rng.choice([joint.child for joint in body.joints.values()], 2)
    objectives = [Pose(links[0], poses[links[0]]), Position(links[1], poses[links[1]][:3, 3])]
    flat = Sweeping(Problem(body, objectives))
    assert_allclose(flat.fabrik(q[flat.compiled.active], ahead), q[flat.compiled.active], atol=1e-6)


def test_branches_of_faded_guides_stay(rng):
    body, _ = star(rng, 2)
    wanted, guide = Position("tip0", (0.5, 0.5, 0.0)), Position("tip1", (0.2, -0.5, 0.0), tolerance=None)
    flat = Sweeping(Problem(body, [wanted, guide]))
    x = flat.sample(rng)
    moved = dict(zip(body.joint_names, flat.fabrik(x) != x, strict=True))
    assert moved == {name: name not in ("a1", "b1") for name in body.joint_names}


@given(seed=seeds)
def test_the_arm_of_the_paper(seed):
    """The way back to joint values agrees with the equations of the NAO's arm, mended."""
    rng = np.random.default_rng(seed)
    upper, lower = 0.105, 0.1137
    body = (
        BodyBuilder("arm")
        .add("base", "a", "revolute", "shoulder", axis=(1, 0, 0), lower=-2.0, upper=2.0)
        .add("shoulder", "b", "revolute", "upper_arm", axis=(0, 0, 1), lower=-0.3, upper=1.3)
        .add("upper_arm", "c", "revolute", "elbow", origin=(0, upper, 0), axis=(0, 1, 0), lower=-2.0, upper=2.0)
        .add("elbow", "d", "revolute", "fore_arm", axis=(0, 0, 1), lower=-1.5, upper=-0.1)
        .add("fore_arm", "to_hand", "fixed", "hand", origin=(0, lower, 0))
        .build()
    )
    q = body.sample(rng)
    poses = body.forward(q)
    elbow, hand = poses["elbow"][:3, 3], poses["hand"][:3, 3]
    assert_allclose(fabrik.nao_angles(elbow, hand, upper, lower), q, atol=1e-9)
    flat = Sweeping(Problem(body, Position("hand", hand)))
    x = flat.sample(rng)
    for _ in range(20):
        x = flat.fabrik(x)
    flat.place(x)
    elbow, hand = flat.work.poses[2, 4:], flat.work.world[0, 4:]
    assert_allclose(fabrik.nao_angles(elbow, hand, upper, lower), x, atol=1e-9)
