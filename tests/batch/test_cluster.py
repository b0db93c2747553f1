"""solve_files on a cluster of two nodes on this machine, one of which is lost in the middle."""

from __future__ import annotations

import os
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

# Under `uv run` Ray would install the whole project again for every worker; these run on the same machine.
os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"

import ray
from ray.cluster_utils import Cluster

import memetik as mk
from memetik.batch import cluster as module
from memetik.errors import FormatError, ProblemError

QUICK = {"health_check_period_ms": 500}  # a lost node is noticed within some seconds
ROWS, SHARD = 4_000, 250


def lean(frame):
    """Part of the problem on the cluster: a function that stands in no package there."""
    return 0.1 * frame.axis_z[0]


@pytest.fixture(scope="module")
def problem():
    body = mk.load("panda")
    pose = mk.Pose("panda_hand", np.eye(4), position_tolerance=1e-5, orientation_tolerance=1e-4)
    return mk.Problem(body, [pose, mk.objective(reads=["panda_link5"], tolerance=None)(lean)])


@pytest.fixture(scope="module")
def path(problem, tmp_path_factory):
    """Poses of which two cannot be read and one cannot be reached."""
    body, rng = problem.body, np.random.default_rng(4)
    poses = np.array([body.forward(body.sample(rng))["panda_hand"] for _ in range(ROWS)])
    turns = np.array([mk.geometry.to_quaternion(pose[:3, :3]) for pose in poses])
    columns = [*poses[:, :3, 3].T, *turns.T]
    columns[0][7], columns[3][900] = np.nan, 2.0
    columns[1][1500] = 3.0
    file = tmp_path_factory.mktemp("targets") / "targets.parquet"
    pq.write_table(pa.table(columns, names=["x", "y", "z", "qw", "qx", "qy", "qz"]), file, row_group_size=1000)
    return file


@pytest.fixture(scope="module")
def nodes():
    """The cluster and the node that can be lost."""
    ray.cloudpickle.register_pickle_by_value(__import__(__name__, fromlist=["lean"]))
    head = {"num_cpus": 1, "include_dashboard": False, "_system_config": QUICK}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    second = cluster.add_node(num_cpus=1)
    yield cluster, second
    cluster.shutdown()


def test_a_lost_node_loses_nothing(problem, path, nodes, tmp_path):
    cluster, second = nodes
    budget = mk.Budget(evaluations=2_000)
    lost = threading.Event()

    def lose(done, total):
        if done >= 2 * SHARD and not lost.is_set():
            lost.set()
            cluster.remove_node(second, allow_graceful=False)

    options = {"budget": budget, "rows_per_shard": SHARD}
    mk.batch.solve_files(problem, path, tmp_path / "alone", **options)  # first, so that all find the kernels compiled
    report = mk.batch.solve_files(problem, path, tmp_path / "out", cluster=cluster.address, progress=lose, **options)
    assert lost.is_set() and not ray.is_initialized()
    assert report.solved.rows == ROWS and report.total.rejected == 2 and report.total.closest == 1
    for part in ("solutions", "rejects"):
        ours, alone = (pq.read_table(tmp_path / name / part).sort_by("row") for name in ("out", "alone"))
        assert ours.column_names == alone.column_names and ours.num_rows == alone.num_rows
        for name in ours.column_names:
            assert ours[name].combine_chunks().equals(alone[name].combine_chunks()) or np.array_equal(
                ours[name].to_numpy(), alone[name].to_numpy(), equal_nan=True
            )
    files = sorted((tmp_path / "out/solutions").iterdir())
    assert [file.name for file in files] == [f"{k:06d}.parquet" for k in range(ROWS // SHARD)]
    again = mk.batch.solve_files(problem, path, tmp_path / "out", cluster=cluster.address, **options)
    assert again.solved.rows == 0 and again.total == report.total


def test_errors_of_a_machine_arrive_here(problem, path, nodes, tmp_path):
    cluster, _ = nodes
    broken = tmp_path / "t.parquet"
    whole = path.read_bytes()
    broken.write_bytes(whole[:4] + b"\xff" * 40 + whole[44:])
    with pytest.raises(FormatError, match=r"the rows from 0 on cannot be read"):
        mk.batch.solve_files(problem, broken, tmp_path / "out", cluster=cluster.address)
    assert not ray.is_initialized()


def test_machines_must_share_the_folder(problem, path, nodes, tmp_path, monkeypatch):
    cluster, _ = nodes
    monkeypatch.setattr(module.Job, "path", lambda job, part, piece: tmp_path / "elsewhere" / part / str(piece.shard))
    with pytest.raises(ProblemError, match="must be on a file system that all machines share"):
        mk.batch.solve_files(problem, path, tmp_path / "out", cluster=cluster.address, rows_per_shard=2_000)


def test_no_cluster_answers(problem, path, tmp_path):
    with pytest.raises(ProblemError, match=r"no Ray cluster answers at '127.0.0.1:1'.*ray start --head"):
        mk.batch.solve_files(problem, path, tmp_path / "out", cluster="127.0.0.1:1")
