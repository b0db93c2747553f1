"""The objectives panel: all errors at a glance, and the values of one objective to edit."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from memetik import scenes
from memetik.errors import FormatError
from memetik.scenes.fields import Field
from memetik.studio.widgets import Panel, escape, on_change, on_click, put

GOOD, BAD, NEITHER = "#2b8a3e", "#c92a2a", "#868e96"
NONE = "(none)"


class ObjectivesPanel(Panel):
    """Add, remove, enable, weigh and aim."""

    def build(self) -> None:
        gui = self.gui
        self._marks = gui.add_html("")
        self._chosen = gui.add_dropdown("objective", options=(NONE,))
        on_change(self._chosen, lambda _: self.desk.act(lambda: None))
        self._folder: Any = None
        self._inputs: dict[str, Any] = {}
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
        content = "".join(rows) or "<div>nothing is asked for</div>"
        if self._marks.content != content:
            self._marks.content = content
        self._follow()

    # ---- One objective -------------------------------------------------------------------------------------

    @property
    def _wish(self) -> scenes.Wish | None:
        found = (wish for wish in self.session.scene.wishes if wish.name == self._chosen.value)
        return next(found, None)

    def _edit(self) -> None:
        """Show the inputs for the chosen objective; they are made anew only where it is another one."""
        wish = self._wish
        shown = (wish.name, wish.kind, self.session.scene.body) if wish else ()
        if shown == self._shown:
            return
        self._shown = shown
        if self._folder is not None:
            self._folder.remove()
            self._folder = None
        self._inputs = {}
        if wish is None:
            return
        gui, kind = self.gui, scenes.KINDS[wish.kind]
        with self.tab:
            self._folder = gui.add_folder(f"{wish.kind}: {kind.about}")
        with self._folder:
            self._enabled = gui.add_checkbox("enabled", wish.enabled)
            on_change(self._enabled, lambda on: self.desk.act(lambda: self.session.enable(wish.name, on)))
            for field in kind.fields:
                self._inputs[field.name] = self._input(field, wish)
            on_click(gui.add_button("remove objective"), lambda: self.desk.act(lambda: self.session.remove(wish.name)))

    def _input(self, field: Field, wish: scenes.Wish) -> Any:
        gui, value = self.gui, _shown(field, wish.values[field.name])
        if field.type == "number" and not field.optional:
            handle = gui.add_number(field.name, value, step=0.01)
        elif field.type in ("point", "direction"):
            handle = gui.add_vector3(field.name, value, step=0.001)
        elif field.type == "flag":
            handle = gui.add_checkbox(field.name, value)
        elif field.choices:
            handle = gui.add_dropdown(field.name, options=field.choices, initial_value=value)
        elif field.type == "joint" or field.name == "link":
            body = self.session.body
            names = body.joint_names if field.type == "joint" else tuple(body.links)
            options = tuple(dict.fromkeys((*names, value)))  # a file may name a joint that mimics another
            handle = gui.add_dropdown(field.name, options=options, initial_value=value)
        else:
            handle = gui.add_text(field.name, value)
        on_change(handle, partial(self._set, wish.name, field))
        return handle

    def _set(self, name: str, field: Field, value: Any) -> None:
        def change() -> None:
            self.session.set(name, **{field.name: _typed(field, value)})

        self.desk.act(change)

    def _follow(self) -> None:
        """Show the numbers as they are now: gizmos move them too."""
        wish = self._wish
        if wish is None or not self._inputs:
            return
        put(self._enabled, wish.enabled)
        for field in scenes.KINDS[wish.kind].fields:
            put(self._inputs[field.name], _shown(field, wish.values[field.name]))

    def _add(self) -> None:
        def add() -> None:
            self._new = self.session.add(self._kind.value)

        if self.desk.act(add):
            self._chosen.value = self._new
            self.desk.act(lambda: None)  # shows it


def _shown(field: Field, value: Any) -> Any:
    """A value as its input shows it."""
    if field.type in ("point", "direction"):
        return tuple(round(float(each), 6) for each in value)
    if (field.type in ("flag", "joint") or field.choices or field.name == "link") and value is not None:
        return value
    if field.type == "number" and not field.optional:
        return float(value)
    if value is None:
        return "none"
    if field.type == "frame" and isinstance(value, str):
        return value
    if field.type == "rotation":
        value = [round(each, 6) + 0.0 for each in value]
    return json.dumps(value)


def _typed(field: Field, value: Any) -> Any:
    """What a person means by what stands in the input; the kind checks it."""
    if not isinstance(value, str):
        return list(value) if isinstance(value, tuple) else value
    if field.optional and value.strip().lower() in ("none", "null", ""):
        return None
    if field.choices or field.type in ("joint", "text"):
        return value
    if field.type == "frame" and not value.lstrip().startswith("{"):
        return value.strip()
    try:
        return json.loads(value)
    except ValueError as error:
        raise FormatError(f"{field.name}: {value[:60]!r} is not JSON: {error}.") from error
