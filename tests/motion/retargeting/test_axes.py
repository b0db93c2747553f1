"""Skeletons of the same names whose bones have other axes, and skeletons that lie at rest."""

import json

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import memetik as mk

# A figure in a T-pose, y up, facing z: each bone with the one it hangs on and where it begins [m].
BONES = {
    "Hips": (None, (0.0, 0.93, 0.0)),
    "Spine": ("Hips", (0, 0.1, 0)),
    "Neck": ("Spine", (0, 0.4, 0)),
    "Head": ("Neck", (0, 0.1, 0)),
}
for side, s in (("Left", 1.0), ("Right", -1.0)):
    BONES |= {
        f"{side}Arm": ("Spine", (0.17 * s, 0.35, 0)), f"{side}ForeArm": (f"{side}Arm", (0.28 * s, 0, 0)),
        f"{side}Hand": (f"{side}ForeArm", (0.25 * s, 0, 0)), f"{side}UpLeg": ("Hips", (0.1 * s, -0.04, 0)),
        f"{side}Leg": (f"{side}UpLeg", (0, -0.42, 0)), f"{side}Foot": (f"{side}Leg", (0, -0.4, 0)),
        f"{side}ToeBase": (f"{side}Foot", (0, -0.05, 0.13)),
    }  # fmt: skip
FRAMES = 12


def walk(rng):
    """Rotations of each bone in the world, seen from the T-pose, and the places of the hips, y up."""
    turns = {}
    for k, (name, (parent, _)) in enumerate(BONES.items()):
        swing = 0.5 * np.sin(np.linspace(0.0, 3.0, FRAMES) + k)[:, None] * rng.normal(size=3)
        own = Rotation.from_rotvec((0.05 if name in ("Hips", "Spine") else 0.4) * swing).as_matrix()
        turns[name] = own if parent is None else turns[parent] @ own
    hips = np.tile((0.0, 0.93, 0.0), (FRAMES, 1))
    hips[:, 2] = np.linspace(0.0, 1.0, FRAMES)
    return turns, hips


def write_bvh(path, axes, turns, hips):
    """A BVH file of the walk, for bones with these axes at rest."""
    lines, columns = ["HIERARCHY"], []

    def bone(name, indent):
        parent, offset = BONES[name]
        at = offset if parent is None else axes[parent].T @ offset
        pad, kind = "  " * indent, "ROOT" if parent is None else "JOINT"
        lines.extend([f"{pad}{kind} {name}", pad + "{", f"{pad}  OFFSET {' '.join(map(str, at))}"])
        channels = "Zrotation Xrotation Yrotation"
        place = "6 Xposition Yposition Zposition " if parent is None else "3 "
        lines.append(f"{pad}  CHANNELS {place}{channels}")
        here = turns[name] @ axes[name]
        local = here if parent is None else np.swapaxes(turns[parent] @ axes[parent], 1, 2) @ here
        if parent is None:
            columns.append(hips)
        columns.append(Rotation.from_matrix(local).as_euler("ZXY", degrees=True))
        children = [each for each, (on, _) in BONES.items() if on == name]
        for child in children:
            bone(child, indent + 1)
        if not children:
            lines.extend([f"{pad}  End Site", pad + "  {", f"{pad}    OFFSET 0 0.001 0", pad + "  }"])
        lines.append(pad + "}")

    bone("Hips", 0)
    rows = [" ".join(f"{value:.9f}" for value in row) for row in np.hstack(columns)]
    path.write_text("\n".join([*lines, "MOTION", f"Frames: {FRAMES}", "Frame Time: 0.0333333", *rows, ""]))
    return path


def write_gltf(path, axes):
    """A skeleton in the T-pose whose bones have these axes."""
    place, nodes = {name: k for k, name in enumerate(BONES)}, []
    for name, (parent, offset) in BONES.items():
        turn = axes[name] if parent is None else axes[parent].T @ axes[name]
        at = np.array(offset, dtype=float) if parent is None else axes[parent].T @ offset
        node = {"name": name, "rotation": Rotation.from_matrix(turn).as_quat().tolist(), "translation": at.tolist()}
        children = [place[each] for each, (on, _) in BONES.items() if on == name]
        nodes.append(node | ({"children": children} if children else {}))
    scene = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": nodes}
    path.write_text(json.dumps(scene | {"skins": [{"joints": list(range(len(nodes)))}]}))
    return path


STRAIGHT = {name: np.eye(3) for name in BONES}


@pytest.mark.parametrize("kind", ["any", "hips", "rolled"])
def test_bones_of_one_name_with_other_axes_go_where_those_of_the_source_do(tmp_path, rng, kind):
    turns, hips = walk(rng)
    axes = dict(STRAIGHT)
    if kind == "any":
        axes = {name: Rotation.random(random_state=k).as_matrix() for k, name in enumerate(BONES)}
    elif kind == "hips":
        axes["Hips"] = Rotation.from_euler("x", 90, degrees=True).as_matrix()
    else:  # about their own length, as two exports of one rig differ
        axes["LeftArm"] = Rotation.from_euler("x", 20, degrees=True).as_matrix()
        axes["RightUpLeg"] = Rotation.from_euler("y", 15, degrees=True).as_matrix()
    motion = mk.read_motion(write_bvh(tmp_path / "walk.bvh", STRAIGHT, turns, hips))
    body = mk.load(write_gltf(tmp_path / "figure.gltf", axes))
    found = mk.retarget(motion, body, contacts=None, velocity_limits=None)
    for name in BONES:
        off = found.poses(name)[:, :3, 3] - motion.poses(name)[:, :3, 3]
        assert np.abs(off - off[0]).max() < 1e-3 and np.abs(off).max() < 2e-2, name


def test_feet_of_a_skeleton_that_lies_at_rest_move_as_those_of_the_source(tmp_path, rng):
    """How they lie on the floor is not known; they were turned by as much as the skeleton lies."""
    turns, hips = walk(rng)
    z_up = Rotation.from_euler("x", 90, degrees=True).as_matrix()
    path = write_bvh(tmp_path / "lies.bvh", dict.fromkeys(BONES, z_up.T), turns, hips)
    motion = mk.read_motion(path)
    found = mk.retarget(motion, mk.load(path), velocity_limits=None)
    assert any("no foot is held" in warning for warning in found.report.warnings)
    for name in BONES:
        assert np.abs(found.poses(name) - motion.poses(name)).max() < 1e-6, name
