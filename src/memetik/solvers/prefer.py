"""The preferred of several solutions: guides that choose between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memetik.errors import ProblemError, shown
from memetik.geometry.checks import several
from memetik.kernels.problem.evaluate import measure, place
from memetik.kernels.problem.workspace import Workspace
from memetik.kernels.runtime.record import allocate
from memetik.kernels.terms.springs import rest_at_start
from memetik.objectives import Objective
from memetik.problem import Problem, require_problem
from memetik.solution import Solution
from memetik.solvers.budget import Budget
from memetik.solvers.registry import Solver, answer_of, chosen
from memetik.solvers.solve_all import GATHERED, solve_all
from memetik.types import Array

PATIENCE = (
    60  # attempts in a row that bring no new solution; arms of six joints have at most 16, which take fewer to find
)


def preferred(
    problem: Problem,
    start: ArrayLike | None,
    method: str | Solver,
    budget: Budget,
    seed: int,
    prefer: bool | Objective | Iterable[Objective],
) -> Solution:
    """The solution that some objectives like best; among equals the nearest to the start."""
    require_problem(problem, "solve")
    value = _value(problem, problem.start(start), prefer)
    if prefer is True and problem.compiled.only_guides:  # the best by the guides is what a solve looks for
        return answer_of(chosen(method, seed, "solve"), problem, start, budget)
    found = solve_all(
        problem, start, method=method, budget=budget, seed=seed, count=GATHERED, patience=PATIENCE
    )  # fmt: skip
    if not found:  # the closest then, as without preferences
        return answer_of(chosen(method, seed, "solve"), problem, start, budget)
    return min(found, key=lambda solution: value(solution.q))


def _value(problem: Problem, origin: Array, prefer: bool | Objective | Iterable[Objective]) -> Callable[[Array], float]:
    """How little a posture is liked: the squared errors of the objectives that choose, by their weights."""
    if prefer is True:
        judge, wanted = problem, problem.compiled.terms["soft"] != 0
        if not wanted.any():
            raise ProblemError(
                "solve: prefer=True chooses by guides, and the problem has none. Add an objective with tolerance=None, or "
                "give the objectives that choose: prefer=[...]."
            )
        return _cost_of(judge, origin, wanted)
    given = (prefer,) if isinstance(prefer, Objective) else several(prefer, ProblemError, "solve: prefer", "[up]")
    for objective in given:
        if not isinstance(objective, Objective):
            raise ProblemError(
                f"solve: prefer names {shown(objective)}, which is no objective. Give mk.Plane(...) or the like."
            )
    if not given:
        raise ProblemError("solve: prefer is empty. Give at least one objective, or leave it out.")
    # With all others, which say what joints a Displacement is about.
    others = [objective for objective in problem.objectives if objective not in given]
    judge = Problem(problem.body, [*given, *others], lock=problem.lock, limits=problem.limits, root=problem.root)
    wanted = np.zeros(judge.compiled.terms.size, dtype=bool)
    for owner in judge.compiled.owners[: len(given)]:
        wanted[owner] = True
    return _cost_of(judge, origin, wanted)


def _cost_of(judge: Problem, origin: Array, wanted: NDArray[np.bool_]) -> Callable[[Array], float]:
    c = judge.compiled
    record, work = c.record, allocate(Workspace, c.sizes)
    terms, data = record.terms.copy(), record.data.copy()
    terms["soft"] = ~wanted
    rest_at_start(terms, data, origin[c.active])

    def cost(q: Array) -> float:
        x = q[c.active]
        place(record.nodes, record.frames, x, work.poses, work.world)
        return float(measure(terms, data, work.world, x, 0.0, work.residual)[1])

    return cost
