"""Many problems at once: threads, files and clusters."""

from memetik.batch.device import require_cuda
from memetik.batch.device_arrays import DeviceArray
from memetik.batch.device_batch import DeviceBatchSolution
from memetik.batch.files import ROWS_PER_SHARD, FilesReport, solve_files
from memetik.batch.reach import Reachability, load_reachability, reachability
from memetik.batch.solution import BatchSolution
from memetik.batch.solve import solve_batch
from memetik.batch.source import open_files
from memetik.batch.tables import QUATERNION
from memetik.parallel import cores

__all__ = [
    "QUATERNION",
    "ROWS_PER_SHARD",
    "BatchSolution",
    "DeviceArray",
    "DeviceBatchSolution",
    "FilesReport",
    "Reachability",
    "cores",
    "load_reachability",
    "open_files",
    "reachability",
    "require_cuda",
    "solve_batch",
    "solve_files",
]
