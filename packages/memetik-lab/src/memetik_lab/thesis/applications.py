"""Two applications of the thesis as numbers: a welder over a surface (Fig. 5.34) and chords on a guitar (Fig. 5.35).

The thesis shows programs in virtual reality that people used, without figures. Here the same tasks are asked of the bodies of the
thesis: poses laid on a curved plate for a welder on the M-10iA, followed in order; and the fingers of the Shadow hand on the
strings of six chords, the hand free to come to the neck and nowhere in it, with guides that keep the fingers bent.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import memetik as mk
from memetik.geometry import pose_distance
from memetik.types import Array
from memetik_lab.contest import race
from memetik_lab.harness import Report, Row, percent, save_figure, subplots
from memetik_lab.judge import within
from memetik_lab.paths import Path as Followed
from memetik_lab.paths import followed, tracked
from memetik_lab.queries import Query, ask
from memetik_lab.thesis.clearance import distance_from, surface_points

WELDER = (0.0, 0.0, 0.3)  # m, the tip on the flange
WELD = (1e-4, 1e-3)  # m and rad
RATE = 100.0
PRESS = 1e-3  # m, how exactly a finger presses a string
BUDGET = mk.Budget(seconds=0.01)  # of a pose of the welder
CHORD_BUDGET = mk.Budget(seconds=0.1)
STRINGS, FRET, NECK = 0.0085, 0.032, 0.045  # m between strings and frets, and of the neck between thumb and strings
WOOD = mk.Shape(
    "box", (0.4, 0.05, 0.034), link_from_shape=mk.transform((-0.08, 0.021, -0.021))
)  # the neck; strings at z = 0
SUNK = 1e-4  # m, how far points on the hand may be in the neck, since cylinders are rounded at their rims
FINGERS = ("rh_fftip", "rh_mftip", "rh_rftip", "rh_lftip")
FINGER_COLORS = {"rh_ff": "C0", "rh_mf": "C1", "rh_rf": "C2", "rh_lf": "C3", "rh_th": "C4"}  # of the picture, by links
BENT = ("rh_ffmiddle", "rh_mfmiddle", "rh_rfmiddle", "rh_lfmiddle")
CHORDS: dict[str, tuple[tuple[int, float, float], ...]] = {  # finger, string from the thinnest, fret
    "C": ((0, 1, 1), (1, 3, 2), (2, 4, 3)),
    "G": ((0, 4, 2), (1, 5, 3), (2, 0, 3)),
    "D": ((0, 2, 2), (1, 0, 2), (2, 1, 3)),
    "Am": ((0, 1, 1), (1, 3, 2), (2, 2, 2)),
    "E": ((0, 2, 1), (1, 4, 2), (2, 3, 2)),
    "Em7": ((0, 4, 2), (1, 3, 2), (2, 1, 3), (3, 0, 3)),
}


Chord = tuple[tuple[int, float, float], ...]


class Played(NamedTuple):
    """A chord as it was pressed."""

    name: str
    body: mk.Body
    q: Array
    places: dict[str, Array]  # where the tips were wanted [m]


class Seam(NamedTuple):
    """Poses of the welder on the plate, and the body that holds it."""

    body: mk.Body
    tip: mk.Frame
    poses: Array  # (steps, 4, 4)


def run(folder: Path, *, quick: bool = False, steps: int | None = None) -> Report:
    """Measure, print, save and plot. `steps`: poses of the seam."""
    steps = steps or (200 if quick else 2_000)
    report = Report(
        "applications",
        f"Welder: the M-10iA with a tip {WELDER[2]:g} m before its flange, {steps} poses around a plate that is bent by "
        "10 cm, "
        f"the tip square to it, {WELD[0]:g} m and {WELD[1]:g} rad; every pose from the posture before, "
        "track in one call, bioik with "
        f"{BUDGET.seconds * 1e3:g} ms a pose. Chords: the Shadow hand with a free base, {len(CHORDS)} chords of three or four "
        f"fingers on a neck of {NECK * 100:g} cm, tips to {PRESS:g} m, the thumb behind the neck, all links but the last of each "
        "finger out of it, as guides the middle "
        f"links 3 cm above the strings; {CHORD_BUDGET.seconds * 1e3:g} ms a chord from the posture at "
        "rest. Judged by forward kinematics, limits, and points on the surface of the hand, which must be out of the neck.",
        remarks=["Published: programs in virtual reality, shown in pictures (Fig. 5.34 and 5.35), without numbers."],
    )
    seam = weld(steps)
    paths = _weld(seam)
    report.rows += [_welded(seam, path) for path in paths]
    rows, played = _play()
    report.rows += rows
    report.publish(folder, lambda: _plot(seam, paths))
    print("saved", *save_figure(_plot_chords(played), folder, "chords"))
    return report


def weld(steps: int) -> Seam:
    """Once around a plate that is bent like a hill; the tip's z axis points into it."""
    body = mk.load("m10ia")
    tip = body.frame("tool0", offset=WELDER)
    way = np.linspace(0.0, 1.0, steps)
    y = 0.25 * np.sin(2.0 * math.pi * way)
    x = 0.85 + 0.1 * np.cos(2.0 * math.pi * way)
    z, slope = 0.1 + 0.1 * np.cos(4.0 * y), -0.4 * np.sin(4.0 * y)
    poses = np.tile(np.eye(4), (steps, 1, 1))
    for k in range(steps):
        into = np.array([0.0, slope[k], -1.0]) / math.hypot(slope[k], 1.0)
        ahead = np.array([1.0, 0.0, 0.0])
        poses[k, :3, :3] = np.column_stack([ahead, np.cross(into, ahead), into])
        poses[k, :3, 3] = x[k], y[k], z[k]
    return Seam(body, tip, poses)


