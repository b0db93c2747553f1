"""The web server's protocols with an end to patience: who connects and says nothing, or asks and does not read, is let go."""

from __future__ import annotations

import asyncio
import weakref
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

Protocol = type[asyncio.Protocol]
_COUNTED = weakref.WeakKeyDictionary[Any, str]()  # transports that are counted, with their address


def impatient(patience: float, share: int | None = None) -> tuple[Protocol, Protocol]:
    """Protocols for HTTP and WebSockets that wait for a client so long [s]; an address may have `share` connections."""
    counts: dict[str, int] = {}

    class Impatient:
        """Ends connections whose buffers stay full; mixed into both."""

        loop: asyncio.AbstractEventLoop
        transport: Any
        _full: asyncio.TimerHandle | None = None

        def pause_writing(self) -> None:
            super().pause_writing()  # type: ignore[misc]
            self._full = self.loop.call_later(patience, self.transport.abort)

        def resume_writing(self) -> None:
            super().resume_writing()  # type: ignore[misc]
            self._forget()

        def connection_lost(self, exc: Exception | None) -> None:
            self._forget()
            _leave(self.transport, counts)
            super().connection_lost(exc)  # type: ignore[misc]

        def _forget(self) -> None:
            if self._full is not None:
                self._full.cancel()
                self._full = None

    class Http(Impatient, HttpToolsProtocol):
        _begun: asyncio.TimerHandle | None = None  # a message whose end has not come

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            if share is not None and not _admit(transport, counts, share):
                transport.abort()
                return
            self.loop.call_later(patience, self._look)

        def on_message_begin(self) -> None:
            super().on_message_begin()
            self._ended()
            # A little later than the application, which answers a body that does not come with 408.
            self._begun = self.loop.call_later(patience + 1.0, self._give_up)

        def on_message_complete(self) -> None:
            self._ended()
            super().on_message_complete()

        def connection_lost(self, exc: Exception | None) -> None:
            self._ended()
            super().connection_lost(exc)

        def _ended(self) -> None:
            if self._begun is not None:
                self._begun.cancel()
                self._begun = None

        def _give_up(self) -> None:
            if self.transport.get_protocol() is self:  # not a WebSocket by now
                self.transport.abort()

        def _look(self) -> None:
            """Whether anything was asked for; a WebSocket has another protocol by now."""
            cycle: object | None = self.cycle
            if cycle is None and self.transport.get_protocol() is self:
                self.transport.abort()

    class Sockets(Impatient, WebSocketsSansIOProtocol):
        pass

    return Http, Sockets


def _admit(transport: Any, counts: dict[str, int], share: int) -> bool:
    """Count a connection; whether its address may have it."""
    peer = transport.get_extra_info("peername")
    address = str(peer[0]) if isinstance(peer, tuple) else ""
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
