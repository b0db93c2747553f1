"""WebSockets as ASGI has them: texts in and out, with no layers between, which were a tenth of what an answer took."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from memetik_serve.web.guard import Message, Receive, Send


class LeftError(Exception):
    """The client has gone."""


class Socket:
    """One connection that was accepted; both ways raise LeftError when the client has gone."""

    def __init__(self, scope: Any, receive: Receive, send: Send) -> None:
        self.scope, self._receive, self._send = scope, receive, send

    async def receive(self) -> str | bytes:
        """The next message."""
        message = await self._receive()
        if message["type"] == "websocket.disconnect":
            raise LeftError
        text: str | bytes | None = message.get("text")
        return message["bytes"] if text is None else text

    async def send(self, text: str) -> None:
        """Say something."""
        await self._tell({"type": "websocket.send", "text": text})

    async def close(self, code: int, reason: str) -> None:
        """Say no more."""
        await self._tell({"type": "websocket.close", "code": code, "reason": reason})

    async def _tell(self, message: Message) -> None:
        try:
            await self._send(message)
        except (OSError, RuntimeError) as error:  # the server's words for a client that closed meanwhile
            raise LeftError from error


class SocketApp:
    """The ASGI application that accepts WebSockets and lets something talk with each."""

    def __init__(self, talk: Callable[[Socket], Awaitable[None]]) -> None:
        self._talk = talk

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        await receive()  # that it connects
        await send({"type": "websocket.accept"})
        try:
            await self._talk(Socket(scope, receive, send))
        except LeftError:
            return  # who left needs no answer
