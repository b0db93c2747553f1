"""Pieces of a file solved by the machines of a Ray cluster.

Every piece is one plain task: its machine reads the rows, solves them on one core and writes the answers, so nothing but
names and counts goes over the network, and no machine holds more than a piece for each of its cores. Ray starts a task again
when its machine or process is lost; a task that runs twice writes the same file twice. The streams of Ray Data would bring
blocks of rows to the tasks and answers back, and know nothing of which file is already there.
"""

from __future__ import annotations

import pickle
import socket
from collections.abc import Iterator, Sequence
from typing import Any

from memetik.batch.checksum import digest_of
from memetik.batch.shards import ANSWERS, Job, Tally, solve_shard
from memetik.batch.source import Piece, read
from memetik.errors import MemetikError, MissingExtraError, ProblemError, shown

RETRIES = 10  # how often Ray starts a task again whose machine or process was lost
KNOCK = 10.0  # s to wait for the head of a cluster to answer
AHEAD = 3  # tasks that wait for each core, so that none is idle

_jobs: dict[str, Job] = {}  # in a process of the cluster: what it has unpacked and compiled


def solve_on_cluster(job: Job, pieces: Sequence[Piece], address: str) -> Iterator[Tally]:
    """Solve all pieces, in any order; a tally for each as it comes."""
    ray = _ray()
    ours = not ray.is_initialized()
    if ours:
        _connect(ray, address)
    try:
        packed = ray.cloudpickle.dumps(job)  # takes functions that stand in no module, too
        parcel, key = ray.put(packed), digest_of([packed])
        task = ray.remote(num_cpus=1, max_retries=RETRIES)(_solve_piece)
        most = AHEAD * max(int(ray.cluster_resources().get("CPU", 1)), 1)
        waiting = iter(pieces)
        running: dict[Any, Piece] = {}
        while True:
            while len(running) < most and (piece := next(waiting, None)) is not None:
                running[task.remote(parcel, key, piece)] = piece
            if not running:
                return
            (ready, *_), _ = ray.wait(list(running), num_returns=1)
            yield _answer(ray, job, ready, running.pop(ready))
    finally:
        if ours:
            ray.shutdown()


def _solve_piece(parcel: bytes, key: str, piece: Piece) -> Tally:
    """In a process of the cluster: unpack the job once, then solve piece after piece with the same compiled problem."""
    if key not in _jobs:
        _jobs.clear()
        _jobs[key] = pickle.loads(parcel)
    job = _jobs[key]
    ((_, table),) = read([piece], job.layout.columns)
    return solve_shard(job, piece, table, threads=1)


def _answer(ray: Any, job: Job, ready: Any, piece: Piece) -> Tally:
    """What a task returned; its errors as if they had happened here."""
    try:
        tally: Tally = ray.get(ready)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, MemetikError):
            raise error.cause from None
        raise
    except ray.exceptions.RayError as error:
        raise ProblemError(
            f"cluster: the rows from {piece.first} on were tried {RETRIES + 1} times, and each time the process was lost "
            f"({type(error).__name__}). Ray's logs on the machines say why; the finished shards are kept."
        ) from error
    path = job.path(ANSWERS, piece)
    if not path.exists():
        raise ProblemError(
            f"cluster: a machine wrote {path}, but it cannot be seen from here. The folder must be on a "
            "file system that all machines share."
        )
    return tally


def require_cluster(address: Any) -> None:
    """Raise if Ray is not installed or this cannot be an address."""
    if not isinstance(address, str) or not address:
        raise ProblemError(f"cluster: the address is {shown(address)}. Give host:port as text, or 'auto'.")
    _ray()


def _connect(ray: Any, address: str) -> None:
    try:
        # Raise an OSError if nobody listens at host:port, where Ray itself would wait for many minutes.
        host, _, port = address.removeprefix("ray://").rpartition(":")
        if host and port.isdigit():
            socket.create_connection((host.strip("[]"), int(port)), timeout=KNOCK).close()
        ray.init(address=address, log_to_driver=False, logging_level="error")
    except (OSError, ValueError, RuntimeError) as error:  # ConnectionError is an OSError
        raise ProblemError(
            f"cluster: no Ray cluster answers at {address!r}: {error}. Start one with `ray start --head`, and give its "
            "address, or `auto` on one of its machines."
        ) from error


def _ray() -> Any:
    try:
        import ray
        import ray.cloudpickle
    except ImportError:
        raise MissingExtraError("ray", "solving on a cluster", extra="cluster") from None
    return ray
