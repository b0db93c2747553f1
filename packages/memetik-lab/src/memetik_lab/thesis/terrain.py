"""Feet placed on terrain while a character runs: Fig. 5.24 and 5.25 of the thesis, which allow 1 ms a frame.

The running clip was made for flat ground. Rays end at the soles from half a metre above: where one meets the ground, the foot
has sunk in and is put upon it; where none does, it keeps the pose of the clip. The thesis shows pictures only, of terrain and a
clip of its own; hills and gait here are ours.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import memetik as mk
from memetik.types import Array
from memetik_lab.harness import Report, Row, percent, progress, subplots

LIMIT, MORE = 1e-3, 1e-2  # s a frame: as published, and ten times that
SOLE = (0.2, 0.094)  # m
DEEP = 1e-3  # m that a sole may be in the ground
SHOWN = ("clip", "foot placer", "bioik", "bioik, mean", "memetic")  # in the plot
CALM = 0.01  # weight of the price on what differs from the clip
EVALUATIONS = 10_000_000  # time is what ends a solve ...
COUNTS = (200, 400, 1_000, 3_000)  # ... or so many evaluations


class Outcome(NamedTuple):
    """What one way made of the clip."""

    name: str
    q: Array  # (frames, joints)
    seconds: Array  # (frames,) of processor time
    evaluations: float = 0.0  # of a frame, mean, of those that are not in the air


Way = Callable[[Array], tuple[Array, int]]  # from a frame of the clip to one on the ground, and evaluations


def run(folder: Path, *, quick: bool = False, cycles: int | None = None) -> Report:
    """Measure, print, save and plot."""
    cycles = cycles or (2 if quick else 10)
    kyle, soles, clip, hills = _scene(cycles)
    report = Report(
        "terrain",
        f"Kyle runs {cycles} cycles, {len(clip)} frames, over hills of 6 cm. Foot placer: FootPlacer, frame by frame. bioik, "
        "memetic: a projection for each sole, with the clip's pose where the ray misses; every frame from that of the clip, "
        f"{LIMIT * 1e3:g} ms a frame unless the row says otherwise. Calm: and a price on what differs from the clip ({CALM:g}). "
        "Mean: a projection loses the mean of its two losses (eq. 4.11), not their root mean square. As published: by "
        "mk.solvers.BioIK.as_published, which has the mean as well. The whole body may "
        f"move for it, while the foot placer moves the legs alone. Sunk: frames with the middle of a sole more than "
        f"{DEEP * 1e3:g} mm in the ground. Differs: the largest change of a joint from the clip. Processor time of one thread. "
        "Evaluations: mean over the frames whose soles are not both where they should be from the start.",
        remarks=["Published: pictures of corrected feet with a timeout of 1 ms a frame, without numbers (Fig. 5.25)."],
    )
    on_hills = partial(_solver, kyle, hills, soles)
    mean = mk.solvers.BioIK(smooth_projection=False)
    ways: dict[str, Callable[[], Way]] = {
        "foot placer": lambda: _placer(kyle, hills, soles),
        "bioik": lambda: on_hills(lambda _: mk.solvers.BioIK()),
        "bioik, mean": lambda: on_hills(lambda _: mean),
        "bioik, mean, 10 ms": lambda: on_hills(lambda _: mean, limit=MORE),
        "bioik, as published": lambda: on_hills(mk.solvers.BioIK.as_published),
        "bioik, calm": lambda: on_hills(lambda _: mk.solvers.BioIK(), calm=CALM),
        "bioik, calm, 10 ms": lambda: on_hills(lambda _: mk.solvers.BioIK(), calm=CALM, limit=MORE),
        "memetic": lambda: on_hills(lambda _: mk.solvers.Memetic()),
        "memetic, calm": lambda: on_hills(lambda _: mk.solvers.Memetic(), calm=CALM),
    }
    for count in COUNTS:
        for label, solver, calm in (
            ("bioik", mk.solvers.BioIK(), 0.0), ("bioik, mean", mean, 0.0), ("bioik, calm", mk.solvers.BioIK(), CALM),
            ("bioik, mean, calm", mean, CALM),
        ):  # fmt: skip
            ways[f"{label}, {count:,} evaluations"] = partial(
                on_hills, lambda _, solver=solver: solver, calm=calm, limit=np.inf, most=count
            )
    outcomes = [Outcome("clip", clip.q, np.zeros(len(clip)))]
    outcomes += [_measure(name, make(), clip) for name, make in ways.items()]
    report.rows += [_row(kyle, soles, hills, clip, outcome) for outcome in outcomes]
    return report.publish(folder, lambda: _plot(kyle, soles, hills, outcomes))


def _scene(cycles: int) -> tuple[mk.Body, list[mk.Frame], mk.Motion, mk.objectives.HeightField]:
    kyle = mk.load("kyle", base="floating")
    soles = [kyle.frame(f"{side}_midfoot", offset=(0.03, 0.0, -0.095)) for side in ("left", "right")]
    phases: dict[str | mk.Frame, float] = {soles[0]: 0.0, soles[1]: 0.5}
    clip = mk.motion.gait(kyle, phases, stride=1.1, period=0.8, duty=0.35, height=0.15, tilt=0.9, cycles=cycles)
    far = 2.0 + 2.0 * cycles
    x, y = np.meshgrid(np.arange(-1.0, far, 0.1), np.linspace(-0.8, 0.8, 17), indexing="ij")
    hills = mk.objectives.HeightField(0.03 + 0.06 * np.sin(3.0 * x) * np.cos(4.0 * y), spacing=0.1, origin=(-1.0, -0.8))
    return kyle, soles, clip, hills


def _placer(kyle: mk.Body, hills: mk.objectives.HeightField, soles: list[mk.Frame]) -> Way:
    placer = mk.motion.FootPlacer(kyle, hills, soles, sole=SOLE)
    return lambda q: (np.asarray(placer(q).q), 0)


def _solver(
    kyle: mk.Body, hills: mk.objectives.HeightField, soles: list[mk.Frame], make: Callable[[mk.Problem], mk.solvers.Solver], *,
    calm: float = 0.0, limit: float | None = None, most: int = EVALUATIONS,
) -> Way:  # fmt: skip
    feet = [mk.Projection(sole, hills, lift=0.5, length=0.5, on_miss=np.eye(4)) for sole in soles]
    problem = mk.Problem(kyle, [*feet, mk.Displacement(weight=calm)] if calm else feet)
    solver, budget = make(problem), mk.Budget(evaluations=most, seconds=LIMIT if limit is None else limit)

    def solve(q: Array) -> tuple[Array, int]:
        for foot, sole in zip(feet, soles, strict=True):
            foot.pose = kyle.forward(q, sole)
        solution = solver.solve(problem, q, budget)
        return solution.q, solution.evaluations

    return solve


def _measure(name: str, way: Way, clip: mk.Motion) -> Outcome:
    way(clip.q[0])  # compiles
    found, seconds, evaluations = [], [], []
    for q in progress(clip.q, len(clip), name):
        begin = time.thread_time()
        placed, spent = way(q)
        seconds.append(time.thread_time() - begin)
        found.append(placed)
        evaluations.append(spent)
    counts = np.array(evaluations, dtype=np.float64)
    return Outcome(name, np.array(found), np.array(seconds), float(counts[counts > 1].mean()) if counts.any() else 0.0)


def _depths(kyle: mk.Body, soles: list[mk.Frame], hills: mk.objectives.HeightField, q: Array) -> Array:
    """How deep the soles are in the ground (frames, soles) [m], negative above it."""
    points = np.array([[kyle.forward(row, sole)[:3, 3] for sole in soles] for row in q])
    return np.array([[hills.beside(point)[0][2] - point[2] for point in row] for row in points])


def _row(
    kyle: mk.Body, soles: list[mk.Frame], hills: mk.objectives.HeightField, clip: mk.Motion, outcome: Outcome
) -> Row:
    depth = _depths(kyle, soles, hills, outcome.q)
    return {
        "way": outcome.name,
        "frames": len(outcome.q),
        "mean [us]": float(outcome.seconds.mean()) * 1e6,
        "p99 [us]": float(np.percentile(outcome.seconds, 99.0)) * 1e6,
        "evaluations": outcome.evaluations,
        "sunk [%]": percent(depth.max(axis=1) > DEEP),
        "deepest [mm]": max(0.0, float(depth.max())) * 1e3,
        "differs [deg]": float(np.degrees(np.abs(outcome.q - clip.q).max())),
    }


def _plot(kyle: mk.Body, soles: list[mk.Frame], hills: mk.objectives.HeightField, outcomes: list[Outcome]) -> Any:
    figure, axes = subplots(figsize=(9, 3.6))
    for outcome in outcomes:
        if outcome.name in SHOWN:
            axes.plot(1e3 * _depths(kyle, soles, hills, outcome.q).max(axis=1), lw=1.0, label=outcome.name)
    axes.axhline(0.0, color="black", lw=0.8)
    axes.set(xlabel="frame", ylabel="deepest sole in the ground [mm]")
    axes.legend(fontsize=8)
    return figure
