"""Workers: threads for what takes long, shared fairly among clients."""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import memetik as mk

T = TypeVar("T")


class BusyError(mk.MemetikError, RuntimeError):
    """Too much work waits for a thread."""


class Workers:
    """Runs work in threads. A client takes a thread while it has fewer than are free, so some are always left for others.

    waiting: how much work may be under way or waiting, and half of it of one client.
    """

    def __init__(self, waiting: int, threads: int | None = None) -> None:
        self.threads = threads or 2 * max(2, os.cpu_count() or 2)
        self._most, self._share = waiting, max(1, waiting // 2)
        self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="memetik-serve")
        self._queues: OrderedDict[str, deque[tuple[Callable[[], Any], asyncio.Future[Any]]]] = OrderedDict()
        self._running: dict[str, int] = {}
        self.waiting = 0

    async def run(self, client: str, work: Callable[[], T]) -> T:
        """What the work returns; raise where too much is waiting."""
        own = len(self._queues.get(client, ())) + self._running.get(client, 0)
        if self.waiting >= self._most or own >= self._share:
            raise BusyError(f"{self.waiting} searches are waiting already. Ask again in a moment.")
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(client, deque()).append((work, future))
        self.waiting += 1
        self._dispatch()
        try:
            return await future
        finally:
            del (
                future,
                work,
            )  # an error leads to them in a circle, and a request would be kept until garbage is collected
            self._dispatch()

    def close(self) -> None:
        """Let the threads go, after what they are about."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _dispatch(self) -> None:
        """Start what may start: the next of each client in turn."""
        loop = asyncio.get_running_loop()
        while (client := self._next()) is not None:
            queue = self._queues.pop(client)
            work, future = queue.popleft()
            if queue:
                self._queues[client] = queue  # at the end
            if future.cancelled():  # the client has left
                self.waiting -= 1
                continue
            self._running[client] = self._running.get(client, 0) + 1
            self._pool.submit(self._work, loop, client, [work, future])

    def _next(self) -> str | None:
        free = self.threads - sum(self._running.values())
        return next((client for client in self._queues if self._running.get(client, 0) < free), None)

    def _work(self, loop: asyncio.AbstractEventLoop, client: str, job: list[Any]) -> None:
        # Taken out of the list, because an error leads to the frames of the pool, which would lead to the future of the error.
        future, work = job.pop(), job.pop()
        found: Any = None
        error: BaseException | None = None
        try:
            found = work()
        except BaseException as reason:
            error = reason
        try:
            loop.call_soon_threadsafe(self._done, client, future, found, error)
        except RuntimeError:  # the loop has ended: nobody waits any more
            return
        finally:
            del found, error, work, future

    def _done(self, client: str, future: asyncio.Future[Any], found: Any, error: BaseException | None) -> None:
        self.waiting -= 1
        self._running[client] -= 1
        if not self._running[client]:
            del self._running[client]
        if not future.done():
            if error is None:
                future.set_result(found)
            else:
                future.set_exception(error)
        self._dispatch()


class Turns:
    """Lets long work on the event loop happen in slices: one slice, then all that has come in meanwhile, then the next."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    async def slices(self, count: int, step: Callable[[], Any], seconds: float = 0.002) -> None:
        """Call `step` so many times, and let others go on after each slice of so many seconds."""
        loop, left = asyncio.get_running_loop(), count
        while left:
            async with self._turn:
                end = loop.time() + seconds
                while left:
                    step()
                    left -= 1
                    if loop.time() >= end:
                        break
                if left or loop.time() >= end - 0.9 * seconds:
                    await asyncio.sleep(0)
