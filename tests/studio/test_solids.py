"""What is sent to the page: every body as copies of three solids, in the right place."""

import numpy as np
import pytest

import memetik as mk
from memetik import bodies
from memetik.studio.lines import Lines
from memetik.studio.solids import UNITS, copies, extent, quaternions


def test_quaternions_agree_with_the_library(rng):
    matrices = [mk.random_rotation(rng) for _ in range(200)]
    matrices += [mk.euler(*angles, degrees=True) for angles in ((180, 0, 0), (0, 180, 0), (0, 0, 180), (0, 0, 0))]
    for found, matrix in zip(quaternions(np.array(matrices)), matrices, strict=True):
        np.testing.assert_allclose(mk.rotation_matrix(found), matrix, atol=1e-12)


@pytest.mark.parametrize("name", bodies.names())
def test_every_bundled_body_is_drawn(name):
    body = mk.load(name)
    poses = body.forward(body.home)
    found = copies(body)
    shapes = sum(len(link.visuals or link.shapes) for link in body.links.values())
    assert sum(len(each.links) for each in found.values()) >= max(shapes, 1)
    for solids in found.values():
        positions, wxyzs = solids.place(poses.array)
        assert np.isfinite(positions).all() and (solids.scales > 0).all()
        np.testing.assert_allclose(np.linalg.norm(wxyzs, axis=1), 1.0)
    lines = Lines(body, extent(body))
    for segments in (lines.skeleton(poses.array), lines.axes(poses.array), lines.arcs(poses.array)):
        assert segments.shape[1:] == (2, 3) and np.isfinite(segments).all()


def test_a_capsule_is_a_tube_between_two_balls():
    shape = mk.Shape("capsule", (0.1, 0.6), mk.transform((0.0, 0.0, 0.3)))
    builder = mk.BodyBuilder("one").add("base", "turn", "revolute", "arm", axis=(1, 0, 0), shapes=[shape])
    body = builder.build()
    poses = body.forward([np.pi / 2]).array
    found = copies(body)
    np.testing.assert_allclose(found["tube"].place(poses)[0], [(0.0, -0.3, 0.0)], atol=1e-12)
    ends = found["ball"].place(poses)[0]
    np.testing.assert_allclose(ends, [(0.0, 0.0, 0.0), (0.0, -0.6, 0.0)], atol=1e-12)
    np.testing.assert_allclose(found["tube"].scales, [(0.1, 0.1, 0.6)])


def test_a_body_without_shapes_has_bones():
    builder = mk.BodyBuilder("bare").add("base", "a", "revolute", "one", origin=(0, 0, 0.5))
    body = builder.add("one", "b", "revolute", "two", origin=(0.3, 0, 0)).build()
    bones = copies(body)["tube"]
    np.testing.assert_allclose(sorted(bones.scales[:, 2]), [0.3, 0.5])


@pytest.mark.parametrize("unit", UNITS)
def test_unit_solids_face_outwards(unit):
    mesh = UNITS[unit]
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    normal, middle = np.cross(b - a, c - a), (a + b + c) / 3.0
    solid = np.linalg.norm(normal, axis=1) > 1e-9  # triangles at the poles of the ball are flat
    assert (np.einsum("ij,ij->i", normal, middle)[solid] > 0.0).all()


def test_axes_and_arcs_stand_where_the_joint_is():
    body = mk.planar_chain([1.0, 1.0])
    poses = body.forward([np.pi / 2, 0.0]).array
    lines = Lines(body, 1.0)
    np.testing.assert_allclose(lines.axes(poses).mean(axis=1), [(0, 0, 0), (0, 1, 0)], atol=1e-12)
    arc = lines.arcs(poses).reshape(2, -1, 2, 3)[1]
    assert np.abs(arc - (0.0, 1.0, 0.0)).max() <= 0.09 + 1e-9
