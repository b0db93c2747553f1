"""Many problems at once: threads, files and clusters."""

from memetik.batch.cuda import require_cuda, solve_on_cuda
from memetik.batch.files import FilesReport, solve_files
from memetik.batch.reach import Reachability, load_reachability, reachability
from memetik.batch.solution import BatchSolution
from memetik.batch.solve import solve_batch
from memetik.batch.threads import cores

__all__ = [
    "BatchSolution",
    "FilesReport",
    "Reachability",
    "cores",
    "load_reachability",
    "reachability",
    "require_cuda",
    "solve_batch",
    "solve_files",
    "solve_on_cuda",
]
