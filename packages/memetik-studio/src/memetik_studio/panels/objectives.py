"""The objectives panel: all errors at a glance, and the values of one objective to edit."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from memetik import scenes
from memetik_studio.inputs import Input, make_input
from memetik_studio.widgets import BAD, GOOD, NEITHER, Panel, escape, on_change, on_click, put, write

NONE = "(none)"


class ObjectivesPanel(Panel):
    """Add, remove, enable, weigh and aim."""

    def build(self) -> None:
        gui = self.gui
        self._marks = gui.add_html("")
        self._chosen = gui.add_dropdown("objective", options=(NONE,))
        on_change(self._chosen, lambda _: self.page.show())
        self._inputs: dict[str, Input] = {}
        self._shown: tuple[Any, ...] = ()
        self._kind = gui.add_dropdown("new", options=tuple(scenes.KINDS), order=1e9)
        on_click(gui.add_button("add objective", order=1e9 + 1), self._add)

    def renew(self) -> None:
        names = tuple(wish.name for wish in self.session.scene.wishes) or (NONE,)
        if tuple(self._chosen.options) != names:
            kept = self._chosen.value if self._chosen.value in names else names[0]
            self._chosen.options = names
            self._chosen.value = kept
        self._edit()
        self.refresh()

    def refresh(self) -> None:
        rows = []
        for name, mark in self.session.marks().items():
            color = NEITHER if mark.good is None else GOOD if mark.good else BAD
            word = "guide" if mark.good is None else "ok" if mark.good else "missed"
            rows.append(
                f'<div title="{word}" style="font-size:0.85em;line-height:1.5;padding:0 0.8em">'
                f'<span style="color:{color}">&#9679;</span> {escape(name)}'
                f'<span style="float:right;color:{color}">{escape(mark.text)}</span></div>'
            )
        write(self._marks, "".join(rows) or "<div>nothing is asked for</div>")
        self._follow()

    def choose(self, name: str) -> None:
        """Show the values of this objective."""
        if name in self._chosen.options and self._chosen.value != name:
            self._chosen.value = name
            self._edit()

    # ---- One objective -------------------------------------------------------------------------------------

    @property
    def _wish(self) -> scenes.Wish | None:
        found = (wish for wish in self.session.scene.wishes if wish.name == self._chosen.value)
        return next(found, None)

    def _edit(self) -> None:
        """Show the inputs for the chosen objective; they are made again only where it is another one."""
        wish = self._wish
        shown = (wish.name, wish.kind, self.session.scene.body) if wish else ()
        if shown == self._shown:
            return
        self._shown = shown
        self._inputs = {}
        if wish is None:
            self.replace_folder(None)
            return
        gui, kind, act = self.gui, scenes.KINDS[wish.kind], self.page.act
        with self.replace_folder(f"{wish.kind}: {kind.about}"):
            self._name = gui.add_text("name", wish.name)
            on_change(self._name, lambda name: self._rename(wish.name, name))
            self._enabled = gui.add_checkbox("enabled", wish.enabled)
            on_change(self._enabled, lambda on: act(lambda: self.session.enable(wish.name, on)))
            for field in kind.fields:
                tell = partial(self._set, wish.name, field.name)
                self._inputs[field.name] = make_input(gui, field, wish.values[field.name], self.session.body, tell)
            on_click(gui.add_button("remove objective"), lambda: act(lambda: self.session.remove(wish.name)))

    def _set(self, name: str, field: str, value: Callable[[], Any]) -> None:
        self.page.act(lambda: self.session.set(name, **{field: value()}))

    def _rename(self, name: str, new_name: str) -> None:
        def rename() -> None:
            self.session.rename(name, new_name.strip())
            self._chosen.options = tuple(wish.name for wish in self.session.scene.wishes)
            self._chosen.value = new_name.strip()

        self.page.act(rename)

    def _follow(self) -> None:
        """Show the values as they are now: gizmos move them too."""
        wish = self._wish
        if wish is None or not self._inputs:
            return
        put(self._enabled, wish.enabled)
        put(self._name, wish.name)
        for name, shown in self._inputs.items():
            shown.show(wish.values[name])

    def _add(self) -> None:
        names: list[str] = []
        if self.page.act(lambda: names.append(self.session.add(self._kind.value))):
            self._chosen.value = names[0]
            self.page.show()
