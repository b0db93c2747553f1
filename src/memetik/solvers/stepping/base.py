"""What the Jacobian methods share on the Python side: their common parameters, and the way into kernels/stepping/iterate.py."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from memetik.errors import ProblemError
from memetik.kernels.compiler.function_pointers import step_address
from memetik.kernels.problem.evaluate import count_residuals
from memetik.kernels.stepping.iterate import MEMORY, iterate
from memetik.problem import Problem
from memetik.solution import Solution
from memetik.solvers.budget import DEFAULT, Budget, require_task
from memetik.solvers.method import run
from memetik.solvers.seeded import Seeded

ALONE = 5  # times the patience where no restart follows; on nine arms more of it solves next to nothing more


@dataclass(frozen=True, kw_only=True)
class Stepping(Seeded):
    """A method that repeats one step. Takes every objective, any number of tips, any joint; one evaluation an iteration.

    Limits hold at every step: a step ends at them, and a joint at its limit that the errors push outwards takes no part
    in the next one; one whose range holds a whole turn goes round instead. Guides (objectives without tolerance) pull
    fully until the errors have settled, and fade while the other objectives are not satisfied. The same seed gives the
    same answer, bit for bit.

    restarts: after a stall, begin again at a random posture until the budget is spent; the textbook method stops there.
    patience: so many steps in a row without progress are a stall; without restarts five times as many.
    progress: the share that a step has to take off the lowest squared error to count.
    longest_step: no joint moves further in one step [rad or m]; the step is scaled as a whole.
    """

    seed: int = 0
    restarts: bool = True
    patience: int = 4
    progress: float = 0.2
    longest_step: float = 1.0

    name: ClassVar[str]
    step: ClassVar[Any]  # the kernel that makes the method (STEP in kernels/compiler/function_pointers.py)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_positive("patience", "longest_step")
        if not 0.0 <= self.progress < 1.0:
            raise ProblemError(f"{self.name}: progress is {self.progress}; it is a share, from 0 to below 1.")

    def steps_to_stall(self) -> int:
        """So many steps in a row without progress end an attempt."""
        return self.patience if self.restarts else ALONE * self.patience

    def own(self) -> Sequence[float]:
        """The numbers of this method alone, as its kernel reads them."""
        return ()

    def room(self, variables: int, residuals: int, springs: bool) -> int:
        """How many numbers its kernel keeps between steps or needs as scratch; `springs` says if an objective has them."""
        return MEMORY

    def solve(self, problem: Problem, start: ArrayLike | None = None, budget: Budget = DEFAULT) -> Solution:
        """The solution nearest to hand from `start` (the body's home unless given)."""
        require_task(problem, budget, self.name)
        begin = time.perf_counter()
        c = problem.compiled
        springs = (None, None) in c.kernels  # they need none: their Jacobian is a diagonal
        return run(
            problem,
            start,
            budget,
            self.name,
            iterate,
            seed=self.seed,
            parameters=(self.restarts, self.steps_to_stall(), self.progress, self.longest_step, *self.own()),
            places=[step_address(type(self).step)],
            room=self.room(c.active.size, count_residuals(c.terms), springs),
            begin=begin,
        )
