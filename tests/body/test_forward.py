"""What a body computes, against the naive twin: links, frames, Jacobians, centre of mass."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from memetik import Body, Frame
from memetik.build import Joint, Link, Mimic
from memetik.errors import BodyError, UnknownNameError
from memetik.kernels.body.forward import frame_matrices
from tests.naive import kinematics as naive
from tests.naive.bodies import KINDS, random_body, random_origin, serial_arm

seeds = st.integers(0, 2**32 - 1)
EXACT = {"rtol": 0.0, "atol": 1e-12}


@pytest.mark.quick
@given(seed=seeds, joints=st.integers(0, 16))
def test_random_trees(seed, joints):
    rng = np.random.default_rng(seed)
    body = random_body(rng, joints)
    q = body.sample(rng)
    poses, expected = body.forward(q), naive.forward(body, q)
    assert list(poses) == list(body.links) and len(poses) == joints + 1
    for link in body.links:
        assert_allclose(poses[link], expected[link], **EXACT)
    assert_allclose(body.center_of_mass(q), naive.center_of_mass(body, q), **EXACT)


@pytest.mark.quick
@pytest.mark.parametrize("kind", KINDS)
@given(seed=seeds)
def test_every_kind_of_joint(kind, seed):
    rng = np.random.default_rng(seed)
    body = random_body(rng, 3, [kind])
    q = rng.uniform(-7.0, 7.0, body.dof)  # several turns
    poses, expected = body.forward(q), naive.forward(body, q)
    for link in body.links:
        assert_allclose(poses[link], expected[link], **EXACT)


@given(seed=seeds, joints=st.integers(1, 12))
def test_jacobian(seed, joints):
    rng = np.random.default_rng(seed)
    body = random_body(rng, joints)
    q, offset = body.sample(rng), random_origin(rng)
    link = str(rng.choice(list(body.links)))
    J = body.jacobian(body.frame(link, offset), q)
    assert J.shape == (6, body.dof)
    assert_allclose(J, naive.exact_jacobian(body, link, q, offset), **EXACT)
    assert_allclose(J, naive.jacobian(body, link, q, offset), rtol=0.0, atol=1e-7)


@pytest.mark.quick
@pytest.mark.parametrize("kind", KINDS[1:])
def test_jacobian_of_every_kind(kind, rng):
    body = random_body(rng, 4, [kind], mimics=0.0)
    q = body.sample(rng)
    for link in body.links:
        assert_allclose(body.jacobian(link, q), naive.exact_jacobian(body, link, q), **EXACT)


def test_a_variable_with_followers_collects_their_columns():
    """Two equal joints that turn together: the tip sees the sum of both columns."""
    links = [Link(name) for name in ("base", "middle", "tip")]
    first = Joint("first", "revolute", "base", "middle", origin=(1, 0, 0))
    free = Joint("second", "revolute", "middle", "tip", origin=(1, 0, 0))
    tied = Joint("second", "revolute", "middle", "tip", origin=(1, 0, 0), mimic=Mimic("first", -2.0, 0.3))
    apart, together = Body("apart", links, [first, free]), Body("together", links, [first, tied])
    q = 0.7
    J = apart.jacobian("tip", [q, -2.0 * q + 0.3])
    assert_allclose(together.jacobian("tip", [q])[:, 0], J[:, 0] - 2.0 * J[:, 1], **EXACT)
    assert_allclose(together.forward([q])["tip"], apart.forward([q, -2.0 * q + 0.3])["tip"], **EXACT)


def test_a_planar_arm_by_hand():
    """Two links of 1 m at 90 and -90 degrees: the tip is at (1, 1) and points along x."""
    body = Body(
        "planar arm",
        [Link("base"), Link("upper"), Link("lower"), Link("tip", mass=2.0, center_of_mass=(0.0, 0.0, 0.5))],
        [
            Joint("shoulder", "revolute", "base", "upper"),
            Joint("elbow", "revolute", "upper", "lower", origin=(1, 0, 0)),
            Joint("end", "fixed", "lower", "tip", origin=(1, 0, 0)),
        ],
    )
    q = [np.pi / 2, -np.pi / 2]
    assert_allclose(body.forward(q)["tip"], [[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 0], [0, 0, 0, 1]], atol=1e-15)
    assert_allclose(body.jacobian("tip", q), [[-1, 0], [1, 1], [0, 0], [0, 0], [0, 0], [1, 1]], atol=1e-15)
    assert_allclose(body.center_of_mass(q), [1, 1, 0.5], atol=1e-15)
    assert body.mass == 2.0


@pytest.mark.quick
def test_frames_ride_on_their_link(rng):
    body = random_body(rng, 6)
    q, offset = body.sample(rng), random_origin(rng)
    frame = body.frame("link4", offset)
    twice = body.frame(frame, (0.1, 0.0, 0.0))
    flat, frames = body.flatten([frame, twice])
    out = np.empty((2, 4, 4))
    frame_matrices(flat.nodes, frames, q, np.empty((flat.nodes.size, 7)), out)
    there = naive.forward(body, q)["link4"] @ offset
    assert_allclose(out[0], there, **EXACT)
    assert_allclose(out[1], there @ naive.slide(naive.X, 0.1), **EXACT)


def test_a_body_without_mass_has_no_center():
    with pytest.raises(BodyError, match=r"has no mass.*Give its links masses"):
        serial_arm(3).center_of_mass([0, 0, 0])


def test_poses_are_a_mapping(rng):
    body = serial_arm(3)
    poses = body.forward(body.home)
    assert "link3" in poses and "hand" not in poses and len(poses) == 4
    assert poses.array.shape == (4, 4, 4)
    assert_array_equal(poses["link2"], poses.array[2])
    with pytest.raises(UnknownNameError, match=r"no link named 'lnk3'. Did you mean 'link3'"):
        poses["lnk3"]


def test_links_keep_the_order_given():
    links = [Link("tip"), Link("root"), Link("middle")]
    joints = [
        Joint("b", "revolute", "middle", "tip", (0, 0, 1)),
        Joint("a", "revolute", "root", "middle", (0, 0, 2)),
    ]
    body = Body("shuffled", links, joints)
    assert list(body.links) == list(body.forward([0, 0])) == ["tip", "root", "middle"]
    assert body.root == "root" and body.joint_names == ("a", "b")
    assert_allclose(body.forward([0, 0])["tip"][:3, 3], [0, 0, 3])


def test_threads_share_a_body(rng):
    """Two threads ask the same body at once; each gets what it would get alone."""
    body = random_body(rng, 12)
    postures = [body.sample(rng) for _ in range(400)]
    alone = [body.forward(q).array for q in postures]
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(lambda q: body.forward(q).array, postures))
    assert_array_equal(together, alone)


def test_a_frame_is_found_among_the_poses(rng):
    body = random_body(rng, 5)
    q, link = body.sample(rng), list(body.links)[-1]
    frame = body.frame(link, random_origin(rng))
    poses = body.forward(q)
    assert_allclose(poses[frame], poses[link] @ frame.link_from_frame, **EXACT)
    with pytest.raises(UnknownNameError, match="no link named 'hnd'"):
        poses[Frame("hnd")]
    with pytest.raises(UnknownNameError, match=r"no link named \['hand'\]"):
        poses[["hand"]]
