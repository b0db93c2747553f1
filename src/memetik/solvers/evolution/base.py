"""What the evolutionary methods share on the Python side: a population, patience, and the way into their kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from memetik.errors import ProblemError
from memetik.problem import Problem
from memetik.problem.compile import Compiled
from memetik.solution import Solution
from memetik.solvers.budget import DEFAULT, Budget, require_task
from memetik.solvers.method import run
from memetik.solvers.seeded import Seeded


@dataclass(frozen=True, kw_only=True)
class Evolving(Seeded):
    """A population of postures that only compares them: no derivatives, so that any objective will do, even one that jumps.

    Takes every objective, any number of tips, any joint. The start is one of the first population. Limits hold in every
    individual. The same seed gives the same answer, bit for bit. One evaluation is one individual. Guides (objectives
    without tolerance) fade from generation to generation while the others are not satisfied. Fitness is the loss of the
    thesis, which is small far from the root too: of a target out of reach it finds about the nearest point.

    population: how many individuals; more with more joints unless given.
    patience: after so many generations in a row that gain less than a twentieth, a fresh population is drawn.
    """

    seed: int = 0
    population: int | None = None
    patience: int = 25

    name: ClassVar[str]
    fewest: ClassVar[int]  # individuals that the method needs
    search: ClassVar[Any]  # the kernel that makes the method (SEARCH in kernels/compiler/function_pointers.py)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.population is not None and self.population < self.fewest:
            raise ProblemError(f"{self.name}: population is {self.population}; it must be at least {self.fewest}.")
        self.require_positive("patience")

    def usual(self, joints: int) -> int:
        """The population for so many joints, unless one is given."""
        raise NotImplementedError

    def own(self) -> Sequence[float]:
        """The numbers of this method alone, as its kernel reads them."""
        raise NotImplementedError

    def scratch(self, c: Compiled, size: int) -> tuple[int, int]:
        """How many integers and floats its kernel needs."""
        raise NotImplementedError

    def require_share(self, *parameters: str) -> None:
        """Raise if one of these parameters is not from 0 to 1."""
        for parameter in parameters:
            value = getattr(self, parameter)
            if not 0.0 <= value <= 1.0:
                raise ProblemError(f"{self.name}: {parameter} is {value}; it is a share, from 0 to 1.")

    def solve(self, problem: Problem, start: ArrayLike | None = None, budget: Budget = DEFAULT) -> Solution:
        """The first individual that satisfies all objectives, else the one that misses them least."""
        require_task(problem, budget, self.name)
        c = problem.compiled
        size = self.usual(c.active.size) if self.population is None else self.population
        places, room = self.scratch(c, size)
        return run(
            problem,
            start,
            budget,
            self.name,
            type(self).search,
            seed=self.seed,
            parameters=(size, self.patience, *self.own()),
            places=places,
            room=room,
        )
