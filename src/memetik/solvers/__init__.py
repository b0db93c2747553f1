"""One method per file; all obey solve(problem, start, budget) -> Solution."""

from memetik.solvers.bind import Step, bind
from memetik.solvers.budget import Budget
from memetik.solvers.history import History
from memetik.solvers.memetic import Memetic
from memetik.solvers.registry import Method, Solver, methods, solver
from memetik.solvers.solve_all import solve_all
from memetik.solvers.solving import solve

__all__ = [
    "Budget",
    "History",
    "Memetic",
    "Method",
    "Solver",
    "Step",
    "bind",
    "methods",
    "solve",
    "solve_all",
    "solver",
]
