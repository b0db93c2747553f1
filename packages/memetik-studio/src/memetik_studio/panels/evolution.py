"""The evolution panel: a run of Bio IK, generation by generation, with its landscape."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import memetik as mk
from memetik import scenes
from memetik_studio.generations import VIEWS, Crowd, Landscape, data_url
from memetik_studio.jobs import Evolution, evolve
from memetik_studio.widgets import GOOD, Panel, escape, note, on_change, on_click, put, stretches

AT_ONCE = 12  # landscapes
PAUSE = 0.4  # s that a generation is shown while playing


class EvolutionPanel(Panel):
    """Run, step, play, and look at the whole search space."""

    def build(self) -> None:
        gui = self.gui
        self._crowd: Crowd | None = None
        self._landscape: Landscape | None = None
        self._scene: scenes.Scene | None = None
        self._pictures: dict[tuple[str, int], str] = {}
        self._joints: tuple[str, ...] = ()
        self._playing, self._due, self._last = False, 0.0, 0
        self._status = gui.add_html(note("Bio IK from the start of the scene, every individual of it."))
        on_click(gui.add_button("evolve"), self._evolve)
        with gui.add_folder("Parameters", expand_by_default=False):
            self._parameters = {
                "population": gui.add_number("population", 50, min=2, max=500, step=1),
                "elites": gui.add_number("elites", 3, min=1, max=50, step=1),
                "steps": gui.add_number("steps of an elite", 4, min=1, max=300, step=1, hint="of L-BFGS-B, at most"),
            }
            self._most = gui.add_number("generations", 60, min=1, max=500, step=1, hint="at most")
            self._parameters["seed"] = gui.add_number("seed", 0, min=0, max=2**31 - 1, step=1)
        self._slider = gui.add_slider("generation", 0, 1, 1, 0, visible=False)
        on_change(self._slider, lambda value: self._go(int(value)))
        self._buttons = gui.add_button_group("play", ("back", "play", "step", "clear"), visible=False)
        on_click(self._buttons, self._press)
        self._view = gui.add_dropdown("landscape", options=VIEWS, visible=False)
        self._which = gui.add_dropdown("joints", options=("1",), visible=False)
        for choice in (self._view, self._which):
            on_change(choice, lambda _: self._draw())
        self._grid = gui.add_html("")
        lines = ("best", GOOD), ("median", "#e8963a")
        self._plot = self.add_plot("log10 fitness", "generation", 150, *lines, visible=False)

    # ---- A run ---------------------------------------------------------------------------------------------

    def _evolve(self) -> None:
        given: dict[str, Any] = {name: int(control.value) for name, control in self._parameters.items()}
        try:
            solver = mk.solvers.BioIK(**given)
        except mk.MemetikError as error:
            self.page.tell("That does not work", str(error))
            return
        self._clear()
        self._status.content = note("evolving; the first time on a machine takes up to some minutes ...")
        self.ask(evolve, self._take, solver, int(self._most.value))

    def _take(self, evolution: Evolution | None, current: bool) -> None:
        if not current:
            return
        evolution = evolution or Evolution(None, remark="The process has ended. Try again.")
        history = evolution.history
        if history is None or history.generations == 0:
            self._status.content = note(evolution.remark or "There was nothing to evolve.")
            return
        self._scene, self._joints, self._last = self.session.scene, history.joints, history.generations - 1
        self._crowd = Crowd(self.session.body, history, scenes.root(self.session.scene))
        self._landscape = Landscape(history)
        verdict = "reached" if evolution.success else "not reached"
        per = np.bincount(history.generation)
        self._status.content = note(
            f"<b>{verdict}</b> after {self._last + 1} generations, {evolution.evaluations} evaluations"
        )
        self._slider.max = max(self._last, 1)
        self._stretches = stretches(len(self._joints), AT_ONCE)
        self._which.options = tuple(self._stretches)
        self._which.value, self._which.visible = self._which.options[0], len(self._stretches) > 1
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
        self.page.stage.crowd(None)

    # ---- A generation --------------------------------------------------------------------------------------

    def _press(self) -> None:
        pressed = self._buttons.value
        self._playing = pressed == "play" and not self._playing  # pressed again it pauses
        now = int(self._slider.value)
        if pressed == "clear":
            self._clear()
        elif pressed == "play":
            self._go(0 if now >= self._last else now)
            self.page.wake()
        else:
            self._go(now + (1 if pressed == "step" else -1))

    def _go(self, number: int) -> None:
        if self._crowd is not None:
            number = min(max(number, 0), self._last)
            put(self._slider, number)
            with self.session.lock:
                self.page.stage.crowd(self._crowd.generation(number))
            self._draw()

    def _draw(self) -> None:
        """The landscapes of some joints, with a line where the generation on show is."""
        if self._landscape is None:
            return
        left = 100.0 * float(self._landscape.across(int(self._slider.value)))
        cells = []
        for joint in self._stretches[self._which.value]:
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
