"""All methods on the same random problems of one body: who solves how many, how quickly, and who tells the truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

import memetik as mk
from memetik.problem import checked_seed
from memetik_lab.contest import Tally, race
from memetik_lab.harness import UNLIMITED, Report, Row, beside, column, percent, save_figure, spread, subplots
from memetik_lab.judge import StatusJudge, Verdict
from memetik_lab.queries import Query, Task, ask, draw, wish

TURN = 20  # solves of one method in a row, before the next method gets the same ones


class Question(NamedTuple):
    """What all methods are asked: to bring the tips of a body to poses, or positions, all at once."""

    body: mk.Body
    tips: tuple[str, ...]
    task: Task
    position_only: bool = False

    @property
    def kind(self) -> str:
        """Of the objective of each tip."""
        return "position" if self.position_only else "pose"


@runtime_checkable
class Choosy(Protocol):
    """A method that can tell whether it takes a problem without solving it."""

    def check(self, problem: mk.Problem) -> None:
        """Raise RefusedError, or MissingExtraError if a package is needed."""


def _row(name: str, tally: Tally, task: Task) -> Row:
    """What a method did, as columns of a table."""
    verdicts: list[Verdict] = tally.verdicts
    return {
        "method": name,
        "solved [%]": percent([verdict.right for verdict in verdicts]),
        "contradicted": sum(bool(verdict.complaints) for verdict in verdicts),
        "late [%]": percent(np.array(tally.seconds) > task.seconds),
        **spread(tally.seconds),
        "evaluations": tally.mean("evaluations"),
        "attempts": tally.mean("attempts"),
        "median error [m]": float(np.median([verdict.position for verdict in verdicts])),
        "worst error [m]": max(verdict.position for verdict in verdicts),
        "median error [rad]": float(np.median([verdict.orientation for verdict in verdicts])),
        "worst error [rad]": max(verdict.orientation for verdict in verdicts),
    }


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


def named(names: Sequence[str] | None = None, *, seed: int = 0) -> dict[str, mk.solvers.Solver]:
    """Methods by name with their default parameters; all of them unless some are named."""
    return {name: mk.solver(name, seed=seed) for name in names or [method.name for method in mk.methods()]}


def compare(
    question: Question, solvers: Mapping[str, mk.solvers.Solver], *, count: int = 100, seed: int = 0
) -> Comparison:
    """Let the methods take turns at `count` reachable targets from random starts, and judge every answer."""
    if count < 1 or not solvers:
        raise mk.errors.ProblemError(
            f"compare: {count} queries for {len(solvers)} methods; there must be one of each at least."
        )
    wishes = [wish(question.kind, tip, question.task) for tip in question.tips]
    problem = mk.Problem(question.body, wishes)
    judge = StatusJudge(problem, question.tips, question.task, position_only=question.position_only)
    rng = np.random.default_rng(checked_seed(seed))
    first, *queries = (draw(question.body, wishes, rng) for _ in range(1 + count))
    able, refused, missing = _ask_who_can(problem, solvers, first)
    budget = mk.Budget(evaluations=UNLIMITED, seconds=question.task.seconds)
    tallies = race(
        [ask(problem, method, budget) for method in able.values()], queries, "comparing", turn=TURN, warm_up=(),
        judge=lambda solution, query: judge.examine(solution, query.targets),
    )  # fmt: skip
    found = dict(zip(able, tallies, strict=True))
    rows = _with_missing([_row(name, tally, question.task) for name, tally in found.items()], missing)
    report = Report(f"compare_{question.body.name}", _protocol(question, count), rows)
    complaints = [
        f"query {k}: {name} {complaint}"
        for name, tally in found.items()
        for k, verdict in enumerate(tally.verdicts)
        for complaint in verdict.complaints
    ]
    report.remarks += [f"{name} does not take part: {reason}" for name, reason in refused.items()]
    report.remarks += [f"CONTRADICTION, {complaint}" for complaint in complaints]
    if not complaints and found:
        answers = count * len(found)
        report.remarks.append(
            f"{answers} answers checked by a forward kinematics of their own: no limit broken, no status contradicted."
        )
    return Comparison(report, refused, missing, complaints)


def _ask_who_can(
    problem: mk.Problem, solvers: Mapping[str, mk.solvers.Solver], query: Query
) -> tuple[dict[str, mk.solvers.Solver], dict[str, str], dict[str, str]]:
    """Who may take part; who cannot, and who lacks a package, with the reasons. All are asked before any has to solve."""
    able: dict[str, mk.solvers.Solver] = {}
    refused: dict[str, str] = {}
    missing: dict[str, str] = {}
    for name, method in solvers.items():
        try:
            if isinstance(method, Choosy):
                method.check(problem)
            able[name] = method
        except mk.errors.RefusedError as refusal:
            refused[name] = str(refusal)
        except mk.errors.MissingExtraError as lack:
            missing[name] = str(lack)
    for name, method in list(able.items()):
        try:  # a first solve that does not count compiles it
            ask(problem, method, mk.Budget(evaluations=100))(query)
        except mk.errors.RefusedError as refusal:
            refused[name] = str(refusal)
            del able[name]
    return able, refused, missing


def _with_missing(rows: list[Row], missing: Mapping[str, str]) -> list[Row]:
    """The rows, and after them one for each method that lacks a package, which says what to install."""
    if not missing:
        return rows
    columns = [column for column in (rows[0] if rows else {"method": ""}) if column != "method"]
    lacking = [{"method": name, **dict.fromkeys(columns), "note": lack} for name, lack in missing.items()]
    return [*({**row, "note": ""} for row in rows), *lacking]


def _protocol(question: Question, count: int) -> str:
    task, body = question.task, question.body
    what = f"{task.position:g} m" if question.position_only else f"{task.position:g} m and {task.orientation:g} rad"
    return (
        f"{body.name}, {body.dof} joints: {count} times {question.kind}s of {', '.join(question.tips)}, those of a posture drawn "
        f"uniformly within the limits; starts drawn the same way, apart from the targets. To {what} within "
        f"{task.seconds:g} s a solve. All methods in one process take turns of {TURN} solves in changing order, with the same "
        "targets and starts. Solved: a forward kinematics that shares nothing with the methods finds the answer within "
        "tolerance and limits. Contradicted: it breaks a limit, or its status or errors are not so. Late: took longer than "
        "allowed. Errors are those of the tip that is farthest off, over all answers, solved or not."
    )


def _plot(report: Report) -> Any:
    rows = [row for row in report.rows if row.get("solved [%]") is not None]
    figure, (left, right) = subplots(1, 2, sharey=True, figsize=(10, 1.2 + 0.4 * len(rows)))
    places, shares = np.arange(len(rows)), column(rows, "solved [%]")
    left.barh(places, shares, 0.6)
    beside(left, shares, places, [f"{share:.1f} %" for share in shares])
    left.set_yticks(places, column(rows, "method"))
    left.set(xlim=(0.0, 118.0), xlabel="solved [%]")
    left.invert_yaxis()
    times = {key: 1e-3 * np.array(column(rows, f"{key} [us]")) for key in ("median", "mean", "p99")}
    for (key, values), marker in zip(times.items(), "oD|", strict=True):
        right.plot(values, places, marker, label=key)
    right.hlines(places, times["median"], times["p99"], alpha=0.4)
    right.set(xscale="log", xlabel="time of a solve [ms]")
    right.legend(fontsize=8, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure
