"""Joints: what moves one link against another, and the single motions every kind is made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from memetik.errors import BodyError, shown
from memetik.geometry import axis_angle, between
from memetik.geometry.checks import frozen, real_array, real_number, text, three_finite
from memetik.geometry.transform import frozen_transform
from memetik.types import Array


class Motion(NamedTuple):
    """One scalar degree of freedom: a turn about an axis, a slide along it, or both at once (screw)."""

    suffix: str  # ends the variable's name; empty for joints of one degree of freedom
    axis: Array  # unit vector in the joint frame
    turns: bool
    pitch: float  # metres along the axis for each unit of the variable: 0 turn, 1 slide, m/rad screw


class Mimic(NamedTuple):
    """value = multiplier * value of `source` + offset [rad or m]; the source is a variable, which may itself mimic another."""

    source: str
    multiplier: float = 1.0
    offset: float = 0.0


class Kind(NamedTuple):
    """What tells a kind of joint from the others."""

    dof: int  # how many scalar variables it has
    motions: Callable[[Joint], tuple[Motion, ...]]  # the motions of a joint, first to last
    limited: bool = True  # whether its variables may have limits
    base: bool = False  # whether it may hold the root of a body, see Body.with_base


_UNIT = {letter: frozen(row.copy()) for letter, row in zip("xyz", np.eye(3), strict=True)}
_SLIDES = tuple(Motion(f".{a}", _UNIT[a], False, 1.0) for a in "xyz")


def _turn(joint: Joint, suffix: str = "") -> tuple[Motion, ...]:
    return (Motion(suffix, joint.axis, True, 0.0),)


def _slide(joint: Joint, suffix: str = "") -> tuple[Motion, ...]:
    return (Motion(suffix, joint.axis, False, 1.0),)


def _plane(joint: Joint) -> tuple[Motion, ...]:
    # The shortest turn that takes z to the normal carries x and y into the plane.
    x, y, _ = between(_UNIT["z"], joint.axis).T
    return Motion(".x", x, False, 1.0), Motion(".y", y, False, 1.0), *_turn(joint, ".turn")


def _turns(joint: Joint) -> tuple[Motion, ...]:
    return tuple(Motion(f".r{a}", _UNIT[a], True, 0.0) for a in joint.order)


KINDS: dict[str, Kind] = {
    "fixed": Kind(0, lambda joint: (), base=True),
    "revolute": Kind(1, _turn),
    "continuous": Kind(1, _turn, limited=False),
    "prismatic": Kind(1, _slide),
    "screw": Kind(1, lambda joint: (Motion("", joint.axis, True, joint.screw_pitch),)),
    "cylindrical": Kind(2, lambda joint: _turn(joint, ".turn") + _slide(joint, ".slide")),
    "xyz": Kind(3, lambda joint: _SLIDES, base=True),
    "planar": Kind(3, _plane, base=True),
    "spherical": Kind(3, _turns),
    "floating": Kind(6, lambda joint: _SLIDES + _turns(joint), base=True),
}
BASES = tuple(name for name, kind in KINDS.items() if kind.base)


@dataclass(frozen=True, eq=False)
class Joint:
    """One joint of a body.

    The child's pose is `parent_from_child = origin @ motion(values)`, where the motion is about `axis`, written in the
    joint frame:

    - revolute, continuous: turn about the axis [rad]; continuous has no limits
    - prismatic: slide along the axis [m]
    - screw: turn about the axis [rad] and slide `screw_pitch` [m/rad] times the angle along it
    - cylindrical: `.turn` about and `.slide` along the same axis
    - planar: `.x`, `.y` in the plane normal to the axis, then `.turn` about the axis
    - spherical: three turns about moving axes in `order`, "zxy" unless told otherwise: R = Rz Rx Ry
    - xyz: three slides along the axes of the joint frame
    - floating: xyz, then spherical

    Solvers turn spherical and floating joints without limits through any rotation; their three angles are only how it is
    written, of all that make the same rotation those nearest to the start (docs/solving.md).

    Limits, velocities [rad/s, m/s], accelerations and efforts [N m, N], what the motor bears, are one number, or one for each
    degree of freedom in the order above. A joint with `mimic` has no variable of its own.
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
    screw_pitch: float = 0.0
    order: str = "zxy"
    effort: tuple[float, ...] = ()

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
        set_field = object.__setattr__  # the dataclass is frozen; this is its constructor
        set_field(self, "screw_pitch", real_number(self.screw_pitch, BodyError, f"{where}: screw_pitch"))
        if not math.isfinite(self.screw_pitch):
            raise BodyError(f"{where}: screw_pitch is {self.screw_pitch}. Give metres along the axis per radian.")
        if self.mimic is not None:
            set_field(self, "mimic", _checked_mimic(self.mimic, self, where))
        set_field(self, "origin", frozen_transform(self.origin, BodyError, f"{where}: bad origin"))
        axis = three_finite(self.axis, BodyError, f"{where}: axis")
        length = float(np.linalg.norm(axis))
        if length < 1e-9:
            raise BodyError(f"{where}: the axis has no length. Give a direction such as (0, 0, 1).")
        set_field(self, "axis", frozen(axis if length == 1.0 else axis / length))
        for limit in ("lower", "upper", "velocity", "acceleration", "effort"):
            default = -math.inf if limit == "lower" else math.inf
            set_field(self, limit, _per_dof(getattr(self, limit), self.dof, default, f"{where}: {limit} limit"))
        for low, high in zip(self.lower, self.upper, strict=True):
            if low > high:
                raise BodyError(f"{where}: lower limit {low:g} is above upper limit {high:g}. Swap or correct them.")
            if low == math.inf or high == -math.inf:
                raise BodyError(f"{where}: no value lies between the limits {low:g} and {high:g}.")
            if not KINDS[self.kind].limited and (low, high) != (-math.inf, math.inf):
                raise BodyError(f"{where} is {self.kind} and cannot have limits. Make it revolute, or drop them.")
        for speed in self.velocity + self.acceleration:
            if speed < 0.0:
                raise BodyError(f"{where}: a velocity or acceleration limit is negative ({speed:g}).")
        if any(effort <= 0.0 for effort in self.effort):
            raise BodyError(f"{where}: effort is {self.effort}; it must be positive, in N m or N.")

    def __repr__(self) -> str:
        mimics = f", mimics {self.mimic.source!r}" if self.mimic is not None else ""
        return f"<Joint {self.name!r}: {self.kind}, {self.parent!r} to {self.child!r}{mimics}>"

    @property
    def dof(self) -> int:
        """How many scalar variables the kind has (a mimic joint still counts as one here)."""
        return KINDS[self.kind].dof

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the scalar variables: the joint's own name, or `name.suffix` for several."""
        return tuple(self.name + motion.suffix for motion in self.motions())

    def motions(self) -> tuple[Motion, ...]:
        """The joint as single motions, first to last: parent_from_child = origin * motion_1 * motion_2 ..."""
        return KINDS[self.kind].motions(self)

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


