"""Motions to files and back: exact to the digits written; a foreign reader of qpos; pictures."""

import xml.etree.ElementTree as ElementTree

import mujoco
import numpy as np
import pytest

import memetik as mk
from memetik.errors import FormatError, MemetikWarning
from tests.naive.bvh import joint_positions
from tests.read.clips import clip_text


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    path = tmp_path_factory.mktemp("clips") / "figure.bvh"
    path.write_text(clip_text(7, seed=4, step="0.1", turn=60.0))
    return mk.read_motion(path, scale=0.1)


@pytest.fixture(scope="module")
def kyle_clip():
    body = mk.load("kyle", base="floating")
    rng = np.random.default_rng(2)
    keys = [body.clip(body.home + 0.2 * rng.standard_normal(body.dof)) for _ in range(3)]
    return mk.Motion(body, [0.0, 0.5, 1.0], keys, name="kyle").resampled(10.0)


@pytest.mark.parametrize("up", ["y", "z", "x"])
def test_a_skeleton_is_written_as_it_was_read(tmp_path, up):
    """Number for number: the text of the frames is the same."""
    text = clip_text(6, seed=9)
    (tmp_path / "a.bvh").write_text(text)
    motion = mk.read_motion(tmp_path / "a.bvh", up=up, scale=0.0254)
    written = motion.write(tmp_path / "b.bvh", scale=0.0254).read_text()
    assert written.splitlines()[-6:] == text.splitlines()[-6:]
    back = mk.read_motion(tmp_path / "b.bvh", up=up, scale=0.0254)
    assert back.body.joint_names == motion.body.joint_names and list(back.body.links) == list(motion.body.links)
    np.testing.assert_allclose(back.q, motion.q, rtol=0, atol=1e-14)
    assert back.write(tmp_path / "c.bvh", scale=0.0254).read_text() == written


def test_to_the_digits_written(clip, tmp_path):
    for digits in (2, 9):
        back = mk.read_motion(clip.write(tmp_path / "x.bvh", scale=0.1, digits=digits), scale=0.1)
        assert np.degrees(np.abs(back.q[:, 3:] - clip.q[:, 3:])).max() < 0.51 * 10.0**-digits
        assert np.abs(back.q[:, :3] - clip.q[:, :3]).max() < 0.051 * 10.0**-digits


@pytest.mark.parametrize("up", ["y", "z"])
def test_any_body_as_a_skeleton(kyle_clip, tmp_path, up):
    """Bones where links of their names are, read by a naive reader, too; of links at one place the last is one."""
    path = kyle_clip.write(tmp_path / "kyle.bvh", up=up, digits=9)
    again = mk.read_motion(path, up=up)
    back, own = again.forward(), kyle_clip.forward()
    bones = set(kyle_clip.body.links) & set(again.body.links) - {"world"}
    assert {"left_hand", "chest", "left_toes"} < bones and "left_shoulder_z_link" not in bones
    for link in bones:
        np.testing.assert_allclose(back[link][:, :3, 3], own[link][:, :3, 3], atol=1e-8, err_msg=link)
    names, places = joint_positions(path.read_text())
    turn = np.eye(3) if up == "z" else np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]])
    hand = own["left_hand"][:, :3, 3] @ turn.T
    np.testing.assert_allclose(places[:, names.index("left_hand")], hand, atol=1e-8)


def test_a_body_that_slides(tmp_path):
    panda = mk.load("panda")
    motion = mk.Motion(panda, [0.0, 0.1, 0.2], [panda.sample(np.random.default_rng(k)) for k in range(3)])
    back = mk.read_motion(motion.write(tmp_path / "p.bvh", digits=9)).forward()
    for link in ("panda_leftfinger", "panda_hand"):
        np.testing.assert_allclose(back[link][:, :3, 3], motion.poses(link)[:, :3, 3], atol=1e-8)


@pytest.mark.parametrize("suffix", [".csv", ".npz"])
def test_tables_are_exact(kyle_clip, tmp_path, suffix):
    path = kyle_clip.write(tmp_path / f"kyle{suffix}")
    back = mk.read_motion(path, body=kyle_clip.body)
    assert np.array_equal(back.q, kyle_clip.q) and np.array_equal(back.times, kyle_clip.times)
    with pytest.raises(FormatError, match="no skeleton"):
        mk.read_motion(path)
    with pytest.raises(FormatError, match="has no joint"):
        mk.read_motion(path, body=mk.load("panda"))


