"""The evolution panel: a run of Bio IK, generation by generation, with its landscape."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import viser

import memetik as mk
from memetik import scenes
from memetik.errors import MemetikError
from memetik.studio.crowd import Crowd, Generation
from memetik.studio.jobs import Evolution, evolve
from memetik.studio.landscape import VIEWS, Landscape, data_url
from memetik.studio.widgets import Panel, escape, note, on_change, on_click, put

AT_ONCE = 12  # landscapes
PAUSE = 0.4  # s that a generation is shown while playing


class EvolutionPanel(Panel):
    """Run, step, play, and look at the whole search space."""

    def __init__(self, desk: Any, tab: Any, show: Callable[[Generation | None], None]) -> None:
        self._show = show
        self._crowd: Crowd | None = None
        self._landscape: Landscape | None = None
        self._scene: scenes.Scene | None = None
        self._pictures: dict[tuple[str, int], str] = {}
        self._joints: tuple[str, ...] = ()
        self._playing, self._due, self._last = False, 0.0, 0
        super().__init__(desk, tab)

    def build(self) -> None:
        gui = self.gui
        self._status = gui.add_html(note("Bio IK from the start of the scene, every individual of it."))
        on_click(gui.add_button("evolve"), self._evolve)
        with gui.add_folder("Parameters", expand_by_default=False):
            self._population = gui.add_number("population", 50, min=2, max=500, step=1)
            self._elites = gui.add_number("elites", 3, min=1, max=50, step=1)
            self._steps = gui.add_number("steps of an elite", 4, min=1, max=300, step=1, hint="of L-BFGS-B, at most")
            self._most = gui.add_number("generations", 60, min=1, max=500, step=1, hint="at most")
            self._seed = gui.add_number("seed", 0, min=0, max=2**31 - 1, step=1)
        self._slider = gui.add_slider("generation", 0, 1, 1, 0, visible=False)
        on_change(self._slider, lambda value: self._go(int(value)))
        self._buttons = gui.add_button_group("play", ("back", "play", "step", "clear"), visible=False)
        on_click(self._buttons, self._press)
        self._view = gui.add_dropdown("landscape", options=VIEWS, visible=False)
        self._which = gui.add_dropdown("joints", options=("1",), visible=False)
        for choice in (self._view, self._which):
            on_change(choice, lambda _: self._draw())
        self._grid = gui.add_html("")
        x, best = viser.uplot.Series(label="generation"), viser.uplot.Series(label="best", stroke="#2b8a3e", width=2)
        middle = viser.uplot.Series(label="median", stroke="#e8963a", width=2)
        scales = {"x": viser.uplot.Scale(time=False), "y": viser.uplot.Scale(auto=True)}
        line = (np.zeros(2), np.zeros(2), np.zeros(2))
        self._plot = gui.add_uplot(
            line, (x, best, middle), scales=scales, height=150, title="log10 fitness", visible=False
        )

    # ---- A run ---------------------------------------------------------------------------------------------

    def _evolve(self) -> None:
        try:
            solver = mk.BioIK(
                population=int(self._population.value), elites=int(self._elites.value), steps=int(self._steps.value),
                seed=int(self._seed.value),
            )  # fmt: skip
        except MemetikError as error:
            self.desk.tell("That does not work", str(error))
            return
        self._clear()
        session = self.session
        with session.lock:
            scene, start = session.scene, session.start.copy()
        self._status.content = note("evolving; the first time on a machine takes up to some minutes ...")

        def done(evolution: Evolution | None) -> None:
            with session.lock:
                if session.scene is scene:
                    self._take(scene, evolution or Evolution(None, remark="The process has ended. Try again."))

        self.desk.work(done, evolve, scene, start, solver, int(self._most.value))

    def _take(self, scene: scenes.Scene, evolution: Evolution) -> None:
        history = evolution.history
        if history is None or history.generations == 0:
            self._status.content = note(evolution.remark or "There was nothing to evolve.")
            return
        self._scene, self._joints, self._last = scene, history.joints, history.generations - 1
        self._crowd = Crowd(self.session.body, history)
        self._landscape = Landscape(history)
        verdict = "reached" if evolution.success else "not reached"
        per = np.bincount(history.generation)
        self._status.content = note(
            f"<b>{verdict}</b> after {self._last + 1} generations, {evolution.evaluations} evaluations"
        )
        self._slider.max = max(self._last, 1)
        starts = range(0, len(self._joints), AT_ONCE)
        self._which.options = tuple(f"{k + 1} to {min(k + AT_ONCE, len(self._joints))}" for k in starts)
        self._which.value, self._which.visible = self._which.options[0], len(starts) > 1
        logs = np.log10(np.maximum(np.nan_to_num(history.fitness, posinf=1e3), 1e-12))
        groups = np.split(logs, np.cumsum(per)[:-1])
        self._plot.data = (
            np.arange(len(per), dtype=float),
            np.array([group.min() for group in groups]),
            np.array([np.median(group) for group in groups]),
        )
        for control in (self._slider, self._buttons, self._view, self._plot):
            control.visible = True
        self._go(0)

    def _clear(self) -> None:
        self._crowd = self._landscape = self._scene = None
        self._pictures.clear()
        self._playing = False
        for control in (self._slider, self._buttons, self._view, self._which, self._plot):
            control.visible = False
        self._grid.content = ""
        self._show(None)

    # ---- A generation --------------------------------------------------------------------------------------

    def _press(self) -> None:
        pressed = self._buttons.value
        self._playing = pressed == "play" and not self._playing  # pressed again it pauses
        now = int(self._slider.value)
        if pressed == "clear":
            self._clear()
        elif pressed == "play":
            self._go(0 if now >= self._last else now)
            self.desk.wake()
        else:
            self._go(now + (1 if pressed == "step" else -1))

    def _go(self, number: int) -> None:
        if self._crowd is not None:
            number = min(max(number, 0), self._last)
            put(self._slider, number)
            with self.session.lock:
                self._show(self._crowd.generation(number))
            self._draw()

    def _draw(self) -> None:
        """The landscapes of some joints, with a line where the generation on show is."""
        if self._landscape is None:
            return
        first = AT_ONCE * list(self._which.options).index(self._which.value)
        left = 100.0 * float(self._landscape.across(int(self._slider.value)))
        cells = []
        for joint in range(first, min(first + AT_ONCE, len(self._joints))):
            key = self._view.value, joint
            if key not in self._pictures:
                self._pictures[key] = data_url(self._landscape.picture(joint, self._view.value))
            cells.append(_CELL.format(source=self._pictures[key], left=left, name=escape(self._joints[joint])))
        self._grid.content = _GRID.format(cells="".join(cells))

    # ---- Keeping up ----------------------------------------------------------------------------------------

    def refresh(self) -> None:
        if self._scene is not None and self.session.scene is not self._scene:
            self._clear()  # it was about another problem
            self._status.content = note("The scene has changed. Evolve again.")

    renew = refresh

    def beat(self) -> float | None:
        if not self._playing:
            return None
        now = time.monotonic()
        if now >= self._due:
            self._due = now + PAUSE
            if int(self._slider.value) >= self._last:
                self._playing = False
                return None
            self._go(int(self._slider.value) + 1)
        return max(self._due - time.monotonic(), 0.0)


_GRID = '<div style="display:grid;grid-template-columns:repeat(3,minmax(0,1fr));gap:0.35em;padding:0.2em 0.6em">{cells}</div>'
_CELL = (
    '<div><div style="position:relative;border:1px solid #ced4da;line-height:0">'
    '<img alt="" src="{source}" style="width:100%;display:block">'
    '<div style="position:absolute;top:0;bottom:0;left:{left:.2f}%;width:1px;background:#1c7ed6"></div></div>'
    '<div style="font-size:0.65em;line-height:1.3;overflow:hidden;text-overflow:ellipsis;white-space:nowrap">{name}</div></div>'
)
