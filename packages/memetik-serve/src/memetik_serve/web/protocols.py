"""The web server's protocols with bounds for each connection and each address: who connects and says nothing, or asks and does
not read, is let go, and so is who sends more than is kept for its address. What comes in is taken in fair rounds."""

from __future__ import annotations

import asyncio
import time
import weakref
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from memetik_serve.web.limits import Limits
from memetik_serve.web.rounds import Account, Rounds

Protocol = type[asyncio.Protocol]
_COUNTED = weakref.WeakKeyDictionary[Any, str]()  # transports that are counted, with their address
MOST_HEAD = 2**16  # bytes of a request before its body
READ = 2**16  # bytes that are read from a connection at once
SMALLEST, USUAL, LARGEST = 2**10, 2**12, 2**16  # bytes that are parsed at once: few where they are many small frames
BRIEF = 0.0003  # s; what takes less lets the next bite be twice as large
TOO_LONG = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class Held:
    """How many bytes of requests that are not answered yet all addresses have sent, and each."""

    def __init__(self, most: int, share: int) -> None:
        self._most, self._share = most, share
        self._total = 0

    def add(self, account: Account, size: int) -> bool:
        """Count some more, or fewer; whether an address may send so much."""
        self._total += size
        account.unread += size
        return account.unread <= self._share and self._total <= self._most


class Valve:
    """A transport that reads when both the protocol and the rounds want more."""

    def __init__(self, transport: Any, account: Account) -> None:
        self._transport = transport
        self.protocol: Any = None
        self.account = account
        self.write, self.is_closing = transport.write, transport.is_closing  # sooner than through __getattr__
        self._pause, self._resume = transport.pause_reading, transport.resume_reading
        self.stopped = False  # by the protocol
        self.kept = False  # by the rounds: there is something that was read and not parsed
        if hasattr(transport, "max_size"):  # of asyncio's own loops
            transport.max_size = READ

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def pause_reading(self) -> None:
        self.stopped = True
        self._pause()

    def resume_reading(self) -> None:
        self.stopped = False
        if not self.kept:
            self._resume()
        self.protocol.feed_later()

    def keep(self, kept: bool) -> None:
        """Whether there is something that was read and not parsed."""
        if kept is not self.kept:
            self.kept = kept
            if kept:
                self._pause()
            elif not self.stopped:
                self._resume()


