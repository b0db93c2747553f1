"""One method per file; all obey solve(problem, start, budget) -> Solution."""

import lazy_loader

# These have the names of their modules, which would hide them, or are needed by every solve.
from memetik.solvers.bind import Step as Step
from memetik.solvers.bind import bind as bind
from memetik.solvers.budget import Budget as Budget
from memetik.solvers.memetic import Memetic as Memetic
from memetik.solvers.registry import Method as Method
from memetik.solvers.registry import Solver as Solver
from memetik.solvers.registry import methods as methods
from memetik.solvers.registry import solver as solver
from memetik.solvers.solve_all import solve_all as solve_all
from memetik.solvers.solving import solve as solve

# The other methods are loaded when they are first used; __init__.pyi lists all names.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
