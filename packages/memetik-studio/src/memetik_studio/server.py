"""The server: one page for each client, on this machine only unless told otherwise."""

from __future__ import annotations

import contextlib
import io
import ipaddress
import signal
import socket
import sys
import threading
import warnings
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

import memetik as mk
from memetik import bodies, scenes
from memetik.compiling import NotCompiledError, only_load

try:
    import viser

    from memetik_studio.compiling import CompileNotice, Preparation, WaitingPage
    from memetik_studio.guard import LOOPBACK, never_share, refuse_strangers, visitor
    from memetik_studio.kept import Kept
    from memetik_studio.memory import give_back
    from memetik_studio.page import Page
    from memetik_studio.session import Session
    from memetik_studio.worker import Worker
except ModuleNotFoundError as error:
    if error.name is None or error.name.startswith("memetik"):  # a fault of our own is not a missing package
        raise
    raise mk.errors.MissingExtraError(error.name or "viser", "memetik studio", "studio") from error

P = TypeVar("P", "Page", "WaitingPage")

SKY, HORIZON = (205, 218, 232), (250, 251, 252)  # from the top of the page to its foot
WARNING = """\
memetik: the studio listens on {host}, so everybody who can reach this machine can use it: there is no password, and
what is uploaded is read here. Use --host 127.0.0.1 unless you mean that."""


class Studio:
    """A running server; use it in a `with` block, or call `stop`."""

    def __init__(
        self,
        scene: scenes.Scene | Callable[[], scenes.Scene],
        *,
        host: str = "127.0.0.1",
        port: int = 8080,
        roots: Sequence[str | PathLike[str]] = (),
    ) -> None:
        """`port` 0 takes any that is free; `roots` are folders whose models and meshes may be read.

        A scene may be given as what makes it, if that needs kernels.
        """
        make = scene if callable(scene) else lambda: scene
        self._roots = tuple(str(Path(root).resolve()) for root in roots)
        self._preparation: Preparation | None = None
        self._waiting: dict[int, WaitingPage] = {}
        self._worker = Worker()
        self._kept = Kept(then=self._rest)
        self._visitors: dict[int, str] = {}
        self._doors = threading.Lock()  # held by whoever adds a page or takes one away
        try:
            with only_load():
                self._scene = make()
                Session(self._scene, roots=self._roots)  # a scene that cannot be built is said here
            is_compiled = True
        except NotCompiledError:
            is_compiled = False
        loopback = _is_loopback(host)
        if not loopback:
            print(WARNING.format(host=host), file=sys.stderr, flush=True)
        self.pages: dict[int, Page] = {}
        free = _free_port(host, port)
        with contextlib.redirect_stdout(io.StringIO()):  # it announces itself in its own words
            self._server = viser.ViserServer(host=host, port=free, label="memetik studio", verbose=False)
        never_share(self._server)
        refuse_strangers(self._server, loopback=loopback)
        _light(self._server.scene)
        if not is_compiled:  # now, when nothing else is left to do
            self._preparation = Preparation(self._worker, make, self._roots)
        self._notice = CompileNotice(self._those_with_pages)
        self._server.on_client_connect(self._enter)
        self._server.on_client_disconnect(self._leave)

    @property
    def url(self) -> str:
        """The address of the page."""
        host = self._server.get_host()
        shown = "127.0.0.1" if host in ("0.0.0.0", "::") else host
        return f"http://{f'[{shown}]' if ':' in shown else shown}:{self._server.get_port()}"

    def stop(self) -> None:
        """End all pages, the worker and the server."""
        pages: list[Page | WaitingPage] = [*self.pages.values(), *self._waiting.values()]
        for page in pages:
            page.close()
        for page in list(self.pages.values()):
            page.session.close()
        self._kept.close()
        self._notice.close()
        self._worker.close()
        with contextlib.redirect_stdout(io.StringIO()):
            self._server.stop()

    def __enter__(self) -> Studio:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def _enter(self, client: viser.ClientHandle) -> None:
        ready = self._preparation
        if ready is None or ready.finished.is_set():
            self._open(client)
        else:
            page = WaitingPage(client, ready, self._open)
            if self._admit(self._waiting, client, page):
                page.show(self._roots)

    def _open(self, client: viser.ClientHandle) -> None:
        """The page itself, or why there is none."""
        self._waiting.pop(client.client_id, None)
        if self._preparation is not None:
            if self._preparation.trouble:
                client.add_notification("That does not work", self._preparation.trouble, color="red")
                return
            self._scene = self._preparation.scene
        name = visitor(self._server, client)
        session = self._kept.take(name) or Session(self._scene, roots=self._roots)
        page = Page(client, session, self._worker)
        self._visitors[client.client_id] = name
        if not self._admit(self.pages, client, page):
            self._visitors.pop(client.client_id, None)
            self._kept.add(name, session)

    def _admit(self, pages: dict[int, P], client: viser.ClientHandle, page: P) -> bool:
        """Keep a page for its client; close it if the client has left meanwhile, of which it is told once and maybe too early."""
        with self._doors:
            here = client.client_id in self._server.get_clients()
            if here:
                pages[client.client_id] = page
        if not here:
            page.close()
        return here

    def _those_with_pages(self) -> list[viser.ClientHandle]:
        return [client for name, client in self._server.get_clients().items() if name not in self._waiting]

    def _leave(self, client: viser.ClientHandle) -> None:
        with self._doors:
            waiting, page = self._waiting.pop(client.client_id, None), self.pages.pop(client.client_id, None)
        if waiting is not None:
            waiting.close()
        if page is not None:
            page.close()
            self._kept.add(self._visitors.pop(client.client_id, ""), page.session)

    def _rest(self) -> None:
        """What a visitor left behind is forgotten: give back its memory, if nobody waits for a frame meanwhile."""
        if not self.pages:
            give_back()


