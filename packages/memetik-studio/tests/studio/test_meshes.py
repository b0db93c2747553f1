"""Meshes of models: their triangles and colours, and why one is not drawn."""

import numpy as np
import pytest
import trimesh

import memetik as mk
from memetik.read import distrust, forget, parse_urdf
from memetik_studio import meshes
from memetik_studio.meshes import MOST_BYTES, missing_meshes, read_mesh, remedy
from memetik_studio.server import _folders, scene_from
from memetik_studio.solids import copies, corners

URDF = """<robot name="r"><link name="base"/><link name="arm"><visual><geometry><mesh filename="{mesh}"/></geometry></visual>
<collision><geometry><mesh filename="{mesh}"/></geometry></collision></link>
<joint name="turn" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint></robot>"""
OBJ = "mtllib colours.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nusemtl red\nf 1 3 2\nf 1 2 4\nusemtl blue\nf 1 4 3\nf 2 3 4\n"
MTL = "newmtl red\nKd 1 0 0\nnewmtl blue\nKd 0 0 1\n"


def box(size=(0.1, 0.2, 0.3), at=(1.0, 2.0, 3.0)):
    made = trimesh.creation.box(size)
    made.apply_translation(at)
    return made


def test_an_obj_has_the_colours_of_its_materials(tmp_path):
    (tmp_path / "part.obj").write_text(OBJ)
    (tmp_path / "colours.mtl").write_text(MTL)
    parts = read_mesh("part.obj", (1.0, 1.0, 1.0), [str(tmp_path)]).parts
    assert {part.color for part in parts} == {(1.0, 0.0, 0.0), (0.0, 0.0, 1.0)}
    assert sum(len(part.mesh.faces) for part in parts) == 4
    found = copies(parse_urdf(URDF.format(mesh="part.obj"), roots=[tmp_path]), [str(tmp_path)])
    assert sorted(each.colors.tolist() for each in found.values()) == [[[0, 0, 255]], [[255, 0, 0]]]


@pytest.mark.parametrize("suffix", ["glb", "gltf"])
def test_scenes_of_several_materials_are_several_parts(tmp_path, suffix):
    scene = trimesh.Scene()
    for k, color in enumerate([(255, 0, 0, 255), (0, 255, 0, 255)]):
        piece = box(at=(k, 0, 0))
        material = trimesh.visual.material.PBRMaterial(name=f"m{k}", baseColorFactor=color)
        piece.visual = trimesh.visual.TextureVisuals(material=material)
        scene.add_geometry(piece)
    made = scene.export(file_type=suffix)
    for name, content in made.items() if suffix == "gltf" else ((f"part.{suffix}", made),):
        (tmp_path / name.replace("model.", "part.")).write_bytes(content)
    parts = read_mesh(f"part.{suffix}", (1.0, 1.0, 1.0), [str(tmp_path)]).parts
    assert {part.color for part in parts} == {(1.0, 0.0, 0.0), (0.0, 1.0, 0.0)}


@pytest.mark.parametrize(
    ("mesh", "content", "reason"),
    [
        ("package://robot/none.stl", b"", "not found"),
        ("part.step", b"x", ".step is not drawn"),
        ("part.obj", b"v 1 nan\nf", "broken|no triangles"),
        ("part.stl", b"", "broken|no triangles"),
        ("part.ply", b" " * (MOST_BYTES + 1), "larger than 32 MB"),
    ],
)
def test_what_is_not_drawn_is_named_with_the_reason(tmp_path, mesh, content, reason):
    if content or "://" not in mesh:
        (tmp_path / mesh).write_bytes(content)
    body = parse_urdf(URDF.format(mesh=mesh), roots=[tmp_path])
    ((name, why),) = missing_meshes(body, [str(tmp_path)]).items()
    assert name.endswith(mesh.rpartition("/")[2])
    assert any(part in why for part in reason.split("|")), why


def test_the_remedy_names_the_packages():
    assert "--root DIR, the folder that holds a_robot, b_robot," in remedy(
        ["package://b_robot/x", "package://a_robot/y"]
    )
    assert "the folder that the paths begin in" in remedy(["meshes/x.stl"])


