"""A cube and a capsule turned between fingertips, arm and hand moving together: Fig. 5.14 and 5.15 of the thesis.

The Shadow hand is mounted on the PR2 in place of its wrist (17 joints, thumb and two fingers) and on the iiwa (16 joints,
thumb and one finger). The fingertips ride on the object. Weights are those of the thesis: positions 10, orientations 0.1
because tips may roll on the surface, and two guides for the shape of the arm, the wrist's orientation 0.5 and the elbow's
position 0.25. A third guide is ours: a price on the change from step to step, without which every method uses the freedom
that the others leave it to jump.
"""

from __future__ import annotations

import math
import pathlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import memetik as mk
from memetik.geometry import TransformLike, as_transform, pose_distance
from memetik.types import Array
from memetik_lab.harness import Report, Row, percent, subplots
from memetik_lab.judge import within
from memetik_lab.paths import Path, Targets, followed, tracked
from memetik_lab.thesis.grasps import read_tips, shadow_hand

THUMB, FIRST, MIDDLE = "rh_thtip", "rh_fftip", "rh_mftip"
NAMES = {THUMB: "thumb", FIRST: "first finger", MIDDLE: "middle finger"}
WIDTH = 0.05  # m, of both objects between the fingers
APART = 0.022  # m between two fingers on one face
RATE, CYCLES = 100.0, 2  # steps a second as in the thesis
TOLERANCE = 1e-4  # m
CALM = 0.3  # weight of the price on change
TRACK, BIOIK = "memetik track", "bioik"
BUDGET = mk.Budget(seconds=1.0 / RATE)


class Scene(NamedTuple):
    """An object that turns between fingertips, and the tips' path for it."""

    label: str
    body: mk.Body
    tips: tuple[str, ...]
    guides: tuple[mk.Objective, ...]  # of the arm: wrist and elbow
    start: Array
    turn: Array  # (steps, 3) the object's rotation vector [rad]
    poses: Array  # (steps, tips, 4, 4) where the tips shall be


class Outcome(NamedTuple):
    """What one method made of a scene."""

    path: Path
    position: Array  # (steps, tips) m
    orientation: Array  # (steps, tips) rad


def run(
    folder: pathlib.Path, *, quick: bool = False, steps: int | None = None, data: pathlib.Path | None = None
) -> Report:
    """Measure, print, save and plot. `steps`: of each of the two cycles. `data`: a file of recorded paths of fingertips."""
    steps = steps or (90 if quick else 600)
    report = Report(
        "manipulation",
        f"Objects {WIDTH * 100:g} cm wide, {CYCLES} cycles of {steps} steps at {RATE:g} Hz. Cube: 20 degrees about x, y and "
        "z by turns. Capsule: 30 degrees about the vertical. Tips ride on the object: position (weight 10, "
        f"{TOLERANCE:g} m), orientation (weight 0.1, a guide); further guides: wrist orientation 0.5, elbow position 0.25, "
        f"and, where it says calm, change from step to step {CALM:g}. Every step from the one before; track takes the whole "
        f"path in one call, bioik is called step by step with {BUDGET.seconds * 1e3:g} ms. Errors by forward kinematics; a "
        "step outside the limits would count as infinite.",
        remarks=[
            "Published: no numbers for the cube (Fig. 5.14); for the capsule an error below 1 mm at 100 Hz (Fig. 5.15). The "
            "motions here are our own, so only the order of magnitude compares.",
            f"The weight {CALM:g} of the price on change was the calmest of 0.003, 0.03 and 0.3 on these same motions.",
        ],
    )
    scenes = [cube_on_pr2(steps), capsule_on_iiwa(steps)]
    if data is not None:
        scenes += [recorded(scene, data) for scene in scenes]
    drawn: list[Outcome] = []
    for scene in scenes:
        outcomes = [_measure(scene, method, calm) for method in (TRACK, BIOIK) for calm in (False, True)]
        drawn.append(outcomes[1])
        report.rows += [_row(scene, outcome) for outcome in outcomes]
        path = outcomes[1].path
        at = _limits(scene.body, path) or "no joint"
        report.remarks.append(f"{scene.label}, {path.method}: at a limit now and then: {at}.")
    return report.publish(folder, lambda: _plot(scenes, drawn))


def cube_on_pr2(steps: int) -> Scene:
    """The hand's forearm sits where the PR2's own would; the cube turns about all three axes, one after the other."""
    arm = mk.load("pr2").chain("torso_lift_link", "r_forearm_link")
    body = mount(arm, "r_forearm_link", shadow_hand(), mk.transform(rotation=mk.euler(0.0, 0.5 * math.pi, 0.0)))
    phase = np.linspace(0.0, 3.0 * CYCLES, CYCLES * steps)
    swing = math.radians(20.0) * np.sin(2.0 * math.pi * phase)
    turn = swing[:, None] * np.eye(3)[np.floor(phase).astype(np.int64) % 3]
    return _scene("cube, PR2", body, (THUMB, FIRST, MIDDLE), "r_elbow_flex_link", turn, level=False)