def scene_from(source: str | None, roots: Sequence[str | PathLike[str]] = ()) -> tuple[scenes.Scene, list[Path]]:
    """The scene that is meant by a bundled name, snake:30, a model file, a scene file or nothing, and the folders it needs.

    `roots` are folders of meshes that are not near the model.
    """
    folders = _folders(source, roots)
    if source is None or source in scenes.READY:
        return scenes.ready("humanoid" if source is None else source), folders
    path = Path(source).resolve()
    if source in bodies.names() or scenes.is_built(source):
        made = scenes.BodySource("built" if scenes.is_built(source) else "bundled", source)
    elif path.suffix.lower() == ".json":
        return scenes.read_scene(source), folders
    else:
        made = scenes.BodySource("file", str(path))
    return scenes.blank(made, scenes.load_body(made, folders)), folders


def _folders(source: str | None, roots: Sequence[str | PathLike[str]]) -> list[Path]:
    """Those that may be read: `roots`, the folder of a file, and those in which a model's meshes are found near it.

    What comes with the package needs none.
    """
    given = [Path(root).resolve() for root in roots]
    if source is None or source in scenes.READY or source in bodies.names() or scenes.is_built(source):
        return given
    path = Path(source).resolve()
    if not path.is_file():
        raise mk.errors.FormatError(
            f"there is no body, scene or file {source!r}. `memetik bodies` lists the bundled bodies."
        )
    folders = [path.parent, *given]
    if path.suffix.lower() != ".json":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", mk.MemetikWarning)  # what there is to say is said when the scene is made
            body = mk.load(path, roots=folders)
        shapes = (shape for link in body.links.values() for shape in (*link.visuals, *link.shapes))
        found = {Path(shape.mesh).parent for shape in shapes if Path(shape.mesh).is_absolute()}
        folders += sorted(folder for folder in found if not any(folder.is_relative_to(own) for own in folders))
    return folders


def serve(
    source: str | None = None, *, host: str = "127.0.0.1", port: int = 8080, browser: bool = True,
    roots: Sequence[str | PathLike[str]] = (),
) -> None:  # fmt: skip
    """Run the studio until Ctrl-C, or until the process is told to end (SIGTERM), or its terminal is closed (SIGHUP)."""
    try:
        with _ended_by_signals():
            folders = _folders(source, roots)
            with Studio(lambda: scene_from(source, roots)[0], host=host, port=port, roots=folders) as studio:
                print(f"memetik studio: {studio.url} (Ctrl-C ends it)", flush=True)
                if browser:
                    webbrowser.open(studio.url)
                threading.Event().wait()
    except KeyboardInterrupt:
        print()


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """The signals that ask a process to end interrupt the block, so that it can end its worker; a second one kills."""
    here = threading.current_thread() is threading.main_thread()  # no other thread may handle signals
    # What was started to ignore a signal, as a shell does in the background, goes on ignoring it.
    known = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    asks = [ask for ask in known if here and signal.getsignal(ask) is not signal.SIG_IGN]

    def interrupt(number: int, frame: object) -> None:
        for ask in asks:
            signal.signal(ask, signal.SIG_DFL)
        raise KeyboardInterrupt

    before = {ask: signal.signal(ask, interrupt) for ask in asks}
    try:
        yield
    finally:
        for ask, handler in before.items():
            signal.signal(ask, handler)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host in LOOPBACK


def _free_port(host: str, port: int) -> int:
    """The port, if it is free; any free one for 0."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise mk.errors.FormatError(
                f"the studio cannot listen on {host}, port {port}: {error.strerror}."
            ) from error
        return int(probe.getsockname()[1])


def _light(api: Any) -> None:
    """A sky, a sun and a fill, the same for all pages.

    The viewer's own environment map is computed in the browser before anything is seen, which takes a graphics card to
    be quick, and it whitens white robots on a white page.
    """
    api.configure_environment_map(hdri=None)
    api.configure_default_lights(enabled=False)
    api.add_light_hemisphere("/lights/sky", sky_color=(255, 255, 255), ground_color=(170, 165, 160), intensity=1.6)
    api.add_light_directional("/lights/sun", color=(255, 250, 240), intensity=1.9, position=(1.0, -2.0, 3.0))
    api.add_light_directional("/lights/fill", color=(225, 235, 255), intensity=0.5, position=(-2.0, 1.5, 1.0))
    shade = np.linspace(0.0, 1.0, 64)[:, None, None]
    image = (1.0 - shade) * np.array(SKY) + shade * np.array(HORIZON)
    api.set_background_image(np.broadcast_to(image, (64, 2, 3)).astype(np.uint8), format="png")
