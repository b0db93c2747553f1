"""explain: a solution in sentences, what was reached, what was missed, and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from memetik.kernels.problem.verify import INVALID
from memetik.kernels.terms.records import FOLLOWS_START
from memetik.solution.causes import Inquiry, binding_limits, causes
from memetik.solution.measures import GUIDE, MISSED, OK, Measure, measures, term_errors, title
from memetik.solution.reach import Beyond, beyond
from memetik.solution.words import amount, count, digits, duration, listed
from memetik.types import Array

if TYPE_CHECKING:
    from memetik.objectives.objective import Objective
    from memetik.problem import Problem
    from memetik.solution.solution import Solution

STALE = "The targets have changed since, so the cause cannot be told. Explain before you assign new ones."


def explain(solution: Solution, look: Callable[[Problem, Array, int], Solution] | None) -> str:
    """One sentence a line. `look` solves parts of the problem again to find the cause of a failure."""
    rows = measures(solution)
    if solution.success:
        sentences = [_success(solution, rows)]
    elif solution.status == INVALID:
        sentences = [_invalid(rows)]
    else:
        sentences = _failure(solution, rows, look)
    return "\n".join(sentences + _notes(solution, rows))


def _success(solution: Solution, rows: list[Measure]) -> str:
    how = f"{solution.method} in {duration(solution.seconds)} {_effort(solution)}"
    if solution.problem.compiled.only_guides:
        cost = f"guides only: cost {solution.cost:.3g}; nothing could be missed"
        return f"The problem has {cost}. This is the lowest cost found by {how}."
    hard = len({row.objective for row in rows if row.verdict == OK})
    what = "The objective is within tolerance" if hard == 1 else f"All {hard} objectives are within tolerance"
    if hard == 0:
        what = "Nothing had to be reached"
    return f"{what}: solved by {how}."


def _effort(solution: Solution) -> str:
    return f"with {count(solution.evaluations, 'evaluation')} in {count(solution.attempts, 'attempt')}"


def _invalid(rows: list[Measure]) -> str:
    bad = [title(row.objective) for row in rows if not np.isfinite(row.error)]
    cause = f"{listed(bad)} is not a finite number there" if bad else "the search ran into a number that is not finite"
    return f"No usable posture came out: {cause}. Check what the objectives compute."


def _failure(
    solution: Solution, rows: list[Measure], look: Callable[[Problem, Array, int], Solution] | None
) -> list[str]:
    missed = list(dict.fromkeys(row.objective for row in rows if row.verdict == MISSED))
    if _stale(solution):
        return [*(_missed(objective, rows, None) for objective in missed), STALE]
    far = {objective: there for objective in missed if (there := beyond(solution.problem, objective, solution.q))}
    sentences = [_missed(objective, rows, far.get(objective)) for objective in missed]
    if solution.timed_out:
        sentences.append(f"The time ran out after {duration(solution.seconds)}, {_effort(solution)}.")
    else:
        sentences.append(f"The search ended after {duration(solution.seconds)}, {_effort(solution)}.")
    if look is not None:
        sentences += causes(Inquiry(solution, look), missed, far)
    binding = binding_limits(solution)
    if binding:
        verb = "stands at a limit beyond which it" if len(binding) == 1 else "stand at limits beyond which they"
        sentences.append(f"{listed(binding)} {verb} would come closer.")
    return sentences


def _missed(objective: Objective, rows: list[Measure], far: Beyond | None) -> str:
    parts = [row for row in rows if row.objective is objective and row.verdict == MISSED]
    by = " and ".join(amount(row.error, row.unit) for row in parts)
    allowed = " and ".join(_tolerance(row) for row in parts)
    sentence = f"{title(objective)} missed by {by} (tolerance {allowed})"
    if far is None:
        return sentence + "."
    reach = f"the target is {digits(far.distance)} m from {far.joint}, the chain from there reaches at most"
    return f"{sentence}: {reach} {digits(far.length)} m."


def _tolerance(row: Measure) -> str:
    limits = row.tolerance if isinstance(row.tolerance, tuple) else (row.tolerance or 0.0,)
    return " / ".join(amount(limit, row.unit) for limit in limits)


def _stale(solution: Solution) -> bool:
    """Whether the errors of the solution are no longer those of its posture, because a target has moved."""
    compiled = solution.problem.compiled
    now, then = term_errors(compiled, solution.q), solution.term_errors
    fixed = compiled.terms["other"] != FOLLOWS_START
    return not np.allclose(now[fixed], then[fixed], rtol=1e-6, atol=1e-9, equal_nan=True)


def _notes(solution: Solution, rows: list[Measure]) -> list[str]:
    sentences = []
    if solution.start_moved:
        sentences.append("The start was outside the limits and was moved into them.")
    for row in rows:
        if row.verdict == GUIDE:
            sentences.append(f"{title(row.objective)}, a guide, remains at {amount(row.error, row.unit)}.")
    return sentences
