"""OFKT for people: equal to forward kinematics, and as thrifty as Table 1 of the OFKT paper says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from memetik import Body
from memetik.body import OFKT
from memetik.build import Joint, Link, Mimic
from memetik.errors import BodyError, GeometryError, UnknownNameError
from tests.naive.bodies import anthropomorphic_arm, random_body, random_origin, serial_arm
from tests.naive.kinematics import forward, standard_forward

pytestmark = pytest.mark.quick

seeds = st.integers(0, 2**32 - 1)
EXACT = {"rtol": 0.0, "atol": 1e-12}
LENGTHS = (1, 2, 3, 6, 7, 10, 30)


@given(seed=seeds, joints=st.integers(1, 12))
def test_update_is_forward(seed, joints):
    rng = np.random.default_rng(seed)
    body = random_body(rng, joints)
    world = random_origin(rng)
    tree, q = OFKT(body, world_from_root=world), body.sample(rng)
    for _ in range(4):
        changed = rng.random(body.dof) < 0.4
        q = np.where(changed, body.sample(rng), q)
        expected = forward(body, q)
        assert_allclose(tree.update(q), [world @ expected[link] for link in body.links], **EXACT)


@given(seed=seeds)
def test_tips_prune_the_tree(seed):
    rng = np.random.default_rng(seed)
    body = random_body(rng, 12)
    offset = random_origin(rng)
    tips = ["link5", body.frame("link9", offset), "link0"]
    tree, q = OFKT(body, tips, count_transforms=True), body.sample(rng)
    poses = forward(body, q)
    assert_allclose(tree.update(q), [poses["link5"], poses["link9"] @ offset, poses["link0"]], **EXACT)
    motions = OFKT(body, count_transforms=True)
    motions.update(q)
    assert tree.counts[0] == tree.counts[1] <= motions.counts[0] == motions.counts[1]


@given(seed=seeds, joints=st.integers(1, 10))
def test_predict_is_update_and_changes_nothing(seed, joints):
    rng = np.random.default_rng(seed)
    body = random_body(rng, joints, mimics=0.0)
    world = random_origin(rng)
    tree, other = OFKT(body, world_from_root=world), OFKT(body, world_from_root=world)
    q = body.sample(rng)
    before = tree.update(q)
    cache = tree._cache.copy()
    for name in body.joint_names:
        value = rng.normal()
        assert_allclose(tree.predict(name, value), other.update(body.vector({name: value}, default=q)), **EXACT)
    assert_array_equal(tree._cache, cache)
    assert_array_equal(tree.update(q), before)


def test_predict_of_a_joint_that_moves_no_tip(rng):
    body, tips = anthropomorphic_arm(arm=2, fingers=2, each=2)
    tree = OFKT(body, [tips[0]], count_transforms=True)
    before = tree.update(body.home)
    tree.counts[:] = 0
    assert_array_equal(tree.predict("finger1_0", 1.0), before)
    assert_array_equal(tree.counts, [0, 0, 1])


# ---- Table 1 ----------------------------------------------------------------------------------------------


def tree_of(joints):
    """A serial arm with its last link as the tip, one update done and forgotten by the counter."""
    body = serial_arm(joints)
    tree = OFKT(body, [f"link{joints}"], count_transforms=True)
    tree.update(body.home)
    tree.counts[:] = 0
    return body, tree


@pytest.mark.parametrize("n", LENGTHS)
def test_scenario_1_random_modifications(n, rng):
    """Standard 2n + 1, OFKT n - i + j + 1: i counts from zero the first of the j joints that changed."""
    body, tree = tree_of(n)
    q = body.home.copy()
    for _ in range(20):
        changed = np.sort(rng.permutation(n)[: rng.integers(1, n + 1)])
        q[changed] += rng.uniform(0.1, 1.0, changed.size)
        pose = tree.update(q)
        i, j = changed[0], changed.size
        assert tree.counts.sum() == n - i + j + 1
        assert_array_equal(tree.counts, [j, n - i, 1])
        expected, count = standard_forward(body, [f"link{n}"], q)
        assert count == 2 * n + 1
        assert_allclose(pose, expected, **EXACT)
        tree.counts[:] = 0


@pytest.mark.parametrize("n", LENGTHS)
def test_scenario_2_end_effector_computation(n):
    """Standard 2n + 1, OFKT 5, however deep the joint is."""
    body, tree = tree_of(n)
    for k in range(n):
        pose = tree.predict(f"joint{k}", 0.5)
        assert tree.counts.sum() == 5
        assert_array_equal(tree.counts, [1, 3, 1])
        expected, count = standard_forward(body, [f"link{n}"], body.vector({f"joint{k}": 0.5}))
        assert count == 2 * n + 1
        assert_allclose(pose, expected, **EXACT)
        tree.counts[:] = 0


@pytest.mark.parametrize("n", LENGTHS)
def test_scenario_3_single_iterative_modifications(n):
    """Standard 2n^2 + n, OFKT n^2/2 + 5n/2: one joint after the other, all segments kept up to date."""
    body, tree = tree_of(n)
    q, standard = body.home.copy(), 0
    for k in range(n):
        q[k] = 0.5
        pose = tree.update(q)
        expected, count = standard_forward(body, [f"link{n}"], q)
        standard += count
        assert_allclose(pose, expected, **EXACT)
    assert 2 * tree.counts.sum() == n**2 + 5 * n
    assert standard == 2 * n**2 + n


@pytest.mark.parametrize(("s", "k", "each"), [(7, 5, 4), (1, 2, 1), (3, 4, 2), (0, 3, 3)])
def test_scenario_4_multiple_end_effectors(s, k, each):
    """Standard k (2n + 1), OFKT k (2n + 1) - 2 (k - 1) s: k chains of n joints that share the first s."""
    body, tips = anthropomorphic_arm(s, k, each)
    n = s + each
    tree, q = OFKT(body, tips, count_transforms=True), body.sample(np.random.default_rng(s))
    poses = tree.update(q)
    assert tree.counts.sum() == k * (2 * n + 1) - 2 * (k - 1) * s
    expected, count = standard_forward(body, tips, q)
    assert count == k * (2 * n + 1)
    assert_allclose(poses, expected, **EXACT)


def test_scenario_4_in_the_numbers_of_the_paper():
    body, tips = anthropomorphic_arm()
    tree = OFKT(body, tips, count_transforms=True)
    tree.update(body.home)
    assert body.dof == 27 and len(tips) == 5
    assert tree.counts.sum() == 59
    assert standard_forward(body, tips, body.home)[1] == 115


# ---- What can go wrong ------------------------------------------------------------------------------------


def test_predict_needs_an_update_first():
    tree = OFKT(serial_arm(2))
    with pytest.raises(BodyError, match=r"the tree is empty: call update\(q\)"):
        tree.predict("joint0", 0.1)


def test_predict_refuses_a_joint_with_followers():
    links = [Link("a"), Link("b"), Link("c")]
    joints = [Joint("one", "revolute", "a", "b"), Joint("two", "revolute", "b", "c", mimic=Mimic("one"))]
    body = Body("pair", links, joints)
    tree = OFKT(body)
    tree.update([0.0])
    with pytest.raises(BodyError, match="joint 'one' drives 2 motions"):
        tree.predict("one", 0.1)
    # Where only one of them moves the tip, it can be predicted, ratio and all.
    upper = OFKT(body, ["b"])
    upper.update([0.0])
    assert_allclose(upper.predict("one", 0.1), upper.update([0.1]), **EXACT)


def test_predict_uses_the_ratio_of_a_follower():
    links = [Link("a"), Link("b"), Link("c")]
    joints = [
        Joint("one", "revolute", "a", "b"),
        Joint("two", "prismatic", "a", "c", mimic=Mimic("one", -2.0, 0.3)),
    ]
    tree = OFKT(Body("pair", links, joints), ["c"])
    tree.update([0.0])
    assert_allclose(tree.predict("one", 0.5)[0, :3, 3], [0.0, 0.0, -0.7], **EXACT)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_predict_refuses_what_is_not_finite(value):
    tree = OFKT(serial_arm(2))
    tree.update([0.0, 0.0])
    with pytest.raises(BodyError, match="the value of joint 'joint1' must be finite"):
        tree.predict("joint1", value)


def test_unknown_names_and_bad_input():
    body = serial_arm(2)
    with pytest.raises(UnknownNameError, match="no link named 'link7'"):
        OFKT(body, ["link7"])
    tree = OFKT(body)
    with pytest.raises(UnknownNameError, match="no free joint named 'joint7'"):
        tree.predict("joint7", 0.0)
    with pytest.raises(BodyError, match="has 2 free joints"):
        tree.update([0.0])
    with pytest.raises(GeometryError):
        OFKT(body, world_from_root=np.zeros((4, 4)))
    assert tree.counts is None
