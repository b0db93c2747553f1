"""load: names, paths and formats; and every bundled body."""

import warnings

import numpy as np
import pytest

from memetik import bodies
from memetik.errors import BodyError, FormatError, MemetikWarning, UnknownNameError
from memetik.read import load
from memetik.read.load import READERS, Reader
from tests.read.samples import SRDF, URDF


def add_mesh(folder):
    """The mesh that the sample names."""
    (folder / "arm" / "meshes").mkdir(parents=True)
    (folder / "arm" / "meshes" / "hand.stl").touch()
    return folder / "arm" / "meshes"


@pytest.fixture
def arm(tmp_path):
    """arm.urdf with its arm.srdf and its mesh beside it."""
    add_mesh(tmp_path)
    (tmp_path / "arm.urdf").write_text(URDF)
    (tmp_path / "arm.srdf").write_text(SRDF)
    return tmp_path / "arm.urdf"


def test_a_path(arm):
    assert load(arm).joint_names == load(str(arm)).joint_names == ("shoulder", "elbow", "slide", "finger")
    arm.rename(arm.with_suffix(".URDF"))
    assert load(arm.with_suffix(".URDF")).dof == 4


def test_the_srdf_is_read_only_if_it_is_named(arm):
    assert load(arm).chains == {}
    assert set(load(arm, srdf=arm.with_suffix(".srdf")).chains) == {"reach", "grip", "all"}


def test_options_reach_the_readers(arm):
    assert load(arm, soft_limits=True).lower[0] == -1.5
    meshes = add_mesh(arm.parent / "elsewhere")
    assert load(arm, roots=[arm.parent / "elsewhere"]).links["hand"].visuals[0].mesh == str(meshes / "hand.stl")


def test_meshes_that_are_missing_are_listed_once(tmp_path):
    path = tmp_path / "arm.urdf"
    names = [f"package://arm/part{k}.stl" for k in range(9)]
    solids = "".join(
        f'<{w}><geometry><mesh filename="{n}"/></geometry></{w}>' for n in names for w in ("visual", "collision")
    )
    path.write_text(f'<robot name="arm"><link name="base">{solids}</link></robot>')
    with pytest.warns(
        MemetikWarning, match=r"9 meshes were not found: package://arm/part0.stl, .* and 3 more"
    ) as caught:
        body = load(path)
    assert len(caught) == 1 and body.links["base"].visuals[0].mesh == names[0]


def test_a_free_base(arm):
    body = load(arm, base="xyz", base_lower=-1.0, base_upper=(1.0, 2.0, 3.0), srdf=arm.with_suffix(".srdf"))
    assert body.joint_names[:3] == ("base.x", "base.y", "base.z")
    assert body.upper[:3].tolist() == [1.0, 2.0, 3.0]
    assert "reach" in body.chains and body.home[3] == 0.5
    assert load(arm, base="floating").dof == 10
    with pytest.raises(BodyError, match="floating"):
        load(arm, base="flying")


def test_xml_is_told_by_its_root(tmp_path):
    path = tmp_path / "model.xml"
    add_mesh(tmp_path)
    path.write_text(URDF)
    assert load(path).dof == 4
    path.write_text("<mujoco><worldbody><body name='cup'><geom size='0.1'/></body></worldbody></mujoco>")
    assert set(load(path).links) == {"world", "cup"}
    path.write_text("<html/>")
    with pytest.raises(FormatError, match="<html>"):
        load(path)


def test_an_entry_is_all_that_a_format_needs(tmp_path, arm, monkeypatch):
    reader = Reader(
        lambda path, soft_limits: load(path.with_suffix(".urdf"), soft_limits=soft_limits), ("soft_limits",)
    )
    monkeypatch.setitem(READERS, ".toy", reader)
    assert load(tmp_path / "arm.toy", soft_limits=True).joint_names == load(arm).joint_names


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("arm.mjcf", "MuJoCo cannot read it"),
        ("arm.sdf", "not read yet"),
        ("arm.stl", r"does not know this format. It reads .*\.urdf, \.xacro"),
        ("noformat", "does not know this format"),
    ],
)
def test_formats_that_are_not_read(tmp_path, monkeypatch, name, says):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text("content")
    with pytest.raises(FormatError, match=says):
        load(name)


def test_files_that_are_not_there(tmp_path):
    for name in ("lost.urdf", "lost.xml", "lost.stl", "no/where"):
        with pytest.raises(FormatError, match="there is no file"):
            load(tmp_path / name)
    with pytest.raises(FormatError, match="is a directory"):
        load(tmp_path)
    with pytest.raises(FormatError, match="there is no file"):
        load("panda", srdf=tmp_path / "lost.srdf")


@pytest.mark.parametrize("source", [None, 7, 3.0, ["panda"], b"panda"])
def test_things_that_are_no_source(source):
    with pytest.raises(FormatError, match="bundled name or a path"):
        load(source)


@pytest.mark.parametrize("source", ["x" * 5000, "null\0byte", "null\0byte.urdf", "a/" * 3000 + "b.urdf", ""])
def test_strange_names(source):
    with pytest.raises((FormatError, UnknownNameError)):
        load(source)


def test_unknown_names_come_with_the_nearest():
    with pytest.raises(UnknownNameError, match=r"no bundled body named 'Pandaa'.*'panda'"):
        load("Pandaa")
    with pytest.raises(UnknownNameError, match="There are: ur5"):
        load("zzz")
    with pytest.raises(UnknownNameError, match="'panda'"):
        bodies.path("pandas")


# ---- Bundled bodies ----------------------------------------------------------------------------------------


def test_every_bundled_body_is_in_the_register():
    folder = bodies.path("ur5").parent
    for suffix in ("urdf", "srdf"):
        assert {path.stem for path in folder.glob(f"*.{suffix}")} == set(bodies.names())
    assert all(bodies.DESCRIPTIONS.values())


@pytest.mark.parametrize("name", bodies.names())
def test_every_bundled_body_loads_without_a_warning(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        body = load(name)
    assert body.dof > 0 and body.chains
    assert ((body.lower <= body.home) & (body.home <= body.upper)).all()
    for chain in body.chains:
        part = body.chain(chain)
        assert part.dof > 0 and np.isfinite(part.forward(part.home).array).all()


@pytest.mark.parametrize(
    ("option", "formats"),
    [
        ({"args": {"prefix": "left_"}}, r"\.xacro"),
        ({"scale": 0.01}, r"\.bvh, \.glb, \.gltf, \.vrm"),
        ({"up": "y"}, r"\.bvh, \.glb, \.gltf, \.vrm"),
    ],
)
def test_options_that_a_format_has_no_use_for_raise(arm, option, formats):
    with pytest.raises(FormatError, match=f"{next(iter(option))} is for {formats} and would change nothing here"):
        load(arm, **option)
