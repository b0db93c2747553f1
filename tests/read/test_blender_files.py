"""Files that Blender wrote, of rigs that tests/blender/rigs.py made, against where Blender itself has their joints."""

import base64
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import memetik as mk
from memetik.errors import FormatError
from tests.read.clips import clip_text

FILES = Path(__file__).parents[1] / "blender" / "files"
HEADS = json.loads((FILES / "heads.json").read_text())


@pytest.mark.parametrize("name", sorted(HEADS))
def test_joints_are_where_blender_has_them(name):
    """Within a hundredth of a millimetre, and bones that do not slide keep their lengths."""
    motion = mk.read_motion(FILES / name)
    unit, frames = HEADS[name]["unit"], HEADS[name]["heads"]
    assert len(motion) == len(frames)
    assert set(frames[0]) <= set(motion.body.links)
    poses = motion.forward()
    for bone in frames[0]:
        wanted = unit * np.array([frame[bone] for frame in frames])
        np.testing.assert_allclose(poses[bone][:, :3, 3], wanted, atol=1e-5, err_msg=bone)
    again = mk.load(FILES / name)
    assert again.joint_names == motion.body.joint_names


def test_what_slides_and_what_does_not():
    """Unreal's rig has six channels in every joint, Rigify's a hand that really slides and two roots."""
    kinds = {n: j.kind for n, j in mk.load(FILES / "unreal.bvh").joints.items() if not n.endswith("_EndSite")}
    assert {name for name, kind in kinds.items() if kind != "spherical"} == {"root", "pelvis"}
    kinds = {n: j.kind for n, j in mk.load(FILES / "rigify.bvh").joints.items() if not n.endswith("_EndSite")}
    assert {name for name, kind in kinds.items() if kind == "floating"} == {"__0", "DEF-spine", "DEF-hand.L"}


def test_an_armature_is_no_bone():
    """Its scale and turn count, its hips are the root and translate, and no rod leads to them from the floor."""
    motion = mk.read_motion(FILES / "mixamo.gltf")
    assert "Armature" not in motion.body.links
    assert motion.root.child == "mixamorig:Hips" and motion.body.root == "world"
    assert np.ptp(motion.poses("mixamorig:Hips")[:, :3, 3], axis=0).max() > 0.01
    assert 0.8 < motion.body.forward(motion.body.home, "mixamorig:Hips")[2, 3] < 1.1
    root = mk.load(FILES / "unreal.bvh").links["root"]
    assert not root.visuals


def test_hips_are_where_their_channels_say(tmp_path):
    """OFFSET is where the root is at rest; its position channels are not added to it."""
    path = tmp_path / "a.bvh"
    path.write_text(
        "HIERARCHY\nROOT Hips\n{\nOFFSET 0 0.98 0\nCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n"
        "JOINT Head\n{\nOFFSET 0 0.7 0\nCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n"
        "End Site\n{\nOFFSET 0 0.1 0\n}\n}\n}\nMOTION\nFrames: 2\nFrame Time: 0.1\n"
        "0 0.98 0 0 0 0  0 0.6 0 0 0 0\n0.5 0.98 0 0 0 0  0 0.6 0 0 0 0\n"
    )
    motion = mk.read_motion(path)
    assert motion.body.read_as == "y up (nothing tells), 1 unit = 1 m (guessed: 0.7 units tall)"
    assert motion.body.forward(motion.body.home, "Hips")[2, 3] == pytest.approx(0.98)
    np.testing.assert_allclose(motion.poses("Hips")[:, :3, 3], [(0, 0, 0.98), (0.5, 0, 0.98)], atol=1e-12)
    np.testing.assert_allclose(motion.poses("Head")[:, 2, 3], 1.58, atol=1e-12)  # 0.6, not 0.7 + 0.6
    assert motion.body.joints["Head"].kind == "spherical"
    alone = tmp_path / "b.bvh"
    alone.write_text(path.read_text().partition("MOTION")[0])
    assert mk.load(alone).forward(mk.load(alone).home, "Head")[2, 3] == pytest.approx(1.68)


@pytest.mark.parametrize(("file", "up", "scale"), [("unreal.bvh", "z up", "0.01 m"), ("rigify.bvh", "z up", "1 m")])
def test_axis_and_unit_are_guessed_and_shown(file, up, scale):
    motion = mk.read_motion(FILES / file)
    assert motion.body.read_as.startswith(f"{up} (guessed), 1 unit = {scale} (guessed")
    assert motion.body.read_as in repr(motion) and motion.body.read_as in str(motion.body)
    given = mk.read_motion(FILES / file, up="x", scale=0.5)
    assert given.body.read_as == "x up, 1 unit = 0.5 m"


