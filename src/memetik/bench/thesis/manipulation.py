"""A cube and a capsule turned between fingertips, arm and hand moving together: Fig. 5.14 and 5.15 of the thesis.

The Shadow hand is mounted on the PR2 in place of its wrist (17 joints, thumb and two fingers) and on the iiwa (16 joints,
thumb and one finger). The fingertips ride on the object. Weights are those of the thesis: positions 10, orientations 0.1
because tips may roll on the surface, and two guides for the shape of the arm, the wrist's orientation 0.5 and the elbow's
position 0.25. A third guide is ours: a price on the change from step to step, without which every method uses the freedom
that the others leave it to jump.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from memetik.bench.harness import Report, progress, pyplot
from memetik.bench.judge import SLACK
from memetik.bench.thesis.grasps import shadow_hand
from memetik.bench.thesis.mount import mount
from memetik.body import Body
from memetik.geometry import angle_between, axis_angle, euler, transform
from memetik.motion import track
from memetik.objectives import Displacement, Objective, Orientation, Position
from memetik.problem import Problem
from memetik.read.load import load
from memetik.solvers import Budget, solve
from memetik.types import Array

THUMB, FIRST, MIDDLE = "rh_thtip", "rh_fftip", "rh_mftip"
NAMES = {THUMB: "thumb", FIRST: "first finger", MIDDLE: "middle finger"}
WIDTH = 0.05  # m, of both objects between the fingers
APART = 0.022  # m between two fingers on one face
RATE, CYCLES = 100.0, 2  # steps a second as in the thesis
TOLERANCE = 1e-4  # m
CALM = 0.3  # weight of the price on change
BUDGET = Budget(seconds=1.0 / RATE)


class Scene(NamedTuple):
    """An object that turns between fingertips, and the tips' path for it."""

    label: str
    body: Body
    tips: tuple[str, ...]
    guides: tuple[Objective, ...]  # of the arm: wrist and elbow
    start: Array
    turn: Array  # (steps, 3) the object's rotation vector [rad]
    poses: Array  # (steps, tips, 4, 4) where the tips shall be


class Outcome(NamedTuple):
    """What one method made of a scene."""

    method: str
    path: Array  # (steps, joints)
    seconds: float  # a step
    position: Array  # (steps, tips) m
    orientation: Array  # (steps, tips) rad


def run(folder: Path, *, quick: bool = False, steps: int | None = None) -> Report:
    """Measure, print, save and plot. `steps`: of each of the two cycles."""
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
    drawn: list[Outcome] = []
    for scene in scenes:
        outcomes = [measure(scene, calm) for measure in (_track, _bioik) for calm in (False, True)]
        drawn.append(outcomes[1])
        report.rows += [_row(scene, outcome) for outcome in outcomes]
        report.remarks.append(_limits(scene, outcomes[1]))
    return report.publish(folder, lambda: _plot(scenes, drawn))


def cube_on_pr2(steps: int) -> Scene:
    """The hand's forearm sits where the PR2's own would; the cube turns about all three axes, one after the other."""
    arm = load("pr2").chain("torso_lift_link", "r_forearm_link")
    body = mount(arm, "r_forearm_link", shadow_hand(), transform(rotation=euler(0.0, 0.5 * math.pi, 0.0)))
    phase = np.linspace(0.0, 3.0 * CYCLES, CYCLES * steps)
    swing = math.radians(20.0) * np.sin(2.0 * math.pi * phase)
    turn = swing[:, None] * np.eye(3)[np.floor(phase).astype(np.int64) % 3]
    return _scene("cube, PR2", body, (THUMB, FIRST, MIDDLE), "r_elbow_flex_link", turn, level=False)


def capsule_on_iiwa(steps: int) -> Scene:
    """The hand hangs from the iiwa's flange; the capsule stands upright and turns about its axis."""
    body = mount(load("iiwa14").chain("base_link", "tool0"), "tool0", shadow_hand(), np.eye(4))
    swing = math.radians(30.0) * np.sin(2.0 * math.pi * np.linspace(0.0, CYCLES, CYCLES * steps))
    return _scene("capsule, iiwa", body, (THUMB, FIRST), "link_4", np.outer(swing, (0.0, 0.0, 1.0)), level=True)


