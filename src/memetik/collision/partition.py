"""Parts of a surface, cut by planes, so that the least solids around them are small together."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np

from memetik.collision.fit import QUICK, Kinds, choose, least
from memetik.collision.surface import Places, samples, split
from memetik.kernels.covers.solid_sizes import TURN, VOLUME
from memetik.types import Array

# More places, partitions or moves make covers little smaller and take longer in proportion.
OFFSETS = np.linspace(0.0, 1.0, 9)[1:-1]  # where planes cut a part, as shares of its extent
BEAM = 3  # partitions that are divided further
MOVES = 24  # by which planes are improved
STEP, GROW, SHRINK = 0.06, 1.4, 0.92  # of a move, as in kernels/covers/fit.py
FLATTEST = 1e-6  # volume that three unit normals span, below which their planes meet nowhere near
FEWEST = 4  # points of a part
COUNTED = 512  # points by which unions are compared


class Plane(NamedTuple):
    """Divides part `part`: what lies above normal · x = offset becomes a new part, the last one."""

    part: int
    normal: Array
    offset: float


class Part(NamedTuple):
    """Some of the points that stand for the surface, and the least solid of each kind around them."""

    points: Places
    solids: Array


class Partition(NamedTuple):
    """Parts, the planes that made them one after the other, and the volume of their solids together."""

    planes: tuple[Plane, ...]
    parts: tuple[Part, ...]
    volume: float

    def cut(self, triangles: Array) -> list[Array]:
        """The triangles (n, 3, 3) of each part; those that a plane crosses are cut there."""
        parts = [triangles]
        for plane in self.planes:
            parts[plane.part], above = split(parts[plane.part], plane.normal, plane.offset)
            parts.append(above)
        return parts


class Divider:
    """Finds partitions of one surface: divides the best few again and again, then moves and tilts their planes."""

    def __init__(self, triangles: Array, kinds: Kinds) -> None:
        self._kinds = kinds
        self._points = samples(triangles)
        self._size = float(np.ptp(self._points, axis=0).max())
        self._middle = self._points.mean(axis=0)
        self._halves: dict[int, tuple[Part, list[tuple[Plane, Part, Part]]]] = {}  # of parts, by their id

    def partitions(self, most: int) -> list[Partition]:
        """The best partition found into 1, 2, ... up to `most` parts; fewer if the surface cannot be divided."""
        beam = [self._judged((), (self._part(np.arange(len(self._points))),))]
        found = beam[:]
        for _ in range(most - 1):
            further = [divided for partition in beam for divided in self._divided(partition)]
            if not further:
                break
            further.sort(key=lambda partition: partition.volume)
            beam = further[:BEAM]
            found.append(self._improved(beam[0]))
        return found

    def _part(self, points: Places) -> Part:
        return Part(points, least(self._points, points, self._kinds, QUICK))

    def _judged(self, planes: tuple[Plane, ...], parts: tuple[Part, ...]) -> Partition:
        return Partition(planes, parts, choose(self._kinds, [part.solids for part in parts], COUNTED)[1])

    def _divided(self, partition: Partition) -> Iterator[Partition]:
        for k, part in enumerate(partition.parts):
            for plane, below, above in self._in_two(part):
                parts = (*partition.parts[:k], below, *partition.parts[k + 1 :], above)
                yield self._judged((*partition.planes, plane._replace(part=k)), parts)

    def _in_two(self, part: Part) -> list[tuple[Plane, Part, Part]]:
        """The part cut across each axis of its least solid, in several places; made once."""
        if id(part) not in self._halves:
            made: list[tuple[Plane, Part, Part]] = []
            turn = part.solids[np.argmin(part.solids[:, VOLUME]), TURN : TURN + 9].reshape(3, 3)
            for normal in turn.T:
                heights = self._points[part.points] @ normal
                for offset in (heights.min() + OFFSETS * np.ptp(heights)).tolist():
                    up = heights > offset
                    if min(np.count_nonzero(up), np.count_nonzero(~up)) >= FEWEST:
                        below, above = (self._part(part.points[side]) for side in (~up, up))
                        made.append((Plane(0, normal, offset), below, above))
            self._halves[id(part)] = part, made  # the part is kept with them, so that its id stays its own
        return self._halves[id(part)][1]

    def _improved(self, partition: Partition) -> Partition:
        """With its planes moved and tilted a little, one at a time, where it helps."""
        random, step = np.random.default_rng(0), STEP
        for _ in range(MOVES):
            k = int(random.integers(len(partition.planes)))
            part, normal, offset = partition.planes[k]
            tilted = normal + step * random.normal(size=3)
            tilted /= np.linalg.norm(tilted)
            moved = offset + (tilted - normal) @ self._middle + step * self._size * random.normal()
            plane = Plane(part, tilted, float(moved))
            trial = self._divided_by((*partition.planes[:k], plane, *partition.planes[k + 1 :]), partition.parts)
            if trial is not None and trial.volume < partition.volume:
                partition, step = trial, GROW * step
            else:
                step *= SHRINK
        return partition

    def _divided_by(self, planes: tuple[Plane, ...], before: tuple[Part, ...]) -> Partition | None:
        """The parts that planes make, those that are as before taken from there; None if one has too few points."""
        parts = [np.arange(len(self._points))]
        for plane in planes:
            own = parts[plane.part]
            up = self._points[own] @ plane.normal > plane.offset
            parts[plane.part] = own[~up]
            parts.append(own[up])
        if min(map(len, parts)) < FEWEST:
            return None
        pairs = zip(before, parts, strict=True)
        made = (old if np.array_equal(old.points, own) else self._part(own) for old, own in pairs)
        return self._judged(planes, tuple(made))


def corners(planes: tuple[Plane, ...], triangles: Array) -> list[Array]:
    """For each part the points where three planes around it meet, as far as they may lie inside the body: (n, 3).

    A closed surface is the border of a solid. What a plane cuts off a solid lies in the convex hull of the surface that it
    cuts off, for the rim of the cut lies on the surface; so does what two planes cut off. Only where three meet is a point
    that may lie in the solid and outside the hull. It is kept if it is in the box around the surface.
    """
    sides: list[list[tuple[Array, float]]] = [[]]  # of each part the half-spaces normal · x <= offset that it lies in
    for plane in planes:
        own = sides[plane.part]
        sides.append([*own, (-plane.normal, -plane.offset)])
        sides[plane.part] = [*own, (plane.normal, plane.offset)]
    low, high = triangles.min(axis=(0, 1)), triangles.max(axis=(0, 1))
    found = []
    for around in sides:
        points = []
        for three in combinations(around, 3):
            normals, offsets = np.array([normal for normal, _ in three]), np.array([offset for _, offset in three])
            if abs(np.linalg.det(normals)) > FLATTEST:
                point = np.linalg.solve(normals, offsets)
                within = all(normal @ point <= offset + FLATTEST for normal, offset in around)
                if within and (point >= low).all() and (point <= high).all():
                    points.append(point)
        found.append(np.array(points).reshape(-1, 3))
    return found
