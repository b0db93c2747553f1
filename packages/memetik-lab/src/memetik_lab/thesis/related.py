"""What the thesis reports of related methods and of Bio IK itself, by our own versions of these methods.

Table 5.3: Bio IK and its forerunner HGSA on single arms. Table 5.4 and Fig. 5.7: Bio IK on a humanoid and on long chains. It is
measured as it is here and as near to the thesis as its switches go. Table 3.3: particle swarms on long chains. Fig. 3.2:
transpose, DLS and SVD-DLS on ten joints. Fig. 3.4: differential evolution, plain
and memetic. The default method and other libraries are in `arms`, `snakes` and `chains`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import memetik as mk
from memetik_lab.contest import race
from memetik_lab.harness import Report, Row, spread
from memetik_lab.judge import right
from memetik_lab.queries import Task, Wanted, ask, draw_many, wish
from memetik_lab.thesis import valkyrie
from memetik_lab.thesis.arms import ARMS

ARM = Task(position=1e-5, orientation=1e-5, seconds=0.005)
HUMANOID = valkyrie.TASK._replace(seconds=0.01)
CHAIN = Task(position=1e-4, orientation=1e-3, seconds=1.0)
SWARM = CHAIN._replace(seconds=10.0)
EVOLVE = CHAIN._replace(seconds=0.1)
EVOLVED = ("ur5", "iiwa14")
POINT = Task(position=1e-4, orientation=np.inf, seconds=0.1)
LONG, QUICK_LONG = tuple(range(10, 121, 10)), (10, 60, 120)
HGSA = {  # Table 5.3
    "ur5": "4.12 ms (51.20 %)",
    "iiwa14": "3.49 ms (66.84 %)",
    "pr2 right arm": "3.93 ms (75.69 %)",
    "valkyrie arm": "4.67 ms (29.13 %)",
    "valkyrie leg": "3.14 ms (70.14 %)",
}
PSO = {30: "1.57 s", 60: "3.36 s", 90: "7.46 s", 120: "15.47 s", 150: "22.11 s", 180: "37.03 s"}  # Table 3.3
EVALUATIONS = 10_000_000  # time is what ends a solve
TURN = 20  # queries that a method solves in a row
# What undoes one thing or two of Bio IK as published, on bodies where it solves less than the thesis says.
ON_ARMS: dict[str, dict[str, Any]] = {
    "": {},
    ", patience=4": {"patience": 4},
    ", steps=300": {"steps": 300},
    ", patience=4, steps=300": {"patience": 4, "steps": 300},
}
ON_FINGERS: dict[str, dict[str, Any]] = {
    "": {},
    ", strides": {"strides": True},
    ", exact gradient": {"gradient": "analytic", "ofkt": False},
    ", steps=156": {"steps": 156},
}
STUCK, FINGERS = ("ur5", "iiwa14", "valkyrie arm"), "right wrist turned, four fingers"
IN_TIME_OF_ARMS, IN_TIME_OF_FINGERS = 21_000, 43_000  # evaluations that take the 5 and 10 ms of the tables

Methods = dict[
    str, tuple[Callable[[mk.Problem], mk.solvers.Solver], str]
]  # how each is made for a problem, what was published of it


class Case(NamedTuple):
    """A body, what it is asked for, and by which methods, with what was published of each."""

    of: str  # the table or figure
    label: str
    body: mk.Body
    wanted: list[Wanted]
    task: Task
    methods: Methods
    share: int = 1  # one in so many of the queries
    evaluations: int = EVALUATIONS  # the most of a solve


def cases(*, quick: bool = False) -> Iterator[Case]:
    """All of them, one after another, because some bodies are large."""
    for arm in ARMS:
        if arm.published:
            methods: Methods = {**_bio_ik(arm.published), "hgsa": (lambda problem: mk.solvers.HGSA(), HGSA[arm.label])}
            yield Case("Table 5.3", arm.label, arm.body(), [wish("pose", arm.tip, ARM)], ARM, methods)
    for setup in valkyrie.SETUPS[-1:] if quick else valkyrie.SETUPS:
        published = f"{setup.published_ms:g} ms ({setup.published_solved:g} %)"
        body, wanted = valkyrie.body_of(setup), valkyrie.objectives_of(setup)
        yield Case("Table 5.4", setup.label, body, wanted, HUMANOID, _bio_ik(published))
    for joints in QUICK_LONG if quick else LONG:
        yield _chain("Fig. 5.7", joints, CHAIN, _bio_ik(""))._replace(share=10)
    for joints, seconds in PSO.items():
        if not quick or joints == min(PSO):
            yield _chain("Table 3.3", joints, SWARM, {"pso": (lambda problem: mk.solvers.PSO(), seconds)})._replace(
                share=50
            )
    alone: Methods = {
        "transpose": (lambda problem: mk.solvers.Transpose(restarts=False), ""),
        "dls": (lambda problem: mk.solvers.DampedLeastSquares(restarts=False), ""),
        "svd_dls": (lambda problem: mk.solvers.SVDDampedLeastSquares(restarts=False), ""),
    }
    yield _chain("Fig. 3.2", 10, POINT, alone, "position")
    evolution: Methods = {
        "de": (lambda problem: mk.solvers.DE(), ""),
        "de, memetic": (lambda problem: mk.solvers.DE(memetic=True), ""),
    }
    for arm in ARMS:
        if arm.label in EVOLVED:
            yield Case("Fig. 3.4", arm.label, arm.body(), [wish("pose", arm.tip, EVOLVE)], EVOLVE, evolution, share=5)
    yield from _counted(quick=quick)


def _counted(*, quick: bool) -> Iterator[Case]:
    """Bio IK as published and with some of it undone, by evaluations instead of time, and with four times as many."""
    for arm in ARMS:
        if arm.label in STUCK[-1:] or (arm.label in STUCK and not quick):
            task = ARM._replace(seconds=np.inf)
            wanted = [wish("pose", arm.tip, task)]
            for most in (IN_TIME_OF_ARMS, 4 * IN_TIME_OF_ARMS):
                of = f"Table 5.3, {most:,} evaluations"
                yield Case(of, arm.label, arm.body(), wanted, task, _variants(ON_ARMS), share=2, evaluations=most)
    for setup in valkyrie.SETUPS:
        if setup.label == FINGERS and not quick:
            body, wanted = valkyrie.body_of(setup), valkyrie.objectives_of(setup)
            task = HUMANOID._replace(seconds=np.inf)
            for most in (IN_TIME_OF_FINGERS, 4 * IN_TIME_OF_FINGERS):
                of = f"Table 5.4, {most:,} evaluations"
                yield Case(of, setup.label, body, wanted, task, _variants(ON_FINGERS), share=10, evaluations=most)


def _variants(changes: dict[str, dict[str, Any]]) -> Methods:
    return {
        f"bioik, as published{name}": (partial(mk.solvers.BioIK.as_published, **change), "")
        for name, change in changes.items()
    }


def _bio_ik(published: str) -> Methods:
    return {
        "bioik": (lambda problem: mk.solvers.BioIK(), published),
        "bioik, as published": (mk.solvers.BioIK.as_published, published),
    }


def _chain(
    of: str,
    joints: int,
    task: Task,
    methods: Methods,
    kind: str = "pose",
) -> Case:
    return Case(of, f"chain of {joints}", mk.build.snake(joints), [wish(kind, "tip", task)], task, methods)


def run(folder: Path, *, quick: bool = False, count: int | None = None, only: Sequence[Case] | None = None) -> Report:
    """Measure, print and save."""
    count = count or (100 if quick else 1_000)
    report = Report(
        "related",
        f"{count} targets each, of postures drawn uniformly within the limits, starts drawn the same way; one in 10 of "
        f"them for Fig. 5.7, in 50 for Table 3.3. Table 5.3: full poses, {ARM.position:g} m and rad, {ARM.seconds * 1e3:g} ms. "
        f"Table 5.4: {HUMANOID.position:g} m and {HUMANOID.orientation:g} rad, {HUMANOID.seconds * 1e3:g} ms. Fig. 5.7: "
        f"chains of one metre, axes y and z by turns, limits ±90 degrees, {CHAIN.position:g} m and {CHAIN.orientation:g} rad, "
        f"{CHAIN.seconds:g} s; Table 3.3 the same with {SWARM.seconds:g} s, since the thesis gives neither tolerance nor chain. "
        f"Fig. 3.2: positions to {POINT.position:g} m, one try without restarts. Fig. 3.4: the tolerances of Fig. 5.7, "
        f"{EVOLVE.seconds * 1e3:g} ms, one in 5 of the targets. With a number of evaluations: no limit of time, one in 2 of "
        "the targets on arms, in 10 of the humanoid, and what is named is as in the default. Default parameters; as "
        f"published: by BioIK.as_published. Methods take turns of {TURN} with the same queries. Solved: forward kinematics "
        "finds the answer within tolerance and limits. Times over all solves. Published: mean time and share solved, on its "
        "author's machine; Fig. 3.2, 3.4 and 5.7 have no numbers.",
    )
    for case in only or cases(quick=quick):
        report.rows += _measure(case, max(1, count // case.share))
    return report.publish(folder)


def _measure(case: Case, count: int) -> list[Row]:
    problem = mk.Problem(case.body, case.wanted)
    budget = mk.Budget(evaluations=case.evaluations, seconds=case.task.seconds)
    tallies = race(
        [ask(problem, make(problem), budget) for make, _ in case.methods.values()],
        draw_many(case.body, case.wanted, count), f"{case.of}, {case.label}",
        turn=TURN, judge=right(case.body, case.wanted, case.task),
    )  # fmt: skip
    return [
        {
            "of": case.of,
            "body": case.label,
            "method": name,
            "targets": len(tally.seconds),
            **tally.solved(),
            "evaluations": tally.mean("evaluations"),
            **spread(tally.seconds),
            "published": published,
        }
        for (name, (_, published)), tally in zip(case.methods.items(), tallies, strict=True)
    ]
