"""The motion panel: at once, or as joints with limited speed would move."""

from __future__ import annotations

from functools import partial
from typing import Any

from memetik.studio.widgets import Panel, on_change, put


class MotionPanel(Panel):
    """How the body gets to each solution."""

    def build(self) -> None:
        gui, motion = self.gui, self.session.scene.motion
        self._inputs = {
            "realistic": gui.add_checkbox("realistic", motion.realistic),
            "velocity": gui.add_slider("velocity", 0.1, 10.0, 0.1, motion.velocity, hint="rad/s or m/s, at most"),
            "acceleration": gui.add_slider("acceleration", 0.5, 100.0, 0.5, motion.acceleration, hint="rad/s2 or m/s2"),
            "smoothing": gui.add_slider("smoothing", 0.0, 0.95, 0.05, motion.smoothing, hint="0: none"),
        }
        for name, handle in self._inputs.items():
            on_change(handle, partial(self._set, name))
        gui.add_markdown("Joints whose model has lower limits of velocity or acceleration keep those.")

    def renew(self) -> None:
        for name, handle in self._inputs.items():
            put(handle, getattr(self.session.scene.motion, name))

    def _set(self, name: str, value: Any) -> None:
        self.desk.act(lambda: self.session.set_motion(**{name: value}))
