"""A humanoid lifts and turns a box: Fig. 5.10 of the thesis.

Valkyrie holds a box between its hands. Palms and fingertips ride on it, the head looks at its centre, both feet stay on the
ground, the pelvis is free, and segments of the body keep apart from each other and from the box. To move the box is to move
the robot: every posture starts from the one before.
"""

from __future__ import annotations

import math
import pathlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import memetik as mk
from memetik.geometry import invert, pose_distance
from memetik.types import Array
from memetik_lab.harness import Report, Row, bars, beside, percent, subplots
from memetik_lab.judge import within
from memetik_lab.paths import Path, Targets, followed, tracked
from memetik_lab.thesis.clearance import distance_from, surface_points
from memetik_lab.thesis.manipulation import mount

SIDES, FINGERS = ("left", "right"), ("Thumb", "IndexFinger", "MiddleFinger", "Pinky")
PALMS = tuple(f"{side}Palm" for side in SIDES)
TIPS = tuple(f"{side}{finger}Pitch3Link" for side in SIDES for finger in FINGERS)
FEET = tuple(f"{side}Foot" for side in SIDES)
LIMBS = ("ShoulderRollLink", "ElbowPitchLink", "ForearmLink", "Palm", "HipPitchLink", "KneePitchLink")
SEGMENTS = ("torso", "head", "pelvis", *(f"{side}{limb}" for side in SIDES for limb in LIMBS))
BESIDE_BOX = ("torso", "pelvis", *(f"{side}{limb}" for side in SIDES for limb in LIMBS[-2:]))
BOX = (0.22, 0.30, 0.20)  # m: deep, wide, high
CENTER = np.array([0.45, 0.0, -0.05])  # m, from where the pelvis stands at home
BALL = 0.14  # m, radius of what the body keeps off in the middle of the box
POSITION, ORIENTATION, GAZE = 1e-4, 1e-3, 2e-3  # m, rad, rad: as in Table 5.4
RATE, CALM = 100.0, 0.1
PUBLISHED = 820.0  # us a posture
TRACK, LOOSE, BIOIK = "memetik track", "memetik track, without distances", "bioik"
BUDGET = mk.Budget(seconds=1.0 / RATE)


class Scene(NamedTuple):
    """A box on its way, and what the robot does for it."""

    body: mk.Body
    start: Array  # the grasp
    box: Array  # (steps, 4, 4)
    grips: dict[str, Array]  # (steps, 4, 4) of palms and fingertips
    feet: dict[str, Array]  # (4, 4)
    distances: tuple[mk.Objective, ...]
    problem: mk.Problem
    targets: Targets


def run(folder: pathlib.Path, *, quick: bool = False, steps: int | None = None) -> Report:
    """Measure, print, save and plot."""
    steps = steps or (100 if quick else 1_000)
    scene = lifting(steps)
    loose = lifting(steps, distances=False)
    pairs = next(wish.pairs for wish in scene.distances if isinstance(wish, mk.SelfDistance))
    report = Report(
        "lifting",
        f"Valkyrie, {steps} postures: a box of {' x '.join(f'{100 * size:g}' for size in BOX)} cm goes down by 40 cm and up by "
        "65, is tilted by 17 degrees each way and turned by 29. Poses of two palms and eight fingertips ride on it, both feet "
        f"stay, {POSITION:g} m and {ORIENTATION:g} rad each; gaze on its centre, {GAZE:g} rad; pelvis free. Distances: "
        f"{len(pairs)} pairs of segments, and legs and trunk from a ball in the box. A price on change from step to step "
        f"(weight {CALM:g}). track takes the whole path in one call, bioik is called step by step with {BUDGET.seconds * 1e3:g} "
        "ms. "
        "Reached: forward kinematics finds all tips and feet in place, and limits are kept. Apart: the least distance of two "
        "segments in 50 of the postures, by points on their surfaces, without the library's distances.",
        remarks=[
            "Published: 0.82 ms a posture, free of self-collisions (section 5.5); the motion here is our own, and so is the box.",
            "Distances are computed at every posture, but nothing comes near enough in this motion to change it.",
        ],
    )
    paths = [
        tracked(TRACK, scene.problem, scene.targets, scene.start, RATE),
        tracked(LOOSE, loose.problem, loose.targets, loose.start, RATE),
        followed(BIOIK, scene.problem, scene.targets, scene.start, mk.solvers.BioIK(), BUDGET, "lifting"),
    ]
    report.rows += [_row(scene, path, pairs) for path in paths]
    return report.publish(folder, lambda: _plot(scene, paths, report))


