"""What surrounds a body in its picture: ground, shadow, targets, the axes of the world."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from memetik.types import Array
from memetik.write.camera import Camera
from memetik.write.colors import AXIS_COLORS, GREY, TARGET
from memetik.write.solids import CIRCLE, THIN, Solid
from memetik.write.svg import Definitions, element, number, points, text

Point = Sequence[float]

CELLS = 7  # about so many cells of the grid under the body


def ground(
    camera: Camera, height: float, extent: float, size: tuple[float, float], definitions: Definitions, unit: float
) -> str:
    """A round grid at this height [m] around the middle of the picture, fading outwards.

    `extent` is half the size of the body [m]; the cells are 1, 2 or 5 times a power of ten wide.
    """
    cell, radius = nice(2.0 * extent / CELLS), 1.5 * extent
    middle = camera.middle[:2]
    path = ""
    for across, along in ((0, 1), (1, 0)):  # lines of equal x, then of equal y
        first, last = (middle[across] - radius) / cell, (middle[across] + radius) / cell
        for k in range(math.ceil(first), math.floor(last) + 1):
            half = math.sqrt(max(0.0, radius**2 - (k * cell - middle[across]) ** 2))
            ends = np.full((2, 3), height)
            ends[:, across] = k * cell
            ends[:, along] = middle[along] - half, middle[along] + half
            line = clip(camera.project(ends), size)
            path += f"M{points(line)}" if line is not None else ""
    seen = camera.see(np.array([*middle, height]))
    wide = radius * float(camera.scale(seen))
    flat = wide * max(0.03, abs(float(camera.axes[2, 2])))  # a circle on the ground, as high as it is seen
    fade = definitions.gradient(
        "radialGradient",
        [(0.0, GREY, 0.62), (0.45, GREY, 0.42), (1.0, GREY, 0.0)],
        gradientUnits="userSpaceOnUse",
        gradientTransform=f"translate({points([camera.page(seen)])})scale({number(wide)} {number(flat)})",
        cx=0,
        cy=0,
        r=1,
    )
    return element("path", d=path, fill="none", stroke=fade, stroke_width=unit)


def shadow(camera: Camera, height: float, solids: Iterable[Solid], definitions: Definitions, unit: float) -> str:
    """The solids seen from straight above, as one soft dark patch on the ground."""
    path = ""
    for solid in solids:
        centers, radii = solid.balls()
        if 0.0 < radii[0] * camera.zoom < THIN:
            continue  # the shadow of a thread would be lost in the blur
        rims = centers[:, None, :2] + radii[:, None, None] * CIRCLE
        outline = hull(rims.reshape(-1, 2))
        on_page = camera.project(np.column_stack([outline, np.full(len(outline), height)]))
        path += f"M{points(on_page)}Z"
    if not path:
        return ""
    blur = element("feGaussianBlur", stdDeviation=5.0 * unit)
    soft = definitions.add("filter", blur, x="-10%", y="-20%", width="120%", height="140%")
    return element("path", d=path, fill="#10141f", fill_opacity=0.2, filter=soft)


def target(camera: Camera, world_from_target: Array, oriented: bool, length: float, unit: float) -> str:
    """A ring around the place to reach, with the three axes of a pose, each `length` [m]."""
    x, y = camera.project(world_from_target[:3, 3])
    ring = element("circle", cx=x, cy=y, r=9.0 * unit, fill="none", stroke=TARGET, stroke_width=2.0 * unit)
    axes = triad(camera, world_from_target, length, 2.4 * unit) if oriented else ""
    return ring + axes + element("circle", cx=x, cy=y, r=2.6 * unit, fill=TARGET)


def triad(camera: Camera, world_from_frame: Array, length: float, line: float) -> str:
    """The axes of a frame as arrows, x red, y green, z blue, the nearest on top."""
    start = camera.project(world_from_frame[:3, 3])
    tips = camera.see(world_from_frame[:3, 3] + length * world_from_frame[:3, :3].T)
    ends = camera.page(tips)
    order = np.argsort(tips[:, 2], kind="stable").tolist()
    return "".join(arrow(start, ends[k], line, AXIS_COLORS[k]) for k in order)


def compass(camera: Camera, size: tuple[float, float], unit: float) -> str:
    """The axes of the world in the lower left corner, with their letters."""
    start = np.array([60.0 * unit, size[1] - 60.0 * unit])
    style: dict[str, str | float] = {"text_anchor": "middle", "dominant_baseline": "central"}
    svg = ""
    for k in np.argsort(camera.axes[2], kind="stable").tolist():
        step = 34.0 * unit * camera.axes[:2, k] * (1.0, -1.0)
        # The letter stands beyond the arrow, but an axis that points at the viewer hardly has a beyond.
        x, y = start + step * (1.0 + 11.0 * unit / max(math.hypot(*step), 11.0 * unit))
        svg += arrow(start, start + step, 2.0 * unit, AXIS_COLORS[k])
        svg += text("xyz"[k], x=x, y=y, fill=AXIS_COLORS[k], font_size=13.0 * unit, **style)
    return svg


def arrow(start: Array, end: Array, line: float, color: str) -> str:
    """A line with a head at its end; a dot if it points at the viewer."""
    length = math.dist(start, end)
    (x1, y1), (x2, y2) = start, end
    if length < line:
        return element("circle", cx=x2, cy=y2, r=line, fill=color)
    head = min(4.0 * line, 0.6 * length)
    along = (end - start) / length
    aside = 0.45 * head * np.array([-along[1], along[0]])
    x2, y2 = neck = end - head * along
    tip = points([end, neck + aside, neck - aside])
    style: dict[str, str | float] = {"stroke": color, "stroke_width": line, "stroke_linecap": "round"}
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, **style) + element("polygon", points=tip, fill=color)


# ---- Plane geometry ----------------------------------------------------------------------------------------


def nice(length: float) -> float:
    """The nearest of 1, 2, 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(length))
    steps = (power, 2.0 * power, 5.0 * power, 10.0 * power)
    return min(steps, key=lambda step: abs(math.log(step / length)))


def clip(segment: Array, size: tuple[float, float]) -> Array | None:
    """The part of a segment (2, 2) that lies on the page, or None (Liang and Barsky 1984)."""
    start, step = segment[0], segment[1] - segment[0]
    enter, leave = 0.0, 1.0
    for k in range(2):
        for slope, room in ((-step[k], start[k]), (step[k], size[k] - start[k])):
            if slope == 0.0 and room < 0.0:
                return None
            if slope < 0.0:
                enter = max(enter, room / slope)
            elif slope > 0.0:
                leave = min(leave, room / slope)
    return np.array([start + enter * step, start + leave * step]) if enter < leave else None


def hull(xy: Array) -> list[Point]:
    """The convex hull of points (n, 2), anticlockwise (Andrew 1979)."""
    ordered = sorted({(x, y) for x, y in xy.tolist()})
    lower, upper = _half(ordered), _half(ordered[::-1])
    return [*lower[:-1], *upper[:-1]] or list(ordered)


def _half(ordered: Iterable[Point]) -> list[Point]:
    chain: list[Point] = []
    for c in ordered:
        while len(chain) > 1:
            a, b = chain[-2:]
            if (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) > 0.0:
                break
            chain.pop()
        chain.append(c)
    return chain
