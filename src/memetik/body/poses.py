"""Where the links of a body are, and the names of its parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from memetik.body.link import Frame
from memetik.errors import known
from memetik.types import Array


class Chain(NamedTuple):
    """A named part of a body: from a base link to one or more tips; `joints` that it frees, all on the way if None."""

    base: str
    tips: tuple[str, ...]
    joints: tuple[str, ...] | None = None


class LinkPoses(Mapping[str, Array]):
    """Where every link is: `poses["hand"]` is world_from_hand as a 4x4 array, its place in metres; `poses.array` holds
    all of them.

    A frame of the body may be asked for, too: `poses[body.frame("hand", offset=(0, 0, 0.1))]`. For many joint vectors,
    `poses["hand"]` is (n, 4, 4) and `poses.array` (n, links, 4, 4).
    """

    __slots__ = ("_rows", "array")

    def __init__(self, rows: dict[str, int], array: Array) -> None:
        self._rows, self.array = rows, array

    def __getitem__(self, link: str | Frame) -> Array:
        if isinstance(link, Frame):
            return np.asarray(self[link.link] @ link.link_from_frame)
        return np.asarray(self.array[..., self._rows[known(link, self._rows, "link")], :, :])

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        many = f" at {len(self.array)} joint vectors" if self.array.ndim == 4 else ""
        return f"<Poses of {len(self)} links{many}>"
