"""The page of one client: a session of its own, what is seen of it, and a pulse that keeps both together."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import viser
from numpy.typing import ArrayLike

import memetik as mk
from memetik.scenes import Scene, dumps
from memetik_studio.gizmos import Gizmos
from memetik_studio.guard import limit_uploads
from memetik_studio.jobs import Answer, Covered, cover, search
from memetik_studio.meshes import NOT_FOUND, missing_meshes, remedy, seen_meshes
from memetik_studio.panels.compare import ComparePanel
from memetik_studio.panels.evolution import EvolutionPanel
from memetik_studio.panels.joints import JointsPanel
from memetik_studio.panels.objectives import ObjectivesPanel
from memetik_studio.panels.scene import ScenePanel
from memetik_studio.panels.solver import SolverPanel
from memetik_studio.session import Session
from memetik_studio.small import fold_if_small
from memetik_studio.stage import Stage
from memetik_studio.widgets import BAD, Panel, escape, note, on_click
from memetik_studio.worker import Worker

WIDTH = 440  # pixels of the panel, for which its tabs fit in a row
FRAME = 1.0 / 60.0  # s
NUMBERS = 0.12  # s between two looks at the numbers; more often would only flicker
PATIENCE = 0.4  # s without a change before the worker is asked about a failure

NAMED = 5  # missing meshes before the rest is folded away

PANELS: dict[str, type[Panel]] = {
    "Scene": ScenePanel,
    "Objectives": ObjectivesPanel,
    "Joints": JointsPanel,
    "Solver": SolverPanel,
    "Compare": ComparePanel,
    "Evolution": EvolutionPanel,
}


class Page:
    """Connects the parts; they do not know each other."""

    def __init__(self, client: viser.ClientHandle, session: Session, worker: Worker) -> None:
        self._client, self._worker, self.session = client, worker, session
        self.trouble = ""  # the last message that was shown
        self._wake, self._closed = threading.Event(), threading.Event()
        self._asked: Scene | None = None
        self._covering: Any = None  # the body whose cover was asked for
        self._changed_at = time.perf_counter()
        client.gui.configure_theme(show_logo=False, show_share_button=False)
        client.gui.main_panel.dock_right()
        client.gui.main_panel.set_width(WIDTH)
        fold_if_small(client)
        limit_uploads(client, lambda message: self.tell("That does not work", message))
        self.stage = Stage(client, self.session)
        self.gizmos = Gizmos(client, self.session, self._frame, self.wake)
        self.panels: list[Panel] = []
        self._controls()
        self._stood: tuple[Any, ...] = self._standing()
        self.stage.look()
        self._pulse = threading.Thread(target=self._beat, name="studio pulse", daemon=True)
        self._pulse.start()

    # ---- What panels use -----------------------------------------------------------------------------------

    @property
    def gui(self) -> Any:
        """The controls of this client."""
        return self._client.gui

    def act(self, action: Callable[[], object]) -> bool:
        """Do something to the session and show the result, or the message if it fails."""
        try:
            with self.session.lock:
                action()
                self.show()
        except mk.MemetikError as error:
            self.tell("That does not work", str(error))
            self.show()  # controls go back to what holds
            return False
        self.trouble = ""
        return True

    def tell(self, title: str, body: str) -> None:
        """Show a notification."""
        self.trouble = body
        self._client.add_notification(title, body[:1000], auto_close_seconds=12.0, color="red")

    @contextmanager
    def waiting(self, for_what: str) -> Iterator[None]:
        """Say for what the page waits as long as the block lasts."""
        notice = self._client.add_notification(for_what, "", loading=True, with_close_button=False)
        try:
            yield
        finally:
            notice.remove()

    def download(self, name: str, content: str) -> None:
        """Send a file."""
        self._client.send_file_download(name, content.encode(), save_immediately=True)

    def work(
        self, then: Callable[[Any], None], job: Callable[..., Any], scene: Scene, q: ArrayLike, *arguments: Any
    ) -> None:
        """Give the worker a job about a scene; `then` gets what comes of it, None if nothing did."""
        start = np.asarray(q, dtype=np.float64).tolist()

        def done(result: Any) -> None:
            if not self._closed.is_set():
                then(result)

        self._worker.ask(done, job, dumps(scene), start, self.session.roots, *arguments)

    def wake(self) -> None:
        """Let the pulse look at once: something moves."""
        self._wake.set()

    # ---- Keeping up ----------------------------------------------------------------------------------------

    def show(self) -> None:
        """The scene has changed: bring everything that is seen up to date."""
        with self.session.lock:
            standing = self._standing()
            if standing != self._stood:
                other_body = standing[0] != self._stood[0]
                self._stood = standing
                self.stage.build()
                if other_body:
                    self.stage.look()
                    self._tell_missing()
            self.gizmos.build()
            self.stage.apply_visibility()
            for panel in self.panels:
                panel.renew()
            if self.stage.seen["cover"]:
                self._cover()
        self._touch()

    def close(self) -> None:
        """The client has left."""
        self._closed.set()
        self._wake.set()

    def _standing(self) -> tuple[Any, ...]:
        """What the stage is built from."""
        scene = self.session.scene
        scenery = [wish.values for wish in scene.wishes if wish.kind in ("Projection", "Balance")]
        return scene.body, self.session.start.tolist(), scenery

    def _frame(self) -> None:
        """A gizmo has moved and the session has solved."""
        self.stage.pose()
        self._touch()

    def _touch(self) -> None:
        self._changed_at = time.perf_counter()
        self._wake.set()

    def _beat(self) -> None:
        """Move on, refresh the numbers, and ask about failures, as long as the page is open."""
        last, shown = time.perf_counter(), 0.0
        moving = False
        while not self._closed.is_set():
            asking = not self.session.reached and self._asked is not self.session.scene
            pause = FRAME if moving else NUMBERS if asking or self.gizmos.late else None
            plays = [wait for panel in self.panels if (wait := panel.beat()) is not None]
            self._wake.wait(min([*plays, *([] if pause is None else [pause])], default=None))
            if self._closed.is_set():
                return
            self._wake.clear()
            self.gizmos.catch_up()
            now = time.perf_counter()
            with self.session.lock:
                moving = self.session.follow(min(now - last, 0.1) if moving else FRAME)
                if moving or self.session.recording is not None:
                    self.stage.pose()
            last = now
            if now - shown < NUMBERS:
                time.sleep(NUMBERS - (now - shown) if not moving else 0.0)
            if time.perf_counter() - shown >= NUMBERS:
                shown = time.perf_counter()
                self._numbers()
            if asking and time.perf_counter() - self._changed_at > PATIENCE:
                self._ask()

    def _numbers(self) -> None:
        with self.session.lock:
            self.gizmos.place()
            self.stage.trail()
            self.stage.explain(self.session.misses())
            if self.gizmos.taken is not None:
                self._objectives.choose(self.gizmos.taken)
                self.gizmos.taken = None
            for panel in self.panels:
                panel.refresh()

    def _ask(self) -> None:
        with self.session.lock:
            scene, q = self.session.scene, self.session.goal
            self._asked = scene

        def answered(answer: Answer | None) -> None:
            if answer is not None and self.session.answer(scene, *answer):
                with self.session.lock:
                    self._asked = self.session.scene
                    self.stage.pose()
                self._wake.set()

        self.work(answered, search, scene, q)

    def _cover(self) -> None:
        """Ask the worker for the cover of the body, once."""
        scene, q = self.session.scene, self.session.q
        if self._covering == scene.body:
            return
        self._covering = scene.body

        def covered(answer: Covered | None) -> None:
            with self.session.lock:
                if answer is None or scene.body != self.session.scene.body:
                    return
                self.stage.cover(answer.links)
            if answer.remark:
                self.tell("Not all is covered", answer.remark)

        self.work(covered, cover, scene, q)

    def _tell_missing(self) -> None:
        """Name the meshes that the body should be drawn by and is not."""
        body, roots = self.session.body, self.session.roots
        lost = missing_meshes(body, roots)
        self._missing.visible = bool(lost)
        if lost:
            count = len({shape.mesh for link in body.links.values() for shape in seen_meshes(link)})
            rows = [f"<div>{escape(name[-120:])}: {escape(why)}</div>" for name, why in lost.items()]
            rest = f"<details><summary>and {len(rows) - NAMED} more</summary>{''.join(rows[NAMED:])}</details>"
            title = f'<b style="color:{BAD}">{len(lost)} of {count} meshes are not drawn</b>'
            named = "".join(rows[:NAMED]) + (rest if len(rows) > NAMED else "")
            unfound = [name for name, why in lost.items() if why == NOT_FOUND]
            help_text = f"<div>{escape(remedy(unfound))}</div>" if unfound else ""
            self._missing.content = note(f'<div style="overflow-wrap:anywhere">{title}{named}{help_text}</div>')

    # ---- Controls ------------------------------------------------------------------------------------------

    def _controls(self) -> None:
        gui = self.gui
        history = gui.add_button_group("history", ("undo", "redo"))
        on_click(history, lambda: self.act(self.session.undo if history.value == "undo" else self.session.redo))
        self._missing = gui.add_html("", visible=False)
        self._tell_missing()
        tabs = gui.add_tab_group()
        self.panels = [panel(self, tabs.add_tab(title)) for title, panel in PANELS.items()]
        (self._objectives,) = (panel for panel in self.panels if isinstance(panel, ObjectivesPanel))
        for label, key, modifier, travel in (
            ("undo", "Z", "cmd/ctrl", self.session.undo),
            ("redo", "Z", "cmd/ctrl+shift", self.session.redo),
            ("redo", "Y", "cmd/ctrl", self.session.redo),
        ):
            command = gui.add_command(label, hotkey=key, modifier=modifier)
            command.on_trigger(partial(self._travel, travel))

    def _travel(self, travel: Callable[[], bool], event: object) -> None:
        self.act(travel)
