"""Files for animation programs: bones with lengths and skins, and animations put into files that are there."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest

import memetik as mk
from memetik.errors import FormatError
from memetik.read.gltf.container import GltfFile
from memetik.write.surfaces import octahedron, surface_of

FIGURE = Path(__file__).parents[1] / "blender" / "files" / "mixamo.gltf"


def moving(body, frames=4, seed=0):
    rng = np.random.default_rng(seed)
    return mk.Motion(
        body, np.arange(frames) / 24.0, body.home + 0.3 * rng.standard_normal((frames, body.dof)), name="mine"
    )


@pytest.fixture(scope="module")
def kyle():
    body = mk.load("kyle", base="floating")
    clip = moving(body)
    return clip.with_q([body.clip(q) for q in clip.q])


def ends_of_bones(text):
    """Length of every bone of a BVH as Blender sees it: to the end site, the child, or the mean of the children."""
    words = [line.split() for line in text.partition("MOTION")[0].splitlines()]
    children, stack, lengths = {}, [], {}
    for k, line in enumerate(words):
        if line[0] in ("ROOT", "JOINT", "End"):
            offset = np.array(words[k + 2][1:], dtype=float)
            if stack:
                children.setdefault(stack[-1], []).append(offset)
            stack.append(line[1] if line[0] != "End" else "")
        elif line[0] == "}":
            name = stack.pop()
            if name:
                lengths[name] = float(np.linalg.norm(np.mean(children[name], axis=0)))
    return lengths


def test_bones_of_a_bvh_have_a_length(kyle, tmp_path):
    """Blender sets bones that are shorter than 1 mm somewhere else; of Kyle's 48 were, of three axes of one joint each."""
    text = kyle.write(tmp_path / "kyle.bvh").read_text()
    lengths = ends_of_bones(text)
    assert len(lengths) > 50 and min(lengths.values()) > 2e-3
    turns = [line.split() for line in text.splitlines() if "CHANNELS" in line]
    assert {sum(word.endswith("rotation") for word in line) for line in turns} <= {0, 3}  # Blender reads no others


def test_a_glb_has_one_skin_of_all_bones(kyle, tmp_path):
    file = GltfFile(kyle.write(tmp_path / "kyle.glb"))
    document = file.document
    (skin,), (mesh,), (animation,) = (document[key] for key in ("skins", "meshes", "animations"))
    assert {channel["target"]["node"] for channel in animation["channels"]} <= set(skin["joints"])
    assert [k for k, node in enumerate(document["nodes"]) if "mesh" in node and node.get("skin") == 0] == [
        len(document["nodes"]) - 1
    ]
    primitive = mesh["primitives"][0]
    points = file.accessor(primitive["attributes"]["POSITION"], "VEC3")
    joints = file.accessor(primitive["attributes"]["JOINTS_0"], "VEC4")
    weights = file.accessor(primitive["attributes"]["WEIGHTS_0"], "VEC4")
    faces = file.accessor(primitive["indices"], "SCALAR")
    assert faces.max() == len(points) - 1 and joints.max() < len(skin["joints"]) and (weights.sum(axis=1) == 1.0).all()
    # A point of the mesh moves with its bone: bind matrix, then the node's pose, is where it was at rest.
    head = next(k for k, node in enumerate(document["nodes"]) if node["name"] == "head")
    own = points[joints[:, 0] == skin["joints"].index(head)]
    place = kyle.body.forward(kyle.body.home, "head")[:3, 3]
    assert np.abs(own.mean(axis=0) - [place[0], place[2], -place[1]]).max() < 0.25


@pytest.mark.parametrize(
    "shape",
    [
        mk.Shape("box", (0.1, 0.2, 0.3)), mk.Shape("sphere", (0.1,)), mk.Shape("capsule", (0.1, 0.4)),
        mk.Shape("cylinder", (0.1, 0.4), mk.transform((1, 2, 3), mk.euler(0.3, 0.2, 0.1))),
    ],
)  # fmt: skip
def test_surfaces_are_closed_and_face_outwards(shape):
    """Every edge has two faces, one in each direction, and the volume by the divergence theorem is right and positive."""
    surface = surface_of(shape)
    edges = [(a, b) for f in surface.faces.tolist() for a, b in zip(f, [*f[1:], f[0]], strict=True)]
    assert len(set(edges)) == len(edges) and {(b, a) for a, b in edges} == set(edges)
    a, b, c = (surface.vertices[surface.faces[:, k]] for k in range(3))
    volume = float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6.0
    r = 0.1
    ball, tube = 4.0 / 3.0 * np.pi * r**3, np.pi * r**2 * 0.4
    exact = {"box": 0.006, "sphere": ball, "capsule": ball + tube, "cylinder": tube}[shape.kind]
    assert 0.85 * exact < volume <= exact * (1.0 + 1e-9)


