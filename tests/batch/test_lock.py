"""One job at a time in a folder: locks that are held, left behind, taken away and fought for."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import memetik as mk
from memetik.batch import lock
from memetik.batch.checksum import read_note
from memetik.batch.lock import held
from memetik.errors import ProblemError

ROWS, SHARD = 40, 5
OTHER = {"token": "0" * 32, "host": "elsewhere", "pid": 1, "system": "another", "began": "5"}
HOLD = """
import sys, time
from pathlib import Path
from memetik.batch.lock import held
with held(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""
quick = pytest.mark.quick


def left_by(folder, holder, age):
    """The lock of a process on another machine, touched so many seconds ago."""
    path = folder / lock.NAME
    path.write_text(json.dumps(holder))
    then = time.time() - age
    os.utime(path, (then, then))
    return path


@quick
def test_one_at_a_time(tmp_path):
    with held(tmp_path) as still_held:
        still_held()
        with pytest.raises(ProblemError, match=f"process {os.getpid()} on "), held(tmp_path):
            pass
        still_held()
    assert not list(tmp_path.iterdir())
    with held(tmp_path):
        pass


@quick
def test_an_error_releases_it(tmp_path):
    with pytest.raises(KeyboardInterrupt), held(tmp_path):
        raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())


@pytest.mark.only_if(Path("/proc/self/ns/pid").exists(), "systems that say when processes began")
def test_a_killed_process_holds_nothing(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", HOLD, tmp_path], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    with pytest.raises(ProblemError, match=f"process {process.pid} on "), held(tmp_path):
        pass
    process.send_signal(signal.SIGKILL)
    process.wait()
    with held(tmp_path) as still_held:
        still_held()


@quick
@pytest.mark.parametrize("content", [json.dumps(OTHER), "", "{", "[]", '{"token": "../x"}', '{"token": 1}'])
def test_a_lock_of_another_machine_lasts_as_long_as_it_is_touched(tmp_path, content):
    path = tmp_path / lock.NAME
    path.write_text(content)
    with pytest.raises(ProblemError, match="another run works in"), held(tmp_path):
        pass
    os.utime(path, (time.time() - lock.LEASE - 5.0,) * 2)
    with held(tmp_path) as still_held:
        still_held()
    assert not list(tmp_path.iterdir())


@quick
def test_a_holder_touches_its_lock(tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "TOUCH", 0.01)
    with held(tmp_path):
        path = tmp_path / lock.NAME
        os.utime(path, (0.0, 0.0))
        until = time.monotonic() + 10.0
        while path.stat().st_mtime == 0.0 and time.monotonic() < until:
            time.sleep(0.01)
        assert path.stat().st_mtime > 0.0


@quick
def test_who_lost_the_lock_writes_no_more(tmp_path):
    with held(tmp_path) as still_held:
        left_by(tmp_path, OTHER, 0.0)
        with pytest.raises(ProblemError, match="taken by another run"):
            still_held()
    assert json.loads((tmp_path / lock.NAME).read_text()) == OTHER, "the lock of the other stays"


def test_of_many_only_one_takes_what_was_left_behind(tmp_path):
    for _ in range(20):
        left_by(tmp_path, OTHER, lock.LEASE + 5.0)
        inside, most, taken, begin, end = [], [], [], threading.Barrier(8), threading.Barrier(8)

        def contend(inside=inside, most=most, taken=taken, begin=begin, end=end):
            begin.wait()
            try:
                with held(tmp_path):
                    inside.append(1)
                    most.append(len(inside))
                    taken.append(1)
                    end.wait()
                    inside.pop()
            except ProblemError:
                end.wait()

        threads = [threading.Thread(target=contend) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert max(most) == 1 and len(taken) == 1 and not list(tmp_path.iterdir())


@quick
def test_who_died_while_removing_a_lock_is_no_obstacle(tmp_path):
    left_by(tmp_path, OTHER, lock.LEASE + 5.0)
    claim = tmp_path / f"{lock.NAME}.{OTHER['token']}"
    claim.touch()
    os.utime(claim, (time.time() - lock.LEASE - 5.0,) * 2)
    with held(tmp_path):
        pass
    assert not list(tmp_path.iterdir())


@pytest.fixture
def job(tmp_path):
    rng = np.random.default_rng(0)
    columns = {"x": rng.uniform(0.3, 0.5, ROWS), "y": rng.uniform(-0.2, 0.2, ROWS), "z": np.zeros(ROWS)}
    pq.write_table(pa.table(columns), tmp_path / "targets.parquet")
    problem = mk.Problem(mk.build.planar_chain([0.5, 0.3]), mk.Position("tip", np.zeros(3)))

    def start(**changes):
        options = {"rows_per_shard": SHARD, "threads": 1, **changes}
        return mk.batch.solve_files(problem, tmp_path / "targets.parquet", tmp_path / "out", **options)

    return start


def jobs_of(out):
    return {read_note(path)["job"] for path in (out / "solutions").iterdir()}


def test_two_jobs_at_once_do_not_mix(job, tmp_path):
    refused = []

    def other(done, _):
        if done and not refused:
            with pytest.raises(ProblemError, match="another run works in") as error:
                job(seed=1, overwrite=True)
            refused.append(error)

    report = job(progress=other)
    assert refused and report.total.rows == ROWS and len(jobs_of(tmp_path / "out")) == 1


def test_a_shard_of_another_job_is_noticed_at_the_end(job, tmp_path):
    job(seed=1)
    foreign = (tmp_path / "out" / "solutions" / "000002.parquet").read_bytes()

    def intrude(done, _):
        if done == ROWS:
            (tmp_path / "out" / "solutions" / "000002.parquet").write_bytes(foreign)

    with pytest.raises(ProblemError, match="another run has written into the folder meanwhile: solutions/000002"):
        job(overwrite=True, progress=intrude)
    with pytest.warns(mk.MemetikWarning, match="of another job"):
        assert job().solved.rows == SHARD
    assert len(jobs_of(tmp_path / "out")) == 1


def test_a_run_that_lost_its_lock_stops(job, tmp_path):
    def lose(done, _):
        if done == 2 * SHARD:
            left_by(tmp_path / "out", OTHER, 0.0)

    with pytest.raises(ProblemError, match="taken by another run"):
        job(progress=lose)
    assert len(list((tmp_path / "out" / "solutions").iterdir())) <= 3