def _weld(seam: Seam) -> list[Followed]:
    pose = mk.Pose(seam.tip, seam.poses[0], position_tolerance=WELD[0], orientation_tolerance=WELD[1])
    problem = mk.Problem(seam.body, pose)
    targets: dict[mk.Objective, Array] = {pose: seam.poses}
    start = mk.solve(problem).q
    return [
        tracked("memetik track", problem, targets, start, RATE),
        followed("bioik", problem, targets, start, mk.solvers.BioIK(), BUDGET, "welder"),
    ]


def _welded(seam: Seam, path: Followed) -> Row:
    errors = np.array([
        pose_distance(seam.body.forward(q, seam.tip), pose) if within(seam.body, q) else (math.inf, math.inf)
        for q, pose in zip(path.q, seam.poses, strict=True)
    ])  # fmt: skip
    return {
        "application": "welder, Fig. 5.34",
        "method": path.method,
        "tasks": len(path.q),
        "solved [%]": percent((errors <= WELD).all(axis=1)),
        "mean [us]": path.seconds * 1e6,
        "worst [mm]": float(errors[:, 0].max()) * 1e3,
        "largest step [deg]": math.degrees(path.changes.max()),
    }


def _play() -> tuple[list[Row], list[Played]]:
    """All chords by two methods, and how the first of them pressed each; a chord of four fingers has a problem of its own."""
    rows: list[Row] = []
    played: dict[str, Played] = {}
    for method in ("memetic", "bioik"):
        hits, seconds, worst = [], [], 0.0
        for name, chord in CHORDS.items():
            body, wanted, targets = press(chord)
            problem = mk.Problem(body, wanted)
            (tally,) = race([ask(problem, method, CHORD_BUDGET)], [Query(targets, None)], f"chords, {method}", turn=1)
            q = tally.each("q")[0]
            off = [math.dist(body.forward(q, tip)[:3, 3], place) for tip, place in _places(chord).items()]
            played.setdefault(name, Played(name, body, q, _places(chord)))
            hits.append(within(body, q) and max(off) <= PRESS and above_wood(body, q) >= -SUNK)
            seconds.append(tally.seconds[0])
            worst = max(worst, max(off))
        rows.append({
            "application": "chords, Fig. 5.35", "method": method, "tasks": len(CHORDS), "solved [%]": percent(np.array(hits)),
            "mean [us]": float(np.mean(seconds)) * 1e6, "worst [mm]": worst * 1e3, "largest step [deg]": None,
        })  # fmt: skip
    return rows, list(played.values())


def _places(chord: Chord) -> dict[str, Array]:
    """Where the tips press: frets along x, strings along y, the strings' plane at z = 0, the thumb behind the neck.

    The hand is a right one, so the guitar is for left-handed people: seen from above with the nut on the right, the thinnest
    string is the furthest.
    """
    places = {
        FINGERS[finger]: np.array([-FRET * (fret - 0.5), STRINGS * (5 - string), 0.0]) for finger, string, fret in chord
    }
    middle = np.mean(list(places.values()), axis=0)
    return {**places, "rh_thtip": middle - (0.0, 0.0, NECK)}