def test_columns_in_any_order(kyle_clip, tmp_path):
    path = kyle_clip.write(tmp_path / "a.csv")
    rows = [line.split(",") for line in path.read_text().splitlines()]
    path.write_text("\n".join(",".join([row[0], *row[:0:-1]]) for row in rows))
    assert np.array_equal(mk.read_motion(path, body=kyle_clip.body).q, kyle_clip.q)


def test_qpos_is_what_mujoco_takes(tmp_path):
    xml = """<mujoco><worldbody><body name="base" pos="0 0 1"><freejoint/><geom size="0.1"/>
        <body name="arm" pos="0.1 0 0"><joint type="ball"/><geom size="0.1" pos="0.3 0 0"/>
        </body></body></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(xml)
    builder = mk.build.BodyBuilder("b", "world").add("world", "free", "floating", "base", origin=(0, 0, 1))
    body = builder.add("base", "ball", "spherical", "arm", origin=(0.1, 0, 0)).build()
    motion = mk.Motion(body, [0.0, 0.1, 0.2], np.random.default_rng(0).uniform(-1, 1, (3, 9)))
    with np.load(motion.write(tmp_path / "q.npz", format="qpos")) as file:
        qpos = file["qpos"]
    table = np.loadtxt(motion.write(tmp_path / "q.csv", format="qpos"), delimiter=",", skiprows=1)
    assert np.array_equal(table[:, 1:], qpos)
    data = mujoco.MjData(model)
    for row, pose in zip(qpos, motion.poses("arm"), strict=True):
        data.qpos = row
        mujoco.mj_kinematics(model, data)
        np.testing.assert_allclose(data.body("arm").xpos, pose[:3, 3], atol=1e-12)
        np.testing.assert_allclose(data.body("arm").xmat.reshape(3, 3), pose[:3, :3], atol=1e-12)


def test_uneven_times_have_no_bvh(clip, tmp_path):
    uneven = mk.Motion(clip.body, [0.0, 0.1, 0.5], clip.q[:3])
    with pytest.raises(FormatError, match="resampled"):
        uneven.write(tmp_path / "x.bvh")


@pytest.mark.parametrize(
    "wrong",
    [{"format": "fbx"}, {"format": "csv"}, {"up": "w"}, {"scale": -1}, {"digits": 40}, {"format": 3}],
)
def test_what_cannot_be_written(clip, tmp_path, wrong):
    with pytest.raises(FormatError):
        clip.write(tmp_path / "x.bvh", **wrong)


# ---- SMPL ----------------------------------------------------------------------------------------------------


def smpl_skeleton():
    builder = mk.build.BodyBuilder("smpl", "world").add("world", "Pelvis", "floating", "pelvis", origin=(0, 0, 0.9))
    builder.add("pelvis", "L_Hip", "spherical", "left_thigh", origin=(0, 0.1, -0.1))
    return builder.add("pelvis", "Left_Knee", "spherical", "left_shin", origin=(0, 0.1, -0.5)).build()


def test_smpl_rotations(tmp_path):
    from scipy.spatial.transform import Rotation

    rng = np.random.default_rng(0)
    poses, trans = rng.uniform(-1, 1, (5, 72)), rng.uniform(-1, 1, (5, 3))
    np.savez(tmp_path / "a.npz", poses=poses, trans=trans, mocap_framerate=60.0)
    body = smpl_skeleton()
    with pytest.warns(MemetikWarning, match="22 of 24 joints"):
        motion = mk.read_motion(tmp_path / "a.npz", body=body)
    assert motion.rate == 60.0
    pelvis = motion.poses("pelvis")
    np.testing.assert_allclose(pelvis[:, :3, 3], trans + np.array([0, 0, 0.9]), atol=1e-12)
    np.testing.assert_allclose(pelvis[:, :3, :3], Rotation.from_rotvec(poses[:, :3]).as_matrix(), atol=1e-12)
    shin = pelvis[:, :3, :3] @ Rotation.from_rotvec(poses[:, 12:15]).as_matrix()
    np.testing.assert_allclose(motion.poses("left_shin")[:, :3, :3], shin, atol=1e-12)


@pytest.mark.parametrize(
    "arrays",
    [
        {"poses": np.zeros((3, 71))}, {"poses": np.full((3, 72), np.nan)}, {"poses": np.zeros((3, 72)), "trans": np.zeros(3)},
        {"poses": np.zeros((3, 72)), "fps": 0.0}, {"poses": np.array(["a"])}, {"q": np.zeros((2, 3))}, {},
        {"times": [0.0], "q": np.zeros((1, 2)), "joint_names": ["a", "b"]}, {"poses": np.array([{}], dtype=object)},
        {"times": [0.0], "q": np.zeros((1, 2)), "joint_names": np.zeros(2)},
    ],
)  # fmt: skip
def test_arrays_that_are_no_motion(tmp_path, arrays):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(FormatError, match=r"a\.npz"):
        mk.read_motion(tmp_path / "a.npz", body=smpl_skeleton())


@pytest.mark.parametrize(
    "text", ["", "time", "a,b\n1,2", "time,slide.x,slide.y,slide.z\n0,1,2", "time,slide.x,slide.y,slide.z\n0,1,2,nan",
             "time,slide.x,slide.y,slide.z\n0,1,2,x", "time,slide.x,slide.x,slide.z\n0,1,2,3",
             "time,slide.x,slide.y,slide.z\n1,1,2,3\n0,1,2,3"],
)  # fmt: skip
def test_tables_that_are_no_motion(tmp_path, text):
    body = mk.build.BodyBuilder("foot").add("base", "slide", "xyz", "sole").build()
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(FormatError, match=r"a\.csv"):
        mk.read_motion(tmp_path / "a.csv", body=body)


# ---- Pictures ------------------------------------------------------------------------------------------------


def test_a_film_strip(clip, tmp_path):
    picture = mk.write.draw_motion(clip, tmp_path / "a.svg", frame_count=4)
    assert (tmp_path / "a.svg").read_text() == picture
    one = mk.write.draw_motion(clip, frame_count=1)
    pieces = [
        sum(each.tag.endswith("}path") for each in ElementTree.fromstring(text).iter()) for text in (picture, one)
    ]
    assert pieces[0] > 2 * pieces[1] > 0


def test_a_moving_picture_shows_one_frame_at_a_time(clip):
    tree = ElementTree.fromstring(mk.write.draw_motion(clip, frame_count=5, layout="film"))
    shown = [each for each in tree.iter() if each.tag.endswith("}animate")]
    assert len(shown) == 5
    for moment in np.arange(0.05, 1.0, 0.1):
        seen = 0
        for each in shown:
            keys = [float(key) for key in each.attrib["keyTimes"].split(";")]
            values = each.attrib["values"].split(";")
            seen += values[max(k for k, key in enumerate(keys) if key <= moment)] == "inline"
        assert seen == 1


def test_terrain_and_props(clip):
    field = mk.objectives.HeightField(np.zeros((21, 21)), spacing=1.0, origin=(-10, -10))
    plain = mk.write.draw_motion(clip, frame_count=2, layout="path")
    here = clip.poses("Hips")[0, :3, 3]
    mesh = mk.objectives.TriangleMesh(here + np.array([(0, 0, -1), (1, 0, -1), (0, 1, -1)]), [(0, 1, 2)])
    for terrain in (field, mesh):
        assert mk.write.draw_motion(clip, frame_count=2, layout="path", terrain=terrain) != plain
    box = mk.Shape("box", (0.2, 0.2, 0.2), mk.transform((1, 0, 0)))
    assert mk.write.draw_motion(clip, frame_count=2, props=[box]).count("<polygon") > plain.count("<polygon")


@pytest.mark.parametrize(
    "wrong",
    [{"frame_count": 0}, {"layout": "round"}, {"terrain": 3}, {"props": [3]}, {"size": (1, 1)}, {"path": "a.jpg"}],
)
def test_pictures_that_cannot_be_drawn(clip, wrong):
    with pytest.raises(mk.MemetikError):
        mk.write.draw_motion(clip, **wrong)
