"""Triangles in a tree of boxes, as kernels/geometry/triangles.py reads them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memetik.types import Array

LEAF = 4  # triangles in a box before it is divided


def triangle_tree(corners: Array) -> Array:
    """The numbers of triangles (m, 3, 3) without their kind: how many boxes, the boxes, the triangles; none of them flat."""
    boxes, order = _box_tree(corners)
    edges = corners[:, 1:] - corners[:, :1]
    triangles = np.concatenate([corners[:, 0], edges.reshape(-1, 6)], axis=1)[order]
    return np.concatenate([[len(boxes)], np.ravel(boxes), triangles.ravel()])


def flat_triangles(corners: Array) -> NDArray[np.bool_]:
    """Which of triangles (m, 3, 3) have their corners in one line: no normal that is worth the name."""
    edges = corners[:, 1:] - corners[:, :1]
    area = np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1)  # twice
    return np.asarray(area <= 1e-12 * np.square(edges).sum(axis=(1, 2)))


def _box_tree(corners: Array) -> tuple[list[list[float]], NDArray[np.int64]]:
    """Boxes around triangles (m, 3, 3), each divided at the median of its longest side, in depth-first order.

    Returns the boxes, and the order in which they hold the triangles.
    """
    low, high, middle = corners.min(axis=1), corners.max(axis=1), corners.mean(axis=1)
    boxes: list[list[float]] = []
    order: list[int] = []

    def divide(items: NDArray[np.int64]) -> None:
        leaf = len(items) <= LEAF
        box = [*low[items].min(axis=0), *high[items].max(axis=0), 0.0, len(order), len(items) if leaf else 0]
        boxes.append(box)
        if leaf:
            order.extend(items.tolist())
        else:
            axis = int(np.ptp(middle[items], axis=0).argmax())
            half = len(items) // 2
            parted = items[np.argpartition(middle[items, axis], half)]
            divide(parted[:half])
            divide(parted[half:])
        box[6] = len(boxes)  # where to go on if the box is skipped

    divide(np.arange(len(corners)))
    return boxes, np.array(order)
