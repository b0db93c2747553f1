"""The forward and Jacobian kernels on flat arrays, node by node."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from memetik.kernels.body.forward import forward, frame_matrices, frame_pose
from memetik.kernels.body.jacobian import add_columns, frame_jacobian
from memetik.kernels.math.pose import constant
from tests.naive import pose as naive
from tests.naive.bodies import random_body

pytestmark = pytest.mark.quick

seeds = st.integers(0, 2**32 - 1)


def naive_matrices(nodes, q):
    """R_i = R_parent L_i with 4x4 matrices."""
    matrices = []
    for node in nodes:
        L = naive.local(node, node["ratio"] * q[node["variable"]] + node["offset"])
        matrices.append(L if node["parent"] < 0 else matrices[node["parent"]] @ L)
    return matrices


@given(seed=seeds, joints=st.integers(1, 12))
def test_forward(seed, joints):
    rng = np.random.default_rng(seed)
    body = random_body(rng, joints)
    flat, frames = body.flatten()
    q = body.sample(rng)
    poses = np.full((flat.nodes.size, 7), np.nan)
    forward(flat.nodes, q, poses)
    expected = naive_matrices(flat.nodes, q)
    for pose, matrix in zip(poses, expected, strict=True):
        assert_allclose(naive.matrix(pose), matrix, rtol=0.0, atol=1e-12)
    out = np.full((frames.size, 4, 4), np.nan)
    frame_matrices(flat.nodes, frames, q, np.empty_like(poses), out)
    for frame, matrix in zip(frames, out, strict=True):
        carrier = np.eye(4) if frame["node"] < 0 else expected[frame["node"]]
        assert_allclose(matrix, carrier @ naive.matrix(constant(frame)), rtol=0.0, atol=1e-12)


def test_a_frame_on_the_root_is_its_own_constant(rng):
    body = random_body(rng, 3)
    flat, frames = body.flatten([body.frame(body.root, (0.1, 0.2, 0.3))])
    assert flat.nodes.size == 0
    assert frame_pose(frames[0], np.empty((0, 7))) == (1.0, 0.0, 0.0, 0.0, 0.1, 0.2, 0.3)


@given(seed=seeds, kind=st.sampled_from(["revolute", "prismatic", "screw"]))
def test_a_column_of_the_jacobian_is_the_slope_of_forward(seed, kind):
    rng = np.random.default_rng(seed)
    body = random_body(rng, 5, [kind])
    flat, frames = body.flatten(["link5"])
    q, step = body.sample(rng), 1e-6
    jacobian = np.full((6, body.dof), np.nan)
    frame_jacobian(flat.nodes, frames, q, np.empty((flat.nodes.size, 7)), jacobian)

    def position(vector):
        out = np.empty((1, 4, 4))
        frame_matrices(flat.nodes, frames, vector, np.empty((flat.nodes.size, 7)), out)
        return out[0, :3, 3]

    for k, change in enumerate(step * np.eye(body.dof)):
        slope = (position(q + change) - position(q - change)) / (2 * step)
        assert_allclose(jacobian[:3, k], slope, rtol=0.0, atol=1e-8)


def test_columns_are_added_to_what_is_there(rng):
    """Objectives that read several points sum their columns in one array."""
    body = random_body(rng, 6)
    flat, frames = body.flatten(["link6"])
    poses = np.empty((flat.nodes.size, 7))
    forward(flat.nodes, body.sample(rng), poses)
    once, twice = np.zeros((6, body.dof)), np.zeros((6, body.dof))
    add_columns(flat.nodes, poses, frames[0]["node"], 0.1, 0.2, 0.3, once)
    add_columns(flat.nodes, poses, frames[0]["node"], 0.1, 0.2, 0.3, twice)
    add_columns(flat.nodes, poses, frames[0]["node"], 0.1, 0.2, 0.3, twice)
    assert once.any()
    assert_allclose(twice, 2.0 * once, rtol=0.0, atol=1e-14)
