"""Motions of people on a robot: frames a second, cost, sliding, penetration and jerk, beside the scheme of GMR."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

import memetik as mk
from memetik.errors import ProblemError
from memetik.types import Array
from memetik_lab.claims.gmr import Gmr, Original, available, installed, plan_of
from memetik_lab.claims.walker import HEIGHT, walk
from memetik_lab.harness import Report, Row, progress

ROBOT = "g1"
HEADINGS = 12
UNITS = {"cmu": 0.05644}  # m; files whose name begins so are in the units of that database, all others in centimetres


def run(folder: Path, *, quick: bool = False, data: Path | None = None, peers: bool = True) -> Report:
    """Measure, print and save. `data`: a .bvh file, or a folder of them."""
    body = mk.load(ROBOT)
    theirs = available() and bool(peers)
    clips = [walk(2.0 if quick else 10.0, 120.0)]
    clips += [_turned(clips[0], 2.0)]
    clips += [_read(path) for path in _files(data)]
    report = Report(
        "retarget",
        f"{ROBOT}, one thread, processor time. same targets: both solve for the targets and weights of GMR's second stage, "
        "and cost is the mean over frames of the sum of (weight times error)^2. GMR's scheme: its two stages on mink, up to 11 "
        "quadratic programs each, without what GMR does besides; GMR: itself, where it is installed. with contacts: the plan "
        "that memetik makes by itself, feet held where they stand. Sliding: of the stillest point of a sole while the foot of "
        "the source stands. The first frame, in which GMR still comes from zeros, does not count in the cost. To build a "
        "problem, or GMR, is not counted.",
        remarks=[]
        if theirs
        else ["GMR was not measured: its scheme needs mink and mujoco (pip install memetik[peers])."],
    )
    if theirs and not installed():
        report.remarks.append("GMR itself was not measured: it is not on PyPI; put its folder on PYTHONPATH.")
    for clip in progress(clips, len(clips), "clips"):
        report.rows += _rows(clip, body, theirs)
    turned = [mk.retarget(_turned(clips[0], k * 2.0 * np.pi / HEADINGS), body).q[:, 6:] for k in range(HEADINGS)]
    apart = float(np.abs(np.array(turned) - turned[0]).max())
    report.remarks.append(f"{clips[0].name} in {HEADINGS} headings: no joint differs by more than {apart:.1e} rad.")
    return report.publish(folder)


def _rows(clip: mk.Motion, body: mk.Body, theirs: bool) -> list[Row]:
    plan = mk.motion.retarget_plan(clip, body)
    stages = plan_of(plan, 0, HEIGHT), plan_of(plan, 1, HEIGHT)
    for each, contacts in (
        (stages[1], None),
        (plan, "auto"),
    ):  # loads or compiles kernels; GMR is built beforehand, too
        mk.retarget(clip[:2], body, plan=each, contacts=contacts)
    seconds, same = _timed(clip, body, stages[1], None)
    rows = [_row(clip, "memetik, same targets", seconds, same.report)]
    points, turns = same.targets.points, same.targets.rotations
    frames = [({p: v[k] for p, v in points.items()}, {p: v[k] for p, v in turns.items()}) for k in range(len(clip))]
    others: dict[str, tuple[float, Array]] = {}
    if theirs:
        gmr = Gmr(ROBOT, stages)
        began = time.thread_time()
        found = [gmr.solve(*frame) for frame in frames]
        others["GMR's scheme, same targets"] = time.thread_time() - began, np.array(found)
    if theirs and installed():
        original = Original(HEIGHT)
        people = [original.person(*frame) for frame in frames]
        began = time.thread_time()
        found = [original.solve(person) for person in people]
        others["GMR, same targets"] = time.thread_time() - began, np.array(found)
    seconds, own = _timed(clip, body, plan, "auto")
    for method, (taken, qpos) in others.items():
        q = same.body.from_qpos(qpos)
        row = _row(clip, method, taken, same.measure(q))
        row["sliding [mm/s]"] = 1e3 * own.measure(q).sliding  # its feet judged by the same contacts
        rows.append(row)
    return [*rows, _row(clip, "memetik, with contacts", seconds, own.report)]


def _timed(
    clip: mk.Motion, body: mk.Body, plan: mk.motion.RetargetPlan, contacts: str | None
) -> tuple[float, mk.motion.Retargeted]:
    began = time.thread_time()
    found = mk.retarget(clip, body, plan=plan, contacts=contacts)
    return time.thread_time() - began, found


def _row(clip: mk.Motion, method: str, seconds: float, found: mk.motion.RetargetReport) -> Row:
    return {
        "clip": clip.name, "method": method, "frames/s": len(clip) / seconds, "cost": float(found.cost[1:].mean()),
        "jerk [rad/s3]": found.jerk, "sliding [mm/s]": 1e3 * found.sliding, "under floor [mm]": 1e3 * found.penetration,
        "beyond limits": found.outside, "reached": int(found.reached.sum()), "frames": len(clip),
    }  # fmt: skip


def _turned(clip: mk.Motion, heading: float) -> mk.Motion:
    turned = clip.turned(heading, about=(0.0, 0.0, 0.0))
    return mk.Motion(turned.body, turned.times, turned.q, name=f"{clip.name}, turned by {np.degrees(heading):.0f} deg")


def _files(data: Path | None) -> list[Path]:
    if data is None:
        return []
    found = sorted(data.glob("*.bvh")) if data.is_dir() else [data]
    if not found:
        raise ProblemError(f"{data}: there is no .bvh file in this folder.")
    return found


def _read(path: Path) -> mk.Motion:
    scale = next((unit for start, unit in UNITS.items() if path.stem.startswith(start)), 0.01)
    clip = mk.read_motion(path, scale=scale)
    return clip[1:] if path.stem.startswith("cmu") else clip  # whose first frame is a T pose that was added