def test_a_mesh_of_mujoco_is_where_mujoco_has_it(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    (tmp_path / "meshes").mkdir()
    box().export(tmp_path / "meshes" / "b.stl")
    path = tmp_path / "model.xml"
    path.write_text(
        """<mujoco><compiler meshdir="meshes"/><asset><material name="red" rgba="1 0 0 1"/>
        <mesh name="b" file="b.stl" scale="2 1 -1"/></asset><worldbody><body name="arm" pos="0 0 1"><joint axis="0 0 1"/>
        <geom type="mesh" mesh="b" pos="0.5 0 0" euler="10 20 30" material="red"/></body></worldbody></mujoco>"""
    )
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    data.qpos[:] = 0.7
    mujoco.mj_forward(model, data)
    expected = model.mesh_vert @ data.geom_xmat[0].reshape(3, 3).T + data.geom_xpos[0]
    body = mk.load(path)
    (solid,) = copies(body, [str(tmp_path)]).values()
    vertices = solid.mesh.vertices @ mk.geometry.rotation_matrix(solid.place(body.forward([0.7]).array)[1][0]).T
    vertices = vertices + solid.place(body.forward([0.7]).array)[0][0]
    for points, others in ((vertices, expected), (expected, vertices)):
        gaps = np.linalg.norm(points[:, None] - others[None], axis=2).min(axis=1)
        assert gaps.max() < 1e-6
    assert solid.colors.tolist() == [[255, 0, 0]]


def test_meshes_of_the_package_around_a_model_may_be_read(tmp_path):
    """The model is in robot/urdf and its meshes in robot/meshes, as usual; other folders stay closed."""
    for name in ("robot/urdf", "robot/meshes", "other"):
        (tmp_path / name).mkdir(parents=True)
    box().export(tmp_path / "robot/meshes/part.stl")
    model = tmp_path / "robot/urdf/robot.urdf"
    model.write_text(URDF.format(mesh="package://robot/meshes/part.stl"))
    folders = _folders(str(model), [])
    assert set(folders) == {model.parent.resolve(), (tmp_path / "robot/meshes").resolve()}
    scene, roots = scene_from(str(model))
    assert scene.body.value == str(model.resolve())
    body = mk.load(model)
    assert missing_meshes(body, [str(root) for root in roots]) == {}
    points = corners(body, [str(root) for root in roots], body.forward(body.home).array)
    np.testing.assert_allclose(points.max(axis=0), (1.05, 2.1, 3.15), atol=1e-6)


def test_a_root_of_ones_own_finds_meshes_elsewhere(tmp_path):
    (tmp_path / "here").mkdir()
    (tmp_path / "there/robot").mkdir(parents=True)
    box().export(tmp_path / "there/robot/part.stl")
    model = tmp_path / "here/robot.urdf"
    model.write_text(URDF.format(mesh="package://robot/part.stl"))
    with pytest.warns(mk.MemetikWarning, match=r"part\.stl"):
        _, roots = scene_from(str(model))
    assert missing_meshes(parse_urdf(model.read_text()), [str(root) for root in roots])
    _, roots = scene_from(str(model), [tmp_path / "there"])
    assert not missing_meshes(parse_urdf(model.read_text()), [str(root) for root in roots])


# ---- Uploads -------------------------------------------------------------------------------------------------------


def copies_of_one_mesh(count, faces):
    """A .glb of some kilobytes for each thousand triangles whose scene has so many copies of them."""
    scene = trimesh.Scene(trimesh.creation.icosphere(subdivisions=faces))
    name = next(iter(scene.geometry))
    for k in range(count):
        scene.graph.update(frame_to=f"n{k}", geometry=name)
    return scene.export(file_type="glb")


def test_an_uploaded_mesh_is_read_with_limits(tmp_path, monkeypatch):
    """Sixty thousand copies of twenty thousand triangles would take hundreds of gigabytes."""
    good, colored = tmp_path / "a.stl", tmp_path / "b.obj"
    good.write_bytes(box().export(file_type="stl"))
    colored.write_text(OBJ)
    (tmp_path / "colours.mtl").write_text(MTL)
    (tmp_path / "c.ply").write_bytes(b"nothing")
    scale, roots = (1.0, 2.0, -1.0), [str(tmp_path)]
    trusted = {name: read_mesh(name, scale, roots) for name in ("a.stl", "b.obj")}
    (tmp_path / "d.glb").write_bytes(copies_of_one_mesh(60_000, 5))
    monkeypatch.setattr(meshes, "parse", lambda path: pytest.fail("read in the process of the studio"))
    meshes._read.cache_clear()
    distrust(tmp_path)
    try:
        for name, wanted in trusted.items():
            found = read_mesh(name, scale, roots)
            assert found.trouble == "" and len(found.parts) == len(wanted.parts)
            for part, other in zip(found.parts, wanted.parts, strict=True):
                assert part.color == other.color and np.array_equal(part.mesh.vertices, other.mesh.vertices)
                assert np.array_equal(part.mesh.faces, other.mesh.faces)
        assert "broken" in read_mesh("c.ply", scale, roots).trouble
        trouble = read_mesh("d.glb", scale, roots).trouble
        assert "broken" in trouble or "time or memory" in trouble
    finally:
        forget(tmp_path)
        meshes._read.cache_clear()
