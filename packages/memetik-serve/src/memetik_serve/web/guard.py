"""Guard: who may ask, and how much. It wraps the whole application, so that nothing behind it sees what it refuses."""

from __future__ import annotations

import asyncio
import hmac
import json
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from starlette.requests import ClientDisconnect

import memetik as mk
from memetik_serve.web.limits import Limits
from memetik_serve.web.rounds import Rounds

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Any, Receive, Send], Awaitable[None]]

LOOPBACK = ("127.0.0.1", "localhost", "::1")
OPEN = ("/health",)  # needs no token
MOST_ADDRESSES = 10_000  # whose requests are counted
POLICY = 1008  # why a WebSocket is closed
ALLOWED = (b"GET, POST, PUT, DELETE", b"Authorization, Content-Type")


class TooLargeError(mk.MemetikError):
    """More bytes than a request may have."""

    def __init__(self, most: int) -> None:
        super().__init__(f"the request is larger than {most >> 10} kB, the most that is taken here.")


class Meter:
    """How many requests each address has sent of late: a bucket that fills at the rate and holds a second of it."""

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # address -> (what is in it, when)

    def allows(self, address: str) -> bool:
        """Whether one more request of an address may pass."""
        now = time.monotonic()
        left, before = self._left.pop(address, (self.rate, now))
        left = min(self.rate, left + (now - before) * self.rate)
        self._left[address] = (left - 1.0 if left >= 1.0 else left, now)
        if len(self._left) > MOST_ADDRESSES:
            self._left.popitem(last=False)
        return left >= 1.0

    def words(self) -> str:
        """What to say to those that may not."""
        return f"more than {self.rate:g} requests a second came from this address. Wait a second."


class Guard:
    """An ASGI application around another one.

    token: what a client must send as `Authorization: Bearer TOKEN`, or as `?token=TOKEN` where it cannot set headers; no one
    needs one if None.
    loopback: only this machine can connect. A page of a browser here may still be a stranger's: it must come from a local
    address, or from one of `origins`, and must ask for this machine by a local name.
    """

    def __init__(
        self,
        app: App,
        limits: Limits,
        meter: Meter,
        rounds: Rounds,
        *,
        token: str | None,
        loopback: bool,
        origins: Iterable[str] = (),
    ) -> None:
        self._app, self._limits, self._meter, self._token, self._loopback = app, limits, meter, token, loopback
        self._rounds = rounds
        self._origins = frozenset(origin.rstrip("/") for origin in origins)

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        await self._rounds.turn(self._rounds.account(address_of(scope)))
        headers = dict(scope["headers"])
        origin = headers.get(b"origin", b"").decode("latin-1")
        try:
            refused = self._refused(scope, headers, origin)
        except ValueError:  # an address that is none, such as "["
            refused, origin = (400, "the header Host or Origin is no address."), ""
        if scope["type"] == "websocket":
            if refused is not None:
                await receive()
                await send({"type": "websocket.close", "code": POLICY, "reason": refused[1][:120]})
                return
            await self._app(scope, receive, send)
            return
        answer = _with_origin(send, origin) if origin else send
        if refused is not None:
            await _say(answer, *refused)
        elif scope["method"] == "OPTIONS":
            await _say(answer, 204, "")
        else:
            await self._limited(scope, headers, receive, answer)

    async def _limited(self, scope: Any, headers: dict[bytes, bytes], receive: Receive, send: Send) -> None:
        """Hand a request on that is not larger than it says, nor slower than patience lasts."""
        most = self._limits.message * (8 if scope["path"].startswith("/scenes") else 1)
        told = headers.get(b"content-length", b"0")
        if told.isdigit() and int(told) > most:
            await _say(send, 413, str(TooLargeError(most)))
            return
        left, late = most, False
        task = asyncio.current_task()

        def expire() -> None:
            nonlocal late
            late = True
            if task is not None:
                task.cancel()

        # One timer for the whole body: asyncio.wait_for would make a task of every wait.
        timer = asyncio.get_running_loop().call_later(self._limits.patience, expire)

        async def counted() -> Message:
            nonlocal left
            message = await receive()
            if message["type"] == "http.request":
                left -= len(message.get("body", b""))
                if left < 0:
                    raise TooLargeError(most)  # the application says so
            if not message.get("more_body", False):
                timer.cancel()
            return message

        try:
            await self._app(scope, counted, send)
        except ClientDisconnect:
            return  # who left needs no answer
        except asyncio.CancelledError:
            if not late:
                raise
            await _say(send, 408, f"the request did not come within {self._limits.patience:g} s.")
        finally:
            timer.cancel()

    def _refused(self, scope: Any, headers: dict[bytes, bytes], origin: str) -> tuple[int, str] | None:
        """The HTTP status and the reason, if a request may not pass."""
        local = urlsplit(origin).hostname in LOOPBACK
        if origin and not local and origin not in self._origins:
            return 403, f"pages of {origin[:100]} may not ask here. Start the server with --origin to let them."
        host = urlsplit("//" + headers.get(b"host", b"").decode("latin-1")).hostname
        if self._loopback and self._token is None and host is not None and host not in LOOPBACK:
            return 403, "this server answers to the names localhost and 127.0.0.1 only."
        if self._token is not None and scope["path"] not in OPEN and scope.get("method") != "OPTIONS":
            given = headers.get(b"authorization", b"").decode("latin-1").removeprefix("Bearer ").strip()
            asked = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
            if not hmac.compare_digest((given or asked).encode(), self._token.encode()):
                return 401, "this needs the token of the server: send the header Authorization: Bearer TOKEN."
        if not self._meter.allows(address_of(scope)):
            return 429, self._meter.words()
        return None


def address_of(scope: Any) -> str:
    """Whom quotas count a connection or a request for."""
    return str((scope.get("client") or ("",))[0])


def _with_origin(send: Send, origin: str) -> Send:
    """Answers that a page of that origin may read."""

    async def told(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [
                *message.get("headers", []),
                (b"access-control-allow-origin", origin.encode("latin-1")), (b"vary", b"Origin"),
                (b"access-control-allow-methods", ALLOWED[0]), (b"access-control-allow-headers", ALLOWED[1]),
            ]  # fmt: skip
        await send(message)

    return told


async def _say(send: Send, status: int, message: str) -> None:
    body = json.dumps({"success": False, "message": message}).encode() if message else b""
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status in (408, 413):  # what is still on its way is not read
        headers.append((b"connection", b"close"))
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if status == 429:
        headers.append((b"retry-after", b"1"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
