"""Frames: a link with an offset, the thing that objectives point at."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from memetik.body.frozen import frozen
from memetik.errors import BodyError, shown
from memetik.geometry import as_transform
from memetik.types import Array

_NO_OFFSET = frozen(np.eye(4))


@dataclass(frozen=True, eq=False)
class Frame:
    """A coordinate frame that rides on a link: world_from_frame = world_from_link @ link_from_frame."""

    link: str
    link_from_frame: Array = field(default_factory=lambda: _NO_OFFSET)

    def __post_init__(self) -> None:
        if not isinstance(self.link, str):
            raise BodyError(f"a frame rides on a link, not on {shown(self.link)}. Give the name of the link.")
        if self.link_from_frame is not _NO_OFFSET:
            matrix = as_transform(self.link_from_frame, name="link_from_frame")
            object.__setattr__(self, "link_from_frame", frozen(matrix))

    def __str__(self) -> str:
        x, y, z = self.link_from_frame[:3, 3]
        moved = not np.array_equal(self.link_from_frame, np.eye(4))
        return f"{self.link} + ({x:g}, {y:g}, {z:g}) m" if moved else self.link
