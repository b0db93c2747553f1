"""The camera of a picture: where it stands, and how the world falls onto the page."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from memetik.types import Array

DISTANCE = 5.0  # from the middle, in radii of what is seen: near enough for depth, far enough not to distort
SMALLEST = 0.05  # metres; a scene smaller than this, such as a single point, is shown at this size


class Camera(NamedTuple):
    """A perspective camera. Its axes, the rows of `axes`, are right, up and back (towards the viewer)."""

    axes: Array
    middle: Array  # the point it looks at [m]
    distance: float  # from there to the eye [m]
    zoom: float  # pixels for one metre at the middle
    center: Array  # where the middle falls on the page [pixels]

    def see(self, points: Array) -> Array:
        """Points (..., 3) in camera axes around the middle [m]; the third number grows towards the viewer."""
        return np.asarray((points - self.middle) @ self.axes.T)

    def scale(self, seen: Array) -> Array:
        """Pixels for one metre at seen points (..., 3)."""
        return np.asarray(self.zoom * self.distance / (self.distance - seen[..., 2]))

    def page(self, seen: Array) -> Array:
        """Seen points (..., 3) on the page [pixels], y down."""
        return np.asarray(self.center + seen[..., :2] * (1.0, -1.0) * self.scale(seen)[..., None])

    def project(self, points: Array) -> Array:
        """World points (..., 3) on the page [pixels]."""
        return self.page(self.see(points))


def look(points: Array, radii: Array, view: tuple[float, float], size: tuple[float, float], margins: Array) -> Camera:
    """The camera that sees all balls (points (n, 3), radii (n,)) as large as the page allows.

    It stands at `view`: azimuth in degrees from x towards y, elevation in degrees above the horizon. The
    page is `size` pixels, less `margins` (left, top, right, bottom).
    """
    azimuth, elevation = math.radians(view[0]), math.radians(view[1])
    sin_a, cos_a = math.sin(azimuth), math.cos(azimuth)
    sin_e, cos_e = math.sin(elevation), math.cos(elevation)
    right = [-sin_a, cos_a, 0.0]
    up = [-sin_e * cos_a, -sin_e * sin_a, cos_e]
    back = [cos_e * cos_a, cos_e * sin_a, sin_e]
    axes = np.array([right, up, back])
    low, high = (points - radii[:, None]).min(axis=0), (points + radii[:, None]).max(axis=0)
    middle = 0.5 * (low + high)
    radius = max(float(np.linalg.norm(high - low)) / 2.0, SMALLEST)
    rough = Camera(axes, middle, DISTANCE * radius, 1.0, np.zeros(2))
    seen = rough.see(points)
    on_page, reach = rough.page(seen), (radii * rough.scale(seen))[:, None]
    left_top, right_bottom = (on_page - reach).min(axis=0), (on_page + reach).max(axis=0)
    room = np.array(size) - margins[:2] - margins[2:]
    span = np.maximum(right_bottom - left_top, SMALLEST)
    zoom = float(np.min(room / span))
    center = margins[:2] + 0.5 * room - zoom * 0.5 * (left_top + right_bottom)
    return rough._replace(zoom=zoom, center=center)
