"""The compare panel: several methods on the same target, each as a ghost with its time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import memetik as mk
from memetik.studio.compare import compare
from memetik.studio.stage import GHOST_COLORS
from memetik.studio.widgets import Panel, escape, on_click


class ComparePanel(Panel):
    """From the start of the scene, with the budget of a frame, one after the other."""

    def __init__(self, desk: Any, tab: Any, show: Callable[[list[Any]], None]) -> None:
        self._show = show
        super().__init__(desk, tab)

    def build(self) -> None:
        gui = self.gui
        self._boxes = {row.name: gui.add_checkbox(row.name, k < 2) for k, row in enumerate(mk.methods())}
        on_click(gui.add_button("compare"), self._run)
        on_click(gui.add_button("clear"), self._clear)
        self._table = gui.add_html("")

    def _run(self) -> None:
        methods = [name for name, box in self._boxes.items() if box.value]
        ghosts = compare(self.session, methods)
        self._show([ghost.q for ghost in ghosts])
        rows = []
        for k, ghost in enumerate(ghosts):
            color = "rgb" + str(GHOST_COLORS[k % len(GHOST_COLORS)])
            verdict = "reached" if ghost.success else ghost.remark or "not reached"
            said = f"{1e3 * ghost.seconds:.3f} ms, {ghost.evaluations} evaluations, {verdict}"
            rows.append(f'<div><span style="color:{color}">&#9632;</span> <b>{ghost.method}</b> {escape(said)}</div>')
        self._table.content = f'<div style="font-size:0.85em;padding:0 0.8em">{"".join(rows)}</div>'

    def _clear(self) -> None:
        self._show([])
        self._table.content = ""
