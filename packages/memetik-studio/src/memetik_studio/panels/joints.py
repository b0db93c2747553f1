"""The joints panel: a slider within the limits, a lock and a weight for each joint, some joints at a time."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from memetik_studio.widgets import Panel, on_change, stretches

AT_ONCE = 8  # joints; a page of hundreds of controls is slow and nobody reads it


class JointsPanel(Panel):
    """Pose, lock and weigh."""

    def build(self) -> None:
        self._names: tuple[str, ...] | None = None
        self._shown = ""
        self._page = self.gui.add_dropdown("joints", options=("none",))
        on_change(self._page, lambda _: self.page.show())

    def renew(self) -> None:
        names = self.session.body.joint_names
        if names != self._names:
            self._names, self._shown = names, ""
            self._stretches = stretches(len(names), AT_ONCE)
            self._page.options = tuple(self._stretches)
            self._page.value = self._page.options[0]
        if self._page.value != self._shown:
            self._shown = self._page.value
            self._rows()
        super().renew()

    refresh = renew

    def _rows(self) -> None:
        gui, session, body = self.gui, self.session, self.session.body
        self._bound.clear()
        with self.replace_folder("rad or m"):
            for k in self._stretches[self._shown]:
                joint = body.joint_names[k]
                low, high = (_end(float(end[k]), sign) for end, sign in ((body.lower, -1), (body.upper, 1)))
                slider = gui.add_slider(
                    joint, low, max(high, low + 1e-6), 1e-4, float(np.clip(session.q[k], low, high))
                )
                lock = gui.add_checkbox("lock", joint in session.scene.lock)
                weight = gui.add_number("weight", session.joint_weight(joint), min=0.0, step=0.1)
                self.bind(slider, partial(self._value, k, slider), partial(session.set_joint, joint))
                self.bind(lock, partial(self._is_locked, joint), partial(session.lock_joint, joint))
                self.bind(weight, partial(session.joint_weight, joint), partial(session.weigh_joint, joint))

    def _value(self, k: int, slider: Any) -> Any:
        """Where a joint is, as far as its slider can show it."""
        value = float(self.session.q[k])
        return slider.value if abs(slider.value - value) <= 1e-4 else min(max(value, slider.min), slider.max)

    def _is_locked(self, joint: str) -> bool:
        return joint in self.session.scene.lock


def _end(limit: float, sign: int) -> float:
    return limit if math.isfinite(limit) else sign * 2.0 * math.pi