def _scene(label: str, body: Body, tips: tuple[str, ...], elbow: str, turn: Array, *, level: bool) -> Scene:
    """Close the fingers on an object between them, then let their tips ride on it."""
    center, places = _contacts(body, tips, level=level)
    closing = [Position(tip, place, tolerance=1e-6) for tip, place in zip(tips, places, strict=True)]
    grasp = solve(Problem(body, [*closing, Displacement(weight=0.01)])).q
    at = body.forward(grasp)
    turns = np.array([_rotation(vector) for vector in turn])
    poses = np.tile(np.eye(4), (len(turn), len(tips), 1, 1))
    for k, tip in enumerate(tips):
        poses[:, k, :3, :3] = turns @ at[tip][:3, :3]
        poses[:, k, :3, 3] = center + turns @ (at[tip][:3, 3] - center)
    guides = (
        Orientation("rh_palm", at["rh_palm"][:3, :3], weight=0.5, tolerance=None),
        Position(elbow, at[elbow][:3, 3], weight=0.25, tolerance=None),
    )
    return Scene(label, body, tips, guides, grasp, turn, poses)


def _contacts(body: Body, tips: tuple[str, ...], *, level: bool) -> tuple[Array, list[Array]]:
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


def _problem(scene: Scene, calm: bool) -> tuple[Problem, dict[Objective, Array]]:
    """The tips' objectives with their paths, and the guides."""
    paths: dict[Objective, Array] = {}
    for k, tip in enumerate(scene.tips):
        paths[Position(tip, np.zeros(3), weight=10.0, tolerance=TOLERANCE)] = scene.poses[:, k, :3, 3]
        paths[Orientation(tip, np.eye(3), weight=0.1, tolerance=None)] = scene.poses[:, k, :3, :3]
    more = [Displacement(weight=CALM)] if calm else []
    return Problem(scene.body, [*paths, *scene.guides, *more]), paths


def _track(scene: Scene, calm: bool) -> Outcome:
    problem, paths = _problem(scene, calm)
    track(problem, {wish: path[:2] for wish, path in paths.items()}, start=scene.start)  # compiles
    found = track(problem, paths, start=scene.start, rate=RATE)
    name = "memetik track, calm" if calm else "memetik track"
    return _judge(scene, name, found.q, found.seconds / len(scene.poses))


def _bioik(scene: Scene, calm: bool) -> Outcome:
    problem, paths = _problem(scene, calm)
    solve(problem, scene.start, method="bioik", budget=BUDGET)  # compiles
    path, q, spent = [], scene.start, 0.0
    for k in progress(range(len(scene.poses)), len(scene.poses), scene.label):
        begin = time.perf_counter()
        for wish, targets in paths.items():
            wish.target = targets[k]  # type: ignore[attr-defined]
        q = solve(problem, q, method="bioik", budget=BUDGET).q
        spent += time.perf_counter() - begin
        path.append(q)
    return _judge(scene, "bioik, calm" if calm else "bioik", np.array(path), spent / len(path))


def _judge(scene: Scene, method: str, path: Array, seconds: float) -> Outcome:
    position, orientation = (np.full(scene.poses.shape[:2], np.inf) for _ in range(2))
    within = (path >= scene.body.lower - SLACK) & (path <= scene.body.upper + SLACK)
    for k in np.flatnonzero(within.all(axis=1)):
        reached = scene.body.forward(path[k])
        for j, tip in enumerate(scene.tips):
            position[k, j] = np.linalg.norm(reached[tip][:3, 3] - scene.poses[k, j, :3, 3])
            orientation[k, j] = angle_between(reached[tip][:3, :3], scene.poses[k, j, :3, :3])
    return Outcome(method, path, seconds, position, orientation)


