"""The solver panel: the method with its parameters, the budget of a frame, and what the last frames took."""

from __future__ import annotations

import dataclasses
import typing
from functools import partial
from math import inf
from typing import Any

import numpy as np
import viser

import memetik as mk
from memetik.solution.words import count
from memetik.studio.widgets import METHODS, Panel, escape, note, on_change, on_click, put

AUTOMATIC = 0
LONGEST = 0.1  # s; all pages wait for a frame, so no page may ask for more


class SolverPanel(Panel):
    """Choose how, and watch what it takes."""

    def build(self) -> None:
        gui = self.gui
        self._status = gui.add_html("")
        self._live = gui.add_checkbox("solve at every change", True)
        on_change(self._live, lambda on: self.desk.act(lambda: self.session.set_live(on)))
        self._method = gui.add_dropdown("method", options=tuple(row.name for row in METHODS))
        on_change(self._method, partial(self._set, "method"))
        self._evaluations = gui.add_number("evaluations per frame", 2_000, min=1, max=1_000_000, step=100)
        on_change(self._evaluations, partial(self._set, "evaluations"))
        self._milliseconds = gui.add_number("ms per frame", 10.0, min=0.1, max=1e3 * LONGEST, step=0.1)
        on_change(self._milliseconds, lambda value: self._set("seconds", min(max(1e-3 * value, 1e-4), LONGEST)))
        self._seed = gui.add_number("seed", 0, min=0, max=2**31 - 1, step=1)
        on_change(self._seed, partial(self._set, "seed"))
        self._folder: Any = None
        self._shown = ""
        self._inputs: dict[str, Any] = {}
        self._usual: dict[str, bool | float | None] = {}
        on_click(gui.add_button("back to the start"), lambda: self.desk.act(self.session.restart))
        line = (np.zeros(2), np.zeros(2))
        plain = {"x": viser.uplot.Scale(time=False), "y": viser.uplot.Scale(auto=True)}
        x, ms = viser.uplot.Series(label="solve"), viser.uplot.Series(label="ms", stroke="#3b8fd1", width=2)
        ratio = viser.uplot.Series(label="error / tolerance", stroke="#d6459b", width=2)
        self._times = gui.add_uplot(line, (x, ms), scales=plain, height=130, title="time of a solve [ms]")
        self._errors = gui.add_uplot(line, (x, ratio), scales=plain, height=130, title="largest error / tolerance")

    def renew(self) -> None:
        solving = self.session.scene.solving
        put(self._method, solving.method)
        put(self._evaluations, solving.evaluations)
        put(self._milliseconds, 1e3 * solving.seconds)
        put(self._seed, solving.seed)
        put(self._live, self.session.live)
        self._parameters()
        self.refresh()

    def refresh(self) -> None:
        solution = self.session.solution
        if solution is None:
            text = "not solving"
        else:
            color = "#2b8a3e" if solution.success else "#c92a2a"
            text = (
                f'<b style="color:{color}">{solution.status.name}</b> in {1e3 * solution.seconds:.3f} ms, '
                f"{count(solution.evaluations, 'evaluation')}, {count(solution.attempts, 'attempt')}"
            )
            if self.session.explanation:
                text += f"<br>{escape(self.session.explanation)}".replace("\n", "<br>")
        content = note(text)
        if self._status.content != content:
            self._status.content = content
        for plot, values, unit in (
            (self._times, self.session.effort.seconds, 1e3),
            (self._errors, self.session.effort.errors, 1.0),
        ):
            if len(values) > 1:
                plot.data = (np.arange(len(values), dtype=float), unit * np.array(values))

    def _set(self, name: str, value: Any) -> None:
        if name == "method":
            self._status.content = note(
                f"preparing {escape(value)}; the first time on a machine takes up to a minute ..."
            )
        self.desk.act(lambda: self.session.set_solving(**{name: value}))

    # ---- Parameters of the method --------------------------------------------------------------------------

    def _parameters(self) -> None:
        """Inputs for the parameters of the method, such as population and elites."""
        method, given = self.session.scene.solving.method, self.session.scene.solving.parameters
        if method != self._shown:
            self._shown = method
            if self._folder is not None:
                self._folder.remove()
                self._folder = None
            self._usual = _parameters(method)
            self._inputs = {}
            if self._usual:
                with self.tab:
                    self._folder = self.gui.add_folder(
                        "Parameters", order=self._seed.order + 0.5, expand_by_default=False
                    )
                with self._folder:
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
        given = {key: each for key, each in self.session.scene.solving.parameters.items() if key != name}
        typed = int(value) if usual is None else type(usual)(value)
        if not (usual is None and typed == AUTOMATIC):
            given[name] = typed
        self._set("parameters", given)


def _parameters(method: str) -> dict[str, bool | float | None]:
    """The numbers and switches of a method with their usual values; None is for numbers that it finds itself."""
    solver = next(row.solver for row in mk.methods() if row.name == method)
    usual: dict[str, Any] = {field.name: field.default for field in dataclasses.fields(solver)}
    kinds = typing.get_type_hints(solver)
    numbers = (bool, int, float, int | None)
    return {name: value for name, value in usual.items() if name != "seed" and kinds[name] in numbers and value != inf}