def capsule_on_iiwa(steps: int) -> Scene:
    """The hand hangs from the iiwa's flange; the capsule stands upright and turns about its axis."""
    body = mount(mk.load("iiwa14").chain("base_link", "tool0"), "tool0", shadow_hand(), np.eye(4))
    swing = math.radians(30.0) * np.sin(2.0 * math.pi * np.linspace(0.0, CYCLES, CYCLES * steps))
    return _scene("capsule, iiwa", body, (THUMB, FIRST), "link_4", np.outer(swing, (0.0, 0.0, 1.0)), level=True)


def recorded(scene: Scene, path: pathlib.Path) -> Scene:
    """The tips of a scene along recorded poses, or places, in the frame that the palm has when they begin (grasps.read_tips)."""
    poses, oriented = read_tips(path, scene.tips)
    at = scene.body.forward(scene.start)
    world = at["rh_palm"] @ poses
    for k, tip in enumerate(scene.tips):
        if not oriented:
            world[:, k, :3, :3] = at[tip][:3, :3]
    first = [mk.Position(tip, world[0, k, :3, 3], tolerance=1e-6) for k, tip in enumerate(scene.tips)]
    start = mk.solve(mk.Problem(scene.body, [*first, mk.Displacement(weight=0.01)]), scene.start).q
    label = f"{path.stem}, {scene.label.rpartition(' ')[2]}"
    return scene._replace(label=label, start=start, turn=np.zeros((len(world), 3)), poses=world)


def _scene(label: str, body: mk.Body, tips: tuple[str, ...], elbow: str, turn: Array, *, level: bool) -> Scene:
    """Close the fingers on an object between them, then let their tips ride on it."""
    center, places = _contacts(body, tips, level=level)
    closing = [mk.Position(tip, place, tolerance=1e-6) for tip, place in zip(tips, places, strict=True)]
    grasp = mk.solve(mk.Problem(body, [*closing, mk.Displacement(weight=0.01)])).q
    at = body.forward(grasp)
    turns = np.array([_rotation(vector) for vector in turn])
    poses = np.tile(np.eye(4), (len(turn), len(tips), 1, 1))
    for k, tip in enumerate(tips):
        poses[:, k, :3, :3] = turns @ at[tip][:3, :3]
        poses[:, k, :3, 3] = center + turns @ (at[tip][:3, 3] - center)
    guides = (
        mk.Orientation("rh_palm", at["rh_palm"][:3, :3], weight=0.5, tolerance=None),
        mk.Position(elbow, at[elbow][:3, 3], weight=0.25, tolerance=None),
    )
    return Scene(label, body, tips, guides, grasp, turn, poses)


def _contacts(body: mk.Body, tips: tuple[str, ...], *, level: bool) -> tuple[Array, list[Array]]:
    """The object's centre between thumb and fingers at home, and where each tip touches it: the thumb on one side, the
    fingers on the other. `level`: these sides are upright."""
    at = body.forward(body.home)
    thumb, *others = (at[tip][:3, 3] for tip in tips)
    across = np.mean(others, axis=0) - thumb
    center = thumb + 0.5 * across
    across = across * (1.0, 1.0, 0.0) if level else across
    across /= np.linalg.norm(across)
    along = others[0] - others[-1]
    along = along - across * (along @ across)
    along = along / max(float(np.linalg.norm(along)), 1e-9)
    shifts = (0.0,) if len(others) == 1 else (0.5 * APART, -0.5 * APART)
    touching = [center + 0.5 * WIDTH * across + shift * along for shift in shifts]
    return center, [center - 0.5 * WIDTH * across, *touching]


def _problem(scene: Scene, calm: bool) -> tuple[mk.Problem, Targets]:
    """The tips' objectives with their paths, and the guides."""
    paths: dict[mk.Objective, Array] = {}
    for k, tip in enumerate(scene.tips):
        paths[mk.Position(tip, np.zeros(3), weight=10.0, tolerance=TOLERANCE)] = scene.poses[:, k, :3, 3]
        paths[mk.Orientation(tip, np.eye(3), weight=0.1, tolerance=None)] = scene.poses[:, k, :3, :3]
    more = [mk.Displacement(weight=CALM)] if calm else []
    return mk.Problem(scene.body, [*paths, *scene.guides, *more]), paths


def _measure(scene: Scene, method: str, calm: bool) -> Outcome:
    problem, targets = _problem(scene, calm)
    name = f"{method}, calm" if calm else method
    if method == TRACK:
        return _judge(scene, tracked(name, problem, targets, scene.start, RATE))
    return _judge(scene, followed(name, problem, targets, scene.start, mk.solvers.BioIK(), BUDGET, scene.label))


