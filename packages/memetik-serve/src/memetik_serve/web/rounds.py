"""Rounds: fair shares of the event loop. An address that has used up its share waits until all others had their turn."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Callable

SHARE = 0.002  # s of one iteration of the loop, for each address
USUAL = 0.0002  # s that a request is taken to need before it is answered or handed to a thread


class Rounds:
    """Shares of the iterations of an event loop, in each of which all that is ready is done once.

    share: what one address may use of an iteration [s]. What is left waits for the next one, in the order in which it came.
    """

    def __init__(self, share: float = SHARE) -> None:
        self._share = share
        self._used: dict[str, float] = {}  # in this iteration
        self._waiting: OrderedDict[str, deque[Callable[[], None]]] = OrderedDict()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._due = False  # the next iteration is told to begin anew

    def admits(self, address: str) -> bool:
        """Whether an address may go on at once: none of its own waits, and its share of this iteration is not used up."""
        return address not in self._waiting and self._used.get(address, 0.0) < self._share

    def charge(self, address: str, seconds: float) -> None:
        """Count what an address has used."""
        self._used[address] = self._used.get(address, 0.0) + seconds
        if not self._due:
            self._await_next()

    def run(self, address: str, work: Callable[[], None]) -> None:
        """Call `work` at once, or when it is the turn of the address, and count the time that it takes."""
        if self.admits(address):
            self._timed(address, work)
        else:
            self.later(address, work)

    def later(self, address: str, work: Callable[[], None]) -> None:
        """Call `work` in a later iteration, after all of the address that waits already."""
        self._waiting.setdefault(address, deque()).append(work)
        self._await_next()

    def entered(self, address: str) -> bool:
        """Whether the address may use the loop for one more request at once, which is counted then."""
        used = self._used.get(address, 0.0)
        if used >= self._share or address in self._waiting:
            return False
        self._used[address] = used + USUAL
        if not self._due:
            self._await_next()
        return True

    async def turn(self, address: str) -> None:
        """Return when the address may use the loop for one more request."""
        if self.entered(address):
            return
        future = asyncio.get_running_loop().create_future()

        def go_on() -> None:
            if not future.done():  # the client is still here
                future.set_result(None)
                self.charge(address, USUAL)

        self.later(address, go_on)
        await future

    def _timed(self, address: str, work: Callable[[], None]) -> None:
        begin = time.perf_counter()
        work()
        self.charge(address, time.perf_counter() - begin)

    def _await_next(self) -> None:
        if not self._due:
            self._due = True
            if self._loop is None:
                self._loop = asyncio.get_running_loop()
            self._loop.call_soon(self._begin)

    def _begin(self) -> None:
        """A new iteration: all addresses have their whole share again, and those that wait go on."""
        self._due = False
        self._used.clear()
        for address in list(self._waiting):
            queue = self._waiting[address]
            while queue and self._used.get(address, 0.0) < self._share:
                self._timed(address, queue.popleft())
                self._used[address] += 1e-6  # no work is for nothing
            if not queue:
                del self._waiting[address]
        if self._waiting:
            self._await_next()
