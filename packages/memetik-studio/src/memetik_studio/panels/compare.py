"""The compare panel: several methods on the same target, each as a ghost with its time."""

from __future__ import annotations

from typing import Any

from memetik_studio.jobs import Ghost, compare
from memetik_studio.stage import GHOST_COLORS
from memetik_studio.widgets import METHODS, NEITHER, Panel, escape, note, on_change, on_click

FIRST = ("memetic", "bioik", "dls", "ccd")


class ComparePanel(Panel):
    """From the start of the scene, with the evaluations of a frame, one after the other."""

    def build(self) -> None:
        gui = self.gui
        self._ghosts: list[Ghost] = []
        self._table = gui.add_html(note("Each method from the start of the scene, with the evaluations of a frame."))
        pressed = gui.add_button_group("methods", ("compare", "clear"))
        on_click(pressed, lambda: self._run() if pressed.value == "compare" else self._clear())
        self._apart = gui.add_checkbox("side by side", True)
        on_change(self._apart, lambda _: self._draw())
        families: dict[str, list[str]] = {}
        for row in METHODS:
            families.setdefault(row.family, []).append(row.name)
        self._boxes: dict[str, Any] = {}
        for family, names in families.items():
            with gui.add_folder(family, expand_by_default=not self._boxes or any(name in FIRST for name in names)):
                self._boxes.update({name: gui.add_checkbox(name, name in FIRST) for name in names})

    def _run(self) -> None:
        self._clear()
        self._table.content = note("comparing; a method's first time on a machine takes up to some minutes ...")
        self.ask(compare, self._take, [name for name, box in self._boxes.items() if box.value])

    def _take(self, ghosts: list[Ghost] | None, current: bool) -> None:
        if ghosts is None or not current:
            self._table.content = note("The scene has changed. Compare again.")
        else:
            self._ghosts = ghosts
            self._draw()

    def _draw(self) -> None:
        rows: list[str] = []
        seen: list[tuple[Any, str]] = []
        for ghost in self._ghosts:
            color = NEITHER
            if not ghost.remark:
                color = "rgb" + str(GHOST_COLORS[len(seen) % len(GHOST_COLORS)])
                seen.append((ghost.q, f"{ghost.method} {1e3 * ghost.seconds:.2f} ms"))
            spent = f"{1e3 * ghost.seconds:.3f} ms, {ghost.evaluations} evaluations"
            said = ghost.remark or f"{spent}, {'reached' if ghost.success else 'not reached'}"
            rows.append(f'<div><span style="color:{color}">&#9632;</span> <b>{ghost.method}</b> {escape(said)}</div>')
        if rows:
            self._table.content = note("".join(rows))
        self.page.stage.compare(seen, self._apart.value)

    def _clear(self) -> None:
        self._ghosts = []
        self.page.stage.compare([])
        self._table.content = ""
