"""BVH: poses against a naive twin on SciPy, every order of channels, units and axes, and files that are wrong."""

import itertools
import math
import random

import numpy as np
import pytest

import memetik as mk
from memetik.errors import FormatError, MemetikError, MemetikWarning
from tests.naive.bvh import joint_positions
from tests.read.clips import CHANNELS, SKELETON, clip_text

pytestmark = pytest.mark.quick


@pytest.fixture
def write(tmp_path):
    def to(text, name="clip.bvh"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return to


def assert_as_naive(motion, text, turn, scale):
    names, places = joint_positions(text)
    poses = motion.forward()
    assert list(motion.body.links)[1:] == names
    for k, name in enumerate(names):
        np.testing.assert_allclose(poses[name][:, :3, 3], scale * places[:, k] @ np.transpose(turn), rtol=0, atol=1e-11)


Y_UP = [[1, 0, 0], [0, 0, -1], [0, 1, 0]]


def test_poses_are_those_of_the_naive_twin(write):
    text = clip_text(20, seed=1)
    motion = mk.read_motion(write(text), up="z", scale=1.0)
    assert len(motion) == 20 and motion.rate == pytest.approx(120.0, abs=1e-3)
    assert_as_naive(motion, text, np.eye(3), 1.0)


def test_up_and_scale(write):
    text = clip_text(3, seed=2)
    path = write(text)
    assert_as_naive(mk.read_motion(path, up="y", scale=0.05), text, Y_UP, 0.05)
    assert_as_naive(mk.read_motion(path, up="x", scale=1.0), text, [[0, 1, 0], [0, 0, 1], [1, 0, 0]], 1.0)


@pytest.mark.parametrize("order", list(itertools.permutations("XYZ")), ids="".join)
def test_every_order_of_channels(write, order):
    named = " ".join(f"{axis}rotation" for axis in order)
    skeleton = SKELETON.replace("Zrotation Yrotation Xrotation", named).replace(
        "Xposition Yposition Zposition", "Zposition Xposition Yposition"
    )
    text = clip_text(4, seed=3, skeleton=skeleton)
    assert_as_naive(mk.read_motion(write(text), up="z", scale=1.0), text, np.eye(3), 1.0)


def test_joints_of_few_channels(write):
    skeleton = SKELETON.replace("CHANNELS 3 Yrotation Xrotation Zrotation", "CHANNELS 1 Yrotation")
    skeleton = skeleton.replace("CHANNELS 3 Zrotation Xrotation Yrotation", "CHANNELS 2 Zrotation Xrotation")
    skeleton = skeleton.replace(
        "JOINT RightLeg\n\t\t{\n\t\t\tOFFSET -2.5 -7.1 0\n\t\t\tCHANNELS 3 Xrotation Yrotation Zrotation",
        "JOINT RightLeg\n\t\t{\n\t\t\tOFFSET -2.5 -7.1 0\n\t\t\tCHANNELS 6 Zposition Xposition Yposition "
        "Xrotation Yrotation Zrotation",
    )
    text = clip_text(4, seed=3, skeleton=skeleton, channels=CHANNELS)
    motion = mk.read_motion(write(text), up="z", scale=1.0)
    kinds = {name: joint.kind for name, joint in motion.body.joints.items()}
    assert kinds["Spine"] == "continuous" and kinds["RightLeg"] == "floating" and kinds["Head"] == "spherical"
    assert motion.body.lower[motion.body.index("Head.ry")] == motion.body.upper[motion.body.index("Head.ry")] == 0.0
    assert_as_naive(motion, text, np.eye(3), 1.0)


@pytest.mark.parametrize("line", ["\r\n", "\r", " \t\n\n"])
def test_line_ends(write, line):
    text = clip_text(3)
    plain, other = mk.read_motion(write(text)), mk.read_motion(write(clip_text(3, line=line), "other.bvh"))
    assert np.array_equal(plain.q, other.q)


def test_line_ends_of_two_kinds_in_one_file(write):
    text = clip_text(3)
    mixed = text[:300] + text[300:].replace("\n", "\r\n")
    assert np.array_equal(mk.read_motion(write(text)).q, mk.read_motion(write(mixed, "mixed.bvh")).q)


def test_joint_values_are_the_angles_of_the_file(write):
    text = clip_text(2, seed=5)
    motion = mk.read_motion(write(text), scale=0.01)
    first = np.array(text.splitlines()[-2].split(), dtype=float)
    assert motion.body.joint_names[:6] == ("Hips.x", "Hips.y", "Hips.z", "Hips.rz", "Hips.ry", "Hips.rx")
    np.testing.assert_allclose(motion[0][:3], 0.01 * first[:3], rtol=1e-15)
    np.testing.assert_allclose(motion[0][3:], np.radians(first[3:]), rtol=1e-15)


def test_the_skeleton_as_a_body(write):
    path = write(SKELETON)
    body = mk.load(path, scale=0.1)
    assert body.dof == CHANNELS and body.root == "world" and "Head_EndSite" in body.links
    assert body.forward(body.home)["Head_EndSite"][2, 3] == pytest.approx(1.0)  # (1 + 3 + 4 + 2) units, y up
    assert np.isinf(body.lower).all()
    assert {name for name, link in body.links.items() if not link.visuals} == {
        "world", "LeftLeg_EndSite", "RightLeg_EndSite", "Head_EndSite"
    }  # fmt: skip
    reach = mk.Position("Head_EndSite", (0.3, 0.2, 0.5))
    assert mk.solve(mk.Problem(body, [reach])).success
    with pytest.raises(FormatError, match=r"Frames"):
        mk.read_motion(path)


def test_names_that_are_there_twice(write):
    text = clip_text(2).replace("RightLeg", "LeftLeg")
    with pytest.warns(MemetikWarning, match="LeftLeg_2"):
        motion = mk.read_motion(write(text))
    assert "LeftLeg_2" in motion.body.links


@pytest.mark.parametrize(
    "change, complaint",
    [
        (("HIERARCHY", "HIERACHY"), "line 1: .*HIERARCHY"),
        (("ROOT Hips", "ROOT"), "line 2: a ROOT has no name"),
        (("OFFSET 0.5 1.0", "OFFSET 0.5"), "line 4: an OFFSET has three numbers"),
        (("OFFSET 0.5", "OFFSET nan"), "line 4: 'nan' is no number"),
        (("OFFSET 0.5", "OFFSET 1e300"), "line 4: '1e300' is too large"),
        (("CHANNELS 6", "CHANNELS 5"), "line 5: CHANNELS says '5', but 6 are named"),
        (("Xposition Yposition", "Xposition Xposition"), "line 5: channel 'Xposition' is there twice"),
        (("Xposition", "Wposition"), "line 5: 'Wposition' is no channel"),
        (("JOINT Spine", "ROOT Spine"), "a ROOT stands within a joint"),
        (("Frames: 5", "Frames: 6"), "'Frames: 6' is said, but 5 lines"),
        (("Frames: 5", "Frames: 999999999"), "has 999999999 frames"),
        (("Frames: 5", "Frames: -5"), "'Frames: NUMBER' was expected"),
        (("Frame Time: 0.0083333", "Frame Time: 0"), "with a number above zero"),
        (("Frame Time: 0.0083333", "Frame Time: inf"), "with a number above zero"),
        (("End Site", "End Of"), "is no line of a skeleton"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(write, change, complaint):
    with pytest.raises(FormatError, match=f"clip.bvh.*{complaint}"):
        mk.read_motion(write(clip_text(5).replace(*change, 1)))


@pytest.mark.parametrize("number", ["nan", "inf", "1_0", "1e999", "1,5", "0x1", "१", "1e", ".", "--1"])
def test_numbers_of_frames(write, number):
    lines = clip_text(5).splitlines()
    words = lines[-1].split()
    words[3] = number
    lines[-1] = " ".join(words)
    with pytest.raises(FormatError, match=f"line {len(lines)}"):
        mk.read_motion(write("\n".join(lines)))


def test_files_that_are_none(write, tmp_path):
    for content in (b"", b"\xff\xfe\x00", b"\0" * 100, b"HIERARCHY", SKELETON.encode()[:-3]):
        with pytest.raises(FormatError):
            mk.read_motion(write(content))
    for path in (tmp_path, tmp_path / "none.bvh", tmp_path / "clip.fbx"):
        with pytest.raises(FormatError):
            mk.read_motion(path)
    for wrong in ({"up": "w"}, {"up": 3}, {"scale": 0.0}, {"scale": math.nan}, {"scale": "cm"}):
        with pytest.raises(FormatError):
            mk.read_motion(write(clip_text()), **wrong)


def test_a_thousand_nested_joints_are_refused(write):
    deep = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 0\n"
    deep += "".join(f"JOINT b{k}\n{{\nOFFSET 0 1 0\nCHANNELS 0\n" for k in range(1000)) + "}\n" * 1001
    with pytest.raises(FormatError, match="in a row"):
        mk.load(write(deep))


def damaged(text, rng):
    """The text with a few accidents: bytes lost, doubled, changed, lines moved, words exchanged for hostile ones."""
    hostile = [
        "nan",
        "inf",
        "-1",
        "1e400",
        "{",
        "}",
        "ROOT",
        "JOINT",
        "End Site",
        "OFFSET",
        "CHANNELS",
        "MOTION",
        "\0",
        "é",
    ]
    for _ in range(rng.randint(1, 4)):
        at, end = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        end = min(end, at + rng.choice([1, 5, 80, 2000]))
        match rng.randrange(6):
            case 0:
                text = text[:at] + text[end:]
            case 1:
                text = text[:end] + text[at:]
            case 2:
                text = text[:at] + chr(rng.randrange(1, 300)) + text[at + 1 :]
            case 3:
                lines = text.split("\n")
                k, other = rng.randrange(len(lines)), rng.randrange(len(lines))
                lines[k], lines[other] = lines[other], lines[k]
                text = "\n".join(lines)
            case 4:
                words = text.split(" ")
                words[rng.randrange(len(words))] = rng.choice(hostile)
                text = " ".join(words)
            case _:
                text = text[:at]
    return text


def test_two_hundred_damaged_files(write):
    """Each gives a valid motion or an error of memetik's own, and both happen."""
    rng = random.Random(7)
    read = 0
    for k in range(200):
        try:
            motion = mk.read_motion(write(damaged(clip_text(5), rng), f"{k}.bvh"))
        except MemetikError as error:
            assert str(error)
        else:
            read += 1
            assert np.isfinite(motion.forward().array).all()
    assert 0 < read < 150
