"""Following a path: the cost of a step, the largest step, and how small that could be; and angles that pass pi."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import memetik as mk
from memetik.types import Array
from memetik_lab.claims.smoothest import largest_step, smoothest
from memetik_lab.contest import Way, race
from memetik_lab.harness import Report, progress, subplots
from memetik_lab.judge import Judge
from memetik_lab.peers import FAST, Peer, find, serial_chain
from memetik_lab.queries import Memetik, Query, Task

TASK = Task(position=1e-5, orientation=1e-5, seconds=0.005)
EIGHT, ROLLING = "panda, figure eight", "pr2, wrist rolls twice"
ROUNDS = 5  # each path is followed so often; the median time counts


class Course(NamedTuple):
    """A path of poses for the tip of an arm, and the posture at its beginning."""

    label: str
    body: mk.Body
    tip: str
    start: Array
    poses: Array  # (steps, 4, 4)


class Outcome(NamedTuple):
    """What one method made of a course."""

    method: str
    seconds: float  # a step
    path: Array  # (steps, joints)
    reached: float  # share of the steps


def run(folder: Path, *, quick: bool = False, count: int | None = None, peers: Sequence[str] = tuple(FAST)) -> Report:
    """Measure, print, save and plot."""
    steps = count or (200 if quick else 1_000)
    found = find(peers)
    report = Report(
        "tracking",
        f"{steps} poses a path, {TASK.position:g} m and {TASK.orientation:g} rad, every step from the posture "
        "before. memetik track takes the whole path in one call, the others are called pose by pose. All in one "
        f"process by turns, median time of {ROUNDS} rounds. Reached: forward kinematics finds the posture within "
        "tolerance and limits; where a solver fails, the arm waits. Step: change of a joint from one pose to the "
        "next. Least found: over all paths from the same first posture, by sampling the self-motion of the arm "
        "densely at every pose and dynamic programming for the least largest step, coarse to fine (see "
        "bench/claims/smoothest.py).",
        remarks=[*found.remarks],
    )
    paths: dict[str, dict[str, Array]] = {}
    courses = [*_panda_courses(steps), _rolling_course(steps)]
    for course in progress(courses, len(courses), "paths"):
        chain = serial_chain(course.body)
        outcomes = _follow(course, found.build(chain, TASK))
        whole = [outcome.path for outcome in outcomes if outcome.reached == 1.0]
        best = smoothest(chain, course.poses, min(whole, key=largest_step)) if whole else None
        for outcome in outcomes:
            report.rows.append(
                {
                    "path": course.label,
                    "method": outcome.method,
                    "us a step": outcome.seconds * 1e6,
                    "time / track": outcome.seconds / outcomes[0].seconds,
                    "reached [%]": outcome.reached * 100.0,
                    "largest step [rad]": largest_step(outcome.path),
                    "least found [rad]": None if best is None else largest_step(best),
                }
            )
        paths[course.label] = {outcome.method: outcome.path for outcome in outcomes}
        if best is not None:
            paths[course.label]["least found"] = best
    rolls = {method: path[:, -1] for method, path in paths[ROLLING].items()}
    ends = ", ".join(f"{method} {math.degrees(roll[-1]):.0f}" for method, roll in rolls.items())
    report.remarks.append(f"{ROLLING}: the continuous wrist joint ends at, in degrees: {ends}.")
    return report.publish(folder, lambda: _plot(paths[EIGHT], rolls))


def _panda_courses(steps: int) -> list[Course]:
    """A circle, a figure eight with a hand that tilts, and the poses of joints that swing at different speeds."""
    body, tip = mk.load("panda").chain("panda_link0", "panda_link8"), "panda_link8"
    home = body.forward(body.home)[tip]
    time_of = np.linspace(0.0, 2.0 * math.pi, steps)
    circle, eight = np.tile(home, (steps, 1, 1)), np.tile(home, (steps, 1, 1))
    circle[:, 0, 3] += 0.1 * (np.cos(time_of) - 1.0)
    circle[:, 1, 3] += 0.1 * np.sin(time_of)
    eight[:, 1, 3] += 0.25 * np.sin(time_of)
    eight[:, 2, 3] += 0.1 * np.sin(2.0 * time_of)
    for pose, t in zip(eight, time_of, strict=True):
        pose[:3, :3] = home[:3, :3] @ mk.euler(0.4 * math.sin(t), 0.4 * math.sin(2.0 * t), 0.0)
    room = np.minimum(np.minimum(body.upper - body.home, body.home - body.lower), 1.0)
    swing = body.home + 0.6 * room * np.sin(np.outer(time_of, 1 + np.arange(body.dof) % 3))
    poses = {"panda, circle": circle, EIGHT: eight, "panda, swinging joints": _poses(body, tip, swing)}
    return [Course(label, body, tip, body.home.copy(), path) for label, path in poses.items()]


def _rolling_course(steps: int) -> Course:
    """The PR2's wrist, a continuous joint, rolls twice around while the rest of the arm swings a little."""
    body, tip = mk.load("pr2").chain("torso_lift_link", "r_wrist_roll_link"), "r_wrist_roll_link"
    time_of = np.linspace(0.0, 2.0 * math.pi, steps)
    joints = body.home + 0.1 * np.outer(np.sin(time_of), np.arange(body.dof) % 2)
    joints[:, -1] = 2.0 * time_of
    return Course(ROLLING, body, tip, joints[0], _poses(body, tip, joints))


