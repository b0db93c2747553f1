"""Balance: the centre of mass over a polygon of support."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from memetik.body import Body, Frame
from memetik.errors import ProblemError, shown
from memetik.geometry import translation
from memetik.geometry.checks import real_array, several
from memetik.kernels.terms.balance import BALANCE
from memetik.objectives.attributes import frozen_copy
from memetik.objectives.objective import Packer, Single, Target, checked_length
from memetik.types import Array

MOST_CORNERS = 16


class Balance(Single):
    """The centre of mass of the whole body stands over a polygon on the ground: its distance outside <= tolerance [m].

    polygon: points (k, 2) or (k, 3) in the world [m], of which x and y count, in any order: the corners of the soles.
    Their convex hull has 3 to 16 corners. Gravity pulls along -z. Assign another to step elsewhere.
    margin: how far inside the polygon the centre of mass stays [m].
    """

    def __init__(
        self, polygon: ArrayLike, *, margin: float = 0.0, tolerance: float | None = 1e-4, weight: float = 1.0,
        name: str | None = None, priority: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(weight=weight, tolerance=tolerance, name=name, priority=priority)
        self._support = Target(1 + 2 * MOST_CORNERS)
        self._margin = checked_length(margin, self.name, "margin")
        self.polygon = polygon

    @property
    def polygon(self) -> Array:
        """The convex polygon of support (k, 2) [m], anticlockwise; assign points to change it."""
        return frozen_copy(self._polygon)

    @polygon.setter
    def polygon(self, value: ArrayLike) -> None:
        self._settle(_convex(value, self.name), self._margin)

    @property
    def margin(self) -> float:
        """How far inside the polygon the centre of mass stays [m]; assign to change it."""
        return self._margin

    @margin.setter
    def margin(self, value: float) -> None:
        self._settle(self._polygon, checked_length(value, self.name, "margin"))

    def joints(self, body: Body) -> tuple[str, ...]:
        nodes = body.flatten([frame for frame, _ in masses_of(body)])[0].nodes
        moved = set(nodes["variable"].tolist())
        return tuple(name for k, name in enumerate(body.joint_names) if k in moved)

    def pack(self, packer: Packer) -> None:
        masses = masses_of(packer.body)
        whole = sum(mass for _, mass in masses)
        if whole == 0.0:
            raise ProblemError(
                f"{self.name}: body {packer.body.name!r} has no mass, so it has no centre of mass. "
                "Give its links masses."
            )
        rows = [packer.frame(frame) for frame, _ in masses]
        shares = [mass / whole for _, mass in masses]
        reach = sum(share * packer.reach(frame) for share, (frame, _) in zip(shares, masses, strict=True))
        packer.add(
            BALANCE, tolerance=self.tolerance, target=packer.target(self._support), count=len(masses), reach=reach,
            data=packer.numbers([number for pair in zip(rows, shares, strict=True) for number in pair]), more_frames=rows,
        )  # fmt: skip

    def target_rows(self, targets: ArrayLike) -> tuple[Array, Target]:
        steps = several(targets, ProblemError, f"{self.name}: many polygons", "an array of rows x k x 2")
        polygons = [_convex(polygon, self.name) for polygon in steps]
        return np.array([self._numbers(polygon, self._margin) for polygon in polygons]), self._support

    def _settle(self, polygon: Array, margin: float) -> None:
        self._support.assign(0, self._numbers(polygon, margin))
        self._polygon, self._margin = polygon, margin

    def _numbers(self, polygon: Array, margin: float) -> Array:
        """What is left of a polygon inside the margin, as kernels/terms/balance.py reads it."""
        kept = _shrink(polygon, margin)
        if len(kept) < 3:
            raise ProblemError(
                f"{self.name}: margin {margin:g} m leaves nothing of the polygon. Its widest circle has a radius of "
                f"{_widest(polygon):.3g} m; stay below."
            )
        numbers = np.zeros(1 + 2 * MOST_CORNERS)
        numbers[: 1 + kept.size] = len(kept), *kept.ravel()
        return numbers


def masses_of(body: Body) -> list[tuple[Frame, float]]:
    """The parts that move as one, each as a frame at its centre of mass and its mass [kg]."""
    carriers = body.flatten()[0].carriers
    parts: dict[int, list[str]] = {}
    for link in body.links.values():
        if link.mass > 0.0:
            parts.setdefault(carriers[link.name].node, []).append(link.name)
    masses = []
    for names in parts.values():
        node_from_part = carriers[names[0]].node_from_link
        moment, mass = np.zeros(4), 0.0
        for name in names:
            link = body.links[name]
            moment += link.mass * (carriers[name].node_from_link @ (*link.center_of_mass, 1.0))
            mass += link.mass
        center = np.linalg.solve(node_from_part, moment / mass)
        masses.append((Frame(names[0], translation(*center[:3])), mass))
    return masses


def _convex(value: ArrayLike, name: str) -> Array:
    """The convex hull of points, anticlockwise."""
    points = real_array(value, ProblemError, f"{name}: polygon must be points of two or three finite numbers")
    if points.ndim != 2 or points.shape[1] not in (2, 3) or not np.isfinite(points).all():
        raise ProblemError(f"{name}: polygon must be points of two or three finite numbers, not {shown(value)}.")
    hull = _hull(points[:, :2])
    if len(hull) < 3:
        raise ProblemError(f"{name}: polygon needs three corners that are not in one line, not {shown(value)}.")
    if len(hull) > MOST_CORNERS:
        raise ProblemError(f"{name}: polygon has {len(hull)} corners; give at most {MOST_CORNERS}.")
    return hull


def _hull(points: Array) -> Array:
    """Andrew's chain: walk the points from left to right and back, and drop whatever does not turn left."""
    ordered = np.unique(points, axis=0)
    if len(ordered) < 3:
        return ordered
    flat = 1e-12 * float(np.ptp(ordered, axis=0).max()) ** 2  # an area that counts as none
    hull: list[Array] = []
    for way in (ordered, ordered[::-1]):
        first = len(hull)
        for point in way:
            while len(hull) >= first + 2 and _area(hull[-2], hull[-1], point) <= flat:
                hull.pop()
            hull.append(point)
        hull.pop()  # the next way starts there
    return np.array(hull)


def _area(a: Array, b: Array, c: Array) -> float:
    """Twice the area of a triangle, positive if it turns left."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def _shrink(polygon: Array, margin: float) -> Array:
    """What lies at least `margin` inside every edge of a convex polygon; fewer than three points if nothing does."""
    kept = polygon
    for a, b in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
        along = (b - a) / math.hypot(*(b - a))
        depth = (kept - a) @ (-along[1], along[0]) - margin
        clipped = []
        for k in range(len(kept)):
            if depth[k - 1] * depth[k] < 0.0:  # this side of the polygon crosses the line
                share = depth[k - 1] / (depth[k - 1] - depth[k])
                clipped.append(kept[k - 1] + share * (kept[k] - kept[k - 1]))
            if depth[k] >= -1e-12:
                clipped.append(kept[k])
        kept = np.array(clipped).reshape(-1, 2)
    return _hull(kept)


def _widest(polygon: Array) -> float:
    """The radius of the widest circle in a polygon: the greatest margin that leaves something, by halving."""
    low, high = 0.0, float(np.ptp(polygon, axis=0).max())
    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if len(_shrink(polygon, middle)) >= 3 else (low, middle)
    return low
