"""The joints panel: a slider within the limits, a lock and a weight for each joint, some joints at a time."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from memetik.studio.widgets import Panel, on_change, put

AT_ONCE = 8  # joints; a page of hundreds of controls is slow and nobody reads it


class JointsPanel(Panel):
    """Pose, lock and weigh."""

    def build(self) -> None:
        self._page = self.gui.add_dropdown("joints", options=("none",))
        on_change(self._page, lambda _: self.desk.act(lambda: None))
        self._folder: Any = None
        self._names: tuple[str, ...] | None = None
        self._shown = ""
        self._inputs: dict[str, tuple[Any, Any, Any]] = {}

    def renew(self) -> None:
        names = self.session.body.joint_names
        if names != self._names:
            self._names = names
            starts = range(0, len(names), AT_ONCE)
            pages = tuple(f"{k + 1} to {min(k + AT_ONCE, len(names))}" for k in starts) or ("none",)
            self._page.options = pages
            self._page.value, self._shown = pages[0], ""
        if self._page.value != self._shown:
            self._shown = self._page.value
            self._rows()
        self.refresh()

    def _rows(self) -> None:
        if self._folder is not None:
            self._folder.remove()
        with self.tab:
            self._folder = self.gui.add_folder("rad or m")
        self._inputs = {}
        body = self.session.body
        first = AT_ONCE * list(self._page.options).index(self._page.value)
        with self._folder:
            for joint in body.joint_names[first : first + AT_ONCE]:
                k = body.index(joint)
                low, high = (_end(float(end[k]), sign) for end, sign in ((body.lower, -1), (body.upper, 1)))
                value = min(max(float(self.session.q[k]), low), high)
                slider = self.gui.add_slider(joint, low, max(high, low + 1e-6), 1e-4, value)
                lock = self.gui.add_checkbox("lock", joint in self.session.scene.lock)
                weight = self.gui.add_number("weight", self.session.joint_weight(joint), min=0.0, step=0.1)
                on_change(slider, partial(self._do, self.session.set_joint, joint))
                on_change(lock, partial(self._do, self.session.lock_joint, joint))
                on_change(weight, partial(self._do, self.session.weigh_joint, joint))
                self._inputs[joint] = slider, lock, weight

    def _do(self, change: Any, joint: str, value: Any) -> None:
        self.desk.act(lambda: change(joint, value))

    def refresh(self) -> None:
        body = self.session.body
        for joint, (slider, lock, weight) in self._inputs.items():
            value = float(self.session.q[body.index(joint)])
            if abs(slider.value - value) > 1e-4:
                slider.value = min(max(value, slider.min), slider.max)
            put(lock, joint in self.session.scene.lock)
            put(weight, self.session.joint_weight(joint))


def _end(limit: float, sign: int) -> float:
    return limit if math.isfinite(limit) else sign * 2.0 * math.pi
