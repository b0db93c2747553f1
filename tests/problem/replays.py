"""What follows a problem while that changes, or solves it for many targets, beside the plain way to the same answers.

A servo's twin is made of the model and takes the same inputs in the same order; a row of a track, a batch or a file is a solve.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import memetik as mk
from tests.objectives.test_attributes import ARGUMENTS, BODY, HOME, OTHER, POSE, value_of

BUDGET = mk.Budget(evaluations=60)
TICKS = mk.Budget(evaluations=15)
MOST_EVENTS = 60  # of a servo before its twin is asked
ROWS_PER_SHARD = 2
QUATERNION = ("qw", "qx", "qy", "qz")


def outcome(work: Callable[[], Any]) -> Any:
    """What a call returns, or the error that a user would see."""
    try:
        return work()
    except mk.MemetikError as error:
        return f"{type(error).__name__}: {error}"


def has_target(kind: str) -> bool:
    """Whether a kind of objective has a target that servos, tracks and batches can move."""
    return "target" in ARGUMENTS.get(kind, {}) and kind != "JointValue"


def targets_of(kind: str) -> list[Any]:
    """Two targets of an objective of such a kind."""
    if kind == "Pose":
        return [POSE, OTHER]
    return [np.asarray(each, dtype=float) for each in (ARGUMENTS[kind]["target"], value_of(kind, "target"))]


class Loop:
    """A servo in motion, and all that it was told and answered."""

    def __init__(self, task: Any, begin: Callable[[], Any], reconfigure: bool) -> None:
        """`begin` makes the task as it is now from the model: a problem, its objectives and its world."""
        self.task, self._begin, self._reconfigure = task, begin, reconfigure
        self._events: list[tuple[str, Any]] = []
        self._answers: list[Any] = []
        self._servo = self._made(task.problem)

    @property
    def is_over(self) -> bool:
        """Whether it is time to ask the twin."""
        return len(self._events) >= MOST_EVENTS

    def step(self, targets: dict[int, Any]) -> None:
        """A tick with targets for objectives by their number."""
        objectives = [wish.objective for wish in self.task.wishes]
        self._answers.append(_tick(self._servo, objectives, targets))
        self._events.append(("step", targets))

    def reset(self, q: Any) -> None:
        outcome(lambda: self._servo.reset(q))
        self._events.append(("reset", q))

    def note(self, what: str, given: Any) -> None:
        """Tell what was done to the problem, one of its objectives or its world, so that the twin does it, too."""
        self._events.append((what, given))

    def compare(self) -> None:
        """The twin, which is made as this servo was and gets the same inputs, answers the same."""
        problem, objectives, world = self._begin()
        servo, answers = self._made(problem), []
        for what, given in self._events:
            if what == "step":
                answers.append(_tick(servo, objectives, given))
            elif what == "reset":
                outcome(lambda: servo.reset(given))  # noqa: B023
            elif what == "objective":
                setattr(objectives[given[0]], given[1], given[2])
            elif what == "problem":
                setattr(problem, *given)
            elif what == "recompile":
                problem.recompile()
            else:
                getattr(world, what)(*given[0], **given[1])
        for k, (found, expected) in enumerate(zip(self._answers, answers, strict=True)):
            assert found == expected, f"tick {k} of {len(answers)}: {found}, and its twin {expected}"

    def _made(self, problem: mk.Problem) -> mk.Servo:
        return mk.Servo(problem, HOME, rate=100.0, reconfigure=self._reconfigure, budget=TICKS)


def _tick(servo: mk.Servo, objectives: list[Any], targets: dict[int, Any]) -> Any:
    given = {objectives[k]: target for k, target in targets.items()}
    q = outcome(lambda: servo.step(given).tolist())
    held = [objectives.index(each) for each in servo.held]
    return q, servo.status, servo.goal.tolist(), held, servo.distance if np.isfinite(servo.distance) else None


def solves(problem: mk.Problem, objective: Any, rows: Any, seed: int = 0) -> list[Any]:
    """The answers of one solve for each row."""
    found = []
    for row in rows:
        objective.target = row
        solution = mk.solve(problem, HOME, budget=BUDGET, seed=seed)
        found.append((solution.q.tolist(), solution.status))
    return found


def compare_track(found: tuple[Any, Any], expected: tuple[Any, Any], path: Any) -> None:
    """Two problems, each with the objective that moves, follow a path alike."""

    def follow(problem: mk.Problem, objective: Any) -> Any:
        track = mk.track(problem, {objective: path}, HOME, budget=BUDGET)
        errors = [each.tolist() for each in track.errors.values()]
        return track.q.tolist(), track.status.tolist(), track.jumped.tolist(), errors

    assert outcome(lambda: follow(*found)) == outcome(lambda: follow(*expected))


def compare_rows(found: tuple[Any, Any], expected: tuple[Any, Any], rows: Any, threads: int) -> None:
    """A batch and steps that are bound answer as single solves of another problem do."""
    problem, objective = found
    batch = mk.solve_batch(problem, {objective: rows}, HOME, budget=BUDGET, threads=threads, progress=False)
    true = solves(*expected, rows)
    assert list(zip(batch.q.tolist(), batch.status.tolist(), strict=True)) == true
    step = mk.bind(problem, objective, budget=BUDGET)
    assert [(step(row, HOME).tolist(), step.status) for row in rows] == true


class Job:
    """A folder in which jobs on files are done one after the other, and sometimes damaged between them."""

    def __init__(self, folder: Path) -> None:
        self._targets, self._out = folder / "targets.parquet", folder / "out"

    def damage(self, choice: int) -> None:
        """Take a byte or all of a shard away."""
        shards = sorted((self._out / "solutions").glob("*.parquet"))
        if shards:
            shard = shards[choice % len(shards)]
            if choice % 2:
                shard.unlink()
            else:
                shard.write_bytes(shard.read_bytes()[:-1])

    def compare(self, found: tuple[Any, Any], expected: tuple[Any, Any], rows: Any, seed: int) -> None:
        """The files say what single solves of another problem give; those of another job are refused and replaced."""
        places = rows[:, :3, 3] if rows.ndim == 3 else rows
        columns = dict(zip("xyz", places.T, strict=True))
        if rows.ndim == 3:
            turns = np.array([mk.geometry.to_quaternion(row[:3, :3]) for row in rows])
            columns |= dict(zip(QUATERNION, turns.T, strict=True))
            rows = [mk.transform(row[:3, 3], turn) for row, turn in zip(rows, turns, strict=True)]
        pq.write_table(pa.table(columns), self._targets)
        problem, objective = found
        given = {"objective": objective, "rows_per_shard": ROWS_PER_SHARD, "seed": seed, "budget": BUDGET, "threads": 1}
        try:
            mk.batch.solve_files(problem, self._targets, self._out, progress=False, **given)
        except mk.errors.ProblemError as error:
            assert "overwrite" in str(error), error
            mk.batch.solve_files(problem, self._targets, self._out, overwrite=True, progress=False, **given)
        table = pq.read_table(self._out / "solutions").sort_by("row")
        q = np.column_stack([table.column(name).to_numpy() for name in BODY.joint_names])
        assert q.tolist() == [each for each, _ in solves(*expected, rows, seed)]
