"""The values of wishes: what a file may hold in each field, and what an objective takes for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import memetik as mk
from memetik.errors import FormatError, shown

MOST_NUMBERS = 200_000  # in one list; a terrain of 400 x 400 corners
LARGEST = 1e6  # m or rad; anything beyond is a slip


@dataclass(frozen=True)
class Field:
    """One value of a kind of wish.

    type: a name in TYPES; default: what a new wish has, None where it must be given or is not wanted.
    parameter: of the constructor, where it has another name than the field in files.
    """

    name: str
    type: str
    default: Any = None
    choices: tuple[str, ...] = ()
    optional: bool = False  # None is a value: no frame to ride on, no tolerance
    parameter: str = ""


def check(field: Field, value: Any, where: str) -> Any:
    """The value, if it can be one of this field, in plain lists and numbers."""
    if value is None:
        if field.optional:
            return None
        raise FormatError(f"{where}: {field.name} is missing.")
    if field.choices and not (isinstance(value, str) and value in field.choices):
        raise FormatError(f"{where}: {field.name} is {shown(value)}. Write one of {', '.join(field.choices)}.")
    return TYPES[field.type][0](value, f"{where}: {field.name}")


def argument(field: Field, value: Any, body: mk.Body) -> Any:
    """What an objective takes for a checked value."""
    convert = TYPES[field.type][1]
    return value if value is None or convert is None else convert(value, body)


# ---- What a file may hold ------------------------------------------------------------------------------------


def number(value: Any, where: str) -> float:
    """One finite number of a sensible size."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise FormatError(f"{where} is {shown(value)}, not a number.")
    if not abs(value) <= LARGEST:  # NaN is not either
        raise FormatError(f"{where} is {shown(value)}; write a finite number up to {LARGEST:g}.")
    return float(value)


def whole(value: Any, where: str) -> int:
    """One whole number of a sensible size; pages send 2.0 for 2."""
    given = number(value, where)
    if given != round(given):
        raise FormatError(f"{where} is {shown(value)}; write a whole number.")
    return int(given)


def numbers(value: Any, where: str, count: int | None = None) -> list[float]:
    """A list of numbers, `count` of them if given."""
    if not isinstance(value, (list, tuple)) or (count is not None and len(value) != count):
        wanted = "numbers" if count is None else f"{count} numbers"
        raise FormatError(f"{where} is {shown(value)}; write a list of {wanted}.")
    if len(value) > MOST_NUMBERS:
        raise FormatError(f"{where} has {len(value)} entries, more than {MOST_NUMBERS}.")
    # Which entry it is is only written where it is not a float that may stay.
    return [
        each if type(each) is float and -LARGEST <= each <= LARGEST else number(each, f"{where}, entry {k + 1},")
        for k, each in enumerate(value)
    ]


def text(value: Any, where: str) -> str:
    """A text of at most 200 characters."""
    if not isinstance(value, str) or not value.strip() or len(value) > 200:
        raise FormatError(f"{where} is {shown(value)}; write a text of 1 to 200 characters.")
    if not value.isascii() and any(
        "\ud800" <= letter <= "\udfff" for letter in value
    ):  # halves of characters, which no terminal can show
        raise FormatError(f"{where} is {shown(value)}, which has half a character in it. Write it anew.")
    return value


def texts(value: Any, where: str) -> list[str]:
    """A list of texts."""
    if not isinstance(value, (list, tuple)) or len(value) > 10_000:
        raise FormatError(f"{where} is {shown(value)}; write a list of names.")
    return [text(each, f"{where}, entry {k + 1},") for k, each in enumerate(value)]


