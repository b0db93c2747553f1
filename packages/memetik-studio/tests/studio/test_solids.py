"""What is sent to the page: every body as copies of three solids, in the right place."""

import numpy as np
import pytest

import memetik as mk
from memetik import bodies
from memetik.read import parse_urdf
from memetik_studio.lines import Lines
from memetik_studio.solids import UNITS, copies, extent, quaternions


def test_quaternions_agree_with_the_library(rng):
    matrices = [mk.geometry.random_rotation(rng) for _ in range(200)]
    matrices += [mk.euler(*angles, degrees=True) for angles in ((180, 0, 0), (0, 180, 0), (0, 0, 180), (0, 0, 0))]
    for found, matrix in zip(quaternions(np.array(matrices)), matrices, strict=True):
        np.testing.assert_allclose(mk.geometry.rotation_matrix(found), matrix, atol=1e-12)


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
    builder = mk.build.BodyBuilder("one").add("base", "turn", "revolute", "arm", axis=(1, 0, 0), shapes=[shape])
    body = builder.build()
    poses = body.forward([np.pi / 2]).array
    found = copies(body)
    np.testing.assert_allclose(found["tube"].place(poses)[0], [(0.0, -0.3, 0.0)], atol=1e-12)
    ends = found["ball"].place(poses)[0]
    np.testing.assert_allclose(ends, [(0.0, 0.0, 0.0), (0.0, -0.6, 0.0)], atol=1e-12)
    np.testing.assert_allclose(found["tube"].scales, [(0.1, 0.1, 0.6)])


def test_a_hull_is_a_mesh_of_its_own():
    """Its triangles are those of the hull, each with corners of its own; one that has none is not drawn."""
    points = [(x, y, z) for x in (0.0, 0.1) for y in (0.0, 0.2) for z in (0.0, 0.3)]
    shapes = [
        mk.collision.hull(points, mk.translation(1, 0, 0)),
        mk.collision.hull(points[:2]),
        mk.Shape("sphere", (0.1,)),
    ]
    found = copies(mk.Body("stone", [mk.build.Link("base", shapes=shapes)], []))
    assert sorted(found) == ["ball", "mesh 3"]
    mesh = found["mesh 3"].mesh
    assert mesh.faces.shape == (12, 3) and len(np.unique(mesh.faces)) == 36
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    np.testing.assert_allclose(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0, 0.1 * 0.2 * 0.3)
    np.testing.assert_allclose(found["mesh 3"].positions, [(1, 0, 0)])


def test_a_body_without_shapes_has_bones():
    builder = mk.build.BodyBuilder("bare").add("base", "a", "revolute", "one", origin=(0, 0, 0.5))
    body = builder.add("one", "b", "revolute", "two", origin=(0.3, 0, 0)).build()
    bones = copies(body)["tube"]
    np.testing.assert_allclose(sorted(bones.scales[:, 2]), [0.3, 0.5])


MODEL = """<robot name="r"><link name="base"/><link name="arm">
<visual><origin xyz="0 0 1"/><geometry><mesh filename="{mesh}" scale="{scale}"/></geometry></visual>
<collision><geometry><sphere radius="0.1"/></geometry></collision></link>
<joint name="turn" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint></robot>"""
TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def drawn(folder, mesh="part.obj", scale="1 2 3", content=TETRAHEDRON):
    (folder / "part.obj").write_text(content)
    return copies(parse_urdf(MODEL.format(mesh=mesh, scale=scale), roots=[folder]), [str(folder)])


def test_a_mesh_in_the_roots_is_drawn(tmp_path):
    (name, found), *others = drawn(tmp_path).items()
    assert name.startswith("mesh") and not others
    np.testing.assert_allclose(np.ptp(found.mesh.vertices, axis=0), (1.0, 2.0, 3.0))
    np.testing.assert_allclose(found.positions, [(0.0, 0.0, 1.0)])


def test_a_mirrored_mesh_still_faces_outwards(tmp_path):
    mesh = next(iter(drawn(tmp_path, scale="1 1 -1").values())).mesh
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    assert np.einsum("ij,ij->i", a, np.cross(b, c)).sum() > 0.0


def test_other_meshes_are_left_to_the_collision_shapes(tmp_path):
    outside = tmp_path / "outside.obj"
    outside.write_text(TETRAHEDRON)
    inside = tmp_path / "inside"
    inside.mkdir()
    for mesh, content in (
        (str(outside), TETRAHEDRON), ("../outside.obj", TETRAHEDRON), ("none.obj", TETRAHEDRON), ("part.obj", "v 1 nan\nf"),
        ("part.obj", ""),
    ):  # fmt: skip
        assert list(drawn(inside, mesh, content=content)) == ["ball"], mesh


def test_a_mesh_names_no_other_file(tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr("builtins.open", lambda name, *rest, **more: opened.append(name))
    assert drawn(tmp_path, content=f"mtllib ../secret.mtl\nusemtl a\n{TETRAHEDRON}") and opened == []


@pytest.mark.parametrize("unit", UNITS)
def test_unit_solids_face_outwards(unit):
    mesh = UNITS[unit]
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    normal, middle = np.cross(b - a, c - a), (a + b + c) / 3.0
    solid = np.linalg.norm(normal, axis=1) > 1e-9  # triangles at the poles of the ball are flat
    assert (np.einsum("ij,ij->i", normal, middle)[solid] > 0.0).all()


def test_axes_and_arcs_stand_where_the_joint_is():
    body = mk.build.planar_chain([1.0, 1.0])
    poses = body.forward([np.pi / 2, 0.0]).array
    lines = Lines(body, 1.0)
    np.testing.assert_allclose(lines.axes(poses)[:2].mean(axis=1), [(0, 0, 0), (0, 1, 0)], atol=1e-12)
    arc = lines.arcs(poses).reshape(2, -1, 2, 3)[1]
    assert np.abs(arc - (0.0, 1.0, 0.0)).max() <= 0.09 + 1e-9


def test_a_needle_shows_the_angle_on_the_arc():
    body = mk.build.planar_chain([1.0, 1.0])
    lines = Lines(body, 1.0)
    needles = lines.axes(body.forward([0.3, 0.9]).array)[2:]
    angles = np.arctan2(*(needles[:, 1] - needles[:, 0]).T[1::-1])
    np.testing.assert_allclose(np.diff(angles), 0.9, atol=1e-12)
    low = lines.axes(body.forward(body.lower.clip(-3.0)).array)[2:]
    rim = lines.arcs(body.forward(body.lower.clip(-3.0)).array).reshape(2, -1, 2, 3)
    for needle, arc in zip(low, rim, strict=True):
        ends = np.linalg.norm(arc.reshape(-1, 3) - needle[0] - (needle[1] - needle[0]) / 11.0 * 9.0, axis=1)
        assert ends.min() < 0.03
