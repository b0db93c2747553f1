"""What the methods of sweeps, CCD and FABRIK, can take."""

from __future__ import annotations

from weakref import WeakSet

from memetik.errors import RefusedError
from memetik.kernels.terms import AIM, ORIENTATION, POSITION
from memetik.problem import Problem, require_problem
from memetik.problem.compile import Compiled
from memetik.solvers.method import require

# Problems that were found good. Their terms do not change, and looking takes as long as a few sweeps.
_good: WeakSet[Compiled] = WeakSet()


def require_tips(problem: Problem, method: str) -> None:
    """Raise unless every objective is about where a frame is, how it is turned or where it points, in the world."""
    require_problem(problem, method)
    c = problem.compiled
    if c in _good:
        return
    require(problem, method, (POSITION, ORIENTATION, AIM))
    for objective, owner in zip(problem.objectives, c.owners, strict=True):
        if (c.terms["other"][owner] >= 0).any():
            raise RefusedError(
                f"method {method!r} cannot take {objective!r}: its target rides on another frame and moves with the joints. "
                "Give it in the world, or use method 'memetic': mk.methods() lists all."
            )
    _good.add(c)
