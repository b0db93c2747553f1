"""glTF: what is written is read again, a file of another package's making, and damaged files."""

import base64
import json
import random
import struct

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

import memetik as mk
from memetik.errors import FormatError, MemetikError
from tests.read.clips import clip_text


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    path = tmp_path_factory.mktemp("clips") / "figure.bvh"
    path.write_text(clip_text(7, seed=4, step="0.1", turn=60.0))
    return mk.read_motion(path, scale=0.1)


def document(**changes):
    """A root that slides, an arm that is scaled by two and a hand that turns, by hand; rotations (x, y, z, w)."""
    times = np.array([0.0, 0.5, 1.0], dtype="<f4")
    turns = Rotation.from_euler("xyz", [(0, 0, 0), (40, 20, 0), (90, 0, 30)], degrees=True).as_quat().astype("<f4")
    places = np.array([(0, 1, 0), (0.5, 1, 0), (1, 1.2, 0)], dtype="<f4")
    parts = [times.tobytes(), turns.tobytes(), places.tobytes()]
    starts = np.cumsum([0, *map(len, parts)]).tolist()
    views = [{"buffer": 0, "byteOffset": s, "byteLength": len(p)} for s, p in zip(starts, parts, strict=False)]
    kinds = ("SCALAR", "VEC4", "VEC3")
    data = b"".join(parts)
    made = {
        "asset": {"version": "2.0"},
        "nodes": [
            {"name": "root", "children": [1], "translation": [0, 1, 0]},
            {"name": "arm", "children": [2], "translation": [0, 0.5, 0], "scale": [2, 2, 2],
             "rotation": Rotation.from_euler("x", 30, degrees=True).as_quat().tolist()},
            {"name": "hand", "translation": [0, 0, 0.2]},
        ],
        "accessors": [{"bufferView": k, "componentType": 5126, "count": 3, "type": kinds[k]} for k in range(3)],
        "bufferViews": views,
        "buffers": [{"byteLength": len(data), "uri": "data:application/octet-stream;base64,"
                     + base64.b64encode(data).decode()}],
        "animations": [{
            "channels": [{"sampler": 0, "target": {"node": 2, "path": "rotation"}},
                         {"sampler": 1, "target": {"node": 0, "path": "translation"}}],
            "samplers": [{"input": 0, "output": 1}, {"input": 0, "output": 2}],
        }],
    }  # fmt: skip
    return {**made, **changes}


def test_a_file_made_by_hand(tmp_path):
    path = tmp_path / "a.gltf"
    path.write_text(json.dumps(document()))
    motion = mk.read_motion(path, up="z")  # its own axes
    assert motion.times.tolist() == [0.0, 0.5, 1.0]
    fine = motion.resampled(8.0)
    turns = Rotation.from_euler("xyz", [(0, 0, 0), (40, 20, 0), (90, 0, 30)], degrees=True)
    hand = Rotation.from_euler("x", 30, degrees=True) * Slerp([0, 0.5, 1], turns)(fine.times)
    np.testing.assert_allclose(fine.poses("hand")[:, :3, :3], hand.as_matrix(), atol=1e-6)
    roots = np.stack(
        [np.interp(fine.times, [0, 0.5, 1], column) for column in ((0, 0.5, 1), (1, 1, 1.2), (0, 0, 0))], 1
    )
    arm = Rotation.from_euler("x", 30, degrees=True).apply((0, 0, 0.4))  # 0.2 m, twice as large
    np.testing.assert_allclose(fine.poses("hand")[:, :3, 3], roots + np.array([0, 0.5, 0]) + arm, atol=1e-6)
    up = mk.load(path)
    assert up.forward(up.home, "arm")[2, 3] == pytest.approx(1.5)


