"""Robots by the dozen that walk and wave as a person does, judged by their meshes and by finite differences.

`python -m tests.stress.retargeting PAGE.png FOLDER ...` takes every URDF and MuJoCo model in the folders that is a figure with
two legs or two arms, prints a line for each motion, and draws a page of them. The folders are those of installed packages, such
as example-robot-data, pybullet, dm_control, robosuite and gymnasium-robotics, or a copy of mujoco_menagerie. A robot whose
joints are too slow for the clip gets more time. Soles are measured by `tests.naive.retargeting`, with meshes read by trimesh: a
sole counts as on the floor if its lowest corner is within 2 mm of it in every frame in which its foot stands flat. Every figure
of each report is measured again. The last lines say how many robots there were, how many soles, how far reports are from what is
measured, and how many values are beyond limits.
"""

import re
import sys
import time
import warnings
from pathlib import Path

import numpy as np

import memetik as mk
from memetik.motion.clips.turns import quaternions_of_matrices, steady_turns
from memetik.motion.retargeting.figure import find_parts
from memetik_lab.claims.walker import walk
from tests.naive import retargeting as naive

NEAR = 0.002  # m
SURE = 0.98  # of frames
SHOWN = (0.15, 0.4, 0.65, 0.9)  # of a clip


def wave(body, seconds=2.5, rate=60.0):
    """A person lifts the right arm and waves with the forearm; the left one hangs."""
    times = np.arange(round(seconds * rate)) / rate
    q = np.tile(body.home, (len(times), 1))
    q[:, 2] = 0.495 * 1.75
    lifted = np.clip(times / 0.8, 0.0, 1.0)
    lifted = lifted * lifted * (3.0 - 2.0 * lifted)
    hangs = 0.5 * np.pi - 0.15

    def turn(link, rows):
        joint = next(joint for joint in body.joints.values() if joint.child == link)
        columns = [body.index(name) for name in joint.variables][-3:]
        q[:, columns] = steady_turns(joint.order, quaternions_of_matrices(np.array(rows)), body.home[columns])

    turn("LeftArm", [mk.rpy(-hangs, 0.0, 0.0) for _ in times])
    turn("RightArm", [mk.rpy(hangs * (1.0 - up) - 0.2 * up, 0.0, 0.0) for up in lifted])
    swings = -1.2 + 0.5 * np.sin(2.0 * np.pi * times)
    turn("RightForeArm", [mk.rpy(up * swing, 0.0, 0.0) for up, swing in zip(lifted, swings, strict=True)])
    return mk.Motion(body, times, q, name="wave")


def models(folders):
    """All model files, bundled bodies first."""
    found = [*mk.bodies.names()]
    for folder in folders:
        paths = sorted(path for path in Path(folder).rglob("*") if path.suffix in (".urdf", ".xml"))
        found += [path for path in paths if re.search(r"<(robot|mujoco)\b", path.read_text(errors="ignore")[:4000])]
    return found


def corners_of(body):
    """Reads the corners of a shape's mesh by trimesh."""
    import trimesh

    from memetik.read.resources import resolve_mesh

    def read(shape):
        path = resolve_mesh(shape.mesh, (), body.file)
        return np.asarray(trimesh.load(path, force="mesh").vertices) if path else np.empty((0, 3))

    return read


def judged(found):
    """The largest distance [m] of a flat sole from the floor and the depth of the deepest point; None where no shape tells."""
    off, depth = 0.0, 0.0
    for part, contact in found.standing.items():
        points = naive.feet_points(found.body, found.plan[part].link, corners_of(found.body))
        if not points:
            return None, None
        low = np.min([naive.lowest(found.body, found.q, each, own) for each, own in points.items()], axis=0)
        depth = max(depth, -float(low.min()))
        off = max(off, float(np.abs(low[contact.flat]).max(initial=0.0)))
    return off, depth


def retargeted(clip, body):
    """A motion within limits, with more time where joints are too slow for feet to stand; and how many times as long it is."""
    found = mk.retarget(clip, body)
    if found.standing and found.report.reached.mean() < SURE:
        found = mk.retarget(clip, body, velocity_limits="stretch")
    return found, found.duration / clip.duration