def test_what_tells_nothing_is_y_up_and_in_metres(tmp_path):
    path = tmp_path / "a.bvh"
    path.write_text(clip_text(20, seed=1))
    assert mk.read_motion(path).body.read_as.startswith("y up (nothing tells), 1 unit = 1 m (a size of ")


def changed(tmp_path, change):
    """The file of the Mixamo rig with its document changed."""
    document = json.loads((FILES / "mixamo.gltf").read_text())
    change(document, {node.get("name"): k for k, node in enumerate(document["nodes"])})
    path = tmp_path / "changed.gltf"
    path.write_text(json.dumps(document))
    return path


PEOPLE = {"hips": "Hips", "leftUpperArm": "LeftArm", "leftThumbProximal": "LeftHandIndex1", "head": "Head"}


@pytest.mark.parametrize("version", [0, 1])
def test_the_map_of_vrm(tmp_path, version):
    def add(document, nodes):
        bones = {bone: nodes[f"mixamorig:{name}"] for bone, name in PEOPLE.items()}
        if version == 0:
            listed = [{"bone": bone, "node": node} for bone, node in bones.items()]
            document["extensions"] = {"VRM": {"humanoid": {"humanBones": [*listed, {"bone": "jaw", "node": -1}]}}}
        else:
            named = {bone: {"node": node} for bone, node in bones.items()}
            document["extensions"] = {"VRMC_vrm": {"specVersion": "1.0", "humanoid": {"humanBones": named}}}

    path = changed(tmp_path, add)
    wanted = {
        "hips": "mixamorig:Hips", "left_upper_arm": "mixamorig:LeftArm", "left_thumb_proximal": "mixamorig:LeftHandIndex1",
        "head": "mixamorig:Head",
    }  # fmt: skip
    body = mk.load(path)
    assert body.parts == wanted
    assert body.with_touching([("mixamorig:Hips", "mixamorig:Head")]).parts == wanted
    assert "left_upper_arm" not in body.subtree("mixamorig:LeftUpLeg").parts


def test_thumbs_of_vrm_1(tmp_path):
    def add(document, nodes):
        names = ("thumbMetacarpal", "thumbProximal", "thumbDistal")
        links = ("LeftForeArm", "LeftHand", "LeftHandIndex1")
        named = {
            f"left{n[0].upper()}{n[1:]}": {"node": nodes[f"mixamorig:{link}"]}
            for n, link in zip(names, links, strict=True)
        }
        document["extensions"] = {"VRMC_vrm": {"humanoid": {"humanBones": named}}}

    parts = mk.load(changed(tmp_path, add)).parts
    assert [parts[f"left_thumb_{joint}"][14:] for joint in ("proximal", "intermediate", "distal")] == [
        "ForeArm", "Hand", "HandIndex1",
    ]  # fmt: skip


def test_animations_by_name(tmp_path):
    def add(document, nodes):
        first = document["animations"][0]
        turn = next(c for c in first["channels"] if c["target"]["path"] == "rotation")
        document["animations"].append({"name": "one bone", "channels": [turn], "samplers": first["samplers"]})

    path = changed(tmp_path, add)
    assert mk.read_motion(path).q.tolist() == mk.read_motion(path, animation="Dance").q.tolist()
    one = mk.read_motion(path, animation="one bone")
    assert one.name == "one bone" and one.body.joint_names == mk.load(path).joint_names
    assert np.array_equal(mk.read_motion(path, animation=1).q, one.q)
    for wrong in ("Run", 2, -1, True):
        with pytest.raises(FormatError, match="Dance"):
            mk.read_motion(path, animation=wrong)
    with pytest.raises(FormatError, match="one clip"):
        mk.read_motion(FILES / "unreal.bvh", animation="Dance")


