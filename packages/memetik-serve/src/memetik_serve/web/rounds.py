"""Rounds: fair shares of the event loop. An address that has used up its share waits until all others had their turn."""

from __future__ import annotations

import asyncio
import time
import weakref
from collections import deque
from collections.abc import Callable

SHARE = 0.002  # s of one iteration of the loop, for each address
USUAL = 0.0002  # s that a request is taken to need before it is answered or handed to a thread


class Account:
    """What one address has of a server."""

    __slots__ = ("__weakref__", "unread", "used", "waiting")

    def __init__(self) -> None:
        self.used = 0.0  # s of this iteration of the loop
        self.waiting = deque[Callable[[], None]]()  # for a later one, in the order in which it came
        self.unread = 0  # bytes of requests that are not answered yet


class Rounds:
    """Shares of the iterations of an event loop, in each of which all that is ready is done once.

    share: what one address may use of an iteration [s]. What is left waits for the next one, in the order in which it came.
    """

    def __init__(self, share: float = SHARE) -> None:
        self._share = share
        self._accounts = weakref.WeakValueDictionary[str, Account]()  # as long as a connection has them
        self._charged: list[Account] = []  # in this iteration
        self._waiting: dict[Account, None] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._due = False  # the next iteration is told to begin again

    def account(self, address: str) -> Account:
        """The account of an address; whoever needs it keeps it."""
        found = self._accounts.get(address)
        if found is None:
            found = self._accounts[address] = Account()
        return found

    def admits(self, account: Account) -> bool:
        """Whether an address may go on at once: none of its own waits, and its share of this iteration is not used up."""
        return account.used < self._share and not account.waiting

    def charge(self, account: Account, seconds: float) -> None:
        """Count what an address has used."""
        if not account.used:
            self._charged.append(account)
        account.used += seconds
        if not self._due:
            self._await_next()

    def run(self, account: Account, work: Callable[[], None]) -> None:
        """Call `work` at once, or when it is the turn of the address, and count the time that it takes."""
        if self.admits(account):
            self._timed(account, work)
        else:
            self.later(account, work)

    def later(self, account: Account, work: Callable[[], None]) -> None:
        """Call `work` in a later iteration, after all of the address that waits already."""
        account.waiting.append(work)
        self._waiting[account] = None
        if not self._due:
            self._await_next()

    async def turn(self, account: Account) -> None:
        """Return when the address may use the loop for one more request, which is taken to need USUAL."""
        if self.admits(account):
            self.charge(account, USUAL)
            return
        future = asyncio.get_running_loop().create_future()

        def go_on() -> None:
            if not future.done():  # the client is still here
                future.set_result(None)
                self.charge(account, USUAL)

        self.later(account, go_on)
        await future

    def _timed(self, account: Account, work: Callable[[], None]) -> None:
        begin = time.perf_counter()
        work()
        self.charge(account, time.perf_counter() - begin + 1e-6)  # no work is for nothing

    def _await_next(self) -> None:
        self._due = True
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
        self._loop.call_soon(self._begin)

    def _begin(self) -> None:
        """A new iteration: all addresses have their whole share again, and those that wait go on."""
        self._due = False
        for account in self._charged:
            account.used = 0.0
        self._charged.clear()
        for account in list(self._waiting):
            queue = account.waiting
            while queue and account.used < self._share:
                self._timed(account, queue.popleft())
            if not queue:
                del self._waiting[account]
        if self._waiting and not self._due:
            self._await_next()
