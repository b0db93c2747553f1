"""What the methods of sweeps, CCD and FABRIK, share: what they can take."""

from __future__ import annotations

from numpy.typing import ArrayLike

from memetik.errors import RefusedError
from memetik.kernels.terms.records import NO_GOAL
from memetik.problem import Problem
from memetik.solution import Solution
from memetik.solvers.budget import DEFAULT, Budget, require_task
from memetik.solvers.family import Family


class Sweeping(Family):
    """A method of sweeps."""

    def solve(self, problem: Problem, start: ArrayLike | None = None, budget: Budget = DEFAULT) -> Solution:
        """The solution nearest to hand from `start` (the body's home unless given)."""
        require_task(problem, budget, self.name)
        require_tips(problem, self.name)
        return super().solve(problem, start, budget)


def require_tips(problem: Problem, method: str) -> None:
    """Raise unless every objective is about where a frame is, how it is turned or where it points, in the world."""
    c = problem.compiled
    if require_tips in c.plans:  # looked at before; it takes as long as a few sweeps
        return
    for objective, owner in zip(problem.objectives, c.owners, strict=True):
        if (c.terms["goal"][owner] == NO_GOAL).any():
            raise RefusedError(
                f"method {method!r} cannot take {objective!r}. Method 'memetic' can: mk.methods() lists all."
            )
        if (c.terms["other"][owner] >= 0).any():
            raise RefusedError(
                f"method {method!r} cannot take {objective!r}: its target rides on another frame and moves with the joints. "
                "Give it in the world, or use method 'memetic': mk.methods() lists all."
            )
    c.plans[require_tips] = True
