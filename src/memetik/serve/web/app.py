"""The routes: what each takes and gives, and how what goes wrong is said."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

import memetik as mk
from memetik import scenes
from memetik.scenes import fields
from memetik.serve import plain
from memetik.serve.codes import Code
from memetik.serve.core import Core
from memetik.serve.request import Reply, Request
from memetik.serve.web.guard import Meter, TooLargeError
from memetik.serve.web.limits import Limits
from memetik.serve.web.openapi import description
from memetik.serve.web.page import PAGE
from memetik.serve.web.paths import Stream, track
from memetik.serve.web.shelf import Shelf

T = TypeVar("T")
Plain = dict[str, Any]

SCENE = ("targets", "state", "approximate", "timeout")
BURST = 4  # requests of one WebSocket that may be answered before those of others have their turn
HTTP_STATUS = {Code.FAILURE: 500}  # of replies that are no answers; 422 for the others: understood, and impossible


class BusyError(mk.MemetikError, RuntimeError):
    """Too many searches wait for a thread."""


class Application:
    """All that requests share: the core, scenes, and threads for searches that take long."""

    def __init__(self, core: Core, shelf: Shelf, limits: Limits, meter: Meter) -> None:
        self.core, self.shelf, self.limits, self._meter = core, shelf, limits, meter
        self._threads = ThreadPoolExecutor(max(2, os.cpu_count() or 2), thread_name_prefix="memetik-serve")
        self._waiting = 0
        self._about = plain.dumps(_about(core.body)).encode()

    def starlette(self) -> Starlette:
        """The application with its routes."""
        post, put = ["POST"], ["PUT", "GET", "DELETE"]
        return Starlette(
            routes=[
                Route("/", self._page),
                Route("/health", self._health),
                Route("/openapi.json", self._openapi),
                Route("/body", self._body),
                Route("/solve", _answers(self._solve), methods=post),
                Route("/explain", _answers(self._explain), methods=post),
                Route("/forward", _answers(self._forward), methods=post),
                Route("/track", _answers(self._track), methods=post),
                Route("/scenes", self._scenes),
                Route("/scenes/{name}", self._scene, methods=put),
                Route("/scenes/{name}/solve", self._solve_scene, methods=post),
                WebSocketRoute("/ws", self._socket),
                WebSocketRoute("/servo", self._servo),
            ]
        )

    def close(self) -> None:
        """Let the threads go, after what they are about."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    # ---- Pages ---------------------------------------------------------------------------------------------------

    async def _page(self, _: HttpRequest) -> Response:
        return HTMLResponse(PAGE)

    async def _health(self, _: HttpRequest) -> Response:
        return _json({"ok": True, "version": mk.__version__, "waiting": self._waiting})

    async def _openapi(self, _: HttpRequest) -> Response:
        return _json(description(self.limits))

    async def _body(self, _: HttpRequest) -> Response:
        return Response(self._about, media_type="application/json")

    # ---- Requests ------------------------------------------------------------------------------------------------

    async def _solve(self, given: Plain) -> Plain:
        return await self._answer(self.core, plain.request(given))

    async def _answer(self, core: Core, request: Request) -> Plain:
        """Here where it is a matter of a moment, in a thread where it is not."""
        if request.timeout > self.limits.timeout:
            raise mk.FormatError(
                f"timeout is {request.timeout:g}; this server lets a search take {self.limits.timeout:g} s."
            )
        reply = core.quick(request)
        if reply is None:
            reply = await self._apart(lambda: core.answer(request))
        return _checked(reply, core)

    async def _explain(self, given: Plain) -> Plain:
        request = plain.request(given)
        return {"explanation": await self._apart(lambda: self.core.explain(request))}

    async def _forward(self, given: Plain) -> Plain:
        asked = fields.keys(given, "a request", ("state", "links"))
        state = fields.by_name(asked.get("state", {}), "state")
        links = fields.texts(asked.get("links", list(self.core.body.links)), "links")
        poses = self.core.body.forward(self.core.start(state), root=self.core.root)
        return {
            link: {"position": poses[link][:3, 3].tolist(), "wxyz": mk.to_quaternion(poses[link][:3, :3]).tolist()}
            for link in links
        }

    async def _track(self, given: Plain) -> Plain:
        return await self._apart(lambda: track(self.core, given, self.limits.steps, self.limits.timeout))

    async def _apart(self, work: Callable[[], T]) -> T:
        """Do something in a thread, unless too much is waiting for one."""
        if self._waiting >= self.limits.waiting:
            raise BusyError(f"{self._waiting} searches are waiting already. Ask again in a moment.")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._waiting -= 1

    # ---- Scenes --------------------------------------------------------------------------------------------------

    async def _scenes(self, _: HttpRequest) -> Response:
        return _json({"scenes": self.shelf.names()})

    async def _scene(self, http: HttpRequest) -> Response:
        name = http.path_params["name"]

        async def act() -> Response:
            if http.method == "PUT":
                data = await http.body()
                kept = await self._apart(lambda: self.shelf.put(name, data))
                return _json({"name": name, "joint_names": list(kept.core.body.joint_names)}, 201)
            if http.method == "DELETE":
                self.shelf.drop(name)
                return _json({"name": name})
            return Response(scenes.dumps(self.shelf.get(name).scene), media_type="application/json")

        return await _guarded(act)

    async def _solve_scene(self, http: HttpRequest) -> Response:
        async def act() -> Response:
            data = await http.body()
            given = plain.loads(data) if data else {}
            return _json(await self._answer_scene(http.path_params["name"], given))

        return await _guarded(act)

    async def _answer_scene(self, name: str, given: Plain) -> Plain:
        kept = self.shelf.get(name)
        return await self._answer(kept.core, kept.request(fields.keys(given, "a request about a scene", SCENE)))

    # ---- WebSockets ----------------------------------------------------------------------------------------------

    async def _socket(self, socket: WebSocket) -> None:
        """Requests as for /solve, or about a scene that they name, answered one after the other with their "id"."""
        address = socket.client.host if socket.client else ""

        async def answer(given: Plain) -> Plain:
            if not self._meter.allows(address):
                raise BusyError(self._meter.words())
            if "scene" in given:
                name = fields.text(given.pop("scene"), "scene")
                return await self._answer_scene(name, given)
            return await self._solve(given)

        await socket.accept()
        try:
            for count in itertools.count(1):
                text = await _received(socket)
                if count % BURST == 0:  # a client that asks without waiting never waits for the loop either
                    await asyncio.sleep(0)
                mark: Plain = {}
                try:
                    given = plain.loads(text)
                    if "id" in given:
                        mark["id"] = given.pop("id")
                    found = await answer(given)
                except mk.MemetikError as error:
                    found = _failure(error)[0]
                await _tell(socket, {**found, **mark})
        except WebSocketDisconnect:
            return  # who left needs no answer

    async def _servo(self, socket: WebSocket) -> None:
        """First a request with a rate, then targets as they come; a posture for each message, or at the rate if "push"."""
        await socket.accept()
        try:
            given = plain.loads(await _received(socket))
            stream = await self._apart(lambda: Stream(self.core, given))
            await _tell(socket, stream.tick(0))
            await (self._pushed(socket, stream) if stream.push else self._followed(socket, stream))
        except mk.MemetikError as error:
            await _last_words(socket, error)
        except WebSocketDisconnect:
            return

    async def _followed(self, socket: WebSocket, stream: Stream) -> None:
        while True:
            text = await _received(socket)
            try:
                found = stream.tick(stream.take(plain.loads(text)))
            except mk.MemetikError as error:  # the servo goes on as it was
                found = _failure(error)[0]
            await _tell(socket, found)

    async def _pushed(self, socket: WebSocket, stream: Stream) -> None:
        """Postures at the rate, whatever comes; ticks that were missed are made up for, a second of them at most."""
        reader = asyncio.ensure_future(_received(socket))
        loop = asyncio.get_running_loop()
        due = loop.time()
        try:
            while True:
                due += 1.0 / stream.rate
                done, _ = await asyncio.wait({reader}, timeout=max(0.0, due - loop.time()))
                if done:
                    try:
                        stream.take(plain.loads(reader.result()))
                    except mk.MemetikError as error:
                        await _tell(socket, _failure(error)[0])
                    reader = asyncio.ensure_future(_received(socket))
                    due -= 0.0 if loop.time() >= due else 1.0 / stream.rate
                    continue
                late = min(int(max(0.0, loop.time() - due) * stream.rate), int(stream.rate))
                due += late / stream.rate
                await _tell(socket, stream.tick(1 + late))
        finally:
            reader.cancel()