def press(chord: Chord) -> tuple[mk.Body, list[mk.Objective], list[Array]]:
    """The hand, what is wanted of it, and where: fingertips and thumb, and guides for the middle links."""
    body = mk.load("shadow_hand").chain("thesis").with_base("floating", lower=-1.0, upper=1.0)
    places = _places(chord)
    tips = [mk.Position(tip, place, tolerance=PRESS) for tip, place in places.items()]
    above = [
        mk.Position(BENT[finger], places[FINGERS[finger]] + (0.0, 0.0, 0.03), weight=0.01, tolerance=None)
        for finger, _, _ in chord
    ]
    return body, [*tips, *above, mk.Distance(_hand(body), [WOOD])], list(places.values())


def _hand(body: mk.Body) -> list[str]:
    """Links that stay out of the neck: those that press it are the last of each finger."""
    return [name for name, link in body.links.items() if link.shapes and not name.endswith("distal")]


def above_wood(body: mk.Body, q: Array) -> float:
    """The least distance [m] of points on the hand from the neck, without the library's distances; below zero inside."""
    poses, least = body.forward(q), math.inf
    for link in _hand(body):
        for shape in body.links[link].shapes:
            wood_from_shape = np.linalg.inv(WOOD.link_from_shape) @ poses[link] @ shape.link_from_shape
            points = surface_points(shape) @ wood_from_shape[:3, :3].T + wood_from_shape[:3, 3]
            least = min(least, float(distance_from(WOOD, points).min()))
    return least


def _plot(seam: Seam, paths: list[Followed]) -> Any:
    figure, axes = subplots(figsize=(8, 3.6))
    for path in paths:
        axes.plot(np.arange(1, len(path.q)) / RATE, np.degrees(path.changes), lw=1.0, label=path.method)
    axes.set(xlabel="time [s]", ylabel="largest change of a joint [degrees a step]", yscale="log")
    axes.legend(fontsize=8)
    return figure


def _plot_chords(played: list[Played]) -> Any:
    """Each chord from above, where a tip stands on its string before its fret, and along the neck, with the thumb behind it."""
    figure, axes = subplots(2, len(played), figsize=(2.6 * len(played), 6.2), layout="constrained", sharey="row")
    frets, strings = -1e3 * FRET * np.arange(5), 1e3 * STRINGS * np.arange(6)
    middle, half = 1e3 * WOOD.link_from_shape[:3, 3], 500.0 * np.array(WOOD.size)
    for above, along, chord in zip(*axes, played, strict=True):
        above.vlines(frets, strings[0], strings[-1], color="0.6", lw=[3.0, 1.0, 1.0, 1.0, 1.0])
        above.hlines(strings, frets[-1], frets[0], color="0.75", lw=np.linspace(2.0, 0.6, 6))
        along.fill_between(
            middle[1] + half[1] * np.array([-1.0, 1.0]), middle[2] - half[2], middle[2] + half[2], color="0.85"
        )
        along.plot(strings, np.zeros(6), "o", color="0.6", ms=3.0)
        for view, across, up in ((above, 0, 1), (along, 1, 2)):
            for color, begin, end in _bones(chord):
                view.plot(
                    [begin[across], end[across]], [begin[up], end[up]], color=color, lw=2.0, solid_capstyle="round"
                )
            for tip, place in chord.places.items():
                color = FINGER_COLORS[tip[:5]]
                view.plot(*(1e3 * place[[across, up]]), "o", mec=color, mfc="none", ms=9.0)
                view.plot(*(1e3 * chord.body.forward(chord.q, tip)[[across, up], 3]), "o", color=color, ms=4.0)
            view.set_aspect("equal")
        above.set(title=chord.name, xlim=(-170.0, 50.0), ylim=(-40.0, 180.0), xlabel="along the neck [mm]")
        along.set(xlim=(-50.0, 170.0), ylim=(-130.0, 90.0), xlabel="across the strings [mm]")
    axes[0, 0].set_ylabel("from above: across the strings [mm]")
    axes[1, 0].set_ylabel("along the neck: height [mm]")
    return figure


def _bones(chord: Played) -> list[tuple[str, Array, Array]]:
    """Colour, begin and end [mm] of what lies between the joints of the hand."""
    points = {link: 1e3 * pose[:3, 3] for link, pose in chord.body.forward(chord.q).items()}
    return [
        (FINGER_COLORS.get(joint.child[:5], "0.3"), points[joint.parent], points[joint.child])
        for joint in chord.body.joints.values()
        if joint.child.startswith("rh_") and joint.parent.startswith("rh_")
    ]