def lifting(steps: int, *, distances: bool = True) -> Scene:
    """The scene: a grasp, from which everything rides on the box."""
    body = mk.load("valkyrie").with_base("floating", lower=-1.0, upper=1.0)
    start = grasp(body)
    at = body.forward(start)
    box = way_of_the_box(steps)
    holding = {tip: box @ invert(mk.translation(*CENTER)) @ at[tip] for tip in (*PALMS, *TIPS)}
    targets: dict[mk.Objective, Array] = {_pose(tip, path[0]): path for tip, path in holding.items()}
    targets[mk.LookAt("head", CENTER, tolerance=GAZE)] = box[:, :3, 3]
    feet = {foot: at[foot] for foot in FEET}
    apart = mk.SelfDistance(body, SEGMENTS)
    clear = mk.Distance(BESIDE_BOX, [(*CENTER, BALL)])
    balls = np.concatenate([box[:, :3, 3], np.full((steps, 1), BALL)], axis=1)[:, None]
    more: tuple[mk.Objective, ...] = (apart, clear) if distances else ()
    wanted = [*targets, *(_pose(foot, pose) for foot, pose in feet.items()), *more, mk.Displacement(weight=CALM)]
    if distances:
        targets[clear] = balls
    return Scene(body, start, box, holding, feet, more, mk.Problem(body, wanted), targets)


def grasp(body: mk.Body) -> Array:
    """Palms along the sides of the box, fingers on them, thumbs on its top."""
    at = body.forward(body.home)
    top, half = CENTER[2] + 0.5 * BOX[2], 0.5 * BOX[1]
    wanted: list[mk.Objective] = [_pose(foot, at[foot]) for foot in FEET]
    for side, out in zip(SIDES, (1.0, -1.0), strict=True):
        palm = np.array([(0.0, out, 0.0), (-out, 0.0, 0.0), (0.0, 0.0, 1.0)])  # its x axis looks at the box
        wanted.append(_pose(f"{side}Palm", mk.transform((CENTER[0] - 0.07, out * (half + 0.018), top - 0.045), palm)))
        wanted.append(mk.Touch(f"{side}ThumbPitch3Link", (0.0, 0.0, top), (0.0, 0.0, 1.0), tolerance=POSITION))
        wanted += [
            mk.Touch(f"{side}{finger}Pitch3Link", (0.0, out * half, 0.0), (0.0, out, 0.0), tolerance=POSITION)
            for finger in FINGERS[1:]
        ]
    gaze = mk.LookAt("head", CENTER, tolerance=GAZE)
    return mk.solve(mk.Problem(body, [*wanted, gaze, mk.Displacement(weight=0.01)])).q


def way_of_the_box(steps: int) -> Array:
    """Down, up, turned and tilted, and back (steps, 4, 4), at rest at each of these."""
    phase = np.linspace(0.0, 4.0, steps)
    part = np.minimum(phase.astype(np.int64), 3)
    share = phase - part
    share = share**2 * (3.0 - 2.0 * share)

    def through(*values: float) -> Array:
        stops = np.array(values)
        return np.asarray(stops[part] + share * (stops[part + 1] - stops[part]))

    height = through(CENTER[2], -0.45, 0.2, 0.2, CENTER[2])
    tilt, turn = through(0.0, 0.0, 0.3, -0.3, 0.0), through(0.0, 0.0, 0.0, 0.5, 0.0)
    return np.array([
        mk.transform((*CENTER[:2], z), mk.euler(0.0, 0.0, yaw) @ mk.euler(roll, 0.0, 0.0))
        for z, yaw, roll in zip(height, turn, tilt, strict=True)
    ])  # fmt: skip


def holding_the_box(body: mk.Body, start: Array) -> mk.Body:
    """The body with the box in its hands, for pictures."""
    box = mk.Body("box", [mk.build.Link("box", shapes=(mk.Shape("box", BOX),))], [])
    return mount(body, PALMS[0], box, invert(body.forward(start)[PALMS[0]]) @ mk.translation(*CENTER))