# ---- How what goes wrong is said -----------------------------------------------------------------------------------


class _Refused(mk.MemetikError):
    """A reply that is no answer."""

    def __init__(self, reply: Plain, status: int) -> None:
        super().__init__(reply["message"])
        self.reply, self.status = reply, status


def _checked(reply: Reply, core: Core) -> Plain:
    found = plain.reply(reply, core.body.joint_names)
    if not reply.code.is_answer:
        raise _Refused(found, HTTP_STATUS.get(reply.code, 422))
    return found


def _failure(error: mk.MemetikError) -> tuple[Plain, int]:
    """What to say, and the HTTP status."""
    if isinstance(error, _Refused):
        return error.reply, error.status
    status = 400
    if isinstance(error, BusyError):
        status = 503
    elif isinstance(error, TooLargeError):
        status = 413
    elif isinstance(error, mk.UnknownNameError):
        status = 404 if error.what == "scene" else 422
    elif isinstance(error, mk.ProblemError):
        status = 422
    return {"success": False, "message": str(error)}, status


async def _guarded(act: Callable[[], Awaitable[Response]]) -> Response:
    try:
        return await act()
    except mk.MemetikError as error:
        return _json(*_failure(error))


def _answers(work: Callable[[Plain], Awaitable[Plain]]) -> Callable[[HttpRequest], Awaitable[Response]]:
    """A handler that reads an object and writes one."""

    async def handle(http: HttpRequest) -> Response:
        try:
            return _json(await work(plain.loads(await http.body())))
        except mk.MemetikError as error:
            return _json(*_failure(error))

    return handle