def _poses(body: mk.Body, tip: str, joints: Array) -> Array:
    return np.array([body.forward(q)[tip] for q in joints])


def _follow(course: Course, peers: Sequence[Peer]) -> list[Outcome]:
    """Every method on one course, in rounds."""
    own = Memetik(course.body, course.tip, TASK)
    methods: dict[str, Way] = {
        "memetik track": lambda query: mk.track(own.problem, {own.wanted: course.poses}, start=course.start).q,
        "memetik solve": lambda query: _step_by_step(own, course),
    }
    for peer in peers:
        methods[peer.name] = lambda query, peer=peer: _step_by_step(peer, course)  # type: ignore[misc]
    rounds = [Query([], None)] * ROUNDS  # the same every time
    tallies = race(list(methods.values()), rounds, course.label, turn=1)
    judge = Judge(course.body, course.tip, TASK)
    outcomes = []
    for name, tally in zip(methods, tallies, strict=True):
        path = tally.answers[-1]
        reached = np.mean([judge.right(q, pose) for q, pose in zip(path, course.poses, strict=True)])
        outcomes.append(Outcome(name, float(np.median(tally.seconds)) / len(path), path, float(reached)))
    return outcomes


def _step_by_step(solver: Peer, course: Course) -> Array:
    path, q = [], course.start
    for pose in course.poses:
        answer = solver.solve(pose, q)
        q = q if answer is None else answer
        path.append(q)
    return np.array(path)


def _plot(eight: dict[str, Array], rolls: dict[str, Array]) -> Any:
    figure, (left, right) = subplots(1, 2, figsize=(11, 4.2))
    for method, path in eight.items():
        left.plot(np.abs(np.diff(path, axis=0)).max(axis=1), lw=1.0, label=method)
    left.set(xlabel="step", ylabel="largest change of a joint [rad]")
    left.set_title(f"{EIGHT}: change from pose to pose")
    left.legend(fontsize=8)
    for method, roll in rolls.items():
        right.plot(np.degrees(roll), lw=1.0, label=method)
    right.axhline(180.0, color="black", lw=0.8)
    right.set(xlabel="step", ylabel="wrist roll [degrees]")
    right.set_title(f"{ROLLING}: past 180 degrees")
    right.legend(fontsize=8)
    return figure
