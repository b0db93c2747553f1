"""One method per file; all obey solve(problem, start, budget) -> Solution."""

from memetik.solvers.budget import Budget
from memetik.solvers.every import solve_all
from memetik.solvers.memetic import Memetic
from memetik.solvers.registry import Method, Solver, methods, solve, solver

__all__ = ["Budget", "Memetic", "Method", "Solver", "methods", "solve", "solve_all", "solver"]