def test_what_is_written_is_read_again(clip, tmp_path):
    kyle = mk.load("kyle", base="floating")
    rng = np.random.default_rng(2)
    keys = [kyle.clip(kyle.home + 0.2 * rng.standard_normal(kyle.dof)) for _ in range(3)]
    for motion in (clip, mk.Motion(kyle, [0.0, 0.5, 1.0], keys)):
        back = mk.read_motion(motion.write(tmp_path / "a.glb"))
        assert len(back) == len(motion)
        bones = set(back.body.links) & set(motion.body.links)
        assert len(bones) >= 8 and {"Head", "left_hand"} & bones
        for link in bones - {"world"}:
            np.testing.assert_allclose(back.poses(link), motion.poses(link), atol=5e-6, err_msg=link)


@pytest.mark.parametrize(
    "changes",
    [
        {"asset": {"version": "1.0"}}, {"nodes": []}, {"nodes": [{"children": [0]}]}, {"nodes": [{"children": [1, 1]}, {}]},
        {"nodes": [{"scale": [1, 2, 1]}]}, {"nodes": [{"rotation": [0, 0, 0, 0]}]}, {"nodes": [{"matrix": [1] * 16}]},
        {"nodes": 3}, {"buffers": [{"uri": "../../etc/passwd"}]}, {"buffers": [{"uri": "/etc/passwd"}]},
        {"buffers": [{"uri": "http://example.com/a.bin"}]}, {"buffers": [{"uri": "data:,%%%"}]},
        {"accessors": [{"bufferView": 0, "componentType": 5126, "count": 10**9, "type": "SCALAR"}] * 3},
        {"accessors": []}, {"animations": [{}]}, {"skins": [{"joints": [9]}]}, {"nodes": [{"translation": [0, 0, 1e300]}]},
    ],
)  # fmt: skip
def test_what_is_wrong_is_told(tmp_path, changes):
    path = tmp_path / "a.gltf"
    path.write_text(json.dumps(document(**changes)))
    with pytest.raises(FormatError, match=r"a\.gltf|beside"):
        mk.read_motion(path)


def test_damaged_files(clip, tmp_path):
    """200 files with bytes lost or changed: a valid motion, or an error of memetik's own."""
    whole = bytes(clip.write(tmp_path / "a.glb").read_bytes())
    rng = random.Random(3)
    read = 0
    for k in range(200):
        data = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(data))
            match rng.randrange(3):
                case 0:
                    data[at] = rng.randrange(256)
                case 1:
                    del data[at : at + rng.choice([1, 4, 100])]
                case _:
                    data[at:at] = struct.pack("<f", float("nan"))
        path = tmp_path / f"{k}.glb"
        path.write_bytes(data)
        try:
            motion = mk.read_motion(path)
        except MemetikError as error:
            assert str(error)
        else:
            read += 1
            assert np.isfinite(motion.forward().array).all()
    assert 0 < read < 200


def test_channels_that_share_numbers_are_bounded(tmp_path):
    """A small file would take gigabytes: every channel has its own copy of the same keys."""
    count, nodes = 50_000, 210
    times, turns = np.arange(count, dtype="<f4"), np.tile(np.array([0, 0, 0, 1], "<f4"), (count, 1))
    data = times.tobytes() + turns.tobytes()
    made = document(
        nodes=[{"children": list(range(1, nodes))}, *({} for _ in range(1, nodes))],
        buffers=[{"uri": "data:;base64," + base64.b64encode(data).decode()}],
        bufferViews=[{"buffer": 0}, {"buffer": 0, "byteOffset": times.nbytes}],
        accessors=[{"bufferView": k, "componentType": 5126, "count": count, "type": ("SCALAR", "VEC4")[k]} for k in range(2)],
        animations=[{"samplers": [{"input": 0, "output": 1}],
                     "channels": [{"sampler": 0, "target": {"node": k, "path": "rotation"}} for k in range(nodes)]}],
    )  # fmt: skip
    path = tmp_path / "a.gltf"
    path.write_text(json.dumps(made))
    with pytest.raises(FormatError, match="keys"):
        mk.read_motion(path)
    made["animations"][0]["channels"] = made["animations"][0]["channels"][:1]
    made["skins"] = [{"joints": list(range(nodes))}]
    path.write_text(json.dumps(made))
    with pytest.raises(FormatError, match="transforms"):
        mk.read_motion(path)
