"""minimise: the bounded optimisers under the methods, for any function."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from memetik.body import Body, Joint, Link
from memetik.errors import ProblemError, UnknownNameError, shown
from memetik.geometry.checks import real_array, real_number
from memetik.objectives.value import Value
from memetik.problem import Problem
from memetik.problem.seed import checked_seed
from memetik.solvers.bio_ik import BioIK
from memetik.solvers.budget import Budget, checked_budget
from memetik.solvers.evolution import DE, GA, PSO
from memetik.solvers.lbfgsb import LBFGSB
from memetik.solvers.registry import Solver
from memetik.types import Array

# Generations without progress that end a population: functions with many minima want more of it than arms.
PATIENCE = 200
# The population grows with the variables up to here. Of 30 to 140, 30 and 40 alone solve all functions of `memetik bench
# minimise` in 30 variables in ten of ten runs, and the smaller takes almost three times as many evaluations for one.
LARGEST = 40

METHODS: dict[str, Callable[[int, int], Solver]] = {  # by the number of variables and the seed
    "de": lambda n, seed: DE(
        seed=seed, adaptive=True, memetic=True, patience=PATIENCE, population=min(20 + 4 * n, LARGEST)
    ),
    "bioik": lambda n, seed: BioIK(seed=seed, gradient="differences"),
    "ga": lambda n, seed: GA(seed=seed, patience=PATIENCE),
    "pso": lambda n, seed: PSO(seed=seed, patience=PATIENCE),
    "lbfgsb": lambda n, seed: LBFGSB(seed=seed),
}
EVALUATIONS = 10_000  # for each variable, unless a budget is given


@dataclass(frozen=True)
class Minimum:
    """The least value that was found, and where.

    value: f(x). success: whether it is at most the target; false where no target was given.
    evaluations: calls of the function, those for derivatives included. attempts: populations, or descents.
    seconds, compile_seconds: what it took [s], and what it took besides to compile. timed_out: the budget's seconds ended it.
    """

    x: Array
    value: float
    success: bool
    evaluations: int
    attempts: int
    seconds: float
    compile_seconds: float
    method: str
    timed_out: bool


def minimise(
    f: Callable[[Array], float],
    lower: ArrayLike,
    upper: ArrayLike,
    *,
    start: ArrayLike | None = None,
    method: str = "de",
    target_value: float | None = None,
    budget: Budget | None = None,
    seed: int = 0,
) -> Minimum:
    """The least value of a function of n variables within bounds, lower <= x <= upper, by an optimiser of the methods.

    ```python
    import memetik as mk

    def rosenbrock(x):
        return 100.0 * (x[1] - x[0] ** 2) ** 2 + (1.0 - x[0]) ** 2

    print(mk.solvers.minimise(rosenbrock, [-5, -5], [10, 10], target_value=1e-9).x)
    ```

    f: gets an array of n numbers and returns one. Numba compiles it, once for each function; functions that it calls must be
    decorated with @numba.njit. NaN means "not defined here", and so does an exception.
    lower, upper: n finite numbers each, or one number each and a start of n.
    start: where to look first; drawn within the bounds unless given.
    method: "de", differential evolution that adapts itself and descends by L-BFGS-B now and then; "bioik", the memetic
    algorithm of the thesis; "ga", "pso", "lbfgsb" (descents from random points). Derivatives come from differences.
    target_value: a value that is small enough, where the search ends; without it the whole budget is spent.
    budget: 10,000 evaluations for each variable unless given.

    The same call gives the same answer, unless the budget's seconds ended it. Values between -1 and 1 are told apart to 4e-16:
    scale a function whose values are smaller than that.
    """
    if not callable(f):
        raise ProblemError(f"minimise: {shown(f)} is not a function. Give one that gets an array and returns a number.")
    low, high, first = _bounds(lower, upper, start, checked_seed(seed))
    if not isinstance(method, str) or method not in METHODS:
        raise UnknownNameError("method", method, list(METHODS), "minimise")
    wanted = -math.inf if target_value is None else real_number(target_value, ProblemError, "minimise: target_value")
    body = _sliders(low.size)
    problem = Problem(body, Value(f, low, high, wanted))
    share = np.where(high > low, (first - low) / np.where(high > low, high - low, 1.0), 0.5)
    allowed = Budget(EVALUATIONS * low.size) if budget is None else checked_budget(budget, "minimise", generations=True)
    found = METHODS[method](low.size, seed).solve(problem, np.clip(share, 0.0, 1.0), allowed)
    x = np.clip(low + found.q * (high - low), low, high)
    value = float(f(x))
    return Minimum(
        x, value, value <= wanted, found.evaluations, found.attempts, found.seconds, found.compile_seconds, method,
        found.timed_out,
    )  # fmt: skip


def _bounds(lower: ArrayLike, upper: ArrayLike, start: ArrayLike | None, seed: int) -> tuple[Array, Array, Array]:
    """Both as vectors, and a start within them."""
    low, high = (
        real_array(given, ProblemError, f"minimise: {name}") for given, name in ((lower, "lower"), (upper, "upper"))
    )
    given = None if start is None else real_array(start, ProblemError, "minimise: start")
    try:
        low, high, *_ = np.broadcast_arrays(low, high, *([] if given is None else [given]))
    except ValueError:
        raise ProblemError(
            f"minimise: lower has the shape {low.shape}, upper {high.shape}"
            f"{'' if given is None else f', start {given.shape}'}; give vectors of the same length."
        ) from None
    if low.ndim != 1 or low.size == 0:
        raise ProblemError(
            "minimise: how many variables are there? Give lower and upper as vectors, one number for each."
        )
    if not (np.isfinite(low).all() and np.isfinite(high).all() and (low <= high).all()):
        raise ProblemError(
            "minimise: every lower bound must be finite and at most its upper bound, which is finite too."
        )
    if given is None:
        given = np.random.default_rng(seed).uniform(low, high)
    elif not ((low <= given) & (given <= high)).all():
        raise ProblemError("minimise: the start is outside the bounds.")
    return np.array(low), np.array(high), np.array(given)


def _sliders(count: int) -> Body:
    """A body whose joints are shares of the ranges of variables."""
    names = [f"x{k}" for k in range(count)]
    joints = [Joint(name, "prismatic", "root", f"link {name}", lower=(0.0,), upper=(1.0,)) for name in names]
    return Body("variables", [Link("root"), *(Link(f"link {name}") for name in names)], joints)
