"""CCD's sweep against its twin, which knows neither closed forms nor cached poses."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from memetik.body import Mimic
from memetik.build import BodyBuilder, planar_chain
from memetik.geometry import random_rotation
from memetik.kernels.sweeps.coupled import move_driven
from memetik.objectives import Direction, LookAt, Orientation, Position
from memetik.problem import Problem
from tests.kernels.sweeps.sweeping import Sweeping
from tests.naive import ccd
from tests.naive.bodies import random_body
from tests.naive.pose import matrix

pytestmark = pytest.mark.quick

seeds = st.integers(0, 2**32 - 1)
directions = st.sampled_from(["tip_to_root", "root_to_tip"])


def problem(rng, joints, kinds, mimics=0.0):
    """A random tree with every kind of target on random links, and its wishes for the twin."""
    body = random_body(rng, joints, kinds, mimics=mimics)
    links = rng.choice([joint.child for joint in body.joints.values()], 4)
    point, turn, away, look = (
        rng.normal(size=3),
        random_rotation(rng),
        random_rotation(rng)[0],
        rng.normal(size=3) + 3.0,
    )
    objectives = [
        Position(links[0], point, weight=2.0),
        Orientation(links[1], turn),
        Direction(links[2], away, axis=(0.0, 1.0, 0.0)),
        LookAt(links[3], look),
    ]
    flat = Sweeping(Problem(body, objectives))
    weights = flat.terms["scale"] ** 2
    wishes = [
        ccd.Point(links[0], point, weights[0]),
        ccd.Turn(links[1], turn, weights[1]),
        ccd.Arrow(links[2], (0.0, 1.0, 0.0), away, weights[2]),
        ccd.Gaze(links[3], (1.0, 0.0, 0.0), look, weights[3]),
    ]
    return body, flat, wishes


def pose_problem(body, rng):
    """The last link at a point and turned; a gaze, which turns as a slide nears its target, may lose by a sweep."""
    link = [joint.child for joint in body.joints.values()][-1]
    return Sweeping(Problem(body, [Position(link, rng.normal(size=3)), Orientation(link, random_rotation(rng))]))


@given(seed=seeds, joints=st.integers(1, 6), direction=directions)
def test_a_sweep_is_that_of_the_twin(seed, joints, direction):
    rng = np.random.default_rng(seed)
    body, flat, wishes = problem(rng, joints, ["revolute", "continuous", "prismatic"])
    q = body.sample(rng)
    rows = flat.compiled.active[flat.nodes["variable"]]  # parents first
    slides = {k for k, name in enumerate(body.joint_names) if body.joints[name].kind == "prismatic"}
    expected = ccd.sweep(body, wishes, q, rows if direction == "root_to_tip" else rows[::-1], slides)
    assert_allclose(flat.ccd(q[flat.compiled.active], direction), expected[flat.compiled.active], atol=2e-6)


@given(seed=seeds, joints=st.integers(1, 6), direction=directions)
def test_a_sweep_with_weights_is_that_of_the_twin(seed, joints, direction):
    rng = np.random.default_rng(seed)
    body, flat, wishes = problem(rng, joints, ["revolute", "continuous", "prismatic"])
    q, weights = body.sample(rng), rng.choice([0.0, 0.25, 0.5, 1.0], body.dof)
    active = flat.compiled.active
    rows = active[flat.nodes["variable"]]  # parents first
    slides = {k for k, name in enumerate(body.joint_names) if body.joints[name].kind == "prismatic"}
    expected = ccd.sweep(body, wishes, q, rows if direction == "root_to_tip" else rows[::-1], slides, weights)
    found = flat.ccd(q[active], direction, weights=weights[active])
    assert_allclose(found, expected[active], atol=2e-6)
    assert_array_equal(found[weights[active] == 0.0], q[active][weights[active] == 0.0])


@given(seed=seeds, direction=directions)
def test_weights_hold_for_mimic_joints(seed, direction):
    """Those with 0 rest, and the others still gain."""
    rng = np.random.default_rng(seed)
    flat = pose_problem(random_body(rng, 6, ["revolute", "prismatic"], mimics=0.6), rng)
    x = flat.sample(rng)
    weights = rng.choice([0.0, 1.0], x.size)
    moved = flat.ccd(x, direction, weights=weights)
    assert_array_equal(moved[weights == 0.0], x[weights == 0.0])
    assert flat.loss(moved) <= flat.loss(x) * (1.0 + 1e-12) + 1e-12


@given(seed=seeds, joints=st.integers(1, 8), direction=directions)
def test_a_sweep_never_loses_and_keeps_the_limits(seed, joints, direction):
    """With mimic joints and screws too."""
    rng = np.random.default_rng(seed)
    flat = pose_problem(random_body(rng, joints, ["revolute", "prismatic", "screw", "spherical"], mimics=0.5), rng)
    x = flat.sample(rng)
    last = flat.loss(x)
    for _ in range(4):
        x = flat.ccd(x, direction)
        assert flat.within_limits(x)
        loss = flat.loss(x)
        assert loss <= last * (1.0 + 1e-12) + 1e-12
        last = loss


@given(seed=seeds, direction=directions)
def test_the_frames_move_as_forward_kinematics_says(seed, direction):
    rng = np.random.default_rng(seed)
    _, flat, _ = problem(rng, 6, ["revolute", "prismatic", "screw"], mimics=0.5)
    x = flat.ccd(flat.sample(rng), direction)
    moved = [matrix(row) for row in flat.work.world]
    flat.place(x)
    assert_allclose(moved, [matrix(row) for row in flat.work.world], atol=1e-9)


def test_a_variable_whose_axes_move_nothing_rests():
    """A free one, through whose axes all points go but for rounding, was turned by 5e15 rad."""
    rng = np.random.default_rng(77714)
    _, flat, _ = problem(rng, 6, ["revolute", "prismatic", "screw"], mimics=0.5)
    x = flat.sample(rng)
    assert flat.ccd(x, "root_to_tip")[2] == x[2]


@given(seed=seeds)
def test_the_nodes_of_a_variable_move_the_frames_as_forward_kinematics_says(seed):
    rng = np.random.default_rng(seed)
    _, flat, _ = problem(rng, 7, ["revolute", "prismatic", "screw"], mimics=0.6)
    x, change = flat.sample(rng), rng.normal()
    for k, last in enumerate(flat.sweeps.deepest):
        flat.place(x)
        move_driven(flat.problem, last, change, flat.sweeps, flat.work)
        changed = x.copy()
        changed[k] += change
        flat.place(changed)
        assert_allclose([matrix(r) for r in flat.sweeps.moved], [matrix(r) for r in flat.work.world], atol=1e-9)


@given(seed=seeds, longest=st.floats(0.01, 1.0), direction=directions)
def test_no_joint_moves_further_than_allowed(seed, longest, direction):
    rng = np.random.default_rng(seed)
    _, flat, _ = problem(rng, 5, ["revolute", "prismatic"], mimics=0.3)
    x = flat.sample(rng)
    assert np.abs(flat.ccd(x, direction, longest) - x).max() <= longest * (1.0 + 1e-12)


def test_a_joint_that_changes_nothing_stays(rng):
    """The last joint of a wrist turns about the line on which its tip lies."""
    flat = Sweeping(Problem(random_body(rng, 1, ["continuous"], mimics=0.0), Position("link1", (0.3, 0.2, 0.1))))
    assert_array_equal(flat.ccd(np.array([0.7])), [0.7])


def test_motions_without_effect_stay():
    """A mimic joint of multiplier 0, and a pair of coupled joints that turn about the line on which the tip lies."""
    body = (
        BodyBuilder("odd")
        .add("base", "elsewhere", "continuous", "branch")
        .add("base", "first", "continuous", "one")
        .add("one", "still", "continuous", "two", mimic=Mimic("elsewhere", 0.0))
        .add("two", "second", "continuous", "three", mimic=Mimic("first", 2.0))
        .add("three", "lift", "prismatic", "tip")
        .build()
    )
    flat = Sweeping(Problem(body, Position("tip", (0.3, 0.0, 0.7))))
    names = np.array(body.joint_names)[flat.compiled.active]
    for direction in ("tip_to_root", "root_to_tip"):
        x = flat.ccd(np.full(names.size, 0.2), direction)
        assert_allclose(x, np.where(names == "lift", 0.7, 0.2), atol=1e-12)
    assert_allclose(flat.fabrik(np.full(names.size, 0.2)), np.where(names == "lift", 0.7, 0.2), atol=1e-12)


def test_a_limit_that_shuts_out_the_best_is_the_answer():
    flat = Sweeping(Problem(planar_chain(1, limits=(-1.0, 0.5)), Position("tip", (0.0, 1.0, 0.0))))
    assert_allclose(flat.ccd(np.array([0.2])), [0.5])
    flat = Sweeping(Problem(planar_chain(1, limits=(-1.0, 0.5)), Position("tip", (-1.0, -0.1, 0.0))))
    assert_allclose(flat.ccd(np.array([0.2])), [-1.0])
    flat = Sweeping(Problem(planar_chain(1, limits=(-5.0, 0.5)), Position("tip", (0.0, 1.0, 0.0))))
    assert_allclose(flat.ccd(np.array([0.2])), [-1.5 * math.pi])  # the long way round is within the limits
