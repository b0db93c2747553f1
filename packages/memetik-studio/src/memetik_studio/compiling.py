"""While kernels are compiled: what a page says, and what it shows before anything can be solved.

The first solve of a method on a machine waits for its kernels, which can take some ten seconds. Those of the first scene are
compiled by the worker, so that the server answers meanwhile; those of a method that is chosen later, by the server.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import viser
from numba.core import event

import memetik as mk
from memetik.compiling import standing
from memetik.scenes import Scene, dumps
from memetik_studio.jobs import prepare
from memetik_studio.session import Session
from memetik_studio.stage import Stage
from memetik_studio.worker import Worker

TITLE = "Compiling kernels, first run only"
PATIENCE = 0.4  # s that are not worth a word
EVERY = 0.3  # s between two looks at how far it is


def how_far(done: int, total: int, seconds: float) -> str:
    """For people: `3 of 9, 12 s`. What is needed becomes known step by step."""
    return f"{done} of {total}, {seconds:.0f} s" if total else f"{seconds:.0f} s"


class Preparation:
    """A scene, once it is made, and all that it needs to be solved, compiled by the worker.

    `trouble` says in the end why it cannot be made or solved, if so.
    """

    scene: Scene

    def __init__(self, worker: Worker, make: Callable[[], Scene], roots: tuple[str, ...]) -> None:
        self.made, self.finished, self.trouble = threading.Event(), threading.Event(), ""
        self._worker, self._begin = worker, time.monotonic()
        worker.ask(lambda answer: None, time.sleep, 0.0)  # it takes a second to start
        threading.Thread(target=self._prepare, args=(make, roots), name="studio preparation", daemon=True).start()

    def text(self) -> str:
        """How far it is."""
        return how_far(*self._worker.compiled(), time.monotonic() - self._begin)

    def _prepare(self, make: Callable[[], Scene], roots: tuple[str, ...]) -> None:
        try:
            self.scene = make()
        except mk.MemetikError as error:
            self._finish(str(error))
            return
        self.made.set()
        self._worker.ask(self._finish, prepare, dumps(self.scene), roots)

    def _finish(self, trouble: str | None) -> None:
        self.trouble = trouble or ""  # None if the worker has ended: the server compiles by itself then
        self.made.set()
        self.finished.set()


class WaitingPage:
    """The body of a scene as it begins, and how far the preparation is; `then` is called when it is finished."""

    def __init__(
        self, client: viser.ClientHandle, preparation: Preparation, then: Callable[[viser.ClientHandle], None]
    ) -> None:
        self._client, self._preparation, self._then = client, preparation, then
        self._closed = False
        self.notice = _show(client, preparation.text())

    def show(self, roots: tuple[str, ...]) -> None:
        """Show the body as soon as there is one, and the page itself in the end."""
        threading.Thread(target=self._wait, args=(roots,), name="studio waits", daemon=True).start()

    def close(self) -> None:
        """The client has left."""
        self._closed = True

    def _wait(self, roots: tuple[str, ...]) -> None:
        if not self._tell_until(self._preparation.made):
            return
        if not self._preparation.trouble:
            # Without wishes there is nothing to solve. Forward kinematics alone is compiled within a second.
            scene = replace(self._preparation.scene, wishes=())
            Stage(self._client, Session(scene, roots=roots)).look()
        if self._tell_until(self._preparation.finished):
            self.notice.remove()
            self._client.scene.reset()
            self._then(self._client)

    def _tell_until(self, happens: threading.Event) -> bool:
        """Keep the message true until something happens; whether the client is still there."""
        while not happens.wait(EVERY) and not self._closed:
            self.notice.body = self._preparation.text()
        return not self._closed


class CompileNotice(event.Listener):
    """Tells clients while the server itself compiles, if that takes longer than a moment."""

    def __init__(self, clients: Callable[[], Iterable[Any]]) -> None:
        self._clients = clients
        self._depth = 0  # Numba compiles the kernels that a kernel calls while it compiles that kernel
        self._last = 0.0  # when it last ended, on the clock of time.monotonic [s]
        self._wake, self._closed = threading.Event(), False
        event.register("numba:compile", self)
        threading.Thread(target=self._watch, name="studio notice", daemon=True).start()

    def close(self) -> None:
        """No more."""
        event.unregister("numba:compile", self)
        self._closed = True
        self._wake.set()

    def on_start(self, happening: Any) -> None:
        """Numba begins to compile a function."""
        self._depth += 1
        self._wake.set()

    def on_end(self, happening: Any) -> None:
        """It has."""
        self._depth -= 1
        self._last = time.monotonic()

    def _is_busy(self) -> bool:
        """From one kernel to the next it is only a moment."""
        return self._depth > 0 or time.monotonic() - self._last < PATIENCE

    def _watch(self) -> None:
        while not self._closed:
            self._wake.wait()
            self._wake.clear()
            begin = time.monotonic()
            time.sleep(PATIENCE)
            notices: list[Any] = []
            while self._depth > 0 or (notices and self._is_busy()):
                text = how_far(*standing(), time.monotonic() - begin)
                if not notices:
                    notices = [_show(client, text) for client in self._clients()]
                for notice in notices:
                    notice.body = text
                time.sleep(EVERY)
            for notice in notices:
                notice.remove()


def _show(client: Any, text: str) -> Any:
    return client.add_notification(TITLE, text, loading=True, with_close_button=False)
