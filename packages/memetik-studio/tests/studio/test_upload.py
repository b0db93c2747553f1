"""Uploads: models with meshes open as they should, and what a stranger may put into an archive does no harm."""

import contextlib
import io
import stat
import threading
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

import memetik as mk
from memetik.read import distrust, forget, untrusted
from memetik_studio import upload
from memetik_studio.meshes import missing_meshes
from memetik_studio.session import Session
from memetik_studio.upload import Uploads
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
        ({"arm.xacro": ARM}, "there is no model in it"),
        ({"arm.usda": "#usda 1.0"}, "there is no model in it"),
        ({"arm.mjb": "MJB"}, "there is no model in it"),
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
    with pytest.raises(mk.errors.FormatError, match=message):
        session.upload("evil.zip", zipped(files))
    assert session.scene is before and session.roots == folders


def test_what_is_no_archive_or_too_much_is_refused(session, monkeypatch):
    with pytest.raises(mk.errors.FormatError, match="cannot be unpacked"):
        session.upload("a.zip", b"PK nonsense")
    monkeypatch.setattr(upload, "MOST_FILES", 2)
    with pytest.raises(mk.errors.FormatError, match="3 files, more than 2"):
        session.upload("a.zip", zipped({f"{k}.stl": STL for k in range(3)}))
    monkeypatch.setattr(upload, "MOST_ZIP", 100)
    with pytest.raises(mk.errors.FormatError, match="the most that can be uploaded"):
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
    except mk.errors.FormatError:
        assert names != ("a.urdf/b.urdf",)
    finally:
        uploads.close()


def test_a_bomb_is_not_unpacked(monkeypatch):
    """Sizes are counted while unpacking; the second file would be too much."""
    monkeypatch.setattr(upload, "MOST_UNPACKED", 2**20)
    uploads = Uploads()
    bomb = zipped({"a.stl": b"0" * 700_000, "b.stl": b"0" * 700_000})
    assert len(bomb) < 10_000
    with pytest.raises(mk.errors.FormatError, match="unpacked"):
        uploads.take("bomb.zip", bomb)
    assert not [path for path in Path(uploads._folder.name).rglob("*") if path.is_file()]
    uploads.close()


def test_what_was_uploaded_is_deleted_with_the_session(session):
    session.upload("arm.zip", zipped({"arm.urdf": ARM.format(mesh="part.stl"), "part.stl": STL}))
    folder = Path(session.roots[0])
    assert (folder / "arm/part.stl").is_file()
    session.close()
    assert not folder.exists()


# ---- Models of MuJoCo, which MuJoCo itself reads --------------------------------------------------------------------

BODY = '<worldbody><body name="b"><joint/><geom size="0.1"/></body></worldbody>'
SECRET = '<any><worldbody><body name="secret"><joint/><geom size="0.1"/></body></worldbody></any>'


@pytest.mark.parametrize("root", ["any", "robot", "mujocoinclude", "mujoco"])
@pytest.mark.parametrize("name", ["{outside}/secret.xml", "../../../secret.xml", "..\\..\\..\\secret.xml"])
def test_an_included_file_includes_nothing_outside(session, tmp_path, root, name):
    """Whatever its root is called: MuJoCo does not look at that."""
    pytest.importorskip("mujoco")
    (tmp_path / "secret.xml").write_text(SECRET)
    inner = f'<{root}><include file="{name.format(outside=tmp_path)}"/></{root}>'
    files = {"m.xml": f'<mujoco>{BODY}<include file="a/inner.xml"/></mujoco>', "a/inner.xml": inner}
    with pytest.raises(mk.errors.FormatError, match="leads out of the upload"):
        session.upload("evil.zip", zipped(files))


def test_folders_of_one_file_do_not_lead_names_of_another_outside(session):
    pytest.importorskip("mujoco")
    files = {
        "a/b/m.xml": f'<mujoco><compiler meshdir=".."/><include file="i.xml"/>{BODY}</mujoco>',
        "a/b/i.xml": '<any><asset><mesh name="m" file="../../../part.stl"/></asset></any>',
    }
    with pytest.raises(mk.errors.FormatError, match="leads out of the upload"):
        session.upload("evil.zip", zipped(files))


