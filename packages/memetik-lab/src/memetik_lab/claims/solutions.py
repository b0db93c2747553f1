"""All solutions of one pose: the search of memetik against the closed form of EAIK, on arms of six joints."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import memetik as mk
from memetik.types import Array
from memetik_lab.harness import Report, Row, progress, spread
from memetik_lab.judge import Judge
from memetik_lab.peers import Peer, Peers, find, serial_chain
from memetik_lab.queries import Task, pose_of

ARMS = ("ur5", "kr120", "m10ia")
BASE, TIP = "base_link", "tool0"
TASK = Task(position=1e-6, orientation=1e-6, seconds=math.inf)
MOST = 16  # solutions that an arm of six turning joints can have, whole turns apart
SAME = 0.05  # rad; solve_all takes nearer solutions for one


def run(folder: Path, *, quick: bool = False, count: int | None = None, peers: Sequence[str] = ("eaik",)) -> Report:
    """Measure, print and save."""
    count = count or (50 if quick else 200)
    found = find(peers)
    report = Report(
        "solutions",
        f"{count} poses an arm, of postures drawn uniformly within the limits. solve_all from the home posture, up "
        f"to {MOST} solutions, {TASK.position:g} m and {TASK.orientation:g} rad. Closed form: EAIK's solutions that, "
        "with whole turns added to come within the limits, forward kinematics confirms to the same tolerance. "
        "Complete: share of the poses for which every one of those is among the found ones, no joint more than "
        f"{SAME:g} rad away, whole turns aside. Wrong: found solutions that forward kinematics or the limits refuse.",
        remarks=[*found.remarks],
    )
    report.rows += [_measure(arm, found, count) for arm in ARMS]
    return report.publish(folder)


def _measure(arm: str, found: Peers, count: int) -> Row:
    body = mk.load(arm).chain(BASE, TIP)
    judge = Judge(body, TIP, TASK)
    closed_form = next(iter(found.build(serial_chain(body), TASK)), None)
    pose = pose_of(TIP, TASK)
    problem = mk.Problem(body, pose)
    rng = np.random.default_rng(1)
    mk.solve_all(problem, count=MOST)  # compiles
    seconds, numbers, known, missed, complete, wrong = [], [], 0, 0, 0, 0
    for _ in progress(range(count), count, arm):
        target = body.forward(body.sample(rng))[TIP]
        begin = time.perf_counter()
        pose.target = target
        solutions = mk.solve_all(problem, count=MOST, distinct=SAME)
        seconds.append(time.perf_counter() - begin)
        numbers.append(len(solutions))
        rows = np.array([solution.q for solution in solutions]).reshape(-1, body.dof)
        wrong += sum(not judge.right(q, target) for q in rows)
        expected = _confirmed(closed_form, judge, target)
        lacking = sum(not _among(q, rows) for q in expected)
        known, missed, complete = known + len(expected), missed + lacking, complete + (lacking == 0)
    return {
        "arm": arm,
        "found a pose": float(np.mean(numbers)),
        "closed form a pose": known / count if closed_form else None,
        "missed [%]": missed / known * 100.0 if known else None,
        "complete [%]": complete / count * 100.0 if closed_form else None,
        "wrong": wrong,
        **spread(seconds),
        "max [us]": max(seconds) * 1e6,
    }


def _confirmed(closed_form: Peer | None, judge: Judge, target: Array) -> list[Array]:
    """The solutions of the closed form that the judge accepts."""
    answer = None if closed_form is None else closed_form.solve(target, judge.body.home)
    if answer is None:
        return []
    return [q for q in judge.candidates(answer, whole_turns=True) if judge.agrees(q, target)]


def _among(q: Array, rows: Array) -> bool:
    """Whether one of the rows is the same posture, whole turns aside."""
    apart = np.abs((rows - q + math.pi) % (2.0 * math.pi) - math.pi)
    return bool((apart.max(axis=1, initial=0.0) <= SAME).any())