def test_octahedra_face_outwards():
    surface = octahedron(np.zeros(3), np.array([0.0, 0.3, 0.4]))
    a, b, c = (surface.vertices[surface.faces[:, k]] for k in range(3))
    assert (np.einsum("ij,ij->i", np.cross(b - a, c - a), (a + b + c) / 3.0 - [0.0, 0.1, 0.15]) > 0.0).all()


# ---- Into a file ---------------------------------------------------------------------------------------------


def as_glb(path, tmp_path, **more):
    """The figure as a .glb with content of its own: more chunks, extensions, and numbers of a mesh in its buffer."""
    import base64

    document = json.loads(path.read_text()) | more
    data = base64.b64decode(document["buffers"][0].pop("uri").partition(",")[2])
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    body = b"".join(
        struct.pack("<I4s", len(each), kind) + each
        for kind, each in ((b"JSON", text), (b"BIN\0", data), (b"MINE", b"\1\2\3\4"))
    )
    out = tmp_path / "figure.vrm"
    out.write_bytes(struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body)
    return out


def assert_same_motion(back, motion):
    for link in motion.body.links:
        np.testing.assert_allclose(back.poses(link), motion.poses(link), atol=2e-6, err_msg=link)


def test_into_a_vrm(tmp_path):
    """One animation more, the first; all else is as it was, and the buffer bit for bit."""
    source = as_glb(FIGURE, tmp_path, extensions={"VRM": {"meta": {"title": "Ägir"}}}, extras={"x": 0.1})
    motion = moving(mk.load(source))
    written = motion.write(tmp_path / "out.vrm", into=source)
    one, two = GltfFile(source), GltfFile(written)
    lists = ("animations", "accessors", "bufferViews", "buffers")
    assert {k: v for k, v in one.document.items() if k not in lists} == {
        k: v for k, v in two.document.items() if k not in lists
    }
    assert [each["name"] for each in two.document["animations"]] == ["mine", "Dance"]
    for key in ("accessors", "bufferViews"):
        assert two.document[key][: len(one.document[key])] == one.document[key]
    assert two.chunk(b"BIN\0").startswith(one.chunk(b"BIN\0")) and two.chunk(b"MINE") == one.chunk(b"MINE")
    assert_same_motion(mk.read_motion(written), motion)
    assert np.array_equal(mk.read_motion(written, animation="Dance").q, mk.read_motion(source).q)
    again = motion.write(written, into=written)  # in place, in place of the one of that name
    assert [each["name"] for each in GltfFile(again).document["animations"]] == ["mine", "Dance"]
    assert_same_motion(mk.read_motion(again), motion)


def test_into_a_gltf(tmp_path):
    (tmp_path / "figure.gltf").write_text(FIGURE.read_text())
    motion = moving(mk.load(tmp_path / "figure.gltf"), seed=1)
    written = motion.write(tmp_path / "out.gltf", into=tmp_path / "figure.gltf")
    assert_same_motion(mk.read_motion(written), motion)
    assert json.loads(written.read_text())["materials"] == json.loads(FIGURE.read_text())["materials"]


@pytest.mark.parametrize("scale", [[0.02, 0.01, 0.01], [-0.01, 0.01, 0.01]])
def test_into_a_figure_that_is_mirrored_or_stretched(tmp_path, scale):
    """Joints are where the motion has them, whatever the armature does to them."""
    document = json.loads(FIGURE.read_text())
    next(node for node in document["nodes"] if node["name"] == "Armature")["scale"] = scale
    source = tmp_path / "figure.gltf"
    source.write_text(json.dumps(document))
    motion = moving(mk.load(source), seed=2)
    back = mk.read_motion(motion.write(tmp_path / "out.gltf", into=source))
    for link in motion.body.links:
        np.testing.assert_allclose(back.poses(link)[:, :3, 3], motion.poses(link)[:, :3, 3], atol=5e-6, err_msg=link)


def test_what_cannot_be_put_into_a_file(kyle, tmp_path):
    body = mk.load(FIGURE)
    with pytest.raises(FormatError, match=r"no link 'mixamorig:Hips'.*mk\.retarget"):
        kyle.write(tmp_path / "a.gltf", into=FIGURE)
    with pytest.raises(FormatError, match="stand on its parent"):
        moving(mk.load(FIGURE, scale=2.0)).write(tmp_path / "a.gltf", into=FIGURE)
    with pytest.raises(FormatError, match=r"\.gltf"):
        moving(body).write(tmp_path / "a.glb", into=FIGURE)
    with pytest.raises(FormatError, match="into="):
        moving(body).write(tmp_path / "a.bvh", into=FIGURE)
    with pytest.raises(FormatError, match="cannot be read"):
        moving(body).write(tmp_path / "a.gltf", into=tmp_path / "none.gltf")
    with pytest.raises(FormatError):
        moving(body).write(tmp_path / "a.vrm")