def _judge(scene: Scene, path: Path) -> Outcome:
    errors = np.full((*scene.poses.shape[:2], 2), np.inf)
    for k, q in enumerate(path.q):
        if within(scene.body, q):
            reached = scene.body.forward(q)
            errors[k] = [
                pose_distance(reached[tip], pose) for tip, pose in zip(scene.tips, scene.poses[k], strict=True)
            ]
    return Outcome(path, *np.moveaxis(errors, 2, 0))


def _row(scene: Scene, outcome: Outcome) -> Row:
    return {
        "scene": scene.label,
        "DoF": len(_problem(scene, False)[0].compiled.active),
        "method": outcome.path.method,
        "steps": len(outcome.path.q),
        "mean [us]": outcome.path.seconds * 1e6,
        "mean tip [mm]": float(outcome.position.mean()) * 1e3,
        "worst tip [mm]": float(outcome.position.max()) * 1e3,
        "below 1 mm [%]": percent(outcome.position.max(axis=1) < 1e-3),
        "worst tip turn [deg]": math.degrees(float(outcome.orientation.max())),
        "largest step [deg]": math.degrees(outcome.path.changes.max()),
        "published": "below 1 mm" if "capsule" in scene.label else "",
    }


def _limits(body: mk.Body, path: Path) -> str:
    """Which joints come to rest at a limit on the way; the others have to make up for them."""
    touched = ((path.q <= body.lower + 1e-6) | (path.q >= body.upper - 1e-6)).mean(axis=0)
    touched[~_moving(path)] = 0.0
    return ", ".join(
        f"{name} ({100 * share:.1f} % of the time)"
        for name, share in zip(body.joint_names, touched, strict=True)
        if share
    )


def _moving(path: Path) -> NDArray[np.bool_]:
    return np.asarray(np.ptp(path.q, axis=0) > 1e-6)


def _rotation(vector: Array) -> Array:
    angle = float(np.linalg.norm(vector))
    return mk.axis_angle(vector, angle) if angle > 0.0 else np.eye(3)


def _plot(scenes: Sequence[Scene], outcomes: Sequence[Outcome]) -> Any:
    size = (5 * len(scenes), 8)
    figure, axes = subplots(3, len(scenes), figsize=size, sharex=True, sharey="row", height_ratios=(1, 2.2, 1.4))
    for (top, middle, below), scene, outcome in zip(axes.T, scenes, outcomes, strict=True):
        q = outcome.path.q
        times = np.arange(len(q)) / RATE
        for letter, style, angle in zip("xyz", ("-", "--", ":"), np.degrees(scene.turn).T, strict=True):
            top.plot(times, angle, style, color="C6", lw=1.0, label=f"about {letter}")
        top.set_title(f"{scene.label} ({outcome.path.method})", fontsize=10)
        drawn: set[str] = set()
        for k in np.flatnonzero(_moving(outcome.path)):
            part, color = _part(scene.body.joint_names[k])
            middle.plot(
                times, np.degrees(q[:, k] - q[0, k]), color=color, lw=1.0, label=None if part in drawn else part
            )
            drawn.add(part)
        for j, tip in enumerate(scene.tips):
            error = np.maximum(outcome.position[:, j], 1e-9) * 1e3
            below.plot(times, error, lw=0.9, label=NAMES[tip], color=f"C{j}")
        below.axhline(1.0, color="C6", lw=0.8, ls="--", label="1 mm (published for the capsule)")
        below.set(yscale="log", xlabel="time [s]", ylim=(1e-4, 2.0))
    labels = ("object [degrees]", "joints, from the start [degrees]", "tip error [mm]")
    for axis, label, columns, place in zip(axes[:, 0], labels, (3, 5, 2), ("upper", "upper", "lower"), strict=True):
        axis.set_ylabel(label)
        axis.legend(fontsize=7, ncols=columns, loc=f"{place} right")
    return figure


def _part(joint: str) -> tuple[str, str]:
    """The part of the robot that a joint belongs to, and its colour."""
    parts = {"rh_WR": ("wrist", "C1"), "rh_FF": ("first", "C2"), "rh_MF": ("middle", "C3"), "rh_TH": ("thumb", "C4")}
    return parts.get(joint[:5], ("arm", "C0"))


def mount(arm: mk.Body, link: str, tool: mk.Body, origin: TransformLike) -> mk.Body:
    """`tool` welded to a link of `arm`; `origin` is where its root stands on the link, link_from_root."""
    arm.frame(link)
    placed = as_transform(origin, name=f"origin of {tool.name} on {link}")
    weld = mk.build.Joint(f"{link}_holds_{tool.root}", "fixed", link, tool.root, placed)
    names, values = (*arm.joint_names, *tool.joint_names), (*arm.home, *tool.home)
    return mk.Body(
        f"{arm.name} with {tool.name}",
        [*arm.links.values(), *tool.links.values()],
        [*arm.joints.values(), weld, *tool.joints.values()],
        home=dict(zip(names, values, strict=True)),
        chains={**arm.chains, **tool.chains},
        touching=[tuple(pair) for pair in (*arm.touching, *tool.touching)],
    )
