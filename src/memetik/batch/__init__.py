"""Many problems at once: threads, files and clusters."""

from memetik.batch.files import ROWS_PER_SHARD, FilesReport, solve_files
from memetik.batch.reach import reachability
from memetik.batch.reachability import Reachability, load_reachability
from memetik.batch.solution import BatchSolution
from memetik.batch.solve import solve_batch
from memetik.batch.source import open_files
from memetik.batch.tables import QUATERNION

__all__ = [
    "QUATERNION",
    "ROWS_PER_SHARD",
    "BatchSolution",
    "FilesReport",
    "Reachability",
    "load_reachability",
    "open_files",
    "reachability",
    "solve_batch",
    "solve_files",
]
