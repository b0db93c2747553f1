"""Budget: how much a solver may spend."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

from memetik.errors import ProblemError, shown
from memetik.problem import require_problem
from memetik.problem.cancel import CancelToken

MOST_EVALUATIONS = 2**62  # kernels count in 64 bits, and add to what they may spend
MOST_GENERATIONS = 10**9


class _Usual(int):
    """What counts unless another limit is given in its place."""


@dataclass(frozen=True)
class Budget:
    """Evaluations of the body first, because they are the same on every machine; wall time second.

    A solve that ends because of `seconds` [s] says so in its solution and may differ from run to run. The time that kernels
    take to compile does not count.

    generations: of methods that have some (bioik, ga, de, pso, hgsa): after so many the search ends, whole, unless all is
    satisfied before. A generation is one that was bred; a population that is drawn, at first or again, is none, and neither is
    what a memetic method learns. Evaluations do not count then, unless given too. Other methods refuse such a budget.
    """

    evaluations: int = _Usual(20_000)
    seconds: float = math.inf
    token: CancelToken | None = field(default=None, repr=False, compare=False)  # cancels what is solved with the budget
    generations: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.generations is not None:
            object.__setattr__(self, "generations", _generations(self.generations))
            if isinstance(self.evaluations, _Usual):
                object.__setattr__(self, "evaluations", MOST_EVALUATIONS)
        object.__setattr__(self, "evaluations", _evaluations(self.evaluations))
        object.__setattr__(self, "seconds", _seconds(self.seconds))


def checked_budget(budget: object, who: str = "", *, generations: bool = False) -> Budget:
    """The budget, if it is one; `who` asks, for the message, and may be given a number of `generations`."""
    where = who and f"{who}: "
    if isinstance(budget, Budget):
        if not generations:
            refuse_generations(budget, who)
        return budget
    raise ProblemError(
        f"{where}budget is {shown(budget)}; write mk.Budget(evaluations=20_000), mk.Budget(seconds=0.01) or one with both."
    )


def refuse_generations(budget: Budget, who: str) -> None:
    """Raise if a budget counts generations, for what has none."""
    if budget.generations is not None:
        raise ProblemError(
            f"{who or 'solve'}: the budget counts generations, which only the methods bioik, ga, de, pso and hgsa have. Choose "
            "one of these, or give evaluations or seconds."
        )


def require_task(problem: object, budget: object, who: str, *, generations: bool = False) -> None:
    """Raise unless these are a problem and a budget; `who` asks, for the message, and may have `generations`."""
    require_problem(problem, who)
    checked_budget(budget, who, generations=generations)


def _counted(given: Any) -> int:
    """A whole number, 0 for what is none."""
    try:
        number = (
            int(given) if isinstance(given, float) and given.is_integer() else operator.index(given)
        )  # 1e5 is meant
    except TypeError:
        number = 0
    return 0 if isinstance(given, bool) else number


def _generations(given: Any) -> int:
    number = _counted(given)
    if not 1 <= number <= MOST_GENERATIONS:
        raise ProblemError(
            f"budget: generations is {shown(given)}; write a whole number from 1 to 10**9, or leave it out for no limit."
        )
    return number


def _evaluations(given: Any) -> int:
    number = _counted(given)
    if not 1 <= number <= MOST_EVALUATIONS:
        raise ProblemError(
            f"budget: evaluations is {shown(given)}; write a whole number from 1 to 2**62, for example 20_000. For time "
            "alone as the limit write 10**12 and give seconds."
        )
    return number


def _seconds(given: Any) -> float:
    number = _as_float(given)
    if not number > 0.0:  # NaN is not above zero either
        raise ProblemError(
            f"budget: seconds is {shown(given)}; write a number above zero, or leave it out for no limit of time."
        )
    return number


def _as_float(given: Any) -> float:
    is_number = isinstance(given, Real) and not isinstance(given, bool)
    if not is_number:
        return math.nan
    try:
        return float(given)
    except OverflowError:  # a whole number beyond all floats
        return math.inf if given > 0 else -math.inf


DEFAULT = Budget()
