"""Service: a running server, in a thread or in the foreground."""

from __future__ import annotations

import gc
import ipaddress
import secrets
import socket
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any

import memetik as mk
from memetik.scenes import Scene, Wish
from memetik_serve.core import USUAL, Core
from memetik_serve.request import Request
from memetik_serve.store import MB, Store
from memetik_serve.web.limits import Limits

try:
    import uvicorn

    from memetik_serve.web.app import Application
    from memetik_serve.web.guard import Guard, Meter
    from memetik_serve.web.protocols import impatient
    from memetik_serve.web.rounds import Rounds
    from memetik_serve.web.scene_store import SceneStore
except ModuleNotFoundError as error:
    if error.name is None or error.name.startswith("memetik"):  # a fault of our own is not a missing package
        raise
    raise mk.errors.MissingExtraError(error.name or "uvicorn", "memetik serve", "serve") from error


# How long a thread that works may keep the one that answers from going on [s]. Python's own 5 ms add up: several such waits are
# part of an answer, and of every piece of what others send.
SWITCH = 0.0005
# When garbage is collected: it stops all threads, for 0.2 s where scenes of thousands of links are kept.
COLLECT = (20_000, 20, 50)
BACKLOG = 128  # connections that wait to be accepted: all of them are, before anything else is done


class Service:
    """A server in a thread of its own; use it in a `with` block, or call `stop`.

    body: what requests are about.
    host: the address to listen on. Anything but loopback needs a token, and gets one if none is given.
    port: 0 takes any that is free; `port` says which.
    token: what clients must send; none on loopback unless given.
    origins: addresses of web pages that may ask, besides those on this machine.
    scenes: to keep from the beginning, by name.
    roots: folders in which bodies of scenes may be read.
    proxies: addresses of proxies that say for whom they ask (X-Forwarded-For); any other's word for it counts for nothing.
    """

    def __init__(
        self,
        body: mk.Body,
        *,
        host: str = "127.0.0.1",
        port: int = 8642,
        token: str | None = None,
        origins: Iterable[str] = (),
        limits: Limits | None = None,
        scenes: Mapping[str, Scene] | None = None,
        roots: Iterable[str | PathLike[str]] = (),
        proxies: Iterable[str] = (),
    ) -> None:
        trusted = list(proxies)
        limits = Limits() if limits is None else limits
        loopback = _is_loopback(host)
        self.token = token or (None if loopback else secrets.token_urlsafe(24))
        memory = int(limits.memory * MB)
        store = Store(memory, memory // 2, limits.problems)
        self.core = Core(body, timeout=min(USUAL, limits.timeout), store=store, pairs=limits.pairs)
        scene_store = SceneStore(limits, store, roots)
        for name, scene in (scenes or {}).items():
            scene_store.put(name, scene)
        meter, rounds = Meter(limits.rate), Rounds()
        self._application = Application(self.core, scene_store, limits, meter, rounds)
        guard = Guard(
            self._application.starlette(), limits, meter, rounds, token=self.token, loopback=loopback, origins=origins
        )
        # Behind a proxy all connections are of one address.
        http, sockets = impatient(limits, rounds, None if trusted else max(1, limits.connections // 2))
        config = uvicorn.Config(
            guard, http=http, ws=sockets, log_level="error", access_log=False,
            lifespan="off", ws_max_size=limits.message, ws_per_message_deflate=False,
            proxy_headers=bool(trusted), forwarded_allow_ips=trusted,
            limit_concurrency=limits.connections, timeout_keep_alive=int(limits.patience) or 1,
            timeout_graceful_shutdown=1, server_header=False, date_header=False, backlog=BACKLOG,
        )  # fmt: skip
        self._server = uvicorn.Server(config)
        self._socket = _listening(host, port)
        self.host, self.port = host, int(self._socket.getsockname()[1])
        self._thread: threading.Thread | None = None

    @property
    def address(self) -> str:
        """Where it is."""
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    def warm(self) -> float:
        """Compile what a pose of the first tip needs, or load it from disk, so that the first client does not wait [s]."""
        begin, body = time.perf_counter(), self.core.body
        tips = [tip for chain in body.chains.values() for tip in chain.tips] or list(body.links)[-1:]
        pose = body.forward(body.home, tips[0])
        values = {
            "frame": tips[0],
            "position": pose[:3, 3].tolist(),
            "wxyz": mk.geometry.to_quaternion(pose[:3, :3]).tolist(),
        }
        self.core.answer(Request((Wish("Pose", "Pose 1", values),)))
        return time.perf_counter() - begin

    def run(self) -> None:
        """Serve in this thread until it is interrupted."""
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._end()

    def start(self) -> Service:
        """Serve in a thread."""
        self._thread = threading.Thread(target=self._run_quietly, name="memetik-serve", daemon=True)
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            time.sleep(0.005)
        return self

    def stop(self) -> None:
        """End it; clients that are connected are let go."""
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join(10.0)
        self._end()

    def __enter__(self) -> Service:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run_quietly(self) -> None:
        # uvicorn sets handlers of signals only in the main thread.
        self._server.run(sockets=[self._socket])

    def _end(self) -> None:
        self._application.close()
        self._socket.close()


def serve(body: mk.Body, **options: Any) -> None:
    """Serve until interrupted, and say where; options as for Service."""
    service = Service(body, **options)
    print(f"memetik: compiling for {body.name} ...", end=" ", flush=True)
    print(f"ready after {service.warm():.1f} s.")
    print(f"memetik: {service.address}  (page, /openapi.json, WebSockets at /ws and /servo; Ctrl-C ends it)")
    if service.token is not None:
        print(f"memetik: token {service.token}")
    sys.stdout.flush()
    sys.setswitchinterval(SWITCH)
    gc.collect()
    gc.freeze()  # the garbage collector, which stops all threads, need not look at the library and its compiler again: 0.3 s
    gc.set_threshold(*COLLECT)
    service.run()


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _listening(host: str, port: int) -> socket.socket:
    if not (isinstance(port, int) and 0 <= port < 65536):
        raise mk.errors.ProblemError(f"port is {port}; write a number from 0 (any that is free) to 65535.")
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        made = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise mk.errors.ProblemError(
            f"cannot listen on {host}, port {port}: {error.strerror or error}. Choose another with --port."
        ) from error
    return made
