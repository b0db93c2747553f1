"""Uploads: models with meshes open as they should, and what a stranger may put into an archive does no harm."""

import io
import stat
import zipfile
from pathlib import Path

import pytest

import memetik as mk
from memetik.studio import upload
from memetik.studio.meshes import missing_meshes
from memetik.studio.session import Session
from memetik.studio.upload import Uploads
from tests.studio.patience import patient
from tests.studio.test_meshes import MTL, OBJ, box

ARM = """<robot name="arm"><link name="base"/>
<link name="tip"><visual><geometry><mesh filename="{mesh}"/></geometry></visual></link>
<joint name="turn" type="revolute"><parent link="base"/><child link="tip"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
MJCF = """<mujoco model="m"><compiler meshdir="{folder}"/><asset><mesh name="b" file="{file}"/></asset><worldbody>
<body name="arm"><joint axis="0 0 1"/><geom type="mesh" mesh="b"/><body name="hand" pos="3 0 0"><joint axis="0 1 0"/>
<geom size="0.1"/></body></body></worldbody></mujoco>"""
STL = box().export(file_type="stl")


def zipped(files):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


@pytest.fixture
def session():
    opened = Session(patient("parallel five-bar"))
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("mesh", "files"),
    [
        ("package://robot/meshes/part.stl", {"robot/urdf/arm.urdf": "", "robot/meshes/part.stl": STL}),
        (
            "package://arm/meshes/part.stl",
            {"arm.urdf": "", "meshes/part.stl": STL},
        ),  # the archive is called as the package
        ("package://data/robots/arm/meshes/part.stl", {"arm/arm.urdf": "", "arm/meshes/part.stl": STL}),  # a part of it
        ("package://robot/meshes/part.stl", {"arm.urdf": "", "part.stl": STL}),  # beside the model
        ("../meshes/part.obj", {"a/urdf/arm.urdf": "", "a/meshes/part.obj": OBJ, "a/meshes/colours.mtl": MTL}),
    ],
)
def test_a_urdf_with_meshes_is_opened_and_drawn(session, mesh, files):
    content = {name: data or ARM.format(mesh=mesh) for name, data in files.items()}
    session.upload("arm.zip", zipped(content))
    assert session.body.name == "arm" and missing_meshes(session.body, session.roots) == {}
    assert [wish.name for wish in session.scene.wishes] == ["tip", "stay close"] and session.reached
    session.set("tip", weight=2.0)  # an edit finds the body again
    assert session.undo() and session.undo() and session.body.name == "five_bar"
    assert session.redo() and session.body.name == "arm"


def test_a_model_of_mujoco_with_meshes_is_opened_and_drawn(session):
    pytest.importorskip("mujoco")
    files = {
        "r/mjcf/m.xml": MJCF.format(folder="../meshes", file="part.stl"),
        "r/meshes/part.stl": STL,
        "r/notes.txt": "x",
    }
    session.upload("m.zip", zipped(files))
    assert session.body.joint_names == ("joint0", "joint1") and missing_meshes(session.body, session.roots) == {}
    assert session.scene.wishes[0].values["frame"] == "hand"


def test_a_whole_model_of_mujoco_is_opened_before_what_it_includes(session):
    """However many joints a fragment has: by itself MuJoCo may not read it."""
    pytest.importorskip("mujoco")
    joints = "".join(f'<joint axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
    fragment = f'<mujoco><body name="arm" childclass="of the whole">{joints}<geom size="0.1"/></body></mujoco>'
    known = '<default><default class="of the whole"/></default>'
    whole = f'<mujoco>{known}<worldbody><include file="parts.xml"/></worldbody></mujoco>'
    session.upload("m.zip", zipped({"r/parts.xml": fragment, "r/scene.xml": whole}))
    assert session.models[0] == "m/r/scene.xml" and session.body.dof == 3


def test_the_model_with_most_joints_is_opened_and_the_others_are_offered(session):
    small = ARM.format(mesh="x.stl")
    large = mk.load("panda")
    files = {"a/finger.urdf": small, "a/whole.urdf": Path(mk.bodies.path("panda")).read_text()}
    with pytest.warns(mk.MemetikWarning, match="meshes were not found"):
        session.upload("two.zip", zipped(files))
        assert session.body.joint_names == large.joint_names
        assert session.models == ["two/a/whole.urdf", "two/a/finger.urdf"]
        session.open_model(session.models[1])
    assert session.body.name == "arm" and list(missing_meshes(session.body, session.roots)) == ["x.stl"]


def link_entry():
    entry = zipfile.ZipInfo("arm/link.urdf")
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"../../evil.urdf": ARM}, "leads out of the archive"),
        ({"/elsewhere/evil.urdf": ARM}, "leads out of the archive"),
        ({"..\\evil.urdf": ARM}, "leads out of the archive"),
        ({"C:/evil.urdf": ARM}, "leads out of the archive"),
        ({link_entry(): "/etc/passwd"}, "leads out of the archive"),
        ({"readme.md": "hello"}, "there is no model in it"),
        ({"arm.urdf": "<robot><link"}, "there is no model in it.*not XML"),
        ({"m.xml": MJCF.format(folder="", file="/etc/passwd")}, "leads out of the upload"),
        ({"a/m.xml": MJCF.format(folder="../..", file="part.stl")}, "leads out of the upload"),
        ({"m.xml": '<mujoco><include file="x.stl"/></mujoco>', "x.stl": "<mujocoinclude/>"}, "only .xml files"),
        (
            {
                "m.xml": '<mujoco><include file="a/b/i.xml"/></mujoco>',
                "a/b/i.xml": '<mujocoinclude><model file="../../x.xml"/></mujocoinclude>',
            },
            "leads out of the upload",
        ),
    ],
)  # fmt: skip
def test_an_archive_that_leads_elsewhere_or_nowhere_is_refused(session, files, message):
    before, folders = session.scene, session.roots
    with pytest.raises(mk.FormatError, match=message):
        session.upload("evil.zip", zipped(files))
    assert session.scene is before and session.roots == folders


def test_what_is_no_archive_or_too_much_is_refused(session, monkeypatch):
    with pytest.raises(mk.FormatError, match="cannot be unpacked"):
        session.upload("a.zip", b"PK nonsense")
    monkeypatch.setattr(upload, "MOST_FILES", 2)
    with pytest.raises(mk.FormatError, match="3 files, more than 2"):
        session.upload("a.zip", zipped({f"{k}.stl": STL for k in range(3)}))
    monkeypatch.setattr(upload, "MOST_ZIP", 100)
    with pytest.raises(mk.FormatError, match="the most that can be uploaded"):
        session.upload("a.zip", zipped({"a.stl": STL}))


@pytest.mark.parametrize(
    "name", ["../../out.urdf", "/", "", "\0.urdf", "\ud800.urdf", "\u00e9" * 100 + ".urdf", "a/b.urdf"]
)
def test_a_name_leads_nowhere_else(name, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    uploads = Uploads()
    try:
        uploads.take(name, ARM.format(mesh="b.stl").encode())
    except mk.MemetikError:
        pass
    finally:
        uploads.close()
    assert not list(tmp_path.rglob("*")), "all was in the folder of the session"
    assert not Path(tmp_path, "../../out.urdf").exists() and not (tmp_path / "out.urdf").exists()


@pytest.mark.parametrize(
    "names",
    [
        ("a.urdf", "a.urdf/b.stl"),
        ("a.urdf/b.stl",),
        ("a.urdf/b.urdf",),
        ("x" * 300 + ".urdf",),
        ("d.stl", "d.stl/a.urdf"),
    ],
)
def test_names_that_a_disk_does_not_take_are_refused(names):
    uploads = Uploads()
    try:
        models = uploads.take("t.zip", zipped({name: ARM.format(mesh="b.stl") for name in names}))
        assert models == ["t/a.urdf/b.urdf"]
    except mk.FormatError:
        assert names != ("a.urdf/b.urdf",)
    finally:
        uploads.close()


def test_a_bomb_is_not_unpacked(monkeypatch):
    """Sizes are counted while unpacking; the second file would be too much."""
    monkeypatch.setattr(upload, "MOST_UNPACKED", 2**20)
    uploads = Uploads()
    bomb = zipped({"a.stl": b"0" * 700_000, "b.stl": b"0" * 700_000})
    assert len(bomb) < 10_000
    with pytest.raises(mk.FormatError, match="unpacked"):
        uploads.take("bomb.zip", bomb)
    assert not [path for path in Path(uploads._folder.name).rglob("*") if path.is_file()]
    uploads.close()


def test_what_was_uploaded_is_deleted_with_the_session(session):
    session.upload("arm.zip", zipped({"arm.urdf": ARM.format(mesh="part.stl"), "part.stl": STL}))
    folder = Path(session.roots[0])
    assert (folder / "arm/part.stl").is_file()
    session.close()
    assert not folder.exists()
