"""OFKT for people: a body's cached forward kinematics, with the number of transformations it took."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memetik.body.body import Body
from memetik.body.link import Frame
from memetik.errors import BodyError
from memetik.geometry import TransformLike, as_transform, to_quaternion
from memetik.geometry.checks import flag, instance, real_number
from memetik.kernels.body.ofkt import WIDTH, clear, predict_frames, update_frames
from memetik.types import Array


class OFKT:
    """The optimised forward kinematics tree: keeps every transform, computes again only what a change touches.

    `tree.update(q)` gives the tips in the world [m]; `tree.predict(joint, value)` where they would be if one joint had
    another value, for the same small cost at any depth. With `count_transforms=True`, `tree.counts` says how many transformations
    were computed: local ones, products in the root frame, steps to the world.
    """

    def __init__(
        self,
        body: Body,
        tips: Iterable[str | Frame] | None = None,
        *,
        world_from_root: TransformLike | None = None,
        count_transforms: bool = False,
    ) -> None:
        self.body = instance(body, Body, BodyError, "a body. Give mk.load(...) and the like.")
        flat, self._frames = body.flatten(tips)
        self._nodes = flat.nodes
        self._cache = np.empty((flat.nodes.size, WIDTH))
        clear(self._cache)
        matrix = np.eye(4) if world_from_root is None else as_transform(world_from_root)
        self._world = (*map(float, to_quaternion(matrix[:3, :3])), *map(float, matrix[:3, 3]))
        self.counts: NDArray[np.int64] | None = (
            np.zeros(3, dtype=np.int64) if flag(count_transforms, BodyError, "count_transforms") else None
        )
        self._filled = False

    def update(self, q: ArrayLike) -> Array:
        """world_from_tip (tips, 4, 4) at q."""
        out = np.empty((self._frames.size, 4, 4))
        update_frames(self._nodes, self._frames, self.body._vector(q), self._cache, self._world, out, self.counts)
        self._filled = True
        return out

    def predict(self, joint: str, value: float) -> Array:
        """world_from_tip (tips, 4, 4) if the free joint had `value` and all others stayed; the tree is not changed."""
        k = self.body.index(joint)
        moved = np.flatnonzero(self._nodes["variable"] == k)
        if not self._filled:
            raise BodyError("the tree is empty: call update(q) before predict().")
        if len(moved) > 1:
            raise BodyError(
                f"joint {joint!r} drives {len(moved)} motions through mimic joints, so one product cannot predict it. "
                "Use update(q)."
            )
        number = real_number(value, BodyError, f"the value of joint {joint!r}")
        if not np.isfinite(number):
            raise BodyError(f"the value of joint {joint!r} must be finite, not {number}.")
        out = np.empty((self._frames.size, 4, 4))
        node = int(moved[0]) if len(moved) else -1
        predict_frames(self._nodes, self._frames, node, number, self._cache, self._world, out, self.counts)
        return out
