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

T = TypeVar("T")


class Worker:
    """One process, started when it is first needed, that does one job after another."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None

    def ask(self, then: Callable[[T | None], None], job: Callable[..., T], *arguments: Any) -> Future[T]:
        """Do a job; `then` gets what comes of it in another thread, None if the process ended."""
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
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(1, mp_context=context, initializer=_belong_to_the_server)
        return self._pool

    def close(self) -> None:
        """End the process, whatever it does."""
        if self._pool is not None:
            # What it finds is worth nothing without its page.
            for process in list((self._pool._processes or {}).values()):
                process.terminate()
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None


def _belong_to_the_server() -> None:
    """Leave interrupts to the server, and end when it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_the_server, daemon=True).start()


def _end_with_the_server() -> None:
    server = multiprocessing.parent_process()
    if server is not None:
        wait([server.sentinel])  # a pipe that the system closes, however the server ends
        os._exit(1)
