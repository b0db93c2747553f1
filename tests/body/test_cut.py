"""Bodies from bodies: the part moves as it did in the whole."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import memetik as mk
from memetik import Body
from memetik.body import Chain
from memetik.build import Joint, Link, Mimic
from memetik.errors import BodyError, UnknownNameError
from tests.naive.bodies import anthropomorphic_arm, random_body
from tests.naive.kinematics import forward, motion, values_of

pytestmark = pytest.mark.quick

seeds = st.integers(0, 2**32 - 1)
EXACT = {"rtol": 0.0, "atol": 1e-12}


def same_posture(part, body, q):
    """The joint vector of the part at which all its joints stand as they do in the whole at q."""
    values = {}
    for name in part.joint_names:
        joint = body.joints.get(name)
        promoted = joint is not None and joint.mimic is not None
        values[name] = values_of(body, joint, q)[0] if promoted else q[body.index(name)]
    return part.vector(values)


def assert_same_motion(part, body, q):
    """base_from_link in the part is base_from_root root_from_link in the whole."""
    whole = forward(body, q)
    base_from_root = np.linalg.inv(whole[part.root])
    poses = part.forward(same_posture(part, body, q))
    for link in part.links:
        assert_allclose(poses[link], base_from_root @ whole[link], **EXACT)


# ---- chain and subtree ------------------------------------------------------------------------------------


@given(seed=seeds, joints=st.integers(2, 14))
def test_chain(seed, joints):
    rng = np.random.default_rng(seed)
    body = random_body(rng, joints, mimics=0.6)
    holder = {joint.child: joint.parent for joint in body.joints.values()}
    tips = [str(link) for link in rng.choice(list(body.links), 2)]
    paths = []
    for tip in tips:
        paths.append([tip])
        while paths[-1][-1] in holder:
            paths[-1].append(holder[paths[-1][-1]])
    base = str(rng.choice([link for link in paths[0] if link in paths[1]]))
    part = body.chain(base, tips)
    between = {link for path in paths for link in path[: path.index(base) + 1]}
    assert part.root == base and set(part.links) == between
    assert_same_motion(part, body, body.sample(rng))


@given(seed=seeds, joints=st.integers(1, 14))
def test_subtree(seed, joints):
    rng = np.random.default_rng(seed)
    body = random_body(rng, joints, mimics=0.6)
    link = str(rng.choice(list(body.links)))
    part = body.subtree(link)
    for joint in body.joints.values():
        assert (joint.child in part.links) == (joint.parent in part.links or joint.child == link)
    assert_same_motion(part, body, body.sample(rng))
    assert np.all((part.lower <= part.home) & (part.home <= part.upper))


def test_one_tip_or_several():
    body, tips = anthropomorphic_arm()
    assert body.chain("link0", tips[0]).dof == 11
    assert body.chain("link0", tips).dof == 27
    assert body.chain("link7", tips[:2]).dof == 8
    assert body.chain("link3", "link3").dof == 0
    assert body.subtree("link0").joint_names == body.joint_names
    assert body.subtree(tips[0]).dof == 0


def test_named_chains():
    """A named chain frees the joints it lists; the others on the way are welded at home."""
    links = [Link(name) for name in "abcd"]
    joints = [Joint(f"{parent}{child}", "revolute", parent, child, (1, 0, 0)) for parent, child in ("ab", "bc", "cd")]
    chains = {
        "all": Chain("a", ("d",)),
        "some": Chain("a", ("d",), ("ab", "cd")),
        "wrong": Chain("b", ("d",), ("ab",)),
    }
    body = Body("arm", links, joints, chains=chains, home={"bc": 0.5})
    assert body.chain("all").joint_names == ("ab", "bc", "cd")
    some = body.chain("some")
    assert some.joint_names == ("ab", "cd") and some.joints["bc"].kind == "fixed"
    assert_allclose(some.forward([0.1, 0.2])["d"], body.forward([0.1, 0.5, 0.2])["d"], **EXACT)
    with pytest.raises(UnknownNameError, match="no free joint named 'ab' in the chain from 'b'"):
        body.chain("wrong")
    with pytest.raises(UnknownNameError, match=r"no chain named 'som' in body 'arm'. Did you mean 'some'"):
        body.chain("som")


def test_names_travel_with_the_part():
    links = [Link(name) for name in "abc"]
    joints = [Joint("ab", "revolute", "a", "b"), Joint("bc", "revolute", "b", "c", lower=0.2, upper=1.0)]
    chains = {"near": Chain("a", ("b",)), "far": Chain("b", ("c",))}
    body = Body("arm", links, joints, home={"bc": 0.7}, chains=chains, touching=[("a", "b"), ("b", "c")])
    part = body.subtree("b")
    assert list(part.chains) == ["far"] and part.touching == {frozenset("bc")}
    assert_array_equal(part.home, [0.7])
    assert (part.lower[0], part.upper[0]) == (0.2, 1.0)


@pytest.mark.parametrize(
    ("base", "tips", "error", "message"),
    [
        (
            "finger0_0",
            "finger1_3",
            BodyError,
            "link 'finger1_3' does not hang below 'finger0_0'.*'link0' always works",
        ),
        ("link3", "link1", BodyError, "link 'link1' does not hang below 'link3'"),
        ("link0", [], BodyError, "the chain from 'link0' has no tip. Name at least one"),
        ("lnk0", "link1", UnknownNameError, "no link named 'lnk0'.*Did you mean 'link0'"),
        ("link0", "thumb", UnknownNameError, "no link named 'thumb'"),
    ],
)
def test_no_such_chain(base, tips, error, message):
    body, _ = anthropomorphic_arm()
    with pytest.raises(error, match=message):
        body.chain(base, tips)


def test_no_such_subtree():
    with pytest.raises(UnknownNameError, match="no link named 'hand'"):
        anthropomorphic_arm()[0].subtree("hand")


# ---- Mimic joints that lose their source ------------------------------------------------------------------


def geared(**home):
    """A crank in the base turns two fingers and, through the second, a third; a fourth only seems to follow.

    base --crank--> wheel,  base --lift--> palm --one--> a, --two--> b, --three--> c, --still--> d
    """
    return Body(
        "gearing",
        [Link(name) for name in ("base", "wheel", "palm", "a", "b", "c", "d")],
        [
            Joint("crank", "revolute", "base", "wheel", lower=-1.0, upper=1.0),
            Joint("lift", "prismatic", "base", "palm", lower=0.0, upper=1.0),
            Joint(
                "one",
                "revolute",
                "palm",
                "a",
                axis=(1, 0, 0),
                lower=-9,
                upper=9,
                mimic=Mimic("crank", 2.0, 0.25),
            ),
            Joint("two", "revolute", "palm", "b", (1, 0, 0), lower=-3, upper=3, mimic=Mimic("crank", -0.5, 1.0)),
            Joint("three", "screw", "palm", "c", screw_pitch=0.1, mimic=Mimic("two", 3.0, -1.0)),
            Joint("still", "revolute", "palm", "d", mimic=Mimic("crank", 0.0, 0.75)),
        ],
        home=home,
    )


def test_the_first_follower_leads_the_others():
    body = geared(crank=0.5, lift=0.25)
    part = body.subtree("palm")
    assert part.joint_names == ("one",)
    assert part.joints["still"].kind == "fixed"
    assert_allclose(part.home, [2.0 * 0.5 + 0.25])
    for crank in (-1.0, 0.0, 0.3):
        assert_same_motion(part, body, [crank, 0.5])
    # Its own limits, tightened by those that now follow it: two = -0.25 one + 1.0625 lies in [-3, 3].
    assert_allclose((part.lower[0], part.upper[0]), (-7.75, 9.0))


def test_a_chain_of_followers_keeps_its_relation():
    body = geared()
    part = body.chain("palm", ["b", "c"])
    assert part.joint_names == ("two",)
    assert part.variables.drives["three"] == ((0, 3.0, -1.0),)
    assert_same_motion(part, body, [0.4, 0.0])


def test_a_follower_alone_becomes_free():
    part = geared(crank=0.5).chain("palm", "c")
    assert part.joint_names == ("three",) and part.joints["three"].mimic is None
    assert_allclose(part.home, [3.0 * (-0.5 * 0.5 + 1.0) - 1.0])


def test_a_source_that_stays_keeps_its_followers():
    body = geared()
    part = body.chain("base", ["wheel", "c"])
    assert part.joint_names == ("crank", "lift")
    assert_same_motion(part, body, [0.4, 0.2])


@pytest.mark.parametrize("seed", range(200))
def test_a_promoted_home_on_a_limit_stays_within(seed):
    """ratio * ((limit - offset) / ratio) + offset may miss the limit by rounding; that is no mistake."""
    rng = np.random.default_rng(seed)
    ratio, offset, lower = rng.uniform(0.1, 3.0), rng.normal(), rng.uniform(0.5, 2.0) + 3.0
    body = Body(
        "pair",
        [Link("a"), Link("b"), Link("c")],
        [
            Joint("source", "revolute", "a", "b"),
            Joint(
                "follower",
                "revolute",
                "a",
                "c",
                lower=lower,
                upper=lower + 1.0,
                mimic=Mimic("source", ratio, offset),
            ),
        ],
    )
    part = body.chain("a", "c")
    assert part.lower[0] <= part.home[0] <= part.upper[0]
    assert part.home[0] == pytest.approx(lower)


# ---- fix --------------------------------------------------------------------------------------------------


@given(seed=seeds, joints=st.integers(1, 12))
def test_fixing_joints_is_locking_their_values(seed, joints):
    rng = np.random.default_rng(seed)
    body = random_body(rng, joints, mimics=0.5)
    q = body.sample(rng)
    chosen = {name for name in body.joints if rng.random() < 0.4}
    values = {
        variable: float(q[body.index(variable)])
        for name in chosen
        for variable in (body.joints[name].variables if body.joints[name].mimic is None else ())
    }
    welded = body.fix(values)
    assert welded.joint_names == tuple(name for name in body.joint_names if name not in values)
    rest = [q[body.index(name)] for name in welded.joint_names]
    expected = forward(body, q)
    poses = welded.forward(rest)
    assert list(poses) == list(body.links)
    for link in body.links:
        assert_allclose(poses[link], expected[link], **EXACT)
        kept = [body.index(name) for name in welded.joint_names]
        assert_allclose(welded.jacobian(link, rest), body.jacobian(link, q)[:, kept], **EXACT)


def test_fixing_a_source_fixes_its_followers():
    welded = geared().fix({"crank": 0.4})
    assert welded.joint_names == ("lift",)
    assert {joint.kind for name, joint in welded.joints.items() if name != "lift"} == {"fixed"}


def test_fixing_keeps_home_and_chains():
    body, tips = anthropomorphic_arm(2, 1, 1)
    chains = {"arm": Chain("link0", tuple(tips), ("joint0", "joint1"))}
    named = Body("arm", body.links.values(), body.joints.values(), home={"joint1": 0.3}, chains=chains)
    welded = named.fix({"joint0": 0.1})
    assert welded.chains["arm"].joints == ("joint1",)
    assert_array_equal(welded.home, [0.3, 0.0])


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({"lift": 2.0}, BodyError, "joint 'lift' cannot be fixed at 2: its limits are 0 to 1"),
        ({"lift": math.nan}, BodyError, "joint 'lift' cannot be fixed at nan"),
        ({"lft": 0.0}, UnknownNameError, "no free joint named 'lft'.*Did you mean 'lift'"),
        ({"one": 0.0}, UnknownNameError, "no free joint named 'one'"),
    ],
)
def test_cannot_be_fixed(values, error, message):
    with pytest.raises(error, match=message):
        geared().fix(values)


def test_a_joint_of_several_variables_is_fixed_as_a_whole():
    body = Body("ball", [Link("a"), Link("b")], [Joint("ball", "spherical", "a", "b")])
    with pytest.raises(BodyError, match=r"joint 'ball' can only be fixed as a whole: give ball.rz, ball.ry too"):
        body.fix({"ball.rx": 0.0})
    assert body.fix({"ball.rx": 0.1, "ball.ry": 0.2, "ball.rz": 0.3}).dof == 0


# ---- with_base --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["xyz", "planar", "floating"])
def test_with_base(kind, rng):
    body = random_body(rng, 6)
    free = body.with_base(kind)
    base = free.joints["base"]
    assert free.root == "world" and base.kind == kind
    assert free.joint_names == (*base.variables, *body.joint_names)
    assert_array_equal(free.home, [*np.zeros(base.dof), *body.home])
    q, values = body.sample(rng), rng.normal(size=base.dof)
    poses, expected = free.forward([*values, *q]), body.forward(q)
    for link in body.links:
        assert_allclose(poses[link], motion(base, values) @ expected[link], **EXACT)


def test_base_limits():
    body, _ = anthropomorphic_arm(1, 1, 1)
    free = body.with_base("planar", lower=(-1, -2, -3), upper=4)
    assert_array_equal(free.lower[:3], [-1, -2, -3])
    assert_array_equal(free.upper[:3], [4, 4, 4])
    assert np.isinf(body.with_base("floating").lower[:6]).all()


def test_names_that_are_taken():
    body = Body("arm", [Link("world"), Link("hand")], [Joint("base", "revolute", "world", "hand")])
    free = body.with_base("xyz")
    assert free.root == "world_" and free.joint_names == ("base_.x", "base_.y", "base_.z", "base")
    assert body.with_base("fixed") is body


def test_chains_survive_a_base(rng):
    body, tips = anthropomorphic_arm(2, 1, 1)
    named = Body("arm", body.links.values(), body.joints.values(), chains={"arm": Chain("link0", tuple(tips))})
    assert named.with_base("floating").chain("arm").joint_names == body.joint_names


def test_unknown_base():
    with pytest.raises(BodyError, match=r"unknown base 'free'. The bases are: fixed, xyz, planar, floating"):
        anthropomorphic_arm()[0].with_base("free")


def test_cutting_leaves_the_body_as_it_was(rng):
    body = random_body(rng, 8)
    before = str(body), body.home.tolist(), body.forward(body.home).array
    body.subtree("link3")
    body.with_base("floating")
    body.fix(dict(zip(body.joint_names, body.home.tolist(), strict=True)))
    assert (str(body), body.home.tolist()) == before[:2]
    assert_array_equal(body.forward(body.home).array, before[2])


# ---- tips -------------------------------------------------------------------------------------------------


def test_tips_are_where_limbs_end():
    assert mk.build.planar_chain(3).tips() == ("tip",)
    assert mk.load("panda").tips() == ("panda_leftfinger", "panda_rightfinger")
    assert mk.load("panda").chain("panda_link0", "panda_link8").tips() == ("panda_link8",)
    assert mk.load("ur5").tips("arm") == ("tool0",)
    with pytest.raises(UnknownNameError, match="no chain named 'leg'"):
        mk.load("panda").tips("leg")


def test_what_rides_on_a_trunk_is_no_tip():
    links = [Link(name) for name in ("base", "trunk", "camera", "plate", "hand", "palm", "imu")]
    joints = [
        Joint("lift", "prismatic", "base", "trunk"),
        Joint("camera_at", "fixed", "trunk", "camera"),
        Joint("plate_at", "fixed", "base", "plate"),
        Joint("wrist", "revolute", "trunk", "hand"),
        Joint("palm_at", "fixed", "hand", "palm"),
        Joint("imu_at", "fixed", "hand", "imu"),
    ]
    assert Body("trunk", links, joints).tips() == ("palm", "imu")
    assert Body("stone", [Link("stone")], []).tips() == ()
