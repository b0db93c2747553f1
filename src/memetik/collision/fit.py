"""The least solid of each kind around points, as rows of numbers (kernels/covers/solid_sizes.py)."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from memetik.collision.surface import Places, directions, outermost
from memetik.kernels.covers import fit as kernel
from memetik.kernels.covers import solid_sizes
from memetik.types import Array

Kinds = NDArray[np.int64]

KINDS = {
    "capsule": solid_sizes.CAPSULE,
    "sphere": solid_sizes.SPHERE,
    "box": solid_sizes.BOX,
    "cylinder": solid_sizes.CYLINDER,
}
TURNS = np.array([(0, 1, 2), (1, 2, 0), (2, 0, 1)])  # the axes of a frame, each as z once
WORTH = 1.6  # a solid that is larger by more than this than another around the same points is not tried in its place


class Effort:
    """How hard the least solid is sought: outermost points in so many directions, so many steps from so many starts."""

    def __init__(self, toward: int, steps: int, finalists: int) -> None:
        self.directions = directions(toward)
        self.noise = np.random.default_rng(0).normal(size=(steps, kernel.NOISE))
        self.finalists = finalists


# More steps or directions make covers little smaller and take longer in proportion.
QUICK, THOROUGH = Effort(100, 90, 1), Effort(300, 600, 4)


def least(points: Array, members: Places, kinds: Kinds, effort: Effort) -> Array:
    """The least solid of each kind around those points (n, 3) that `members` lists: a row each, which holds the
    outermost of them exactly and the others nearly."""
    outer = outermost(points, members, effort.directions)
    starts = _rotations(outer)
    best, trial = np.zeros((len(kinds), solid_sizes.SOLID_ROW)), np.zeros((2, solid_sizes.SOLID_ROW))
    volumes, local = np.zeros(len(starts)), np.zeros((len(outer), 2))
    for row, kind in zip(best, kinds.tolist(), strict=True):
        kernel.fit(kind, outer, starts, effort.noise, effort.finalists, row, trial, volumes, local)
    return best


def least_around_all(points: Array, kinds: Kinds) -> Array:
    """The least solid of each kind around all points (n, 3), a row each."""
    best = least(points, np.arange(len(points)), kinds, THOROUGH)
    local = np.zeros((len(points), 2))
    for row, kind in zip(best, kinds.tolist(), strict=True):
        solid_sizes.enclose(kind, points, row, local)
    return best


def choose(kinds: Kinds, parts: list[Array], counted: int) -> tuple[tuple[int, ...], float]:
    """For each part the place of its kind, so that the solids together are small, and their volume together.

    A capsule that bulges into its neighbour costs nothing there, so the least solid of a part is not always the best: each
    part tries other kinds, until no change helps. `counted`: points by which a union is judged.
    """
    chosen = [int(np.argmin(part[:, solid_sizes.VOLUME])) for part in parts]
    volume = _together(kinds, parts, chosen, counted)
    changed = len(parts) > 1
    while changed:
        changed = False
        for k, part in enumerate(parts):
            for kind in range(len(kinds)):
                if kind == chosen[k] or part[kind, solid_sizes.VOLUME] > WORTH * part[chosen[k], solid_sizes.VOLUME]:
                    continue
                trial = [*chosen[:k], kind, *chosen[k + 1 :]]
                tried = _together(kinds, parts, trial, counted)
                if tried < volume:
                    chosen, volume, changed = trial, tried, True
    return tuple(chosen), volume


def union(kinds: Kinds, rows: Array, counted: int) -> float:
    """The volume of solids together, whatever they share."""
    return float(solid_sizes.union_volume(kinds, np.ascontiguousarray(rows), _cube(counted)))


def _together(kinds: Kinds, parts: list[Array], chosen: list[int], counted: int) -> float:
    return union(kinds[chosen], np.array([part[k] for part, k in zip(parts, chosen, strict=True)]), counted)


def _rotations(points: Array) -> Array:
    """Rotations to begin with: the axes of the frame and the principal axes, each as z once."""
    offsets = points - points.mean(axis=0)
    _, axes = np.linalg.eigh(offsets.T @ offsets)
    if np.linalg.det(axes) < 0.0:
        axes = -axes
    return np.concatenate([frame[:, TURNS].swapaxes(0, 1) for frame in (np.eye(3), axes)])


@lru_cache
def _cube(count: int) -> Array:
    """Points that fill the cube from -1 to 1 evenly (Roberts 2018)."""
    root = 1.2207440846057596  # of x^4 = x + 1
    points: Array = 2.0 * ((0.5 + np.outer(np.arange(count), root ** -np.arange(1.0, 4.0))) % 1.0) - 1.0
    return points