def test_a_matrix_and_an_uneven_scale_above_the_skeleton(tmp_path):
    """An armature that is given by a matrix is read as the same with translation, rotation and scale."""
    plain = mk.read_motion(FILES / "mixamo.gltf")

    def matrix(document, nodes):
        node = document["nodes"][nodes["Armature"]]
        x, y, z, w = node.pop("rotation", (0, 0, 0, 1))
        whole = np.eye(4)
        whole[:3, :3] = Rotation.from_quat([x, y, z, w]).as_matrix() * node.pop("scale")[0]
        node["matrix"] = whole.T.ravel().tolist()

    same = mk.read_motion(changed(tmp_path, matrix))
    np.testing.assert_allclose(same.forward().array, plain.forward().array, atol=1e-9)

    def uneven(document, nodes):
        node = document["nodes"][nodes["Armature"]]
        node["scale"] = [0.02, 0.01, 0.01]

    wide = mk.read_motion(changed(tmp_path, uneven))
    twice = np.diag([2.0, 1.0, 1.0])  # the file's x is the world's
    for link in ("mixamorig:LeftHand", "mixamorig:RightFoot"):
        np.testing.assert_allclose(wide.poses(link)[:, :3, 3], plain.poses(link)[:, :3, 3] @ twice, atol=1e-5)


def test_scales_that_are_animated_move_what_hangs_on_them(tmp_path):
    """A spine that grows to twice its size lifts the head."""

    def grow(document, nodes):
        data = np.array([0.0, 1.0, 1, 1, 1, 2, 2, 2], dtype="<f4").tobytes()
        document["buffers"].append({"byteLength": 32, "uri": "data:;base64," + base64.b64encode(data).decode()})
        buffer, view, start = len(document["buffers"]) - 1, len(document["bufferViews"]), len(document["accessors"])
        document["bufferViews"] += [
            {"buffer": buffer, "byteOffset": 0, "byteLength": 8}, {"buffer": buffer, "byteOffset": 8, "byteLength": 24}
        ]  # fmt: skip
        document["accessors"] += [
            {"bufferView": view, "componentType": 5126, "count": 2, "type": "SCALAR"},
            {"bufferView": view + 1, "componentType": 5126, "count": 2, "type": "VEC3"},
        ]
        channel = {"sampler": 0, "target": {"node": nodes["mixamorig:Neck"], "path": "scale"}}
        document["animations"] = [
            {"name": "grow", "channels": [channel], "samplers": [{"input": start, "output": start + 1}]}
        ]

    motion = mk.read_motion(changed(tmp_path, grow))
    way = motion.poses("mixamorig:Head")[:, :3, 3] - motion.poses("mixamorig:Neck")[:, :3, 3]
    far = np.linalg.norm(way, axis=1)
    assert far[1] == pytest.approx(2.0 * far[0], rel=1e-6)
    assert motion.body.joints["mixamorig:Head"].kind == "floating"


def test_splines_are_splines(tmp_path):
    """The cubic of glTF between two keys: halfway (p0 + p1) / 2 + (m0 - m1) d / 8."""
    keys = np.array([0.0, 1.0], dtype="<f4")
    rows = np.array([[0, 0, 0], [0, 1, 0], [4, 0, 0], [0, 0, 0], [2, 1, 0], [0, 0, 0]], dtype="<f4")
    other = np.array([0.0, 0.5, 1.0], dtype="<f4")
    still = np.tile(np.array([0, 0, 0, 1], dtype="<f4"), (3, 1))
    parts = [keys, rows, other, still]
    data, views = b"", []
    for part in parts:
        views.append({"buffer": 0, "byteOffset": len(data), "byteLength": part.nbytes})
        data += part.tobytes()
    kinds = [("SCALAR", 2), ("VEC3", 6), ("SCALAR", 3), ("VEC4", 3)]
    document = {
        "asset": {"version": "2.0"}, "nodes": [{"name": "a", "children": [1]}, {"name": "b", "translation": [0, 1, 0]}],
        "accessors": [{"bufferView": k, "componentType": 5126, "count": n, "type": t} for k, (t, n) in enumerate(kinds)],
        "bufferViews": views,
        "buffers": [{"byteLength": len(data), "uri": "data:;base64," + base64.b64encode(data).decode()}],
        "animations": [{
            "channels": [{"sampler": 0, "target": {"node": 0, "path": "translation"}},
                         {"sampler": 1, "target": {"node": 1, "path": "rotation"}}],
            "samplers": [{"input": 0, "output": 1, "interpolation": "CUBICSPLINE"}, {"input": 2, "output": 3}],
        }],
    }  # fmt: skip
    path = tmp_path / "spline.gltf"
    path.write_text(json.dumps(document))
    places = mk.read_motion(path, up="z").poses("a")[:, :3, 3]
    np.testing.assert_allclose(places, [(0, 1, 0), (1.5, 1, 0), (2, 1, 0)], atol=1e-6)
