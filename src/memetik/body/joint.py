"""Joints: what moves one link against another, and the single motions every kind is made of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from memetik.body.frozen import frozen
from memetik.errors import BodyError, GeometryError, shown
from memetik.geometry import as_transform, axis_angle, between
from memetik.geometry.checks import real_array, real_number, text
from memetik.types import Array


class Motion(NamedTuple):
    """One scalar degree of freedom: a turn about an axis, a slide along it, or both at once (screw)."""

    suffix: str  # ends the variable's name; empty for joints of one degree of freedom
    axis: Array  # unit vector in the joint frame
    turns: bool
    pitch: float  # metres along the axis for each unit of the variable: 0 turn, 1 slide, m/rad screw


class Mimic(NamedTuple):
    """value = multiplier * value of `source` + offset; the source is a variable, which may itself mimic another."""

    source: str
    multiplier: float = 1.0
    offset: float = 0.0


# How many scalar variables each kind has.
KINDS: dict[str, int] = {
    "fixed": 0,
    "revolute": 1,
    "continuous": 1,
    "prismatic": 1,
    "screw": 1,
    "cylindrical": 2,
    "planar": 3,
    "spherical": 3,
    "xyz": 3,
    "floating": 6,
}

_UNIT = {letter: frozen(row.copy()) for letter, row in zip("xyz", np.eye(3), strict=True)}
_SLIDES = tuple(Motion(f".{a}", _UNIT[a], False, 1.0) for a in "xyz")


@dataclass(frozen=True, eq=False)
class Joint:
    """One joint of a body.

    The child's pose is `parent_from_child = origin @ motion(values)`, where the motion is about `axis`, written in the
    joint frame:

    - revolute, continuous: turn about the axis [rad]; continuous has no limits
    - prismatic: slide along the axis [m]
    - screw: turn about the axis [rad] and slide `pitch` [m/rad] times the angle along it
    - cylindrical: `.turn` about and `.slide` along the same axis
    - planar: `.x`, `.y` in the plane normal to the axis, then `.turn` about the axis
    - spherical: three turns about moving axes in `order`, "zxy" unless told otherwise: R = Rz Rx Ry
    - xyz: three slides along the axes of the joint frame
    - floating: xyz, then spherical

    Limits, velocities [rad/s, m/s] and accelerations are one number, or one for each degree of freedom in the order
    above. A joint with `mimic` has no variable of its own.
    """

    name: str
    kind: str
    parent: str
    child: str
    origin: Array = field(default_factory=lambda: np.eye(4))
    axis: Array = field(default_factory=lambda: _UNIT["z"])
    lower: tuple[float, ...] = ()
    upper: tuple[float, ...] = ()
    velocity: tuple[float, ...] = ()
    acceleration: tuple[float, ...] = ()
    mimic: Mimic | None = None
    pitch: float = 0.0
    order: str = "zxy"

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise BodyError("a joint has no name. Give every joint a name of its own.")
        where = f"joint {self.name!r}"
        if not isinstance(self.kind, str) or self.kind not in KINDS:
            raise BodyError(f"{where} is of unknown kind {shown(self.kind)}. The kinds are: {', '.join(KINDS)}.")
        for role, link in (("parent", self.parent), ("child", self.child)):
            text(link, BodyError, f"{where}: its {role}")
        if not isinstance(self.order, str) or sorted(self.order) != ["x", "y", "z"]:
            raise BodyError(
                f"{where}: rotation order {shown(self.order)} is not a permutation of 'xyz'. Write for example 'zxy'."
            )
        pitch = real_number(self.pitch, BodyError, f"{where}: pitch")
        if not math.isfinite(pitch):
            raise BodyError(f"{where}: pitch is {pitch}. Give metres along the axis per radian.")
        if self.mimic is not None and not isinstance(self.mimic, Mimic):
            raise BodyError(f"{where}: mimic is {shown(self.mimic)}. Give mk.Mimic(source, multiplier, offset).")
        if self.mimic is not None and self.dof != 1:
            raise BodyError(f"{where}: a {self.kind} joint cannot mimic; only joints of one degree of freedom can.")
        set_field = object.__setattr__  # the dataclass is frozen; this is its constructor
        set_field(self, "pitch", pitch)
        if self.mimic is not None:
            source = text(self.mimic.source, BodyError, f"{where}: the source of its mimic")
            numbers = [
                real_number(number, BodyError, f"{where}: mimic multiplier or offset") for number in self.mimic[1:]
            ]
            if not all(map(math.isfinite, numbers)):
                raise BodyError(f"{where}: mimic multiplier and offset must be finite, not {self.mimic[1:]}.")
            set_field(self, "mimic", Mimic(source, *numbers))
        try:
            set_field(self, "origin", frozen(as_transform(self.origin)))
        except GeometryError as error:
            raise BodyError(f"{where}: bad origin: {error}") from error
        set_field(self, "axis", _unit_axis(self.axis, where))
        free = self.kind == "continuous"
        set_field(self, "lower", _per_dof(self.lower, self.dof, -math.inf, where, "lower limit"))
        set_field(self, "upper", _per_dof(self.upper, self.dof, math.inf, where, "upper limit"))
        set_field(self, "velocity", _per_dof(self.velocity, self.dof, math.inf, where, "velocity limit"))
        set_field(self, "acceleration", _per_dof(self.acceleration, self.dof, math.inf, where, "acceleration limit"))
        for low, high in zip(self.lower, self.upper, strict=True):
            if low > high:
                raise BodyError(f"{where}: lower limit {low:g} is above upper limit {high:g}. Swap or correct them.")
            if low == math.inf or high == -math.inf:
                raise BodyError(f"{where}: no value lies between the limits {low:g} and {high:g}.")
            if free and (low, high) != (-math.inf, math.inf):
                raise BodyError(f"{where} is continuous and cannot have limits. Make it revolute, or drop them.")
        for speed in self.velocity + self.acceleration:
            if speed < 0.0:
                raise BodyError(f"{where}: a velocity or acceleration limit is negative ({speed:g}).")

    @property
    def dof(self) -> int:
        """How many scalar variables the kind has (a mimic joint still counts as one here)."""
        return KINDS[self.kind]

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the scalar variables: the joint's own name, or `name.suffix` for several."""
        return tuple(self.name + motion.suffix for motion in self.motions())

    def motions(self) -> tuple[Motion, ...]:
        """The joint as single motions, first to last: parent_from_child = origin * motion_1 * motion_2 ..."""
        match self.kind:
            case "revolute" | "continuous":
                return (Motion("", self.axis, True, 0.0),)
            case "prismatic":
                return (Motion("", self.axis, False, 1.0),)
            case "screw":
                return (Motion("", self.axis, True, self.pitch),)
            case "cylindrical":
                return (Motion(".turn", self.axis, True, 0.0), Motion(".slide", self.axis, False, 1.0))
            case "planar":
                # The shortest turn that takes z to the normal carries x and y into the plane.
                x, y, _ = between(_UNIT["z"], self.axis).T
                return (Motion(".x", x, False, 1.0), Motion(".y", y, False, 1.0), Motion(".turn", self.axis, True, 0.0))
            case "spherical":
                return self._turns()
            case "xyz":
                return _SLIDES
            case "floating":
                return _SLIDES + self._turns()
            case _:
                return ()

    def _turns(self) -> tuple[Motion, ...]:
        return tuple(Motion(f".r{a}", _UNIT[a], True, 0.0) for a in self.order)

    def transform(self, values: Sequence[float]) -> Array:
        """parent_from_child [4x4] for these values of the joint's variables, in their order."""
        result = self.origin.copy()
        where = f"joint {self.name!r}"
        numbers = real_array(values, BodyError, f"{where}: its values are no numbers")
        if numbers.shape != (self.dof,):
            raise BodyError(f"{where} has {self.dof} degrees of freedom; give one value for each.")
        for motion, value in zip(self.motions(), numbers.tolist(), strict=True):
            step = np.eye(4)
            if motion.turns:
                step[:3, :3] = axis_angle(motion.axis, value)
            step[:3, 3] = motion.pitch * value * motion.axis
            result = result @ step
        return result