@pytest.mark.parametrize(
    "inner",
    [
        '<worldbody><replicate count="100000000"><body><joint/><geom size="0.1"/></body></replicate></worldbody>',
        '<worldbody><replicate count="500"><replicate count="500"><body><joint/></body></replicate></replicate></worldbody>',
        '<worldbody><flexcomp name="f" type="grid" count="1000 1000 1000" spacing="1 1 1"/></worldbody>',
        '<asset><texture name="t" type="2d" builtin="flat" width="100000" height="100000"/></asset>',
        '<asset><hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/></asset>',
    ],
)
@pytest.mark.parametrize("fragment", [False, True])
def test_a_model_that_makes_too_much_of_itself_is_refused_at_once(tmp_path, inner, fragment):
    pytest.importorskip("mujoco")
    (tmp_path / "inner.xml").write_text(f"<any>{inner}</any>")
    path = tmp_path / "m.xml"
    include = '<include file="inner.xml"/>'
    path.write_text(f"<mujoco>{BODY}{include if fragment else inner}</mujoco>")
    begin = time.perf_counter()
    with pytest.raises(mk.errors.FormatError, match="Write fewer"):
        mk.load(path)
    assert time.perf_counter() - begin < 5.0


def test_what_takes_mujoco_too_much_ends(session, monkeypatch):
    """What no look at the file foresees meets the limits of the process that reads it."""
    pytest.importorskip("mujoco")
    with pytest.raises(mk.errors.FormatError, match="MuJoCo cannot read it"):
        session.upload("m.zip", zipped({"m.xml": f'<mujoco><size memory="400G"/>{BODY}</mujoco>'}))
    monkeypatch.setattr(untrusted, "MAX_SECONDS", 1.0)
    many = "".join(f'<body name="b{k}"><joint/><geom size="0.1"/></body>' for k in range(20_000))
    begin = time.perf_counter()
    with pytest.raises(mk.errors.FormatError, match=r"longer than 1 s|cannot read it"):
        session.upload("m.zip", zipped({"m.xml": f"<mujoco><worldbody>{many}</worldbody></mujoco>"}))
    assert time.perf_counter() - begin < 20.0


@pytest.mark.timed
def test_an_upload_does_not_stop_other_sessions(session, monkeypatch):
    """MuJoCo is busy in a process of its own for as long as it may be; others go on, and no memory of it stays."""
    pytest.importorskip("mujoco")
    monkeypatch.setattr(untrusted, "MAX_SECONDS", 3.0)
    many = "".join(f'<body name="b{k}"><joint/><geom size="0.1"/></body>' for k in range(20_000))
    stranger, took = Session(patient("parallel five-bar")), []

    def upload():
        with contextlib.suppress(mk.errors.FormatError):
            stranger.upload("m.zip", zipped({"m.xml": f"<mujoco><worldbody>{many}</worldbody></mujoco>"}))

    name = session.scene.wishes[0].name
    session.set(name, weight=1.5)
    busy = threading.Thread(target=upload)
    busy.start()
    while busy.is_alive() or len(took) < 10:
        begin = time.perf_counter()
        session.set(name, weight=1.0 + 0.01 * (len(took) % 50))
        took.append(time.perf_counter() - begin)
        time.sleep(0.02)
    stranger.close()
    assert np.median(took) < 0.1 and len(took) > 20


def test_an_upload_is_never_trusted(tmp_path):
    pytest.importorskip("xacro")
    path = tmp_path / "a.xacro"
    path.write_text('<robot name="r"><link name="l${(lambda: 1)()}"/></robot>')
    assert mk.load(path, trust=True).root == "l1"
    distrust(tmp_path)
    try:
        with pytest.raises(mk.errors.FormatError, match="without trust"):
            mk.load(path, trust=True)
    finally:
        forget(tmp_path)
