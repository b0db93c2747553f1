"""A second process that compiles while this one does: half of what a first solve waits for, where there are two cores.

A method knows before its first solve which kernels it needs as machine code. It says so (`compile_ahead`), and goes on to
compile them one after the other. Where some are missing on disk, a second process is started, which takes them from the end of
the list and leaves them on disk (second_process.py). What it has done, this process loads; for what it is at, this process
waits, and meanwhile compiles others. Nothing depends on it: whatever it does not do, or does too slowly, is compiled here.

There is none without a second core, without a cache that can be written, in workers of other processes (multiprocessing,
pytest-xdist: there are as many of them as cores already), or where another process has one for the same cache. It ends when
it has had nothing to do for some seconds, and with this process, however that ends. MEMETIK_SECOND_COMPILER=0 does without;
MEMETIK_SECOND_COMPILER=1 has one in a worker, too.
"""

import atexit
import contextlib
import importlib
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numba

from memetik.kernels.compiler.cache import KernelCache
from memetik.kernels.compiler.compile_time import compile_times

SWITCH = "MEMETIK_SECOND_COMPILER"
FEWEST = 2  # kernels for which a process is started
IDLE = 10.0  # s without work after which it ends
LONGEST = 120.0  # s for one kernel, after which it is compiled here
WAITING, HERE, THERE, DONE = range(4)  # nobody compiles it, this process does, the other does; it is on disk

_MAIN = "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); import {name}; {name}.work()"
_LOCK = "second_compiler.lock"


class _Job:
    """A kernel that is needed as machine code for arguments of these types."""

    def __init__(self, kernel: Any, arguments: tuple[Any, ...]) -> None:
        self.kernel, self.arguments = kernel, arguments
        self.state = WAITING


class _Jobs:
    """What is needed and was missing on disk when it was asked for, in the order of need."""

    def __init__(self) -> None:
        self.all: dict[tuple[Any, Any], _Job] = {}
        self.seen: set[tuple[Any, Any]] = set()  # whether missing or not
        self.change = threading.Condition()
        self.process: _Process | None = None

    def add(self, roots: Iterable[tuple[Any, Any]]) -> None:
        """Take down what is missing, and have it compiled."""
        keys = [(kernel, signature.args) for kernel, signature in roots]
        missing = [key for key in keys if key not in self.seen and _is_missing(*key)]
        self.seen.update(keys)
        if not missing:
            return
        with self.change:
            for key in missing:
                self.all.setdefault(key, _Job(*key))
            self.change.notify_all()
            waiting = sum(job.state == WAITING for job in self.all.values())
            if waiting >= FEWEST and self.process is None and _is_allowed():
                self.process = _started(self)

    def before(self, kernel: Any, arguments: tuple[Any, ...]) -> None:
        """This process needs a kernel: it compiles it next, unless the other is at it, for which it waits."""
        job = self.all.get((kernel, arguments))
        if job is None:
            return
        begin = time.monotonic()
        while True:
            with self.change:
                if job.state == WAITING:
                    job.state = HERE
                if job.state != THERE or time.monotonic() - begin > LONGEST:
                    return
                other = next((other for other in self.all.values() if other.state == WAITING), None)
                if other is None:
                    self.change.wait(1.0)
            if other is not None:
                other.kernel.compile(other.arguments)

    def for_the_other(self) -> _Job | None:
        """The next one for the other process, the last that is needed; None if there is none for a while."""
        until = time.monotonic() + IDLE
        with self.change:
            while True:
                for job in reversed(self.all.values()):
                    if job.state == WAITING:
                        job.state = THERE
                        return job
                if not self.change.wait(until - time.monotonic()):
                    return None

    def done(self, job: _Job) -> None:
        with self.change:
            job.state = DONE
            self.change.notify_all()

    def ended(self) -> None:
        """There is no other process any more; what it was at is compiled here."""
        with self.change:
            self.process = None
            for job in self.all.values():
                if job.state == THERE:
                    job.state = WAITING
            self.change.notify_all()

    def standing(self) -> tuple[int, int]:
        """How many of the kernels that were missing are there, and how many were missing."""
        jobs = list(self.all.values())
        ready = sum(job.state == DONE or job.arguments in job.kernel.overloads for job in jobs)
        return ready, len(jobs)