def _unit_axis(axis: ArrayLike, where: str) -> Array:
    vector = np.array(real_array(axis, BodyError, f"{where}: axis must be three finite numbers"))
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise BodyError(f"{where}: axis must be three finite numbers, not {shown(axis)}.")
    length = float(np.linalg.norm(vector))
    if length < 1e-9:
        raise BodyError(f"{where}: the axis has no length. Give a direction such as (0, 0, 1).")
    return frozen(vector if length == 1.0 else vector / length)


def _per_dof(value: float | Sequence[float], dof: int, default: float, where: str, what: str) -> tuple[float, ...]:
    """Spread one number over all degrees of freedom, fill in the default for none, and refuse NaN."""
    asked = f"{where}: {what} must be a number, or one for each degree of freedom"
    array = np.atleast_1d(real_array(value, BodyError, asked))
    if array.ndim != 1:
        raise BodyError(f"{asked}, not {shown(value)}.")
    numbers = tuple(array.tolist())
    if not numbers:
        numbers = (default,) * dof
    elif len(numbers) == 1:
        numbers *= dof
    if len(numbers) != dof:
        raise BodyError(f"{where}: {what} has {len(numbers)} numbers for {dof} degrees of freedom.")
    if any(math.isnan(v) for v in numbers):
        raise BodyError(f"{where}: {what} is not a number (NaN).")
    return numbers