def main(page, folders):
    person = walk(2.2, 60.0)
    clips = {"walk": person, "wave": wave(person.body)}
    names, soles, passed, drawn, refused, apart = [], {}, 0, [], [], {}
    seen = set()
    for model in models(folders):
        name = model if isinstance(model, str) else "/".join((*model.parts[-4:-1], model.stem))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                body = mk.load(model)
                find_parts(body)
            except mk.MemetikError:
                continue  # no model, or no figure
            key = body.dof, tuple(body.links)  # scenes and variants of the same robot
            if key in seen:
                continue
            seen.add(key)
            for what, clip in clips.items():
                began = time.perf_counter()
                try:
                    found, longer = retargeted(clip, body)
                except mk.MemetikError as error:
                    refused.append(f"{name}: {error}")
                    print(f"{name:44s} {what}: {error}", flush=True)
                    break
                off, depth = judged(found)
                limits = naive.limit_violations(found.body, found.times, found.q)
                passed += sum(limits)
                own = naive.differences(clip, found, corners_of(found.body))
                apart = {each: max(own.get(each, 0.0), apart.get(each, 0.0)) for each in {**apart, **own}}
                if what == "walk" and off is not None and found.standing:
                    soles[name] = off, depth
                angle = np.degrees(np.mean([each.mean() for each in found.report.direction.values()]))
                sole = "no sole is known" if off is None else f"soles {1e3 * off:.2f} mm off, {1e3 * depth:.2f} deep"
                told = f", {longer:.1f} times as long" if longer > 1.001 else ""
                worst = max(own, key=own.get)
                print(
                    f"{name[-44:]:44s} {what}: limbs {angle:5.1f} deg off, {sole}, beyond limits {limits}{told}, "
                    f"report {own[worst]:.1e} off in {worst!r}, {time.perf_counter() - began:.1f} s", flush=True,
                )  # fmt: skip
                drawn.append((name, what, found))
            else:
                names.append(name)
    good = [name for name, (off, depth) in soles.items() if off <= NEAR and depth <= NEAR]
    print(f"{len(names)} robots walked and waved, {len(refused)} were refused; values beyond limits: {passed}")
    print(
        f"soles of {len(good)} of {len(soles)} robots within 2 mm of the floor; others: {sorted(set(soles) - set(good))}"
    )
    print("largest differences of reports from measurements:", {each: float(f"{apart[each]:.2g}") for each in apart})
    if page:
        draw(page, drawn)


def draw(page, drawn):
    """All motions as stick figures from the front left, four postures each."""
    import matplotlib.pyplot as plt

    columns = 8
    rows = -(-len(drawn) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(3.0 * columns, 1.9 * rows), squeeze=False)
    for axis in axes.ravel():
        axis.axis("off")
    for axis, (name, what, found) in zip(axes.ravel(), drawn, strict=False):
        poses = found.forward()
        size = max(float(np.ptp(np.stack([poses[link][0, :3, 3] for link in poses]), axis=0).max()), 1e-6)
        for k, share in enumerate(SHOWN):
            frame = int(share * (len(found) - 1))
            root = poses[found.plan.matches[0].link][frame, :3, 3] * (1.0, 1.0, 0.0)
            for joint in found.body.joints.values():
                ends = np.array([poses[link][frame, :3, 3] - root for link in (joint.parent, joint.child)]) / size
                if joint.parent == found.body.root and joint.kind == "floating":
                    continue
                across = 0.6 * ends[:, 0] - 0.8 * ends[:, 1] + 1.0 * k
                axis.plot(across, ends[:, 2], color=f"C{k}", linewidth=1.0)
        axis.axhline(0.0, color="0.6", linewidth=0.6)
        axis.set_aspect("equal")
        axis.set_title(f"{name} {what}"[-44:], fontsize=6)
    figure.tight_layout()
    figure.savefig(page, dpi=70)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "", sys.argv[2:])
