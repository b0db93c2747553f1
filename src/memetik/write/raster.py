"""Pictures as pixels, for .png and .gif: draws the part of SVG that this package writes, by Pillow and numpy."""

from __future__ import annotations

import io
import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memetik.errors import FormatError, MissingExtraError
from memetik.files import write_whole
from memetik.types import Array

__all__ = ["frames", "pixels", "require_pillow", "save"]

SHARP, FILM_SHARP = (
    3,
    2,
)  # pixels that are drawn for one of the picture, each way: Pillow draws edges without steps between
MOST = 5000  # pixels each way
ROUND = 64  # corners of a circle
WHITE = 255  # the place of white in the palette of a .gif
SHADES = 512  # steps of a gradient
LEAST_DURATION = 20  # ms for a frame of a .gif; browsers slow down what is faster

_SVG = "{http://www.w3.org/2000/svg}"
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_STEP = re.compile(rf"([MLHVAZmlhvaz])|({_NUMBER})")
_MOVE = re.compile(r"(\w+)\(([^)]*)\)")


def require_pillow() -> Any:
    """Pillow, or an error that says how to get it."""
    try:
        from PIL import Image
    except ImportError:
        raise MissingExtraError("pillow", "a picture as .png or .gif", extra="plots") from None
    return Image


def save(picture: str, file: Path) -> None:
    """Write an SVG picture as .png, with its transparent background, or a film as .gif, on white."""
    buffer = io.BytesIO()
    if file.suffix.lower() == ".png":
        pixels(picture).save(buffer, "PNG")
    else:
        seconds, images = frames(picture)
        first, *others = _indexed(images)
        duration = max(LEAST_DURATION, round(1000.0 * seconds / len(images)))
        first.save(buffer, "GIF", save_all=True, append_images=others, duration=duration, loop=0)
    write_whole(file, buffer.getvalue())


def pixels(picture: str) -> Any:
    """An SVG picture as an RGBA image of Pillow."""
    root = ET.fromstring(picture)
    return _drawn(root, _definitions(root), SHARP)


def frames(picture: str) -> tuple[float, list[Any]]:
    """The duration of a film [s] and its frames on white."""
    root = ET.fromstring(picture)
    definitions = _definitions(root)
    groups = [group for group in root if group.find(f"{_SVG}animate") is not None]
    if not groups:
        raise FormatError("a .gif is for a film, and this picture does not move. Name it .svg or .png.")
    change = groups[0].find(f"{_SVG}animate")
    assert change is not None
    image = require_pillow()
    images: dict[str, Any] = {}
    order = ["".join(ET.tostring(child, "unicode") for child in group if child.tag != change.tag) for group in groups]
    for group, content in zip(groups, order, strict=True):
        if content not in images:  # a halt is drawn once
            drawn = _drawn(root, definitions, FILM_SHARP, group)
            paper = image.new("RGBA", drawn.size, "white")
            paper.alpha_composite(drawn)
            images[content] = paper.convert("RGB")
    return float(change.get("dur", "1s").rstrip("s")), [images[content] for content in order]


