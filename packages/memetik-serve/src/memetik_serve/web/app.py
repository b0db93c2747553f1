"""The routes: what each takes and gives, and how what goes wrong is said."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route, WebSocketRoute

import memetik as mk
from memetik.errors import said
from memetik.scenes import fields
from memetik_serve import plain
from memetik_serve.codes import Code
from memetik_serve.core import Core
from memetik_serve.request import Reply, Request
from memetik_serve.store import QuotaError
from memetik_serve.web.guard import Meter, TooLargeError, address_of
from memetik_serve.web.limits import Limits
from memetik_serve.web.openapi import description
from memetik_serve.web.page import PAGE
from memetik_serve.web.paths import Stream, track
from memetik_serve.web.rounds import USUAL, Rounds
from memetik_serve.web.scene_store import SceneStore
from memetik_serve.web.sockets import Socket, SocketApp
from memetik_serve.web.workers import BusyError, Turns, Workers

Plain = dict[str, Any]

SCENE = ("targets", "state", "approximate", "timeout")
_LOG = logging.getLogger("memetik_serve")
HTTP_STATUS = {Code.FAILURE: 500}  # of replies that are no answers; 422 for the others: understood, and impossible


class Application:
    """All that requests share: the core, scenes, and threads for searches that take long."""

    def __init__(self, core: Core, scene_store: SceneStore, limits: Limits, meter: Meter, rounds: Rounds) -> None:
        self.core, self.scene_store, self.limits, self._meter, self._rounds = core, scene_store, limits, meter, rounds
        self.workers, self._turns = Workers(limits.waiting), Turns()
        self._streams: dict[str, int] = {}
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
                WebSocketRoute("/ws", SocketApp(self._socket)),
                WebSocketRoute("/servo", SocketApp(self._servo)),
            ]
        )

    def close(self) -> None:
        """Let the threads go, after what they are about."""
        self.workers.close()

    # ---- Pages ---------------------------------------------------------------------------------------------------

    async def _page(self, _: HttpRequest) -> Response:
        return HTMLResponse(PAGE)

    async def _health(self, _: HttpRequest) -> Response:
        return _json({"ok": True, "version": mk.__version__, "waiting": self.workers.waiting})

    async def _openapi(self, _: HttpRequest) -> Response:
        return _json(description(self.limits))

    async def _body(self, _: HttpRequest) -> Response:
        return Response(self._about, media_type="application/json")

    # ---- Requests ------------------------------------------------------------------------------------------------

    async def _solve(self, client: str, data: bytes | str) -> Plain:
        """What a request asks for; what is large is read in a thread."""
        if len(data) < plain.LONG:
            return await self._answer(self.core, plain.request(plain.loads(data)), client)
        return await self._large(client, data, lambda given: (self.core, plain.request(given)))

    async def _large(self, client: str, data: bytes | str, read: Callable[[Plain], tuple[Core, Request]]) -> Plain:
        return await self.workers.run(client, self._large_work(data, client, read))

    def _large_work(
        self, data: bytes | str, client: str, read: Callable[[Plain], tuple[Core, Request]]
    ) -> Callable[[], Plain]:
        """What a thread does for a request that takes long to read."""

        def work() -> Plain:
            core, request = read(self._loads(data) if data else {})
            self._check_timeout(request)
            return _checked(core.answer(request, client), core)

        return work

    def _loads(self, data: bytes | str) -> Plain:
        if len(data) >= plain.LONG:
            plain.check_values(data if isinstance(data, bytes) else data.encode(errors="replace"), self.limits.values)
        return plain.loads(data)

    def _check_timeout(self, request: Request) -> None:
        if request.timeout > self.limits.timeout:
            raise mk.errors.FormatError(
                f"timeout is {request.timeout:g}; this server lets a search take {self.limits.timeout:g} s."
            )

    async def _answer(self, core: Core, request: Request, client: str) -> Plain:
        """Here where it is a matter of a moment, in a thread where it is not."""
        self._check_timeout(request)
        reply = core.quick(request)
        if reply is None:
            reply = await self.workers.run(client, lambda: core.answer(request, client))
        return _checked(reply, core)

    async def _explain(self, client: str, data: bytes) -> Plain:
        def work() -> Plain:
            request = plain.request(self._loads(data))
            self._check_timeout(request)
            return {"explanation": self.core.explain(request, client)}

        return await self.workers.run(client, work)

    async def _forward(self, client: str, data: bytes) -> Plain:
        if len(data) < plain.LONG:
            return self._poses(data)
        return await self.workers.run(client, lambda: self._poses(data))

    def _poses(self, data: bytes) -> Plain:
        given = self._loads(data)
        asked = fields.keys(given, "a request", ("state", "links"))
        state = fields.by_name(asked.get("state", {}), "state")
        links = fields.texts(asked.get("links", list(self.core.body.links)), "links")
        poses = self.core.body.forward(self.core.start(state), root=self.core.root)
        return {
            link: {
                "position": poses[link][:3, 3].tolist(),
                "wxyz": mk.geometry.to_quaternion(poses[link][:3, :3]).tolist(),
            }
            for link in dict.fromkeys(links)
        }

    async def _track(self, client: str, data: bytes) -> str:
        limits = self.limits

        def work() -> str:
            return plain.dumps_long(track(self.core, self._loads(data), limits.steps, limits.timeout))

        return await self.workers.run(client, work)

    # ---- Scenes --------------------------------------------------------------------------------------------------

    async def _scenes(self, _: HttpRequest) -> Response:
        return _json({"scenes": self.scene_store.names()})

    async def _scene(self, http: HttpRequest) -> Response:
        name = http.path_params["name"]

        async def act() -> Response:
            if http.method == "PUT":
                data = await http.body()
                client = address_of(http.scope)
                kept = await self.workers.run(client, lambda: self.scene_store.put(name, data, client))
                return _json({"name": name, "joint_names": list(kept.core.body.joint_names)}, 201)
            if http.method == "DELETE":
                self.scene_store.drop(name)
                return _json({"name": name})
            return Response(self.scene_store.get(name).text, media_type="application/json")

        return await _guarded(act)

    async def _solve_scene(self, http: HttpRequest) -> Response:
        async def act() -> Response:
            name, data = http.path_params["name"], await http.body()
            if max(len(data), len(self.scene_store.get(name).text)) >= plain.LONG:
                return _json(await self._large(address_of(http.scope), data, partial(self._of_scene, name)))
            return _json(
                await self._answer(*self._of_scene(name, plain.loads(data) if data else {}), address_of(http.scope))
            )

        return await _guarded(act)

    def _is_large(self, name: object) -> bool:
        """Whether requests about a scene are for a thread."""
        return (
            isinstance(name, str)
            and name in self.scene_store.names()
            and len(self.scene_store.get(name).text) >= plain.LONG
        )

    def _of_scene(self, name: str, given: Plain) -> tuple[Core, Request]:
        kept = self.scene_store.get(name)
        return kept.core, kept.request(fields.keys(given, "a request about a scene", SCENE))

    # ---- WebSockets ----------------------------------------------------------------------------------------------

    async def _socket(self, socket: Socket) -> None:
        """Requests as for /solve, or about a scene that they name, answered one after the other with their "id"."""
        address, rounds = address_of(socket.scope), self._rounds
        account = rounds.account(address)
        while True:
            text = await socket.receive()
            paid = 0.0
            if not rounds.admits(account):
                await rounds.turn(account)
                paid = USUAL
            begin = time.perf_counter()
            mark: Plain = {}
            found = self._at_once(text, address, mark)
            if not callable(found):
                reply = plain.dumps(found | mark if mark else found)
                rounds.charge(account, max(0.0, time.perf_counter() - begin - paid))
            else:
                rounds.charge(account, max(0.0, time.perf_counter() - begin - paid))
                try:
                    given = await self.workers.run(address, found)
                except mk.MemetikError as error:
                    given = _failure(error)[0]
                reply = plain.dumps({**given, **mark})
            await socket.send(reply)

    def _at_once(self, text: str | bytes, address: str, mark: Plain) -> Plain | Callable[[], Plain]:
        """The reply to a message, or what a thread has to do for it; what the reply has besides is written to `mark`."""

        def read(given: Plain) -> tuple[Core, Request]:
            if "id" in given:
                mark["id"] = given.pop("id")
            if not self._meter.allows(address):
                raise BusyError(self._meter.words())
            if "scene" in given:
                return self._of_scene(fields.text(given.pop("scene"), "scene"), given)
            return self.core, plain.request(given)

        try:
            given = plain.loads(text) if len(text) < plain.LONG else None
            if given is None or self._is_large(given.get("scene")):
                return self._large_work(text, address, read)
            core, request = read(given)
            self._check_timeout(request)
            reply = core.quick(request)
            if reply is None:
                return lambda: _checked(core.answer(request, address), core)
            return _checked(reply, core)
        except mk.MemetikError as error:
            return _failure(error)[0]

    async def _servo(self, socket: Socket) -> None:
        """First a request with a rate, then targets as they come; a posture for each message, or at the rate if "push"."""
        client, stream = address_of(socket.scope), None
        try:
            text = await socket.receive()
            with self._counted_stream(client):
                stream = await self.workers.run(client, lambda: Stream(self.core, self._loads(text), client))
                await _tell(socket, stream.state())
                await (self._pushed(socket, stream) if stream.push else self._followed(socket, stream))
        except mk.MemetikError as error:
            await _last_words(socket, error)
        finally:
            if stream is not None:
                stream.close()

    @contextmanager
    def _counted_stream(self, client: str) -> Iterator[None]:
        """Count a stream while it lasts; raise where there are too many."""
        own = self._streams.get(client, 0)
        if sum(self._streams.values()) >= self.limits.streams or own >= max(1, self.limits.streams // 2):
            raise BusyError(f"there are {own} streams of yours already. Close one.")
        self._streams[client] = own + 1
        try:
            yield
        finally:
            self._streams[client] -= 1
            if not self._streams[client]:
                del self._streams[client]

    async def _followed(self, socket: Socket, stream: Stream) -> None:
        while True:
            text = await socket.receive()
            try:
                await self._turns.slices(stream.take(self._loads(text)), stream.tick)
                found = stream.state()
            except mk.MemetikError as error:  # the servo goes on as it was
                found = _failure(error)[0]
            await _tell(socket, found)

    async def _pushed(self, socket: Socket, stream: Stream) -> None:
        """Postures at the rate, whatever comes; ticks that were missed are made up for, a second of them at most."""
        reader = asyncio.ensure_future(socket.receive())
        loop = asyncio.get_running_loop()
        due = loop.time()
        try:
            while True:
                due += 1.0 / stream.rate
                done, _ = await asyncio.wait({reader}, timeout=max(0.0, due - loop.time()))
                if done:
                    try:
                        stream.take(self._loads(reader.result()))
                    except mk.MemetikError as error:
                        await _tell(socket, _failure(error)[0])
                    reader = asyncio.ensure_future(socket.receive())
                    due -= 0.0 if loop.time() >= due else 1.0 / stream.rate
                    continue
                late = min(int(max(0.0, loop.time() - due) * stream.rate), int(stream.rate))
                due += late / stream.rate
                await self._turns.slices(1 + late, stream.tick)
                await _tell(socket, stream.state())
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
    if isinstance(error, (BusyError, QuotaError)):
        status = 503
    elif isinstance(error, TooLargeError):
        status = 413
    elif isinstance(error, mk.errors.UnknownNameError):
        status = 404 if error.what == "scene" else 422
    elif isinstance(error, mk.errors.ProblemError):
        status = 422
    return {"success": False, "message": str(error)}, status


async def _guarded(act: Callable[[], Awaitable[Response]]) -> Response:
    try:
        return await act()
    except ClientDisconnect:
        raise
    except mk.MemetikError as error:
        return _json(*_failure(error))
    except Exception as error:  # a fault of ours ends this request and nothing else
        _LOG.exception("a request failed")
        return _json(
            {"success": False, "message": f"a fault of the program: {type(error).__name__}: {said(error)}"}, 500
        )


def _answers(work: Callable[[str, bytes], Awaitable[Plain | str]]) -> Callable[[HttpRequest], Awaitable[Response]]:
    """A handler that takes a message of a client and writes an object, or JSON that a thread made of one."""

    async def handle(http: HttpRequest) -> Response:
        async def act() -> Response:
            return _json(await work(address_of(http.scope), await http.body()))

        return await _guarded(act)

    return handle


async def _tell(socket: Socket, found: Plain) -> None:
    await socket.send(plain.dumps(found))


async def _last_words(socket: Socket, error: mk.MemetikError) -> None:
    await _tell(socket, _failure(error)[0])
    await socket.close(1008, str(error)[:100])


def _json(value: Plain | str, status: int = 200) -> Response:
    headers = {"connection": "close"} if status == 413 else None  # what is still on its way is not read
    text = value if isinstance(value, str) else plain.dumps(value)
    return Response(text, status, headers, "application/json")


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
