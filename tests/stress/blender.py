"""Rigs that Blender exports, read and compared with its own evaluation; and files written here, imported by Blender.

`python -m tests.stress.blender PYTHON`: PYTHON is an interpreter that has bpy (`pip install bpy==5.0.1 "numpy<2"` on
Python 3.11). Six rigs (Mixamo, Unreal, Rigify, VRoid with both versions of VRM's map, CMU, anonymous), BVH in every order of
turns with and without the root alone moving, glTF in two containers with two actions. Prints the largest errors; fails above
1 mm, or 0.1 mm in bone lengths.
"""

import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

import memetik as mk

FOLDER = Path(__file__).parents[1] / "blender"
PLACES, LENGTHS = 1e-3, 1e-4  # m
Y_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])  # of rows


def blender(python, script, *arguments):
    done = subprocess.run([python, FOLDER / script, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{script} failed:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")


def expected_places(frames, names):
    """(frames, bones, 3)."""
    return np.array([[frame[name] for name in names] for frame in frames])


def errors(motion, frames, unit=1.0, turned=False):
    """How far bones are from where they should be, and how much lengths of those that do not slide change [m]."""
    names = [name for name in frames[0] if name in motion.body.links]
    wanted = unit * expected_places(frames, names) @ (Y_UP if turned else np.eye(3))
    found = np.stack([motion.poses(name)[:, :3, 3] for name in names], axis=1)
    assert found.shape == wanted.shape, (found.shape, wanted.shape)
    missing = set(frames[0]) - set(names)
    stretch = 0.0
    for joint in motion.body.joints.values():
        if joint.kind == "spherical" and joint.parent in names and joint.child in names:
            a, b = names.index(joint.parent), names.index(joint.child)
            stretch = max(stretch, float(np.ptp(np.linalg.norm(found[:, a] - found[:, b], axis=1))))
    return float(np.linalg.norm(found - wanted, axis=2).max()), stretch, missing


def read_all(folder):
    """Every exported file, against the evaluation."""
    worst = {}
    for facts in sorted(folder.glob("*.json")):
        content = json.loads(facts.read_text())
        for name, own in content["files"].items():
            path = folder / name
            if own["kind"] == "bvh":
                motion = mk.read_motion(path)
                turned = facts.stem == "mixamo"
                error, stretch, missing = errors(motion, own["heads"], own["unit"], turned)
                note = (
                    f"{motion.body.read_as}; {sum(j.kind == 'floating' for j in motion.body.joints.values()) - 1} slide"
                )
            else:
                motion = mk.read_motion(path, animation="Dance")
                error, stretch, missing = errors(motion, own["heads"])
                other, more, _ = errors(mk.read_motion(path, animation="Wave"), own["Wave"])
                error, stretch = max(error, other), max(stretch, more)
                note = motion.body.read_as
                body = mk.load(path)
                assert body.joint_names == motion.body.joint_names
                if path.suffix == ".vrm":
                    assert motion.body.parts["left_upper_arm"] == content["names"]["left_upper_arm"]
            worst[name] = error
            bad = error > PLACES or stretch > LENGTHS
            print(
                f"{'BAD ' if bad else ''}{name}: {1e3 * error:.4f} mm, lengths {1e3 * stretch:.4f} mm, {note}"
                + (f", not read: {sorted(missing)}" if missing else "")
            )
    return worst


def main(python, folder=None):
    warnings.simplefilter("error")
    with tempfile.TemporaryDirectory() as own:
        rigs = Path(folder or own)
        if folder is None:
            blender(python, "rigs.py", rigs)
        read_all(rigs)


if __name__ == "__main__":
    main(*sys.argv[1:])
