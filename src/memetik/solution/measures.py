"""The errors of a solution one by one, each with its tolerance, unit and verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memetik.kernels.compiler.record import allocate
from memetik.kernels.problem.budget import OUTCOME
from memetik.kernels.problem.evaluate import measure, place
from memetik.kernels.problem.verify import verify
from memetik.kernels.problem.workspace import Workspace
from memetik.kernels.terms.records import (
    AIM,
    AXIS_TOLERANCE,
    BALANCE,
    DISTANCE,
    FOLLOWS_START,
    ORIENTATION,
    PLANE,
    POSITION,
    PROJECTION,
    PROJECTION_TURN,
    RANGE,
    SPRINGS,
)
from memetik.objectives import JointValue, Objective
from memetik.types import Array

if TYPE_CHECKING:
    from memetik.problem import Problem
    from memetik.problem.compile import Compiled
    from memetik.solution.solution import Solution


OK, MISSED, GUIDE = "ok", "missed", "guide"
# The unit of each kind of term, and its name where an objective has several; other kinds have their own units.
_UNITS = {
    POSITION: "m", ORIENTATION: "rad", AIM: "rad", PROJECTION: "m", PROJECTION_TURN: "rad", BALANCE: "m", DISTANCE: "m",
    RANGE: "m", PLANE: "m",
}  # fmt: skip
_PARTS = {POSITION: "position", ORIENTATION: "orientation", PROJECTION: "position", PROJECTION_TURN: "orientation"}


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
    good, by_axis = solution.term_satisfied, _by_axis(compiled.terms)
    found = []
    for objective, owner in zip(problem.objectives, compiled.owners, strict=True):
        for t in range(owner.start, owner.stop):
            term = compiled.terms[t]
            if np.isinf(term["tolerance"]) and not term["soft"]:
                continue  # whatever its error, it counts as satisfied
            verdict = GUIDE if term["soft"] else OK if solution.success or good[t] else MISSED
            part = _PARTS.get(int(term["kind"]), "") if owner.stop - owner.start > 1 else ""
            error, unit = float(solution.term_errors[t]), _unit(problem, objective, term)
            found.append(Measure(objective, part, error, _tolerance(compiled, term, by_axis[t]), unit, verdict))
    return found


def term_errors(compiled: Compiled, q: Array) -> Array:
    """The errors of all terms at a posture."""
    x, outcome, work = q[compiled.active], np.zeros(compiled.outcome_size), allocate(Workspace, compiled.sizes)
    work.start[:] = x
    verify(compiled.record, x, outcome, work)
    return outcome[OUTCOME : OUTCOME + compiled.terms.size]


def cost(compiled: Compiled, x: Array) -> float:
    """What the search minimises, of the objectives that can block: the sum of squares of scaled residuals.

    Objectives about the start of a solve are left out: nothing says where that was.
    """
    record, work = compiled.record, allocate(Workspace, compiled.sizes)
    terms = np.where(record.terms["other"] == FOLLOWS_START, _softened(record.terms), record.terms)
    place(record.nodes, record.frames, x, work.poses, work.world)
    return float(measure(terms, record.data, work.world, x, 0.0, work.residual)[1])


def _softened(terms: NDArray[np.void]) -> NDArray[np.void]:
    softened = terms.copy()
    softened["soft"] = 1
    return softened


def title(objective: Objective) -> str:
    """'Position of panda_hand' or, where the user gave a name, that."""
    if objective.name != type(objective).__name__:
        return objective.name
    frames = [str(frame) for frame in objective.frames()]
    about = " against ".join(frames) or getattr(objective, "joint", "")
    return f"{objective.name} of {about}" if about else objective.name


def _by_axis(terms: NDArray[np.void]) -> NDArray[np.bool_]:
    """Which terms have a tolerance for each axis."""
    return np.isin(terms["kind"], (POSITION, ORIENTATION)) & (terms["count"] > 0)


def _tolerance(compiled: Compiled, term: np.void, by_axis: bool) -> float | tuple[float, ...] | None:
    if term["soft"]:
        return None
    if by_axis:
        k = int(term["numbers"]) + AXIS_TOLERANCE
        return tuple(compiled.data[k : k + 3].tolist())
    return float(term["tolerance"])


def _unit(problem: Problem, objective: Objective, term: np.void) -> str:
    if term["kind"] == SPRINGS and isinstance(objective, JointValue):
        return "rad" if problem.body.variables.turns[problem.body.index(objective.joint)] else "m"
    return _UNITS.get(int(term["kind"]), "")