class _Process:
    """The other process, and a thread that gives it work."""

    def __init__(self, jobs: _Jobs, lock: Any) -> None:
        self._jobs, self._lock = jobs, lock
        environment = {**os.environ, SWITCH: "0"}
        folder = getattr(numba.config, "CACHE_DIR", "")
        if folder:
            environment["NUMBA_CACHE_DIR"] = folder
        name = f"{__package__}.second_process"
        self._process = subprocess.Popen(
            [sys.executable, "-c", _MAIN.format(name=name)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env=environment, creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )  # fmt: skip
        threading.Thread(target=self._give_work, name="memetik second compiler", daemon=True).start()

    def _give_work(self) -> None:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        with contextlib.suppress(OSError):  # it has ended, whyever
            stdin.write(pickle.dumps(sys.path))
            stdin.flush()
            ready = stdout.readline()
            while ready and (job := self._jobs.for_the_other()) is not None:
                function = job.kernel.py_func
                stdin.write(pickle.dumps((function.__module__, function.__qualname__, job.arguments)))
                stdin.flush()
                ready = stdout.readline()
                if ready:
                    self._jobs.done(job)
        with contextlib.suppress(OSError):
            stdin.close()
        self._process.wait()
        stdout.close()
        self._lock.close()
        self._jobs.ended()

    def end(self) -> None:
        """End it now: nobody needs what it does."""
        self._process.terminate()
        try:
            self._process.wait(0.5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def forget(self) -> None:
        """In a copy of this process: it is none of its business."""
        for file in (self._process.stdin, self._process.stdout, self._lock):
            if file is not None:
                with contextlib.suppress(OSError):
                    os.close(file.fileno())
        self._process.returncode = 0  # nothing to wait for


_jobs = _Jobs()


def compile_ahead(roots: Iterable[tuple[Any, Any]]) -> None:
    """These kernels will be needed as machine code for these signatures, in this order."""
    if not getattr(numba.config, "DISABLE_JIT", False):
        _jobs.add(roots)


def before_compiling(kernel: Any, arguments: tuple[Any, ...]) -> None:
    """To call before a kernel is compiled or loaded: waits if the other process is at it."""
    if (kernel, arguments) in _jobs.all:
        with compile_times.waiting():
            _jobs.before(kernel, arguments)


def standing() -> tuple[int, int]:
    """How many of the kernels that were known to be missing are there by now, and how many were missing."""
    return _jobs.standing()


def _is_missing(kernel: Any, arguments: tuple[Any, ...]) -> bool:
    """Whether it must be compiled, and can be by another process, which finds it by its name."""
    function = kernel.py_func
    holds = getattr(kernel._cache, "holds", None)
    if arguments in kernel.overloads or holds is None or not function.__module__.startswith("memetik.kernels."):
        return False
    named: Any = getattr(importlib.import_module(function.__module__), function.__qualname__, None)
    if named is not kernel:
        return False
    return not holds(arguments, kernel.targetctx)


def _is_allowed() -> bool:
    wish = os.environ.get(SWITCH, "")
    if wish == "0" or _cores() < 2 or not Path(sys.executable or "").stem.lower().startswith("python"):
        return False  # another program that has Python inside would be started again
    return wish == "1" or ("PYTEST_XDIST_WORKER" not in os.environ and multiprocessing.parent_process() is None)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _started(jobs: _Jobs) -> _Process | None:
    """A process, if there is a cache that can be written, and no other process has one for it."""
    try:
        lock = _locked(Path(KernelCache(_started)._cache_path, _LOCK))
        return None if lock is None else _Process(jobs, lock)
    except (OSError, RuntimeError):
        return None


def _locked(path: Path) -> Any:
    """An open file that nobody else has locked, None if somebody has; the system unlocks it when it is closed."""
    file = path.open("ab")
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


@atexit.register
def _end() -> None:
    if _jobs.process is not None:
        _jobs.process.end()


def _forget() -> None:
    """A copy of this process has neither the thread nor the process, and perhaps a lock that nobody will release."""
    global _jobs
    if _jobs.process is not None:
        _jobs.process.forget()
    _jobs = _Jobs()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
