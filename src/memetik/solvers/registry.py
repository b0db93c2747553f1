"""Methods by name."""

from __future__ import annotations

import dataclasses
import importlib
from functools import cache
from typing import Any, NamedTuple, Protocol

from numpy.typing import ArrayLike

from memetik.errors import ProblemError, UnknownNameError, shown
from memetik.plugins import METHODS, added
from memetik.problem import Problem
from memetik.problem.seed import checked_seed
from memetik.solution import Solution
from memetik.solvers.budget import DEFAULT, Budget


class Solver(Protocol):
    """What every method is: parameters in its constructor, and this. Any object that has it can be a `method`."""

    def solve(self, problem: Problem, start: ArrayLike | None = None, budget: Budget = DEFAULT) -> Solution:
        """The solution nearest to hand from `start` (the body's home if None), verified: see Solution.of."""


class Method(NamedTuple):
    """One row of the table of methods."""

    name: str
    family: str
    place: str  # file and class in memetik.solvers, or "package.module:Class"; it is imported when it is first used
    reference: str
    takes: str = "every objective"
    tips: str = "any number"
    limits: str = "in every step"  # how they are kept
    priorities: str = "ignored"  # what becomes of objectives' priorities
    deterministic: bool = True  # the same seed and budget of evaluations give the same answer, bit for bit

    @property
    def solver(self) -> type:
        """The class that names its parameters."""
        return _class_at(self.place)


@cache
def _class_at(place: str) -> type:
    """The class at a place, file and name in memetik.solvers, or module and name in another package."""
    module, _, name = place.rpartition(":") if ":" in place else f"memetik.solvers.{place}".rpartition(".")
    made: type = getattr(importlib.import_module(module), name)
    return made


@cache
def _parameters(kind: Any) -> tuple[str, ...]:
    """The names of the parameters of a solver's class."""
    return tuple(field.name for field in dataclasses.fields(kind) if field.init)


_TIPS = "positions, orientations, directions of frames"
_POSE = "a pose with a closed form"
_READ = "with a position or rotation"
_EACH = "in every individual"

_METHODS = (
    Method("memetic", "memetic", "memetic.Memetic", "this library, after Bio IK", priorities="kept"),
    Method("bioik", "memetic", "bio_ik.BioIK", "Starke 2020", limits=_EACH),
    Method("dls", "Jacobian", "stepping.DampedLeastSquares", "Wampler 1986, Nakamura and Hanafusa 1986"),
    Method("sdls", "Jacobian", "stepping.SelectivelyDampedLeastSquares", "Buss and Kim 2005"),
    Method("svd_dls", "Jacobian", "stepping.SVDDampedLeastSquares", "Maciejewski and Klein 1988"),
    Method("pseudoinverse", "Jacobian", "stepping.Pseudoinverse", "Whitney 1969"),
    Method("interpolated", "Jacobian", "stepping.Interpolated", "Whitney 1969, by waypoints"),
    Method("transpose", "Jacobian", "stepping.Transpose", "Wolovich and Elliott 1984"),
    Method("gauss_newton", "Newton", "stepping.GaussNewton", "Gauss 1809"),
    Method("levenberg_marquardt", "Newton", "stepping.LevenbergMarquardt", "Marquardt 1963"),
    Method("lbfgsb", "Newton", "lbfgsb.LBFGSB", "Byrd et al. 1995", limits="as bounds of every step"),
    Method("ccd", "heuristic", "ccd.CCD", "Wang and Chen 1991", takes=_TIPS, limits="in every turn of a joint"),
    Method("fabrik", "heuristic", "fabrik.FABRIK", "Aristidou and Lasenby 2011", takes=_TIPS, limits="in every sweep"),
    Method("ga", "evolutionary", "evolution.GA", "Holland 1975", limits=_EACH),
    Method("de", "evolutionary", "evolution.DE", "Storn and Price 1997", limits=_EACH),
    Method("pso", "evolutionary", "evolution.PSO", "Kennedy and Eberhart 1995", limits="in every particle"),
    Method("hgsa", "evolutionary", "evolution.HGSA", "Starke et al. 2016", limits=_EACH),
    Method("analytic", "closed form", "analytic.Analytic", "IK-Geo 2022", takes=_POSE, tips="one", limits="by choice"),
    Method("learned", "learned", "learned.Learned", "Poddighe 2013", takes=_READ),
    Method("portfolio", "portfolio", "portfolio.Portfolio", "as TRAC-IK 2015", limits="as its methods do"),
)


def methods() -> tuple[Method, ...]:
    """All methods, with what they can take: those of memetik, then those of other packages (entry points `memetik.methods`)."""
    own = {row.name for row in _METHODS}
    return (*_METHODS, *(_row_of(name) for name in sorted(added(METHODS).keys() - own)))


def _row_of(name: str) -> Method:
    """The row of a method that another package brings."""
    row = added(METHODS)[name].load()
    if not isinstance(row, Method) or row.name != name:
        raise ProblemError(
            f"the entry point {name!r} of memetik.methods is {shown(row)}; it must be a mk.solvers.Method named {name!r}."
        )
    return row


def solver(method: str, **parameters: Any) -> Solver:
    """A method by name (mk.methods() lists all), with parameters of its class: mk.solver("dls", damping=0.1, seed=3)."""
    rows = {row.name: row for row in _METHODS}
    if isinstance(method, str) and method not in rows:  # looking through other packages takes tens of milliseconds
        rows = {row.name: row for row in methods()}
    if not isinstance(method, str) or method not in rows:
        raise UnknownNameError("method", method, list(rows))
    row = rows[method]
    known = _parameters(row.solver)
    for name in parameters:
        if name not in known:
            raise UnknownNameError("parameter", name, known, f"method {method!r}", every=True)
    made: Solver = row.solver(**parameters)
    return made


def chosen(method: str | Solver, seed: int, who: str) -> Solver:
    """The solver that `method` and `seed` mean where they are given together; `who` asks, for the message."""
    if isinstance(method, str):
        return solver(method, seed=seed)
    if isinstance(method, type) or not callable(getattr(method, "solve", None)):
        raise ProblemError(
            f"{who}: method is {shown(method)}; give a name from mk.methods(), or a solver such as mk.solvers.BioIK()."
        )
    if checked_seed(seed) != 0:
        raise ProblemError(f"{who}: {shown(method)} has a seed of its own; give it there instead of seed={seed} here.")
    return method


def answer_of(method: Solver, problem: Problem, start: ArrayLike | None, budget: Budget) -> Solution:
    """What a solver answers, if it is a Solution of the problem."""
    solution = method.solve(problem, start, budget)
    if isinstance(solution, Solution) and solution.problem is problem:
        return solution
    found = "a Solution of another problem" if isinstance(solution, Solution) else f"a {type(solution).__name__}"
    raise ProblemError(
        f"{shown(method)}: solve returned {found}. Let it return a Solution of the problem that it was given, for example "
        "mk.Solution.of(problem, q, start=start)."
    )