def flag(value: Any, where: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise FormatError(f"{where} is {shown(value)}; write true or false.")
    return value


def by_name(value: Any, where: str) -> dict[str, float]:
    """Numbers by name, for example {"elbow": 0.5}."""
    if not isinstance(value, Mapping) or len(value) > 10_000:
        raise FormatError(f'{where} is {shown(value)}; write {{"joint": number, ...}}.')
    return {text(name, where): number(each, f"{where} of {name!r}") for name, each in value.items()}


def keys(value: Any, where: str, known: Sequence[str]) -> dict[str, Any]:
    """A JSON object with no other keys than these."""
    if not isinstance(value, Mapping):
        raise FormatError(f"{where} is {shown(value)}; write an object with {', '.join(known)}.")
    for key in value:
        if key not in known:
            raise FormatError(f"{where}: {key!r} is unknown. It can have: {', '.join(known)}.")
    return dict(value)


def _frame(value: Any, where: str) -> Any:
    if isinstance(value, str):
        return text(value, where)
    given = keys(value, where, ("link", "position", "wxyz"))
    frame: dict[str, Any] = {"link": text(given.get("link"), f"{where}, link")}
    if "position" in given:
        frame["position"] = numbers(given["position"], f"{where}, position", 3)
    if "wxyz" in given:
        frame["wxyz"] = quaternion(given["wxyz"], f"{where}, wxyz")
    return frame


def quaternion(value: Any, where: str) -> list[float]:
    """Four numbers w, x, y, z that are not all zero, normalised."""
    wxyz = numbers(value, where, 4)
    length = math.hypot(*wxyz)
    if length < 1e-9:
        raise FormatError(f"{where} is zero, which is no rotation. Write w, x, y, z, for example [1, 0, 0, 0].")
    # A quaternion that is one already is kept to the last bit, so that a saved scene is the same when it comes back.
    return wxyz if abs(length - 1.0) < 1e-12 else [each / length for each in wxyz]


def _direction(value: Any, where: str) -> list[float]:
    direction = numbers(value, where, 3)
    if math.hypot(*direction) < 1e-9:
        raise FormatError(f"{where} has no length. Write a direction, for example [0, 0, 1].")
    return direction


def _rows(*widths: int) -> Callable[[Any, str], list[list[float]]]:
    def check_rows(value: Any, where: str) -> list[list[float]]:
        if not isinstance(value, (list, tuple)) or len(value) > 10_000:
            raise FormatError(f"{where} is {shown(value)}; write a list of rows of {widths[-1]} numbers.")
        rows = [numbers(row, f"{where}, row {k + 1}") for k, row in enumerate(value)]
        for k, row in enumerate(rows):
            if len(row) not in widths:
                raise FormatError(f"{where}, row {k + 1} has {len(row)} numbers; write {widths[-1]}.")
        return rows

    return check_rows


_SURFACES = {"ground": ("point", "normal"), "height field": ("heights", "spacing", "origin")}


def _surface(value: Any, where: str) -> dict[str, Any]:
    given = keys(value, where, ("kind", "point", "normal", "heights", "spacing", "origin"))
    kind = given.get("kind")
    if not isinstance(kind, str) or kind not in _SURFACES:
        raise FormatError(f"{where}: kind is {shown(kind)}. Write one of {', '.join(_SURFACES)}.")
    keys(given, where, ("kind", *_SURFACES[kind]))
    if kind == "ground":
        point = numbers(given.get("point", (0.0, 0.0, 0.0)), f"{where}, point", 3)
        return {"kind": kind, "point": point, "normal": _direction(given.get("normal", (0, 0, 1)), f"{where}, normal")}
    heights = given.get("heights")
    if not isinstance(heights, (list, tuple)) or len(heights) > 1_000:
        raise FormatError(f"{where}: heights is {shown(heights)}; write a list of rows of numbers.")
    rows = [numbers(row, f"{where}, heights, row {k + 1}") for k, row in enumerate(heights)]
    if len({len(row) for row in rows}) != 1 or sum(map(len, rows)) > MOST_NUMBERS:
        raise FormatError(f"{where}: the rows of heights must be equally long, with {MOST_NUMBERS} numbers at most.")
    spacing = number(given.get("spacing", 1.0), f"{where}, spacing")
    origin = numbers(given.get("origin", (0.0, 0.0)), f"{where}, origin", 2)
    return {"kind": kind, "heights": rows, "spacing": spacing, "origin": origin}


# ---- What an objective takes ---------------------------------------------------------------------------------


def frame_of(value: Any, body: mk.Body) -> mk.Frame:
    """The frame that a value of the type "frame" means."""
    if isinstance(value, str):
        return body.frame(value)
    offset = mk.transform(value.get("position", (0.0, 0.0, 0.0)), value.get("wxyz"))
    return body.frame(value["link"], offset)


def surface_of(
    value: Mapping[str, Any], body: mk.Body | None = None
) -> mk.objectives.Ground | mk.objectives.HeightField:
    """The surface that a value of the type "surface" means."""
    if value["kind"] == "ground":
        return mk.objectives.Ground(value["point"], value["normal"])
    return mk.objectives.HeightField(value["heights"], spacing=value["spacing"], origin=value["origin"])


# For every type: what checks a value, and what turns it into an argument (None: nothing does).
TYPES: dict[str, tuple[Callable[[Any, str], Any], Callable[[Any, mk.Body], Any] | None]] = {
    "frame": (_frame, frame_of),
    "point": (lambda value, where: numbers(value, where, 3), None),
    "direction": (_direction, None),
    "rotation": (quaternion, lambda value, _: np.array(value)),
    "number": (number, None),
    "whole": (whole, None),
    "text": (text, None),
    "joint": (text, None),
    "links": (texts, None),
    "flag": (flag, None),
    "weights": (by_name, None),
    "posture": (by_name, lambda value, body: body.vector(value)),
    "points": (_rows(2, 3), None),
    "spheres": (_rows(4), lambda value, _: np.array(value).reshape(-1, 4)),
    "surface": (_surface, surface_of),
}