def _pose(link: str, target: Array) -> mk.Pose:
    return mk.Pose(link, target, position_tolerance=POSITION, orientation_tolerance=ORIENTATION)


def _judge(scene: Scene, path: Path) -> tuple[Array, Array]:
    """Position [m] and rotation [rad] errors (steps, tips and feet); infinite where limits are broken."""
    errors = np.full((len(path.q), len(scene.grips) + len(scene.feet), 2), np.inf)
    for k, q in enumerate(path.q):
        if within(scene.body, q):
            at = scene.body.forward(q)
            wanted = {**{tip: poses[k] for tip, poses in scene.grips.items()}, **scene.feet}
            errors[k] = [pose_distance(at[link], pose) for link, pose in wanted.items()]
    return errors[..., 0], errors[..., 1]


def _row(scene: Scene, path: Path, pairs: Sequence[tuple[str, str]]) -> Row:
    position, orientation = _judge(scene, path)
    reached = (position <= POSITION).all(axis=1) & (orientation <= ORIENTATION).all(axis=1)
    some = path.q[:: max(len(path.q) // 50, 1)]
    return {
        "method": path.method,
        "DoF": len(scene.problem.compiled.active),
        "mean [us]": path.seconds * 1e6,
        "processor [us]": path.processor * 1e6,
        "reached [%]": percent(reached),
        "worst tip [mm]": float(position.max()) * 1e3,
        "worst turn [deg]": math.degrees(float(orientation.max())),
        "apart [mm]": min(self_clearance(scene.body, q, pairs) for q in some) * 1e3,
        "largest step [deg]": math.degrees(path.changes.max()),
        "published [us]": PUBLISHED,
        "published / processor": PUBLISHED / (path.processor * 1e6),
    }


def self_clearance(body: mk.Body, q: Array, pairs: Sequence[tuple[str, str]]) -> float:
    """The least distance [m] between the shapes of pairs of links, by points on the surface of the first, 1 to 2 cm apart."""
    at = body.forward(q)
    least = math.inf
    for a, b in pairs:
        for shape in body.links[a].shapes:
            points = surface_points(shape)
            world_from_a = at[a] @ shape.link_from_shape
            seen = points @ world_from_a[:3, :3].T + world_from_a[:3, 3]
            for other in body.links[b].shapes:
                world_from_b = at[b] @ other.link_from_shape
                inside = (seen - world_from_b[:3, 3]) @ world_from_b[:3, :3]
                least = min(least, float(distance_from(other, inside).min()))
    return least


def _plot(scene: Scene, paths: Sequence[Path], report: Report) -> Any:
    figure, (left, middle, right) = subplots(1, 3, figsize=(14, 4), layout="constrained")
    times = np.arange(len(scene.box)) / RATE
    left.plot(times, scene.box[:, 2, 3] - CENTER[2], label="box: height [m]")
    left.plot(times, np.arctan2(scene.box[:, 1, 0], scene.box[:, 0, 0]), label="box: turned [rad]")
    left.plot(times, np.arcsin(scene.box[:, 2, 1]), label="box: tilted [rad]")
    pelvis = scene.body.forward(paths[0].q, "pelvis")[:, 2, 3]
    left.plot(times, pelvis - pelvis[0], "--", label="pelvis: height [m]")
    left.set(xlabel="time [s]", title="the box, and the pelvis that nobody moved")
    left.legend(fontsize=8)
    for path, color in zip((paths[2], paths[0]), ("C1", "C0"), strict=True):
        worst = np.maximum(_judge(scene, path)[0].max(axis=1), 1e-7) * 1e3
        middle.plot(times, worst, lw=0.9, color=color, label=path.method)
    middle.axhline(POSITION * 1e3, color="C6", lw=0.8, ls="--", label="tolerance")
    middle.set(yscale="log", xlabel="time [s]", ylabel="worst tip or foot [mm]", title="how far tips and feet are off")
    middle.legend(fontsize=8)
    labels = ["Bio IK, published", *(path.method for path in paths)]
    values = [PUBLISHED, *(path.processor * 1e6 for path in paths)]
    places = bars(right, labels, {"time": values}, 0.6, color=["C0"])
    beside(right, values, places[0], [f"{value:.0f} µs" for value in values])
    right.set(xscale="log", xlabel="mean processor time of a posture [µs]", title="time")
    right.set_xlim(right=6.0 * max(values))
    return figure
