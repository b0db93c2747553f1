"""Many problems at once: threads, files and clusters."""

from memetik.batch.solution import BatchSolution
from memetik.batch.solve import solve_batch

__all__ = ["BatchSolution", "solve_batch"]
