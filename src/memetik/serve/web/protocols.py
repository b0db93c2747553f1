"""The web server's protocols with an end to patience: who connects and says nothing, or asks and does not read, is let go."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

Protocol = type[asyncio.Protocol]


def impatient(patience: float) -> tuple[Protocol, Protocol]:
    """Protocols for HTTP and WebSockets that wait for a client so long [s]."""

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
            super().connection_lost(exc)  # type: ignore[misc]

        def _forget(self) -> None:
            if self._full is not None:
                self._full.cancel()
                self._full = None

    class Http(Impatient, HttpToolsProtocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self.loop.call_later(patience, self._look)

        def _look(self) -> None:
            """Whether anything was asked for; a WebSocket has another protocol by now."""
            cycle: object | None = self.cycle
            if cycle is None and self.transport.get_protocol() is self:
                self.transport.abort()

    class Sockets(Impatient, WebSocketsSansIOProtocol):
        pass

    return Http, Sockets
