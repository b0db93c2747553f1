"""How the studio ends: with its worker, whoever ends it and however."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")

# A studio whose worker is busy with nothing: the studio starts it only when a page asks for a search.
SCRIPT = """
import threading, time
from memetik_studio import server

class Busy(server.Studio):
    def __init__(self, *given, **named):
        super().__init__(*given, **named)
        self._worker.ask(lambda answer: None, time.sleep, 0.0).result()
        print("worker", next(iter(self._worker._pool._processes)), flush=True)

if __name__ == "__main__":
    server.Studio = Busy
    server.serve("scara", port=0, browser=False)
    print("ended", flush=True)
"""


def do_not_ignore_signals():
    """Undo that they are ignored, as they are where tests run in the background or under nohup."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture
def studio(tmp_path):
    script = tmp_path / "busy.py"
    script.write_text(SCRIPT)
    process = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=do_not_ignore_signals,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    worker = start(process)
    yield process, worker
    process.kill()
    if is_running(worker):  # it would keep the pipes open
        os.kill(worker, signal.SIGKILL)
    process.communicate()


def start(process):
    """The process id of the worker, once the page can be opened."""
    said = process.stdout.readline().split()
    assert said[:1] == ["worker"], process.stderr.read()
    assert process.stdout.readline().startswith("memetik studio: http://")
    return int(said[1])


def is_running(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def ends(pid, seconds=5.0):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not is_running(pid):
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=str)
def test_a_signal_ends_the_studio_and_its_worker(studio, number):
    process, worker = studio
    assert is_running(worker)
    process.send_signal(number)
    assert process.wait(timeout=60) == 0
    assert ends(worker)
    out, err = process.communicate()
    assert "ended" in out and "Traceback" not in err


def below(pid):
    """The processes that a process has started, and those that they have."""
    found = []
    for tasks in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in tasks.read_text().split():
            found += [int(child), *below(child)]
    return found


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=str)
def test_who_compiles_ends_with_the_studio(tmp_path, number):
    """With an empty cache the worker compiles, and so does a process of its own; one function can take them seconds."""
    environment = {
        **os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "MEMETIK_PREBUILT": "0", "PYTHONPATH": os.pathsep.join(sys.path),
    }  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-m", "memetik", "studio", "scara", "--no-open", "--port", "0"], env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=do_not_ignore_signals,
    )  # fmt: skip
    try:
        assert process.stdout.readline().startswith("memetik studio: http://")
        deadline = time.monotonic() + 60
        while not any(tmp_path.rglob("*.nbi")):  # the first kernel is compiled; others are under way
            assert time.monotonic() < deadline
            time.sleep(0.02)
        others = below(process.pid)
        assert len(others) >= 2
        process.send_signal(number)
        assert process.wait(timeout=30) == 0
        assert all(ends(pid, 1.0) for pid in others)
    finally:
        process.kill()
        process.communicate()


def test_a_worker_does_not_outlive_a_studio_that_is_killed(studio):
    process, worker = studio
    process.kill()
    process.wait(timeout=60)
    assert ends(worker)
