"""A judge of collisions that shares nothing with the library: the distances of coal between the same shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import memetik as mk
from memetik.errors import MissingExtraError
from memetik.types import Array


def _coal() -> Any:
    try:
        import coal
    except ImportError as missing:
        raise MissingExtraError("coal", "the judge of collisions", "peers") from missing
    return coal


def shaped(body: mk.Body) -> list[str]:
    """The links that have shapes."""
    return [link.name for link in body.links.values() if link.shapes]


def coal_shape(shape: mk.Shape) -> Any:
    """The same solid for coal."""
    coal = _coal()
    makers = {"sphere": coal.Sphere, "capsule": coal.Capsule, "cylinder": coal.Cylinder, "box": coal.Box}
    return makers[shape.kind](*shape.size)


class Coal:
    """The exact distances of coal between the same shapes, for pairs whose balls meet."""

    def __init__(self, body: mk.Body, obstacles: Sequence[mk.Shape], pairs: Sequence[tuple[str, str]]) -> None:
        self.coal, self.body = _coal(), body
        self.solids: list[tuple[str | None, mk.Shape]] = [
            (link, shape) for link in shaped(body) for shape in body.links[link].shapes
        ]
        self.solids += [(None, shape) for shape in obstacles]
        self.shapes = [coal_shape(shape) for _, shape in self.solids]
        self.radii = np.array([radius_of(shape) for _, shape in self.solids])
        met, base = {frozenset(pair) for pair in pairs}, body.root
        self.pairs = np.array([
            (i, j)
            for i, (one, _) in enumerate(self.solids)
            for j, (two, _) in enumerate(self.solids[:i])
            if (one is None and two not in (None, base)) or (one is not None and frozenset((one, two)) in met)
        ])  # fmt: skip

    def depth(self, q: Array) -> float:
        """How deep the deepest pair is [m], negative for how far apart; pairs whose balls do not meet are 1 cm apart or more."""
        poses = self.body.forward(q)
        places = [
            shape.link_from_shape if link is None else poses[link] @ shape.link_from_shape
            for link, shape in self.solids
        ]
        centers = np.array([place[:3, 3] for place in places])
        i, j = self.pairs.T
        near = np.linalg.norm(centers[i] - centers[j], axis=1) < self.radii[i] + self.radii[j] + 0.01
        deepest = -0.01
        for a, b in self.pairs[near]:
            request, result = self.coal.DistanceRequest(), self.coal.DistanceResult()
            one, two = (self.coal.Transform3s(places[k][:3, :3], places[k][:3, 3]) for k in (a, b))
            apart = self.coal.distance(self.shapes[a], one, self.shapes[b], two, request, result)
            deepest = max(deepest, -float(apart))
        return deepest


def radius_of(shape: mk.Shape) -> float:
    """The radius of the ball around the middle of a shape [m]."""
    match shape.kind:
        case "box":
            return 0.5 * float(np.linalg.norm(shape.size))
        case "sphere":
            return shape.size[0]
        case "capsule":
            return shape.size[0] + 0.5 * shape.size[1]
        case _:
            return float(np.hypot(shape.size[0], 0.5 * shape.size[1]))