def _row(scene: Scene, outcome: Outcome) -> dict[str, Any]:
    return {
        "scene": scene.label,
        "DoF": len(_problem(scene, False)[0].compiled.active),
        "method": outcome.method,
        "steps": len(outcome.path),
        "mean [us]": outcome.seconds * 1e6,
        "mean tip [mm]": float(outcome.position.mean()) * 1e3,
        "worst tip [mm]": float(outcome.position.max()) * 1e3,
        "below 1 mm [%]": 100.0 * float((outcome.position.max(axis=1) < 1e-3).mean()),
        "worst tip turn [deg]": math.degrees(float(outcome.orientation.max())),
        "largest step [deg]": math.degrees(float(np.abs(np.diff(outcome.path, axis=0)).max())),
        "published": "below 1 mm" if "capsule" in scene.label else "",
    }


def _limits(scene: Scene, outcome: Outcome) -> str:
    """Which joints come to rest at a limit on the way; the others have to make up for them."""
    body = scene.body
    touched = ((outcome.path <= body.lower + 1e-6) | (outcome.path >= body.upper - 1e-6)).mean(axis=0)
    moving = np.ptp(outcome.path, axis=0) > 1e-6
    at = [
        f"{body.joint_names[k]} ({100 * touched[k]:.1f} % of the time)" for k in np.flatnonzero((touched > 0) & moving)
    ]
    return f"{scene.label}, {outcome.method}: at a limit now and then: {', '.join(at) or 'no joint'}."


def _rotation(vector: Array) -> Array:
    angle = float(np.linalg.norm(vector))
    return axis_angle(vector, angle) if angle > 0.0 else np.eye(3)


def _plot(scenes: Sequence[Scene], outcomes: Sequence[Outcome]) -> Any:
    plt = pyplot()
    figure, axes = plt.subplots(3, 2, figsize=(10, 8), sharex=True, sharey="row", height_ratios=(1, 2.2, 1.4))
    for column, scene, outcome in zip(axes.T, scenes, outcomes, strict=True):
        times = np.arange(len(outcome.path)) / RATE
        for letter, style, angle in zip("xyz", ("-", "--", ":"), np.degrees(scene.turn).T, strict=True):
            column[0].plot(times, angle, style, color="C6", lw=1.0, label=f"about {letter}")
        column[0].set_title(f"{scene.label} ({outcome.method})", fontsize=10)
        moving = np.flatnonzero(np.ptp(outcome.path, axis=0) > 1e-6)
        drawn: set[str] = set()
        for k in moving:
            part, color = _part(scene.body.joint_names[k])
            label = None if part in drawn else part
            drawn.add(part)
            turned = np.degrees(outcome.path[:, k] - outcome.path[0, k])
            column[1].plot(times, turned, color=color, lw=1.0, label=label)
        for j, tip in enumerate(scene.tips):
            column[2].plot(
                times, np.maximum(outcome.position[:, j], 1e-9) * 1e3, lw=0.9, label=NAMES[tip], color=f"C{j}"
            )
        column[2].axhline(1.0, color="C6", lw=0.8, ls="--", label="1 mm (published for the capsule)")
        column[2].set(yscale="log", xlabel="time [s]", ylim=(1e-4, 2.0))
    for axis, label in zip(
        axes[:, 0], ("object [degrees]", "joints, from the start [degrees]", "tip error [mm]"), strict=True
    ):
        axis.set_ylabel(label)
    axes[0, 0].legend(fontsize=7, ncols=3, loc="upper right")
    axes[1, 0].legend(fontsize=7, ncols=5, loc="upper right")
    axes[2, 0].legend(fontsize=7, ncols=2, loc="lower right")
    figure.tight_layout()
    return figure


def _part(joint: str) -> tuple[str, str]:
    """The part of the robot that a joint belongs to, and its colour."""
    parts = {"rh_WR": ("wrist", "C1"), "rh_FF": ("first", "C2"), "rh_MF": ("middle", "C3"), "rh_TH": ("thumb", "C4")}
    return parts.get(joint[:5], ("arm", "C0"))
