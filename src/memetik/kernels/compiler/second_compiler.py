"""A second process that compiles while this one does: half of what a first solve waits for, where there are two cores.

A method knows before its first solve which kernels it needs as machine code. It says so (`compile_ahead`), and goes on to
compile them one after the other. Where some are missing on disk, a second process is started, which takes them from the end of
the list and leaves them on disk (second_process.py). What it has done, this process loads; for what it is at, this process
waits, and meanwhile compiles others. Nothing depends on it: whatever it does not do, or does too slowly, is compiled here.

What may be needed afterwards can be named as well (`later`): the other process compiles it when it has nothing else to do.

Where nearly all of the work is in one kernel, the method names the largest parts of it as well (part.py). This process compiles
them from the front of the list, the other from its end, before this one compiles the kernel that they are copied into.

The other process takes a second to import Numba. So it is started as soon as the first kernel that this process needs is missing:
then most are.

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
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numba

from memetik.kernels.compiler.cache import KernelCache
from memetik.kernels.compiler.compile_time import compile_times
from memetik.kernels.compiler.interruptible import raise_if_abandoned

SWITCH = "MEMETIK_SECOND_COMPILER"
FEWEST = 2  # kernels for which a process is started, unless nothing is compiled yet
IDLE = 20.0  # s without work after which it ends
LONGEST = 120.0  # s for one kernel, after which it is compiled here
WAITING, HERE, THERE, DONE = range(4)  # nobody compiles it, this process does, the other does; it is on disk

_MAIN = "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); import {name}; {name}.work()"
_LOCK = "second_compiler.lock"


_Key: TypeAlias = tuple[Any, tuple[Any, ...]]  # a kernel, or its part, and the types of its arguments


class _Job:
    """A kernel that is needed as machine code for arguments of these types."""

    def __init__(self, kernel: Any, arguments: tuple[Any, ...]) -> None:
        self.kernel, self.arguments = kernel, arguments
        self.is_part = _whole(kernel) is not kernel
        self.parts: list[_Job] = []  # that were named with it
        self.state = WAITING
        self.is_later = False  # whether it is not needed yet

    def is_ready(self) -> bool:
        """Whether the other process would not compile once more what this one is at."""
        return all(part.state == DONE for part in self.parts)


class _Jobs:
    """What is needed and was missing on disk when it was asked for, in the order of need."""

    def __init__(self) -> None:
        self.all: dict[tuple[Any, Any], _Job] = {}
        self.seen: set[tuple[Any, Any]] = set()  # whether missing or not
        self.change = threading.Condition()
        self.process: _Process | None = None
        self.looked = False  # whether the first kernel that this process needs is on disk

    def first(self, kernel: Any, arguments: tuple[Any, ...]) -> None:
        """This process needs its first kernel: if it is missing, so are most, and the other process may begin to import Numba."""
        if self.looked:
            return
        self.looked = True
        if _is_missing(kernel, arguments) and _is_allowed():
            with self.change:
                if self.process is None:
                    self.process = _started(self)

    def add(self, roots: Collection[_Key], parts: Collection[_Key] = (), later: Collection[_Key] = ()) -> None:
        """Take down what is missing of these kernels, for arguments of these types, and have it compiled."""
        new = [key for key in (*parts, *roots, *later) if key not in self.seen]
        self.seen.update(new)
        missing = [key for key in new if _is_missing(*key)]
        if not missing:
            return
        with self.change:
            for key in missing:
                self.all.setdefault(key, _Job(*key))
            needed = [self.all[key] for key in parts if key in self.all]
            for key in set(missing).intersection(roots):
                self.all[key].parts = needed
            for key in set(missing).intersection(later):
                self.all[key].is_later = True
            self.change.notify_all()
            waiting = sum(job.state == WAITING and not job.is_later for job in self.all.values())
            if waiting >= FEWEST and self.process is None and _is_allowed():
                self.process = _started(self)

    def before(self, kernel: Any, arguments: tuple[Any, ...]) -> None:
        """This process needs a kernel: it compiles it next, unless the other is at it, for which it waits."""
        job = self.all.get((kernel, arguments))
        if job is None:
            return
        begin = time.monotonic()
        within = _thread.compiling > 0  # a kernel, where no other may be begun: it might contain that one
        with self.change:
            if job.state == WAITING:
                job.state = HERE
        while not within and self.process is not None and (part := self._next_part()) is not None:
            part.kernel.compile(part.arguments)
            self.done(part)
        while True:
            raise_if_abandoned()
            with self.change:
                if job.state == WAITING:  # the other process has ended
                    job.state = HERE
                if job.state != THERE or time.monotonic() - begin > LONGEST:
                    return
                others = (other for other in self.all.values() if other.state == WAITING and not other.is_later)
                other = None if within else next(others, None)
                if other is None:
                    self.change.wait(0.2)
            if other is not None:
                other.kernel.compile(other.arguments)

    def _next_part(self) -> _Job | None:
        """The first part that nobody compiles, for this process."""
        with self.change:
            for job in self.all.values():
                if job.is_part and job.state == WAITING:
                    job.state = HERE
                    return job
        return None

    def for_the_other(self) -> _Job | None:
        """The next one for the other process, the last that is needed; None if there is none for a while."""
        until = time.monotonic() + IDLE
        with self.change:
            while True:
                waiting = [job for job in reversed(self.all.values()) if job.state == WAITING]
                needed = [job for job in waiting if not job.is_later]
                free = [job for job in needed or waiting if job.is_ready()]
                for job in sorted(free, key=lambda job: not job.is_part):  # parts before what they are copied into
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
        jobs = [job for job in self.all.values() if not job.is_later]
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
                stdin.write(pickle.dumps((function.__module__, function.__qualname__, job.is_part, job.arguments)))
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


class _Thread(threading.local):
    compiling = 0  # kernels, one within the other


_jobs = _Jobs()
_thread = _Thread()


def compile_ahead(
    roots: Iterable[tuple[Any, Any]],
    parts: Iterable[tuple[Any, tuple[Any, ...]]] = (),
    later: Iterable[tuple[Any, Any]] = (),
) -> None:
    """These kernels will be needed as machine code for these signatures, in this order.

    parts: kernels that are copied into them, and not into each other, with the types of their arguments; for roots so large that
    two processes had better share one.
    later: kernels, with their signatures, that may be needed afterwards, if at all.
    """
    if not getattr(numba.config, "DISABLE_JIT", False):
        wanted = [(kernel, signature.args) for kernel, signature in roots]
        missing = [key for key in wanted if key not in _jobs.seen and _is_missing(*key)]
        _jobs.add(
            wanted,
            [(kernel.part, arguments) for kernel, arguments in parts] if missing else [],
            [(kernel, signature.args) for kernel, signature in later],
        )


@contextlib.contextmanager
def compiling() -> Iterator[None]:
    """In this block, this thread compiles a kernel or loads it."""
    _thread.compiling += 1
    try:
        yield
    finally:
        _thread.compiling -= 1


def before_compiling(kernel: Any, arguments: tuple[Any, ...]) -> None:
    """To call before a kernel, or a part of one, is compiled or loaded: waits if the other process is at it."""
    _jobs.first(kernel, arguments)
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
    if named is not _whole(kernel):
        return False
    return not holds(arguments, kernel.targetctx)


def _whole(kernel: Any) -> Any:
    """The kernel of which this is a part, or the kernel itself."""
    return getattr(kernel, "whole", kernel)


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
