"""Inputs: for every type of a field what a person sees and edits, and what is meant by it.

Most fields are one control. A frame is a link and an offset, a rotation three angles in degrees; what has no better form
is text in JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import memetik as mk
from memetik.scenes import Field
from memetik_studio.widgets import on_change, put

NONE = "none"

Tell = Callable[[Callable[[], Any]], None]  # gets what works out the new value of the field, which may raise


class Input:
    """One field as one control; `tell` hears of what a person changes."""

    def __init__(self, gui: Any, field: Field, value: Any, body: mk.Body, tell: Tell) -> None:
        self.field = field
        self._options = _options(field, value, body)
        self._value = value
        self.handle = self.make(gui, self.seen(value))
        on_change(self.handle, lambda typed: tell(lambda: self.meant(typed)))

    def make(self, gui: Any, seen: Any) -> Any:
        """The control."""
        name = self.field.name
        if self._options:
            return gui.add_dropdown(name, options=self._options, initial_value=seen)
        if self.field.type == "number" and not self.field.optional:
            return gui.add_number(name, seen, step=0.01)
        if self.field.type == "whole":
            return gui.add_number(name, seen, step=1)
        if self.field.type in ("point", "direction"):
            return gui.add_vector3(name, seen, step=0.001)
        return gui.add_checkbox(name, seen) if self.field.type == "flag" else gui.add_text(name, seen)

    def seen(self, value: Any) -> Any:
        """A value as the control shows it."""
        if self.field.type in ("point", "direction"):
            return _rounded(value)
        if self.field.type in ("flag", "whole") or self._options:
            return value
        if self.field.type == "number" and not self.field.optional:
            return float(value)
        return NONE if value is None else value if self.field.type == "text" else json.dumps(value)

    def meant(self, typed: Any) -> Any:
        """What a person means by what stands in the control; the kind of the wish checks it."""
        if not isinstance(typed, str):
            return list(typed) if isinstance(typed, tuple) else typed
        if self.field.optional and typed.strip().lower() in (NONE, "null", ""):
            return None
        if self._options or self.field.type == "text":
            return typed
        try:
            return json.loads(typed)
        except ValueError as error:
            raise mk.errors.FormatError(f"{self.field.name}: {typed[:60]!r} is not JSON: {error}.") from error

    def show(self, value: Any) -> None:
        """Show a value; gizmos change them too.

        Values are never changed in place, so the same one is shown already, unless a person has left the control with
        nonsense in it. That is set right at every look, but for a terrain, which is many numbers.
        """
        if value is not self._value or self.field.type != "surface":
            self._value = value
            put(self.handle, self.seen(value))


class RotationInput(Input):
    """A rotation as roll, pitch and yaw in degrees (about the fixed axes x, y, z)."""

    def make(self, gui: Any, seen: Any) -> Any:
        name = "rotation" if self.field.name == "wxyz" else self.field.name
        return gui.add_vector3(f"{name} [deg]", seen, step=1.0, hint="roll, pitch, yaw about the fixed axes x, y, z")

    def seen(self, value: Any) -> Any:
        return tuple(
            round(float(each), 3) + 0.0
            for each in mk.geometry.to_euler(mk.geometry.rotation_matrix(value), degrees=True)
        )

    def meant(self, typed: Any) -> Any:
        return mk.geometry.to_quaternion(mk.rpy(*typed, degrees=True)).tolist()


class FrameInput(Input):
    """A frame: a link, and where it is on the link; an optional one can be none."""

    def __init__(self, gui: Any, field: Field, value: Any, body: mk.Body, tell: Tell) -> None:
        super().__init__(gui, field, value, body, tell)
        self._offset = gui.add_vector3(
            f"{field.name} offset", _offset(value), step=0.001, hint="in the link [m]", visible=value is not None
        )
        on_change(self._offset, lambda typed: tell(lambda: self._with(list(typed))))

    def seen(self, value: Any) -> Any:
        return NONE if value is None else value if isinstance(value, str) else value["link"]

    def meant(self, typed: Any) -> Any:
        if typed == NONE and self.field.optional:
            return None
        return {**self._value, "link": typed} if isinstance(self._value, dict) else typed

    def show(self, value: Any) -> None:
        super().show(value)
        put(self._offset, _offset(value))
        if self._offset.visible != (value is not None):
            self._offset.visible = value is not None

    def _with(self, offset: list[float]) -> Any:
        return {**({"link": self._value} if isinstance(self._value, str) else self._value), "position": offset}


def _options(field: Field, value: Any, body: mk.Body) -> tuple[str, ...]:
    """The texts that a person can choose from; none for a field that is not a choice."""
    if field.type == "frame":
        return (*((NONE,) if field.optional else ()), *body.links)
    if field.type == "joint" or field.name == "link":
        names = body.joint_names if field.type == "joint" else tuple(body.links)
        return tuple(dict.fromkeys((*names, value)))  # a file may name a joint that mimics another
    return field.choices


def _offset(value: Any) -> tuple[float, ...]:
    zero = (0.0, 0.0, 0.0)
    return _rounded(value.get("position", zero) if isinstance(value, dict) else zero)


def _rounded(values: Sequence[float]) -> tuple[float, ...]:
    return tuple(round(float(each), 6) for each in values)


def make_input(gui: Any, field: Field, value: Any, body: mk.Body, tell: Tell) -> Input:
    """The input that suits a field."""
    kind = {"frame": FrameInput, "rotation": RotationInput}.get(field.type, Input)
    return kind(gui, field, value, body, tell)