async def _received(socket: WebSocket) -> str | bytes:
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1000))
    found: str | bytes = message["bytes"] if message.get("text") is None else message["text"]
    return found


async def _tell(socket: WebSocket, found: Plain) -> None:
    try:
        await socket.send_text(plain.dumps(found))
    except RuntimeError as error:  # the framework's word for a client that closed while it was being answered
        raise WebSocketDisconnect(1006) from error


async def _last_words(socket: WebSocket, error: mk.MemetikError) -> None:
    await _tell(socket, _failure(error)[0])
    await socket.close(1008, str(error)[:100])


def _json(value: Plain, status: int = 200) -> Response:
    headers = {"connection": "close"} if status == 413 else None  # what is still on its way is not read
    return Response(plain.dumps(value), status, headers, "application/json")


def _about(body: mk.Body) -> Plain:
    ends = zip(body.joint_names, body.lower.tolist(), body.upper.tolist(), body.home.tolist(), strict=True)
    return {
        "name": body.name,
        "root": body.root,
        "joints": [
            {"name": name, "lower": plain.finite(lower), "upper": plain.finite(upper), "home": home}
            for name, lower, upper, home in ends
        ],
        "links": list(body.links),
        "groups": {
            name: {"base": chain.base, "tips": list(chain.tips), "joints": list(body.chain(name).joint_names)}
            for name, chain in body.chains.items()
        },
    }
