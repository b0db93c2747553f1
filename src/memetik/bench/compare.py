"""All methods on the same random problems of one body: who solves how many, how quickly, and who tells the truth."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from memetik.bench.harness import Report, progress, pyplot, save_figure, spread
from memetik.bench.judge import StatusJudge, Verdict
from memetik.bench.peers import Task
from memetik.body import Body
from memetik.errors import MissingExtraError, ProblemError, RefusedError
from memetik.objectives import Pose, Position
from memetik.problem import Problem
from memetik.problem.seed import checked_seed
from memetik.solution import Solution
from memetik.solvers import Budget, Solver, methods, solver
from memetik.types import Array

TURN = 20  # solves of one method in a row, before the next method gets the same ones
UNLIMITED = 10**12  # evaluations: time alone ends a search


class Question(NamedTuple):
    """What all methods are asked: to bring the tips of a body to poses, or positions, all at once."""

    body: Body
    tips: tuple[str, ...]
    task: Task
    position_only: bool = False

    def wishes(self) -> list[Pose | Position]:
        """One objective for each tip; the targets come later."""
        if self.position_only:
            return [Position(tip, (0.0, 0.0, 0.0), tolerance=self.task.position) for tip in self.tips]
        near, turned = self.task.position, self.task.orientation
        return [Pose(tip, np.eye(4), position_tolerance=near, orientation_tolerance=turned) for tip in self.tips]


class Query(NamedTuple):
    """One problem: a pose [4x4] for each tip, and where to start."""

    targets: tuple[Array, ...]
    start: Array


@runtime_checkable
class Choosy(Protocol):
    """A method that can tell whether it takes a problem without solving it."""

    def check(self, problem: Problem) -> None:
        """Raise RefusedError, or MissingExtraError if a package is needed."""


@dataclass
class Entrant:
    """A method, and what it did."""

    name: str
    solver: Solver
    solutions: list[Solution] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def row(self, task: Task) -> dict[str, Any]:
        """The outcome as columns of a table."""
        return {
            "method": self.name,
            "solved [%]": 100.0 * float(np.mean([verdict.right for verdict in self.verdicts])),
            "contradicted": sum(bool(verdict.complaints) for verdict in self.verdicts),
            "late [%]": 100.0 * float(np.mean(np.array(self.seconds) > task.seconds)),
            **spread(self.seconds),
            "evaluations": float(np.mean([solution.evaluations for solution in self.solutions])),
            "attempts": float(np.mean([solution.attempts for solution in self.solutions])),
            "median error [m]": float(np.median([verdict.position for verdict in self.verdicts])),
            "worst error [m]": max(verdict.position for verdict in self.verdicts),
            "median error [rad]": float(np.median([verdict.orientation for verdict in self.verdicts])),
            "worst error [rad]": max(verdict.orientation for verdict in self.verdicts),
        }

    def complaints(self) -> list[str]:
        """Everything that it says of itself and is not so."""
        return [
            f"query {k}: {self.name} {complaint}"
            for k, verdict in enumerate(self.verdicts)
            for complaint in verdict.complaints
        ]


@dataclass
class Comparison:
    """The report, and what must not be overlooked in it."""

    report: Report
    refused: dict[str, str]  # methods that cannot take the problem, and why
    missing: dict[str, str]  # methods that need a package, and what to install
    complaints: list[str]

    def save(self, folder: Path, *, plot: bool = True) -> list[Path]:
        """Write the JSON and the plot; the plot needs matplotlib."""
        figures = save_figure(_plot(self.report), folder, self.report.name) if plot else []
        return [self.report.save(folder), *figures]


def named(names: Sequence[str] | None = None, *, seed: int = 0) -> dict[str, Solver]:
    """Methods by name with their default parameters; all of them unless some are named."""
    return {name: solver(name, seed=seed) for name in names or [method.name for method in methods()]}


def compare(question: Question, solvers: Mapping[str, Solver], *, count: int = 100, seed: int = 0) -> Comparison:
    """Let the methods take turns at `count` reachable targets from random starts, and judge every answer."""
    if count < 1 or not solvers:
        raise ProblemError(f"compare: {count} queries for {len(solvers)} methods; there must be one of each at least.")
    wishes = question.wishes()
    problem = Problem(question.body, wishes)
    judge = StatusJudge(problem, question.tips, question.task, position_only=question.position_only)
    rng = np.random.default_rng(checked_seed(seed))
    able, refused, missing = _ask_who_can(problem, solvers)
    entrants = _warm_up(problem, wishes, able, _draw(question, rng), refused)
    turns = [(begin, k) for begin in range(0, count, TURN) for k in range(len(entrants))]
    queries: list[Query] = []
    for begin, k in progress(turns, len(turns), "comparing"):
        if k == 0:
            queries = [_draw(question, rng) for _ in range(min(TURN, count - begin))]
        _take_turn(entrants[(k + begin // TURN) % len(entrants)], problem, wishes, question.task, queries, judge)
    rows = _with_missing([entrant.row(question.task) for entrant in entrants], missing)
    report = Report(f"compare_{question.body.name}", _protocol(question, count), rows)
    complaints = [complaint for entrant in entrants for complaint in entrant.complaints()]
    report.remarks += [f"{name} does not take part: {reason}" for name, reason in refused.items()]
    report.remarks += [f"CONTRADICTION, {complaint}" for complaint in complaints]
    if not complaints and entrants:
        answers = count * len(entrants)
        report.remarks.append(
            f"{answers} answers checked by a forward kinematics of their own: no limit broken, no status contradicted."
        )
    return Comparison(report, refused, missing, complaints)


def _ask_who_can(
    problem: Problem, solvers: Mapping[str, Solver]
) -> tuple[dict[str, Solver], dict[str, str], dict[str, str]]:
    """Who may take part, as far as can be told without solving; who cannot, and who lacks a package, with the reasons."""
    able: dict[str, Solver] = {}
    refused: dict[str, str] = {}
    missing: dict[str, str] = {}
    for name, method in solvers.items():
        try:
            if isinstance(method, Choosy):
                method.check(problem)
            able[name] = method
        except RefusedError as refusal:
            refused[name] = str(refusal)
        except MissingExtraError as lack:
            missing[name] = str(lack)
    return able, refused, missing


def _warm_up(
    problem: Problem, wishes: Sequence[Pose | Position], solvers: Mapping[str, Solver], query: Query,
    refused: dict[str, str],
) -> list[Entrant]:  # fmt: skip
    """Compile the methods by a first solve that does not count; those that cannot take the problem are added to `refused`."""
    entrants = []
    for name, method in solvers.items():
        try:
            _ask(method, problem, wishes, query, Budget(evaluations=100))
        except RefusedError as refusal:
            refused[name] = str(refusal)
        else:
            entrants.append(Entrant(name, method))
    return entrants


def _with_missing(rows: list[dict[str, Any]], missing: Mapping[str, str]) -> list[dict[str, Any]]:
    """The rows, and after them one for each method that lacks a package, which says what to install."""
    if not missing:
        return rows
    columns = [column for column in (rows[0] if rows else {"method": ""}) if column != "method"]
    lacking = [{"method": name, **dict.fromkeys(columns), "note": lack} for name, lack in missing.items()]
    return [*({**row, "note": ""} for row in rows), *lacking]


def _draw(question: Question, rng: np.random.Generator) -> Query:
    """Targets that can be reached together, and a start that has nothing to do with them."""
    poses = question.body.forward(question.body.sample(rng))
    return Query(tuple(poses[tip].copy() for tip in question.tips), question.body.sample(rng))


def _ask(
    method: Solver, problem: Problem, wishes: Sequence[Pose | Position], query: Query, budget: Budget
) -> tuple[Solution, float]:
    for wish, target in zip(wishes, query.targets, strict=True):
        wish.target = target[:3, 3] if isinstance(wish, Position) else target
    begin = time.perf_counter()
    solution = method.solve(problem, query.start, budget)
    return solution, time.perf_counter() - begin


def _take_turn(
    entrant: Entrant, problem: Problem, wishes: Sequence[Pose | Position], task: Task, queries: Sequence[Query],
    judge: StatusJudge,
) -> None:  # fmt: skip
    """Solve some queries in a row; the answers are judged afterwards, when no time is taken."""
    budget = Budget(evaluations=UNLIMITED, seconds=task.seconds)
    answers = [_ask(entrant.solver, problem, wishes, query, budget) for query in queries]
    for (solution, seconds), query in zip(answers, queries, strict=True):
        entrant.solutions.append(solution)
        entrant.seconds.append(seconds)
        entrant.verdicts.append(judge.examine(solution, query.targets))


def _protocol(question: Question, count: int) -> str:
    task, body = question.task, question.body
    what = f"{task.position:g} m" if question.position_only else f"{task.position:g} m and {task.orientation:g} rad"
    kind = "positions" if question.position_only else "poses"
    return (
        f"{body.name}, {body.dof} joints: {count} times {kind} of {', '.join(question.tips)}, those of a posture drawn "
        f"uniformly within the limits; starts drawn the same way, apart from the targets. To {what} within "
        f"{task.seconds:g} s a solve. All methods in one process take turns of {TURN} solves in changing order, with the same "
        "targets and starts. Solved: a forward kinematics that shares nothing with the methods finds the answer within "
        "tolerance and limits. Contradicted: it breaks a limit, or its status or errors are not so. Late: took longer than "
        "allowed. Errors are those of the tip that is farthest off, over all answers, solved or not."
    )


def _plot(report: Report) -> Any:
    plt = pyplot()
    rows = [row for row in report.rows if row.get("solved [%]") is not None]
    figure, (left, right) = plt.subplots(1, 2, sharey=True, figsize=(10, 1.2 + 0.4 * len(rows)))
    places = np.arange(len(rows))
    solved = [row["solved [%]"] for row in rows]
    left.barh(places, solved, 0.6)
    for place, share in zip(places, solved, strict=True):
        left.text(share, place, f" {share:.1f} %", va="center", fontsize=8)
    left.set_yticks(places, [row["method"] for row in rows])
    left.set(xlim=(0.0, 118.0), xlabel="solved [%]")
    left.invert_yaxis()
    for column, marker in (("median [us]", "o"), ("mean [us]", "D"), ("p99 [us]", "|")):
        right.plot([1e-3 * row[column] for row in rows], places, marker, label=column.split()[0])
    right.hlines(
        places, [1e-3 * row["median [us]"] for row in rows], [1e-3 * row["p99 [us]"] for row in rows],
        alpha=0.4,
    )  # fmt: skip
    right.set(xscale="log", xlabel="time of a solve [ms]")
    right.legend(fontsize=8, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    figure.tight_layout()
    return figure
