"""Batches on a graphics card: how many a second, by the size of the batch, and whether the device judges as the processor."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

import memetik as mk
from memetik.batch import require_cuda
from memetik.types import Array
from memetik_lab.harness import Report, Row, UnavailableError, percent
from memetik_lab.queries import Task, pose_of, target_of
from memetik_lab.thesis.valkyrie import SETUPS, body_of, objectives_of

SIZES = (1, 100, 1_000, 10_000, 100_000, 1_000_000)
COMPARED = 10_000  # problems that the processor solves too; of the whole body a tenth
REPEATS = 3

Targets = dict[mk.Objective, Array]


def run(folder: Path, *, quick: bool = False, most: int | None = None) -> Report:
    """Measure, print and save. Needs a device."""
    try:
        cuda = require_cuda()
    except mk.errors.ProblemError as missing:
        raise UnavailableError(str(missing)) from missing
    most = most or (10_000 if quick else SIZES[-1])
    report = Report(
        "cuda",
        "Random reachable targets, independent random starts, double precision. panda: the full pose of the flange, 1e-5 m "
        "and rad. valkyrie: wrists, feet and gaze of Table 5.4, 35 joints, 1e-4 m and 1e-3 rad. Solved: verified on the card "
        "on what is returned. Kernel: the time that the card worked. All: a call of mk.solve_batch with arrays in memory. "
        f"The best of {REPEATS} runs.",
        remarks=[f"card: {cuda.get_current_device().name}"],
    )
    for name, problem, compared in (("panda", panda(), COMPARED), ("valkyrie", valkyrie(), COMPARED // 10)):
        targets, starts = queries(problem, max(most, compared))
        for size in (size for size in SIZES if size <= most):
            report.rows.append(_measure(name, problem, targets, starts, size))
        card, processor = (_solved(problem, targets, starts, compared, device).status for device in ("cuda", "cpu"))
        agree = int((card == processor).sum())
        report.remarks.append(f"{name}: {agree} of {compared} problems judged the same by card and processor.")
    return report.publish(folder)


def panda() -> mk.Problem:
    """The flange of an arm with seven joints."""
    body = mk.load("panda").chain("panda_link0", "panda_link8")
    return mk.Problem(body, pose_of("panda_link8", Task(position=1e-5, orientation=1e-5, seconds=np.inf)))


def valkyrie() -> mk.Problem:
    """The whole body."""
    return mk.Problem(body_of(SETUPS[-1]), objectives_of(SETUPS[-1]))


def queries(problem: mk.Problem, count: int) -> tuple[Targets, Array]:
    """Targets of every objective that random postures reach, and starts."""
    body, rng = problem.body, np.random.default_rng(1)
    postures, starts = (np.array([body.sample(rng) for _ in range(count)]) for _ in range(2))
    targets: Targets = {
        wanted: np.empty((count, *np.shape(target_of(wanted, np.eye(4)))))  # type: ignore[arg-type]
        for wanted in problem.objectives
    }
    for k, posture in enumerate(postures):
        poses = body.forward(posture)
        for wanted, many in targets.items():
            many[k] = target_of(wanted, poses[str(wanted.frame)])  # type: ignore[arg-type,attr-defined]
    return targets, starts


def _solved(problem: mk.Problem, targets: Targets, starts: Array, count: int, device: str) -> mk.batch.BatchSolution:
    few = {wanted: many[:count] for wanted, many in targets.items()}
    return mk.solve_batch(problem, few, starts[:count], device=device)


def _measure(name: str, problem: mk.Problem, targets: Targets, starts: Array, size: int) -> Row:
    _solved(problem, targets, starts, 1, "cuda")  # compiles
    kernel, whole = np.inf, np.inf
    for _ in range(REPEATS):
        begin = time.perf_counter()
        batch = _solved(problem, targets, starts, size, "cuda")
        whole = min(whole, time.perf_counter() - begin)
        kernel = min(kernel, float(batch.row_seconds.sum()))
    return {
        "problem": name,
        "batch": size,
        "solved [%]": percent(batch.success),
        "evaluations": float(batch.evaluations.mean()),
        "kernel [ms]": kernel * 1e3,
        "all [ms]": whole * 1e3,
        "kernel [1000/s]": size / kernel / 1e3,
        "all [1000/s]": size / whole / 1e3,
    }
