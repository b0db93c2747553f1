"""A solution as tables for people: how it went, every objective, every joint."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memetik.solution.measures import Measure, measures, title
from memetik.solution.words import count, duration
from memetik.tables import aligned

if TYPE_CHECKING:
    from memetik.problem import Problem
    from memetik.solution.solution import Solution

AT_LIMIT = 1e-9  # rad or m; what is returned is clamped, so a joint at its limit is there exactly


def report(solution: Solution) -> str:
    """The summary, then a row for each joint."""
    joints = [("joint", "value", "lower", "upper", ""), *_joint_rows(solution)]
    return "\n".join([summary(solution), "", *columns(joints)])


def summary(solution: Solution) -> str:
    """The status line, then a row for each objective."""
    objectives = [("objective", "error", "tolerance", ""), *map(_objective_row, measures(solution))]
    return "\n".join([*_status(solution), "", *columns(objectives)])


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of aligned columns under a ruled heading: names to the left, numbers to the right, remarks to the left."""
    return aligned(rows, range(1, len(rows[0]) - 1))


def limit_mark(problem: Problem, k: int, value: float) -> str:
    """Which limit in force the joint at place k of a joint vector stands at."""
    at_lower, at_upper = value <= problem.lower[k] + AT_LIMIT, value >= problem.upper[k] - AT_LIMIT
    if at_lower and at_upper:
        return "at both limits"
    return "at lower limit" if at_lower else "at upper limit" if at_upper else ""


def _status(solution: Solution) -> list[str]:
    spent = f"{count(solution.evaluations, 'evaluation')}, {count(solution.attempts, 'attempt')}"
    lines = [f"{solution.status.name} by {solution.method} in {duration(solution.seconds)} ({spent})"]
    if solution.problem.compiled.only_guides:
        lines.append(f"guides only: cost {solution.cost:.3g}; nothing could be missed")
    if solution.compile_seconds > 0.0:
        lines.append(f"besides, kernels took {duration(solution.compile_seconds)} to compile or load")
    if solution.timed_out:
        lines.append("the time ran out")
    if solution.start_moved:
        lines.append("the start was outside the limits and was moved into them")
    return lines


def _objective_row(row: Measure) -> tuple[str, ...]:
    name = f"{title(row.objective)}, {row.part}" if row.part else title(row.objective)
    limits = row.tolerance if isinstance(row.tolerance, tuple) else (row.tolerance,)
    tolerance = "" if row.tolerance is None else " ".join(f"{limit:.3g}" for limit in limits) + f" {row.unit}"
    return name, f"{row.error:.3g} {row.unit}".rstrip(), tolerance.rstrip(), row.verdict


def _joint_rows(solution: Solution) -> list[tuple[str, ...]]:
    problem = solution.problem
    body, read = problem.body, set(problem.compiled.active.tolist())
    rows: list[tuple[str, ...]] = []
    for k, (name, value) in enumerate(zip(body.joint_names, solution.q.tolist(), strict=True)):
        unit = "rad" if body.variables.turns[k] else "m"
        ends = [_number(float(end[k]), unit) for end in (problem.lower, problem.upper)]
        remark = "locked" if name in problem.lock else limit_mark(problem, k, value) if k in read else "unread"
        rows.append((name, _number(value, unit), *ends, remark))
    return rows


def _number(value: float, unit: str) -> str:
    return f"{round(value, 4) + 0.0:.4f} {unit}" if math.isfinite(value) else "free"  # no -0.0000