def _checked_mimic(mimic: object, joint: Joint, where: str) -> Mimic:
    if not isinstance(mimic, Mimic):
        raise BodyError(f"{where}: mimic is {shown(mimic)}. Give mk.build.Mimic(source, multiplier, offset).")
    if joint.dof != 1:
        raise BodyError(f"{where}: a {joint.kind} joint cannot mimic; only joints of one degree of freedom can.")
    source = text(mimic.source, BodyError, f"{where}: the source of its mimic")
    numbers = [real_number(number, BodyError, f"{where}: mimic multiplier or offset") for number in mimic[1:]]
    if not all(map(math.isfinite, numbers)):
        raise BodyError(f"{where}: mimic multiplier and offset must be finite, not {mimic[1:]}.")
    return Mimic(source, *numbers)


def _per_dof(value: float | Sequence[float], dof: int, default: float, what: str) -> tuple[float, ...]:
    """Spread one number over all degrees of freedom, fill in the default for none, and refuse NaN."""
    asked = f"{what} must be a number, or one for each degree of freedom"
    array = np.atleast_1d(real_array(value, BodyError, asked))
    if array.ndim != 1:
        raise BodyError(f"{asked}, not {shown(value)}.")
    numbers = tuple(array.tolist()) or (default,)
    if len(numbers) == 1:
        numbers *= dof
    if len(numbers) != dof:
        raise BodyError(f"{what} has {len(numbers)} numbers for {dof} degrees of freedom.")
    if any(math.isnan(v) for v in numbers):
        raise BodyError(f"{what} is not a number (NaN).")
    return numbers
