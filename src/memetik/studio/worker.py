"""The worker: a process that takes its time over what a frame could not solve, and says why it fails.

A kernel holds Python's lock while it runs, and an explanation solves parts of the problem for up to some seconds; in a
thread of the server it would stop every page. The worker gets the scene as text, so it shares nothing with the page.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from typing import NamedTuple

import memetik as mk
from memetik import scenes
from memetik.errors import MemetikError


class Answer(NamedTuple):
    """What came of a longer search."""

    success: bool
    q: list[float]
    explanation: str


class Worker:
    """One process, started when it is first needed."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None

    def ask(
        self, scene: scenes.Scene, q: Sequence[float], roots: Sequence[str], then: Callable[[Answer], None]
    ) -> Future[Answer]:
        """Solve with the usual budget from q and explain a failure; `then` gets the answer, in another thread."""
        asked = scenes.dumps(scene), list(q), list(roots)
        try:
            job = self._start().submit(_search, *asked)
        except BrokenExecutor:  # somebody has ended the process; the next one does the work
            self._pool = None
            job = self._start().submit(_search, *asked)

        def done(finished: Future[Answer]) -> None:
            if not finished.cancelled() and finished.exception() is None:
                then(finished.result())

        job.add_done_callback(done)
        return job

    def _start(self) -> ProcessPoolExecutor:
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(1, mp_context=context, initializer=_leave_interrupts_to_the_server)
        return self._pool

    def close(self) -> None:
        """End the process, whatever it does."""
        if self._pool is not None:
            # An explanation is worth nothing without its page.
            for process in list((self._pool._processes or {}).values()):
                process.terminate()
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None


def _leave_interrupts_to_the_server() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _search(text: str, q: list[float], roots: list[str]) -> Answer:
    try:
        scene = scenes.loads(text)
        problem = scenes.problem(scene, scenes.load_body(scene.body, roots))
        solution = scenes.solver(scene.solving).solve(problem, q, mk.Budget())
        return Answer(solution.success, solution.q.tolist(), solution.explain())
    except MemetikError as error:
        return Answer(False, q, str(error))
