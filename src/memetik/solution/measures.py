"""The errors of a solution one by one, each with its tolerance, unit and verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from memetik.kernels.problem.budget import OUTCOME
from memetik.kernels.problem.evaluate import measure, place
from memetik.kernels.problem.verify import verify
from memetik.kernels.problem.workspace import Workspace
from memetik.kernels.runtime.record import allocate
from memetik.kernels.terms.pose import AXIS_TOLERANCE
from memetik.kernels.terms.records import FOLLOWS_START, POINT, ROTATION, kind_of
from memetik.objectives import JointValue, Objective
from memetik.types import Array

if TYPE_CHECKING:
    from memetik.problem import Problem
    from memetik.problem.compile import Compiled
    from memetik.solution.solution import Solution

OK, MISSED, GUIDE = "ok", "missed", "guide"


class Measure(NamedTuple):
    """One thing that is measured: an objective, or the position or orientation of a pose."""

    objective: Objective
    part: str  # empty for an objective that is measured as a whole
    error: float
    tolerance: float | tuple[float, ...] | None  # one for each axis where so asked, None for a guide
    unit: str  # "m", "rad", or empty for another
    verdict: str


def measures(solution: Solution) -> list[Measure]:
    """Everything that the objectives measure, in their order."""
    problem = solution.problem
    compiled = problem.compiled
    good = solution.term_satisfied
    found = []
    for objective, owner in zip(problem.objectives, compiled.owners, strict=True):
        for t in range(owner.start, owner.stop):
            term = compiled.terms[t]
            if np.isinf(term["tolerance"]) and not term["soft"]:
                continue  # whatever its error, it counts as satisfied
            verdict = GUIDE if term["soft"] else OK if solution.success or good[t] else MISSED
            part = kind_of(term).part if owner.stop - owner.start > 1 else ""
            error, unit = float(solution.term_errors[t]), _unit(problem, objective, term)
            found.append(Measure(objective, part, error, _tolerance(compiled, term), unit, verdict))
    return found


def term_errors(compiled: Compiled, q: Array) -> Array:
    """The errors of all terms at a posture."""
    x, outcome, work = q[compiled.active], np.zeros(compiled.outcome_size), allocate(Workspace, compiled.sizes)
    work.start[:] = x
    verify(compiled.placed(), x, outcome, work)
    return outcome[OUTCOME : OUTCOME + compiled.terms.size]


def cost(compiled: Compiled, x: Array) -> float:
    """What the search minimises, of the objectives that can block: the sum of squares of scaled residuals.

    Objectives about the start of a solve are left out: nothing says where that was.
    """
    record, work = compiled.placed(), allocate(Workspace, compiled.sizes)
    terms = record.terms.copy()
    terms["soft"] |= terms["other"] == FOLLOWS_START
    place(record.nodes, record.frames, x, work.poses, work.world)
    return float(measure(terms, record.data, work.world, x, 0.0, work.residual)[1])


def title(objective: Objective) -> str:
    """'Position of panda_hand' or, where the user gave a name, that."""
    if objective.name != type(objective).__name__:
        return objective.name
    frames = [str(frame) for frame in objective.frames()]
    about = " against ".join(frames) or getattr(objective, "joint", "")
    return f"{objective.name} of {about}" if about else objective.name


def _tolerance(compiled: Compiled, term: np.void) -> float | tuple[float, ...] | None:
    if term["soft"]:
        return None
    if term["goal"] in (POINT, ROTATION) and term["count"] > 0:  # one for each axis
        k = int(term["numbers"]) + AXIS_TOLERANCE
        return tuple(compiled.data[k : k + 3].tolist())
    return float(term["tolerance"])


def _unit(problem: Problem, objective: Objective, term: np.void) -> str:
    if isinstance(objective, JointValue):
        return "rad" if problem.body.variables.turns[problem.body.index(objective.joint)] else "m"
    return kind_of(term).unit
