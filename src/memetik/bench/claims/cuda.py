"""Batches on a graphics card: how many a second, by the size of the batch, and whether the card judges as the processor."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memetik.batch.cuda import require_cuda, solve_on_cuda
from memetik.bench.harness import Report, UnavailableError
from memetik.bench.thesis.valkyrie import SETUPS, objectives_of
from memetik.errors import ProblemError
from memetik.kernels.memetic.population_poses import place_population
from memetik.kernels.problem.budget import EVALUATIONS as SPENT
from memetik.objectives import LookAt, Pose
from memetik.problem import Problem
from memetik.read.load import load
from memetik.solvers import solve
from memetik.types import Array

SIZES = (1, 100, 1_000, 10_000, 100_000, 1_000_000)
COMPARED = 10_000  # problems that the processor solves too; of the whole body a tenth
EVALUATIONS = 20_000  # the default budget
REPEATS = 3


def run(folder: Path, *, quick: bool = False, most: int | None = None) -> Report:
    """Measure, print and save. Needs a card."""
    try:
        cuda = require_cuda()
    except ProblemError as missing:
        raise UnavailableError(str(missing)) from missing
    most = most or (10_000 if quick else SIZES[-1])
    report = Report(
        "cuda",
        "Random reachable targets, independent random starts, double precision. panda: the full pose of the flange, 1e-5 m "
        "and rad. valkyrie: wrists, feet and gaze of Table 5.4, 35 joints, 1e-4 m and 1e-3 rad. Solved: verified on the card "
        "on what is returned. Kernel: the time that the card worked. All: from arrays of targets and starts in memory to "
        f"arrays of answers, transfers included. The best of {REPEATS} runs.",
        remarks=[f"card: {cuda.get_current_device().name}"],
    )
    for name, problem, compared in (("panda", panda(), COMPARED), ("valkyrie", valkyrie(), COMPARED // 10)):
        rows, places, starts = queries(problem, max(most, compared))
        for size in (size for size in SIZES if size <= most):
            report.rows.append(_measure(name, problem, rows[:size], places, starts[:size]))
        agree = _agreement(problem, rows[:compared], places, starts[:compared])
        report.remarks.append(f"{name}: {agree} of {compared} problems judged the same by card and processor.")
    return report.publish(folder)


def panda() -> Problem:
    """The flange of an arm with seven joints."""
    body = load("panda").chain("panda_link0", "panda_link8")
    return Problem(body, Pose("panda_link8", np.eye(4), position_tolerance=1e-5, orientation_tolerance=1e-5))


def valkyrie() -> Problem:
    """The whole body."""
    return Problem(load("valkyrie").with_base("xyz", lower=-1.0, upper=1.0), objectives_of(SETUPS[-1]))


def queries(problem: Problem, count: int) -> tuple[Array, NDArray[np.int64], Array]:
    """Targets as rows of numbers, their places in the problem's data, and starts."""
    c, body, rng = problem.compiled, problem.body, np.random.default_rng(1)
    low, high = body.variables.sample_lower, body.variables.sample_upper
    postures, starts = rng.uniform(low, high, (count, body.dof)), rng.uniform(low, high, (count, body.dof))
    frame_poses = np.empty((c.frames.size, 7, count))
    place_population(
        c.nodes, c.frames, np.ascontiguousarray(postures[:, c.active]), np.empty((c.nodes.size, 7)), frame_poses
    )
    columns: list[Array] = []
    places: list[int] = []
    for objective, frame in zip(problem.objectives, frame_poses, strict=True):
        if isinstance(objective, LookAt):
            columns.append((frame[4:] + _ahead(frame)).T)
            at = objective._aim.place(c.data)
        elif isinstance(objective, Pose):
            columns.append(frame.T)
            at = objective._pose.place(c.data)
        places.extend(range(at, at + columns[-1].shape[1]))
    return np.ascontiguousarray(np.hstack(columns)), np.array(places), starts


def _ahead(frame: Array) -> Array:
    """The x axis of many poses (7, count), along which the head looks."""
    w, x, y, z = frame[:4]
    return np.array([1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)])


def _measure(name: str, problem: Problem, rows: Array, places: NDArray[np.int64], starts: Array) -> dict[str, Any]:
    solve_on_cuda(problem, rows[:1], places, starts[:1], 0, EVALUATIONS)  # compiles
    kernel, whole = np.inf, np.inf
    for _ in range(REPEATS):
        begin = time.perf_counter()
        result = solve_on_cuda(problem, rows, places, starts, 0, EVALUATIONS)
        whole = min(whole, time.perf_counter() - begin)
        kernel = min(kernel, float(result.seconds.sum()))
    return {
        "problem": name,
        "batch": len(rows),
        "solved [%]": float(np.mean(result.status == 0)) * 100.0,
        "evaluations": float(result.numbers[:, SPENT].mean()),
        "kernel [ms]": kernel * 1e3,
        "all [ms]": whole * 1e3,
        "kernel [1000/s]": len(rows) / kernel / 1e3,
        "all [1000/s]": len(rows) / whole / 1e3,
    }


def _agreement(problem: Problem, rows: Array, places: NDArray[np.int64], starts: Array) -> int:
    """How many problems the card and the processor judge the same."""
    statuses = solve_on_cuda(problem, rows, places, starts, 0, EVALUATIONS).status
    same = 0
    for row, start, status in zip(rows, starts, statuses, strict=True):
        problem.compiled.data[places] = row
        same += int(solve(problem, start).status == status)
    return same
