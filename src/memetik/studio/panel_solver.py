"""The solver panel: the method with its parameters, the budget of a frame, and what the last frames took."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

import numpy as np
import viser

import memetik as mk
from memetik.solution.words import count
from memetik.studio.widgets import METHODS, Panel, escape, on_change, on_click, put

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
        content = f'<div style="font-size:0.85em;padding:0 0.8em">{text}</div>'
        if self._status.content != content:
            self._status.content = content
        for plot, values, unit in (
            (self._times, self.session.effort.seconds, 1e3),
            (self._errors, self.session.effort.errors, 1.0),
        ):
            if len(values) > 1:
                plot.data = (np.arange(len(values), dtype=float), unit * np.array(values))

    def _set(self, name: str, value: Any) -> None:
        self.desk.act(lambda: self.session.set_solving(**{name: value}))

    def _parameters(self) -> None:
        """Inputs for the parameters of the method, such as population and elites."""
        method = self.session.scene.solving.method
        if method == self._shown:
            return
        self._shown = method
        if self._folder is not None:
            self._folder.remove()
            self._folder = None
        row = next(row for row in mk.methods() if row.name == method)
        fields = [field for field in dataclasses.fields(row.solver) if field.name != "seed"]
        usual = [(field.name, field.default) for field in fields if isinstance(field.default, (bool, int, float))]
        if not usual:
            return
        with self.tab:
            self._folder = self.gui.add_folder("parameters", expand_by_default=False)
        given = self.session.scene.solving.parameters
        with self._folder:
            for name, default in usual:
                value = given.get(name, default)
                add = self.gui.add_checkbox if isinstance(default, bool) else self.gui.add_number
                on_change(add(name, value), partial(self._set_parameter, name, type(default)))

    def _set_parameter(self, name: str, kind: type, value: Any) -> None:
        given = dict(self.session.scene.solving.parameters)
        self._set("parameters", {**given, name: kind(value)})
