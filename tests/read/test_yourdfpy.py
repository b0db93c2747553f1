"""Objects of yourdfpy as bodies: the same links in the same places, and values both ways by name."""

import pytest
import yourdfpy
from numpy.testing import assert_allclose

import memetik as mk
from memetik import bodies
from memetik.errors import FormatError


@pytest.mark.parametrize("name", ["panda", "ur5", "g1"])
def test_links_stand_where_yourdfpy_has_them(name, rng):
    urdf = yourdfpy.URDF.load(str(bodies.path(name)))
    body = mk.read.from_yourdfpy(urdf)
    own = mk.load(name)
    assert set(body.links) == set(own.links) and set(body.joint_names) == set(own.joint_names)
    assert_allclose(body.lower, [own.lower[own.index(joint)] for joint in body.joint_names])
    q = body.sample(rng)
    urdf.update_cfg(dict(zip(body.joint_names, q.tolist(), strict=True)))
    poses = body.forward(q)
    for link in body.links:
        assert_allclose(poses[link], urdf.get_transform(link, body.root), atol=1e-9)
    back = body.vector(dict(zip(urdf.actuated_joint_names, urdf.cfg, strict=True)))
    assert_allclose(back, q)


def test_meshes_are_found_as_yourdfpy_finds_them(tmp_path):
    mesh = tmp_path / "parts" / "cube.obj"
    mesh.parent.mkdir()
    mesh.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    path = tmp_path / "cube.urdf"
    path.write_text(
        '<robot name="cube"><link name="cube"><visual><geometry><mesh filename="any://cube.obj" scale="2 2 2"/></geometry>'
        "</visual></link></robot>"
    )
    urdf = yourdfpy.URDF.load(
        str(path), filename_handler=lambda fname: str(tmp_path / "parts" / fname.rpartition("/")[2])
    )
    shape = mk.read.from_yourdfpy(urdf).links["cube"].visuals[0]
    assert shape.mesh == str(mesh) and shape.size == (2.0, 2.0, 2.0)
    lost = yourdfpy.URDF.load(
        str(path), filename_handler=lambda fname: 1 / 0, load_meshes=False, build_scene_graph=False
    )
    assert mk.read.from_yourdfpy(lost).links["cube"].visuals[0].mesh == "any://cube.obj"


def test_it_is_read_as_strictly_as_a_file(tmp_path):
    path = tmp_path / "loose.urdf"
    path.write_text(
        '<robot name="loose"><link name="a"/><link name="b"/><joint name="j" type="revolute"><parent link="a"/><child link="b"/>'
        "</joint></robot>"
    )
    with pytest.raises(FormatError, match="joint 'j' of yourdfpy: a revolute joint needs limits"):
        mk.read.from_yourdfpy(yourdfpy.URDF.load(str(path)))
    with pytest.raises(FormatError, match=r"takes a yourdfpy.URDF, not 'robot.urdf'"):
        mk.read.from_yourdfpy("robot.urdf")
