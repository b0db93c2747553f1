"""Many problems at once: threads, files and clusters."""

from memetik.batch.files import FilesReport, solve_files
from memetik.batch.reach import Reachability, load_reachability, reachability
from memetik.batch.solution import BatchSolution
from memetik.batch.solve import solve_batch

__all__ = [
    "BatchSolution",
    "FilesReport",
    "Reachability",
    "load_reachability",
    "reachability",
    "solve_batch",
    "solve_files",
]