def impatient(limits: Limits, rounds: Rounds, share: int | None = None) -> tuple[Protocol, Protocol]:
    """Protocols for HTTP and WebSockets that keep to the limits; an address may have `share` connections."""
    counts: dict[str, int] = {}
    unread = int(limits.unread * 2**20)
    held = Held(unread, unread if share is None else unread // 2)
    patience = limits.patience

    class Bounded:
        """Takes what comes in slices, each in a round of the address, and ends connections that exceed a bound."""

        loop: asyncio.AbstractEventLoop
        transport: Any
        client: tuple[str, int] | None
        most: int  # bytes of a message
        _full: asyncio.TimerHandle | None = None
        _account: Account
        _held = 0  # bytes of messages that are not answered yet

        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            self._waiting = bytearray()  # what was read and not parsed
            self._slice = USUAL
            self._scheduled = False

        def connection_made(self, transport: Any) -> None:
            if not isinstance(transport, Valve):
                transport = Valve(transport, rounds.account(_address_of(transport)))
            transport.protocol, self._account = self, transport.account
            super().connection_made(transport)  # type: ignore[misc]

        def connection_lost(self, exc: Exception | None) -> None:
            self._forget()
            self._waiting.clear()
            self.settle()
            _leave(self.transport, counts)
            super().connection_lost(exc)  # type: ignore[misc]

        def data_received(self, data: bytes) -> None:
            size, account = len(data), self._account
            self._held += size
            if not held.add(account, size) or self._held > self.most:
                self.transport.abort()
                return
            if self._waiting or size > self._slice or self.transport.stopped or not rounds.admits(account):
                self._waiting += data
                if len(self._waiting) > USUAL:  # what is less is mostly all that there is, and reading on costs nothing
                    self.transport.keep(True)
                self.feed_later()
                return
            rounds.charge(account, self._timed(data))

        def feed_later(self) -> None:
            """Go on with what waits in a round of the address."""
            if self._waiting and not self._scheduled:
                self._scheduled = True
                rounds.run(self._account, self._feed)

        def _feed(self) -> None:
            self._scheduled = False
            if self.transport.is_closing():
                self._waiting.clear()
            if self._waiting and not self.transport.stopped:
                data = bytes(self._waiting[: self._slice])
                del self._waiting[: self._slice]
                self._timed(data)
            if not self._waiting:
                self.transport.keep(False)
            elif not self.transport.stopped:
                self._scheduled = True
                rounds.later(self._account, self._feed)

        def _timed(self, data: bytes) -> float:
            """Take a slice, and decide by how long it took how large the next one may be."""
            begin = time.perf_counter()
            self.parse(data)
            took = time.perf_counter() - begin
            if took > BRIEF:
                self._slice = max(self._slice // 2, SMALLEST)
            elif 2 * len(data) > self._slice:
                self._slice = min(2 * self._slice, LARGEST)
            return took

        def parse(self, data: bytes) -> None:
            """Take a slice."""
            super().data_received(data)  # type: ignore[misc]

        def settle(self) -> None:
            """A message is dealt with: only what was not parsed yet is still held."""
            left = len(self._waiting)
            if left != self._held:
                held.add(self._account, left - self._held)
                self._held = left

        def pause_writing(self) -> None:
            super().pause_writing()  # type: ignore[misc]
            self._full = self.loop.call_later(patience, self.transport.abort)

        def resume_writing(self) -> None:
            super().resume_writing()  # type: ignore[misc]
            self._forget()

        def _forget(self) -> None:
            if self._full is not None:
                self._full.cancel()
                self._full = None

    class Http(Bounded, HttpToolsProtocol):
        most = 9 * limits.message  # eight times that for a scene, and what comes with it
        _begun: asyncio.TimerHandle | None = None  # a message whose end has not come
        _idle: asyncio.TimerHandle | None = None  # nothing is asked for
        _head = 0  # bytes since the last body began

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            if share is not None and not _admit(self.transport, counts, share):
                self.transport.abort()
                return
            self._idle = self.loop.call_later(patience, self._give_up)

        def parse(self, data: bytes) -> None:
            self._head += len(data)
            super().parse(data)
            if self._head > MOST_HEAD and not self.transport.is_closing():
                cycle: Any = self.cycle
                if cycle is None or cycle.response_complete:
                    self.transport.write(TOO_LONG)
                    self.transport.close()
                else:  # what ends a body in pieces, and never ends
                    self.transport.abort()

        def on_message_begin(self) -> None:
            super().on_message_begin()
            self._ended()
            # A little later than the application, which answers a body that does not come with 408.
            self._begun = self.loop.call_later(patience + 1.0, self._give_up)

        def on_headers_complete(self) -> None:
            super().on_headers_complete()
            self._head = 0

        def on_body(self, body: bytes) -> None:
            super().on_body(body)
            self._head = 0

        def on_message_complete(self) -> None:
            self._ended()
            super().on_message_complete()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self.settle()
            if self._idle is None:  # uvicorn's own timer ends with every byte, were it only the end of a line
                self._idle = self.loop.call_later(patience + 1.0, self._look)

        def connection_lost(self, exc: Exception | None) -> None:
            self._ended()
            super().connection_lost(exc)

        def _ended(self) -> None:
            for timer in (self._begun, self._idle):
                if timer is not None:
                    timer.cancel()
            self._begun = self._idle = None

        def _look(self) -> None:
            """Whether anything was asked for meanwhile."""
            self._idle = None
            cycle: Any = self.cycle
            if cycle is None or cycle.response_complete:
                self._give_up()

        def _give_up(self) -> None:
            if self.transport.get_protocol() is self:  # not a WebSocket by now
                self.transport.abort()

        def handle_websocket_upgrade(self) -> None:
            self._ended()
            self._waiting.clear()
            self.settle()
            self.transport.keep(False)
            super().handle_websocket_upgrade()

    class Sockets(Bounded, WebSocketsSansIOProtocol):
        most = 2 * limits.message + READ  # a message, its frames, and what follows

        def send_receive_event_to_app(self) -> None:
            super().send_receive_event_to_app()
            self.settle()

        def handle_ping(self) -> None:
            super().handle_ping()
            self._settle_between()

        def handle_pong(self, event: Any) -> None:
            super().handle_pong(event)
            self._settle_between()

        def _settle_between(self) -> None:
            if not self.frames:  # a message whose frames do not end is held
                self.settle()

        def pause_writing(self) -> None:
            super().pause_writing()
            self.transport.pause_reading()  # who does not read is not answered, as a ping would be

        def resume_writing(self) -> None:
            super().resume_writing()
            if not self.read_paused:
                self.transport.resume_reading()

    return Http, Sockets


def _address_of(transport: Any) -> str:
    peer = transport.get_extra_info("peername")
    return str(peer[0]) if isinstance(peer, tuple) else ""


def _admit(transport: Any, counts: dict[str, int], share: int) -> bool:
    """Count a connection; whether its address may have it."""
    address = _address_of(transport)
    if counts.get(address, 0) >= share:
        return False
    counts[address] = counts.get(address, 0) + 1
    _COUNTED[transport] = address
    return True


def _leave(transport: Any, counts: dict[str, int]) -> None:
    address = _COUNTED.pop(transport, None)
    if address is not None:
        counts[address] -= 1
        if not counts[address]:
            del counts[address]
