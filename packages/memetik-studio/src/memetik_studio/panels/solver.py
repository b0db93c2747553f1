"""The solver panel: the method with its parameters, the budget of a frame, what the last frames took, and the motion."""

from __future__ import annotations

import dataclasses
import typing
from functools import partial
from math import inf
from operator import attrgetter
from typing import Any

import numpy as np

import memetik as mk
from memetik.scenes import Solving
from memetik.solution import count
from memetik_studio.widgets import BAD, GOOD, METHODS, Panel, escape, note, on_change, on_click, put, write

AUTOMATIC = 0
LONGEST = 0.1  # s; all pages wait for a frame, so no page may ask for more


class SolverPanel(Panel):
    """Choose how, and watch what it takes."""

    def build(self) -> None:
        gui = self.gui
        self._shown = ""
        self._inputs: dict[str, Any] = {}
        self._usual: dict[str, bool | float | None] = {}
        self._status = gui.add_html("")
        live = gui.add_checkbox("solve at every change", True)
        self.bind(live, lambda: self.session.live, self.session.set_live)
        method = gui.add_dropdown("method", options=tuple(row.name for row in METHODS))
        self.bind(method, lambda: self._solving.method, self._prepare)
        evaluations = gui.add_number("evaluations per frame", 2_000, min=1, max=1_000_000, step=100)
        self._bind_setting(evaluations, "solving", "evaluations")
        milliseconds = gui.add_number("ms per frame", 10.0, min=0.1, max=1e3 * LONGEST, step=0.1)
        self.bind(milliseconds, lambda: 1e3 * self._solving.seconds, self._allow)
        self._seed = gui.add_number("seed", 0, min=0, max=2**31 - 1, step=1)
        self._bind_setting(self._seed, "solving", "seed")
        on_click(gui.add_button("back to the start"), lambda: self.page.act(self.session.restart))
        self._times = self.add_plot("time of a solve [ms]", "solve", 130, ("ms", "#3b8fd1"))
        self._errors = self.add_plot("largest error / tolerance", "solve", 130, ("error / tolerance", "#d6459b"))
        with gui.add_folder("Motion", expand_by_default=False):
            self._motion()

    def _motion(self) -> None:
        """How the body gets to each solution: at once, or as joints with limited speed would move."""
        gui, motion = self.gui, self.session.scene.motion
        self._bind_setting(gui.add_checkbox("realistic", motion.realistic), "motion", "realistic")
        for name, low, high, step, hint in (
            ("velocity", 0.1, 10.0, 0.1, "rad/s or m/s, at most"),
            ("acceleration", 0.5, 100.0, 0.5, "rad/s2 or m/s2"),
            ("smoothing", 0.0, 0.95, 0.05, "0: none"),
        ):
            slider = gui.add_slider(name, low, high, step, getattr(motion, name), hint=hint)
            self._bind_setting(slider, "motion", name)
        gui.add_markdown("Joints whose model has lower limits of velocity or acceleration keep those.")

    def _bind_setting(self, handle: Any, part: str, name: str) -> None:
        """A control for one setting of a part of the scene: "solving" or "motion"."""
        change = {"solving": self.session.set_solving, "motion": self.session.set_motion}[part]
        get = attrgetter(f"{part}.{name}")
        self.bind(handle, lambda: get(self.session.scene), lambda value: change(**{name: value}))

    def renew(self) -> None:
        super().renew()
        self._parameters()
        self.refresh()

    def refresh(self) -> None:
        solution = self.session.solution
        if solution is None:
            text = "not solving"
        else:
            text = (
                f'<b style="color:{GOOD if solution.success else BAD}">{solution.status.name}</b> in '
                f"{1e3 * solution.seconds:.3f} ms, {count(solution.evaluations, 'evaluation')}, "
                f"{count(solution.attempts, 'attempt')}"
            )
            if self.session.explanation:
                text += f"<br>{escape(self.session.explanation)}".replace("\n", "<br>")
        write(self._status, note(text))
        effort = self.session.effort
        if len(effort) > 1:
            seconds, errors = np.array(effort).T
            self._times.data = (np.arange(len(effort), dtype=float), 1e3 * seconds)
            self._errors.data = (np.arange(len(effort), dtype=float), errors)

    @property
    def _solving(self) -> Solving:
        return self.session.scene.solving

    def _allow(self, milliseconds: float) -> None:
        self.session.set_solving(seconds=min(max(1e-3 * milliseconds, 1e-4), LONGEST))

    def _prepare(self, method: str) -> None:
        text = f"preparing {escape(method)}; the first time on a machine can take minutes ..."
        self._status.content = note(text)
        self.session.set_solving(method=method)

    # ---- Parameters of the method --------------------------------------------------------------------------

    def _parameters(self) -> None:
        """Inputs for the parameters of the method, such as population and elites."""
        method, given = self._solving.method, self._solving.parameters
        if method != self._shown:
            self._shown = method
            self._usual = _parameters(method)
            title = "Parameters" if self._usual else None
            with self.replace_folder(title, order=self._seed.order + 0.5, expand_by_default=False):
                self._inputs = {name: self._input(name, usual) for name, usual in self._usual.items()}
        for name, handle in self._inputs.items():
            value = given.get(name, self._usual[name])
            put(handle, AUTOMATIC if value is None else value)

    def _input(self, name: str, usual: bool | float | None) -> Any:
        if isinstance(usual, bool):
            handle = self.gui.add_checkbox(name, usual)
        elif usual is None:
            handle = self.gui.add_number(name, AUTOMATIC, min=0, step=1, hint="0: by the size of the problem")
        else:
            handle = self.gui.add_number(name, usual)
        on_change(handle, partial(self._set_parameter, name, usual))
        return handle

    def _set_parameter(self, name: str, usual: bool | float | None, value: Any) -> None:
        given = {key: each for key, each in self._solving.parameters.items() if key != name}
        typed = int(value) if usual is None else type(usual)(value)
        if not (usual is None and typed == AUTOMATIC):
            given[name] = typed
        self.page.act(lambda: self.session.set_solving(parameters=given))


def _parameters(method: str) -> dict[str, bool | float | None]:
    """The numbers and switches of a method with their usual values; None is for numbers that it finds itself."""
    solver = next(row.solver for row in mk.methods() if row.name == method)
    usual: dict[str, Any] = {field.name: field.default for field in dataclasses.fields(solver)}
    kinds = typing.get_type_hints(solver)
    numbers = (bool, int, float, int | None)
    return {name: value for name, value in usual.items() if name != "seed" and kinds[name] in numbers and value != inf}
