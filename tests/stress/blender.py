"""Rigs that Blender exports, read and compared with its own evaluation; and files written here, imported by Blender.

`python -m tests.stress.blender PYTHON [FOLDER]`: PYTHON is an interpreter that has bpy (`pip install bpy==5.0.1 "numpy<2"` on
Python 3.11), FOLDER what is kept of it. Six rigs (Mixamo, Unreal, Rigify, VRoid with both versions of VRM's map, CMU, anonymous),
BVH in every order of turns with and without the root alone moving, glTF in two containers with two actions. Then the same
motions, those of bundled bodies, and motions put into the exported files go back to Blender. Prints the largest errors; fails
above 1 mm, or 0.1 mm in bone lengths, or where there is not one armature with one action.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

import memetik as mk
from memetik.errors import MemetikWarning

SCRIPTS = Path(__file__).parents[1] / "blender"
PLACES, LENGTHS, SHORTEST = 1e-3, 1e-4, 2e-3  # m
Y_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])  # of rows
Z_AXES = {"axis_up": "Z", "axis_forward": "Y"}  # for Blender's importer of BVH
BODIES = ("kyle", "g1", "wolf", "panda")


def blender(python, script, *arguments):
    done = subprocess.run([python, SCRIPTS / script, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{script} failed:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")


def farthest(motion, frames, unit=1.0, turned=False):
    """How far bones are from where Blender has them, how much lengths of the others than slides change [m], what is missing."""
    names = [name for name in frames[0] if name in motion.body.links]
    wanted = unit * np.array([[frame[name] for name in names] for frame in frames]) @ (Y_UP if turned else np.eye(3))
    found = np.stack([motion.poses(name)[:, :3, 3] for name in names], axis=1)
    assert found.shape == wanted.shape, (found.shape, wanted.shape)
    stretch = 0.0
    for joint in motion.body.joints.values():
        if joint.kind == "spherical" and joint.parent in names and joint.child in names:
            a, b = names.index(joint.parent), names.index(joint.child)
            stretch = max(stretch, float(np.ptp(np.linalg.norm(found[:, a] - found[:, b], axis=1))))
    return float(np.linalg.norm(found - wanted, axis=2).max()), stretch, set(frames[0]) - set(names)


def read_all(folder):
    """Every exported file against the evaluation: the names of those that are wrong."""
    wrong = []
    for facts in sorted(folder.glob("*.json")):
        content = json.loads(facts.read_text())
        for name, own in content["files"].items():
            path = folder / name
            if own["kind"] == "bvh":
                motion = mk.read_motion(path)
                error, stretch, missing = farthest(motion, own["heads"], own["unit"], facts.stem == "mixamo")
            else:
                motion = mk.read_motion(path, animation="Dance")
                error, stretch, missing = farthest(motion, own["heads"])
                other, more, _ = farthest(mk.read_motion(path, animation="Wave"), own["Wave"])
                error, stretch = max(error, other), max(stretch, more)
                if path.suffix == ".vrm":
                    assert motion.body.parts["left_upper_arm"] == content["names"]["left_upper_arm"]
            assert mk.load(path).joint_names == motion.body.joint_names
            slides = sum(joint.kind == "floating" for joint in motion.body.joints.values()) - 1
            told = [f"{motion.body.read_as}; {slides} slide"] + ([f"not read: {sorted(missing)}"] if missing else [])
            if error > PLACES or stretch > LENGTHS or missing - {"MCH-prop"}:
                wrong.append(name)
                told.append("WRONG")
            print(f"{name}: {1e3 * error:.4f} mm, lengths {1e3 * stretch:.4f} mm, {', '.join(told)}", flush=True)
    return wrong


def wiggle(body, rng, frames=8):
    """Every joint sways within its limits."""
    size, start = rng.standard_normal(body.dof), rng.uniform(0.0, 6.0, body.dof)
    rows = [body.clip(body.home + 0.3 * size * np.sin(0.5 * k + start)) for k in range(frames)]
    return mk.Motion(body, np.arange(frames) / 24.0, rows, name=body.name)


def write_all(rigs, folder):
    """Motions of all kinds as files; the motion of each, by the name of its file, and what the importer has to know."""
    rng = np.random.default_rng(3)
    motions, told = {}, {}

    def add(path, motion, axes=None):
        motions[path.name] = motion
        told[path.name] = ((motion.times - motion.start).tolist(), axes or {})

    for name in BODIES:
        motion = wiggle(mk.load(name, base="fixed" if name == "panda" else "floating"), rng)
        for suffix in (".bvh", ".glb"):
            add(motion.write(folder / f"{name}{suffix}"), motion)
    for source in sorted([*rigs.glob("*_NATIVE.bvh"), *rigs.glob("*.glb"), *rigs.glob("*.vrm")]):
        motion = mk.read_motion(source)
        axes = Z_AXES if motion.body.read_as.startswith("z") else None
        for suffix in (".bvh", ".glb"):
            add(
                motion.write(folder / f"{source.stem}_again{suffix}"),
                motion,
                axes if suffix == ".bvh" else None,
            )
        if source.suffix == ".bvh":
            continue
        mine = mk.Motion(motion.body, motion.times, wiggle(motion.body, rng, len(motion)).q, name="mine")
        written = mine.write(folder / f"{source.stem}_into{source.suffix}", into=source)
        shutil.move(written, folder / f"{source.stem}_into.glb")  # Blender imports no .vrm without an extension
        add(folder / f"{source.stem}_into.glb", mine)
    (folder / "times.json").write_text(json.dumps(told))
    return motions


def compare(folder, motions):
    """What Blender imported against the motions: the names of files that are wrong."""
    wrong = []
    for name, own in json.loads((folder / "imported.json").read_text()).items():
        error = farthest(motions[name], own["heads"])[0] if own["heads"] else np.inf
        into = "_into" in name
        actions = any(action.startswith("mine") for action in own["actions"]) if into else len(own["actions"]) == 1
        good = (
            own["armatures"] == 1
            and actions
            and own["empties"] == 0
            and error < PLACES
            and own["shortest"][0] > SHORTEST
        )
        good = good and (name.endswith(".bvh") or own["meshes"] == own["modifiers"] == 1)
        wrong += [] if good else [name]
        told = f"{own['armatures']} armature, {own['empties']} empties, actions {own['actions']}, {own['modifiers']} skinned mesh"
        bones = (
            f"{len(own['heads'][0])} bones, shortest {1e3 * own['shortest'][0]:.1f} mm" if own["heads"] else "no bones"
        )
        print(f"{name}: {1e3 * error:.4f} mm, {told}, {bones}{'' if good else ', WRONG'}", flush=True)
    return wrong


def main(python, folder=None):
    warnings.simplefilter("error", MemetikWarning)
    with tempfile.TemporaryDirectory() as own:
        rigs = Path(folder or own) / "rigs"
        written = Path(folder or own) / "written"
        written.mkdir(parents=True, exist_ok=True)
        blender(python, "rigs.py", rigs)
        wrong = read_all(rigs)
        motions = write_all(rigs, written)
        blender(python, "imports.py", written, "kyle.glb", "mixamo_into.glb", "vroid_into.glb")
        wrong += compare(written, motions)
    if wrong:
        sys.exit(f"{len(wrong)} files are wrong: {', '.join(wrong)}")
    print("all files are right")


if __name__ == "__main__":
    main(*sys.argv[1:])
