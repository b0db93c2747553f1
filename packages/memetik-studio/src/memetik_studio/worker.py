"""The worker: a process for what takes longer than a frame.

A kernel holds Python's lock while it runs; a search of seconds in a thread of the server would stop every page. Jobs are
functions of a module (studio/jobs.py) that get the scene as text, so the worker shares nothing with the pages. It ends
with the server, also where that is killed and cannot say so.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from multiprocessing.connection import wait
from typing import Any, TypeVar

from numba.core import event

from memetik.compiling import SECOND_COMPILER, standing

T = TypeVar("T")
ENDING = 1.0  # s; a process that is told to end does so within milliseconds


class Worker:
    """One process, started when it is first needed, that does one job after another."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None
        self._lock, self._closed = threading.Lock(), False
        self._context = multiprocessing.get_context("spawn")
        self._compiled = self._context.RawArray("q", 2)  # shared with the process

    def compiled(self) -> tuple[int, int]:
        """How many of the kernels that a job needs are compiled, and how many it needs, as far as is known."""
        done, total = self._compiled
        return done, total

    def ask(self, then: Callable[[T | None], None], job: Callable[..., T], *arguments: Any) -> Future[T]:
        """Do a job; `then` gets what comes of it in another thread, None if the process ended. After the end nothing is done:
        a process that a late thread starts would keep the server waiting for it."""
        with self._lock:
            if self._closed:
                never: Future[T] = Future()
                never.cancel()
                return never
            try:
                asked = self._start().submit(job, *arguments)
            except BrokenExecutor:  # somebody has ended the process; the next one does the work
                self._pool = None
                asked = self._start().submit(job, *arguments)

        def done(finished: Future[T]) -> None:
            if not finished.cancelled():
                then(None if finished.exception() is not None else finished.result())

        asked.add_done_callback(done)
        return asked

    def _start(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                1, mp_context=self._context, initializer=_belong_to_the_server, initargs=(self._compiled,)
            )
        return self._pool

    def close(self) -> None:
        """End the process, whatever it does."""
        with self._lock:
            pool, self._pool, self._closed = self._pool, None, True
        if pool is not None:
            # What it finds is worth nothing without its page.
            processes = list((pool._processes or {}).values())
            for process in processes:
                process.terminate()
            for process in processes:
                process.join(ENDING)
            pool.shutdown(wait=False, cancel_futures=True)


def _belong_to_the_server(compiled: Any) -> None:
    """Leave interrupts to the server, tell it how many kernels are compiled, and end when it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.setdefault(SECOND_COMPILER, "1")  # the server compiles nothing meanwhile
    event.register("numba:compile", _Tell(compiled))
    threading.Thread(target=_end_with_the_server, daemon=True).start()


class _Tell(event.Listener):
    """Writes down how far the compiler is."""

    def __init__(self, compiled: Any) -> None:
        self._compiled = compiled

    def on_start(self, happening: Any) -> None:
        """Numba begins to compile a function."""
        self._compiled[:] = standing()

    def on_end(self, happening: Any) -> None:
        """It has."""
        self._compiled[:] = standing()


def _end_with_the_server() -> None:
    server = multiprocessing.parent_process()
    if server is not None:
        wait([server.sentinel])  # a pipe that the system closes, however the server ends
        os._exit(1)