def _indexed(images: list[Any]) -> list[Any]:
    """Images in 256 colours, the same for all so that nothing flickers, one of them the white of the paper."""
    image = require_pillow()
    palette = images[len(images) // 2].quantize(WHITE)
    colors = [*palette.getpalette()[: 3 * WHITE], *([0] * (3 * WHITE))][: 3 * WHITE] + [255] * 3
    indexed = []
    for each in images:
        places = np.array(each.quantize(palette=palette, dither=image.Dither.NONE))
        places[(np.asarray(each) == 255).all(axis=-1)] = WHITE
        indexed.append(image.fromarray(places))
        indexed[-1].putpalette(colors)
    return indexed


def _definitions(root: ET.Element) -> dict[str, ET.Element]:
    """Gradients and filters by the reference to them."""
    return {f"url(#{each.get('id')})": each for each in root.iterfind(f"{_SVG}defs/*")}


def _drawn(root: ET.Element, definitions: dict[str, ET.Element], sharp: int, frame: ET.Element | None = None) -> Any:
    """The picture, with one frame of a film."""
    width, height = (max(1, round(float(root.get(side, "0")))) for side in ("width", "height"))
    if max(width, height) > MOST:
        raise FormatError(f"a picture of {width} x {height} pixels is too large for .png and .gif. Write it as .svg.")
    canvas = _Canvas((sharp * width, sharp * height), definitions, sharp)
    for element in root:
        moves = element.find(f"{_SVG}animate") is not None
        if element is frame or not moves or (frame is None and element.get("display") != "none"):
            canvas.draw(element)
    return canvas.image.reduce(sharp)


# ---- Drawing -------------------------------------------------------------------------------------------------


class _Outline(NamedTuple):
    """Lines on the page, in the units of an element."""

    lines: list[Array]  # (n, 2) each
    closed: bool


class _Traces(NamedTuple):
    """What a pen goes over, in pixels that are drawn."""

    areas: list[Array]
    lines: list[Array] = []  # noqa: RUF012 - never changed
    width: float = 0.0  # of the lines
    caps: bool = False  # whether they end round

    def moved(self, by: NDArray[Any]) -> _Traces:
        """The same elsewhere."""
        return self._replace(areas=[each + by for each in self.areas], lines=[each + by for each in self.lines])

    def draw(self, pen: Any, color: Any) -> None:
        """Go over them with a pen."""
        for area in self.areas:
            pen.polygon(area.ravel().tolist(), fill=color)
        for line in self.lines:
            pen.line(line.ravel().tolist(), fill=color, width=max(1, round(self.width)), joint="curve")
            if self.caps and self.width > 2.0:
                r = 0.5 * self.width
                for x, y in (line[0], line[-1]):
                    pen.ellipse((x - r, y - r, x + r, y + r), fill=color)


class _Canvas:
    """An image and how elements are drawn on it."""

    def __init__(self, size: tuple[int, int], definitions: dict[str, ET.Element], sharp: int) -> None:
        from PIL import ImageDraw

        self.image = require_pillow().new("RGBA", size)
        self.pen = ImageDraw.Draw(self.image)
        self.definitions, self.sharp = definitions, sharp

    def draw(self, element: ET.Element) -> None:
        """Draw an element and all inside it."""
        tag = element.tag.removeprefix(_SVG)
        if tag == "g":
            opacity = float(element.get("opacity", "1"))
            layer = self if opacity == 1.0 else _Canvas(self.image.size, self.definitions, self.sharp)
            for child in element:
                layer.draw(child)
            if layer is not self:
                layer.image.putalpha(layer.image.getchannel("A").point(lambda value: round(value * opacity)))
                self.image.alpha_composite(layer.image)
        elif tag == "text":
            self._text(element)
        elif tag in _OUTLINES:
            self._shape(element, _OUTLINES[tag](element))

    def _shape(self, element: ET.Element, outline: _Outline) -> None:
        matrix = _matrix(element.get("transform", ""), self.sharp)
        lines = [line for line in outline.lines if len(line) > 1]
        if not lines:
            return
        corners = np.concatenate(lines)
        box = np.array([corners.min(axis=0), corners.max(axis=0)])
        seen = [line @ matrix[:, :2].T + matrix[:, 2] for line in lines]
        fill, stroke = element.get("fill", "#000"), element.get("stroke", "none")
        opacity = float(element.get("opacity", "1"))
        width = max(1.0, math.sqrt(abs(np.linalg.det(matrix[:, :2]))) * float(element.get("stroke-width", "1")))
        areas = _Traces([line for line in seen if len(line) > 2])
        paths = [np.vstack([line, line[:1]]) if outline.closed else line for line in seen]
        strokes = _Traces([], paths if stroke != "none" else [], width, element.get("stroke-linecap") == "round")
        if fill == stroke:  # as one: where both can be seen through, they must not darken each other
            self._paint(strokes._replace(areas=areas.areas), fill, matrix, box, opacity)
            return
        if fill != "none":
            soft = self.definitions.get(element.get("filter", ""))
            blur = 0.0 if soft is None else self.sharp * float(soft[0].get("stdDeviation", "0"))
            self._paint(areas, fill, matrix, box, opacity * float(element.get("fill-opacity", "1")), blur)
        self._paint(strokes, stroke, matrix, box, opacity)

    def _paint(self, traces: _Traces, paint: str, matrix: Array, box: Array, opacity: float, blur: float = 0.0) -> None:
        """Fill areas and draw lines, in one colour or by a gradient."""
        from PIL import ImageColor, ImageDraw, ImageFilter

        if not traces.areas and not traces.lines:
            return
        gradient = self.definitions.get(paint)
        if gradient is None and opacity == 1.0 and blur == 0.0:
            traces.draw(self.pen, (*ImageColor.getrgb(paint)[:3], 255))
            return
        points = np.concatenate([*traces.areas, *traces.lines])
        more = 0.5 * traces.width + 3.0 * blur + 1.0
        low = np.maximum(np.floor(points.min(axis=0) - more), 0).astype(int)
        high = np.minimum(np.ceil(points.max(axis=0) + more), self.image.size).astype(int)
        if (high <= low).any():
            return
        image = require_pillow()
        mask = image.new("L", tuple(int(n) for n in high - low))
        traces.moved(-low).draw(ImageDraw.Draw(mask), 255)
        if blur:
            mask = mask.filter(ImageFilter.GaussianBlur(blur))
        cover = np.asarray(mask)
        rows, columns = np.nonzero(cover)
        colors = np.zeros((*cover.shape, 4), np.uint8)
        if gradient is None:
            colors[rows, columns] = (*ImageColor.getrgb(paint)[:3], 255)
        else:
            places = np.column_stack([columns, rows]) + low + 0.5
            colors[rows, columns] = _gradient(gradient, places, matrix, box)
        alpha = opacity / 255.0 * colors[rows, columns, 3] * cover[rows, columns]
        colors[rows, columns, 3] = np.round(alpha).astype(np.uint8)
        self.image.alpha_composite(image.fromarray(colors), tuple(int(n) for n in low))

    def _text(self, element: ET.Element) -> None:
        from PIL import ImageFont

        font = ImageFont.load_default(self.sharp * float(element.get("font-size", "12")))
        across = {"middle": "m", "end": "r"}.get(element.get("text-anchor", ""), "l")
        anchor = across + ("m" if element.get("dominant-baseline") == "central" else "s")
        place = self.sharp * float(element.get("x", "0")), self.sharp * float(element.get("y", "0"))
        self.pen.text(place, element.text or "", fill=element.get("fill", "#000"), font=font, anchor=anchor)


def _gradient(gradient: ET.Element, places: Array, matrix: Array, box: Array) -> NDArray[np.uint8]:
    """The colours (n, 4) of a gradient at places (n, 2) on the page."""
    from PIL import ImageColor

    offsets = [float(stop.get("offset", "0")) for stop in gradient]
    stops = [
        [*ImageColor.getrgb(stop.get("stop-color", "#000"))[:3], 255.0 * float(stop.get("stop-opacity", "1"))]
        for stop in gradient
    ]
    if gradient.get("gradientUnits") == "userSpaceOnUse":
        page_from_gradient = _compose(matrix, _matrix(gradient.get("gradientTransform", "")))
    else:  # in units of the box around the shape
        spread = np.maximum(box[1] - box[0], 1e-9)
        page_from_gradient = _compose(matrix, np.column_stack([np.diag(spread), box[0]]))
    back = np.linalg.inv(page_from_gradient[:, :2])
    x, y = back @ (places - page_from_gradient[:, 2]).T

    def at(name: str, default: str) -> float:
        return float(gradient.get(name, default))

    if gradient.tag == f"{_SVG}radialGradient":
        share = np.hypot(x - at("cx", "0.5"), y - at("cy", "0.5")) / at("r", "0.5")
    else:
        x1, y1 = at("x1", "0"), at("y1", "0")
        dx, dy = at("x2", "1") - x1, at("y2", "0") - y1
        share = ((x - x1) * dx + (y - y1) * dy) / max(dx * dx + dy * dy, 1e-12)
    shades = np.linspace(0.0, 1.0, SHADES)
    table = np.column_stack([np.interp(shades, offsets, channel) for channel in zip(*stops, strict=True)])
    steps = np.clip(np.round(share * (SHADES - 1)), 0, SHADES - 1).astype(np.intp)
    colors: NDArray[np.uint8] = np.round(table).astype(np.uint8)[steps]
    return colors


# ---- Geometry ------------------------------------------------------------------------------------------------


def _compose(first: Array, second: Array) -> Array:
    return np.column_stack([first[:, :2] @ second[:, :2], first[:, :2] @ second[:, 2] + first[:, 2]])


def _matrix(text: str, scale: float = 1.0) -> Array:
    """The (2, 3) matrix of a `transform`, to the pixels that are drawn."""
    matrix = np.array([[scale, 0.0, 0.0], [0.0, scale, 0.0]])
    for name, inside in _MOVE.findall(text):
        numbers = [float(number) for number in re.findall(_NUMBER, inside)]
        if name == "translate":
            step = np.array([[1.0, 0.0, numbers[0]], [0.0, 1.0, numbers[1] if len(numbers) > 1 else 0.0]])
        elif name == "scale":
            step = np.array([[numbers[0], 0.0, 0.0], [0.0, numbers[-1], 0.0]])
        elif name == "rotate":
            c, s = math.cos(math.radians(numbers[0])), math.sin(math.radians(numbers[0]))
            step = np.array([[c, -s, 0.0], [s, c, 0.0]])
        else:
            a, b, c, d, e, f = numbers
            step = np.array([[a, c, e], [b, d, f]])
        matrix = _compose(matrix, step)
    return matrix


def _ellipse(element: ET.Element) -> _Outline:
    x, y = float(element.get("cx", "0")), float(element.get("cy", "0"))
    rx, ry = (float(element.get(name, element.get("r", "0"))) for name in ("rx", "ry"))
    angles = np.linspace(0.0, 2.0 * np.pi, ROUND, endpoint=False)
    return _Outline([np.column_stack([x + rx * np.cos(angles), y + ry * np.sin(angles)])], True)


def _polygon(element: ET.Element) -> _Outline:
    numbers = [float(number) for number in re.findall(_NUMBER, element.get("points", ""))]
    return _Outline([np.array(numbers).reshape(-1, 2)], True)


def _line(element: ET.Element) -> _Outline:
    x1, y1, x2, y2 = (float(element.get(name, "0")) for name in ("x1", "y1", "x2", "y2"))
    return _Outline([np.array([[x1, y1], [x2, y2]])], False)


def _path(element: ET.Element) -> _Outline:
    text = element.get("d", "")
    return _Outline([np.array(line) for line in _lines(text)], text.endswith(("Z", "z")))


def _lines(text: str) -> Iterator[list[tuple[float, float]]]:
    """The lines of a path; arcs as many short ones."""
    words = [name or float(number) for name, number in _STEP.findall(text)]
    line: list[tuple[float, float]] = []
    k, name = 0, "M"

    def take(count: int) -> list[Any]:
        nonlocal k
        k += count
        return words[k - count : k]

    while k < len(words):
        if isinstance(words[k], str):
            name = str(words[k])
            k += 1
            if name in "Zz":
                continue
        x, y = line[-1] if line else (0.0, 0.0)
        dx, dy = (x, y) if name.islower() else (0.0, 0.0)
        kind = name.upper()
        if kind == "M":
            if line:
                yield line
            a, b = take(2)
            line, name = [(dx + a, dy + b)], "l" if name == "m" else "L"
        elif kind == "L":
            a, b = take(2)
            line.append((dx + a, dy + b))
        elif kind == "H":
            line.append((dx + take(1)[0], y))
        elif kind == "V":
            line.append((x, dy + take(1)[0]))
        else:
            rx, ry, turn, large, sweep, a, b = take(7)
            line += _arc((x, y), (dx + a, dy + b), (rx, ry), turn, large != sweep, bool(sweep))
    if line:
        yield line


def _arc(
    start: tuple[float, float], end: tuple[float, float], radii: tuple[float, float], turn: float, left: bool, sweep: bool
) -> list[tuple[float, float]]:  # fmt: skip
    """Points on an elliptical arc, without its start (SVG 1.1, appendix F.6.5)."""
    rx, ry = radii
    if min(rx, ry) <= 0.0:
        return [end]
    c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    half = np.array([[c, s], [-s, c]]) @ (0.5 * (np.array(start) - end))
    long = math.hypot(half[0] / rx, half[1] / ry)
    if long > 1.0:  # radii that do not reach are stretched
        rx, ry, long = rx * long, ry * long, 1.0
    aside = math.sqrt(max(0.0, 1.0 / max(long, 1e-12) ** 2 - 1.0)) * (1.0 if left else -1.0)
    middle = aside * np.array([rx * half[1] / ry, -ry * half[0] / rx])
    first, last = (math.atan2((p[1] - middle[1]) / ry, (p[0] - middle[0]) / rx) for p in (half, -half))
    if sweep and last < first:
        last += 2.0 * math.pi
    elif not sweep and last > first:
        last -= 2.0 * math.pi
    angles = np.linspace(first, last, max(2, math.ceil(ROUND * abs(last - first) / (2.0 * math.pi)) + 1))[1:]
    local = middle + np.column_stack([rx * np.cos(angles), ry * np.sin(angles)])
    center = 0.5 * (np.array(start) + end)
    return [(float(x), float(y)) for x, y in local @ np.array([[c, s], [-s, c]]) + center]


_OUTLINES = {
    "circle": _ellipse, "ellipse": _ellipse, "polygon": _polygon, "line": _line, "path": _path,
}  # fmt: skip
