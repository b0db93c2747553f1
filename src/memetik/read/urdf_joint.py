"""<joint> of URDF -> Joint: its kind, axis, limits and whom it mimics."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from memetik.body import Joint, Mimic
from memetik.body.joint import KINDS as BUILDABLE
from memetik.errors import suggest
from memetik.read.notes import Notes, naming
from memetik.read.urdf_link import read_origin
from memetik.read.xml import LARGEST, Element, short


class Kind(NamedTuple):
    """A kind of joint as URDF has it."""

    unit: str = ""  # of its limits; none if it has no limits
    endless: str = ""  # what else to write where limits are missing
    axis: bool = True  # whether it moves along or about an axis


KINDS = {
    "revolute": Kind("radians", endless=', or write type="continuous" if it turns without end'),
    "continuous": Kind(),
    "prismatic": Kind("metres"),
    "fixed": Kind(axis=False),
    "floating": Kind(axis=False),
    "planar": Kind(),
}
PARTS = ("origin", "parent", "child", "axis", "limit", "mimic", "dynamics", "calibration", "safety_controller")
# Kinematics needs none of these, but a file with NaN in it is broken, and its user should know.
UNUSED = {"dynamics": ("damping", "friction"), "calibration": ("rising", "falling")}
UNIT_TOLERANCE = 1e-3  # axes typed with three digits, such as 0.707 0 0.707, are meant to be unit vectors


def read_joint(element: Element, notes: Notes, *, soft_limits: bool) -> Joint:
    """One joint; with `soft_limits` its limits are narrowed to those of the safety controller."""
    name = element.text("name", "elbow")
    kind = element.text("type", "revolute")
    if kind not in KINDS:
        mend = "It can be built in Python with memetik.build.Joint." if kind in BUILDABLE else suggest(kind, KINDS)
        raise element.error(f"type is {short(kind)}, which URDF does not have; it has {', '.join(KINDS)}. {mend}")
    notes.misspelled(element, PARTS)
    parent = element.need("parent", '<parent link="upper_arm"/>').text("link", "upper_arm")
    child = element.need("child", '<child link="forearm"/>').text("link", "forearm")
    for part in (part for part in element.children if part.tag in UNUSED):
        for number in UNUSED[part.tag]:
            part.number_or(number, 0.0, largest=math.inf)
    limits = _read_limits(element, kind, notes, soft_limits)
    with naming(element.file_line):
        return Joint(
            name,
            kind,
            parent,
            child,
            origin=read_origin(element),
            axis=np.array(_read_axis(element, kind, notes)),
            mimic=_read_mimic(element, kind, notes),
            **limits,
        )


def _read_axis(element: Element, kind: str, notes: Notes) -> tuple[float, ...]:
    axis = element.one("axis")
    if axis is None:
        return (1.0, 0.0, 0.0)  # as URDF says
    xyz = axis.vector("xyz", "a direction", "0 0 1", 3)
    if not KINDS[kind].axis:
        return (1.0, 0.0, 0.0)  # exporters write 0 0 0 here, and nothing turns about it
    length = math.hypot(*xyz)
    if length < 1e-9:
        raise axis.error(f'axis xyz is {axis.attributes["xyz"]!r}, which has no direction. Write for example "0 0 1".')
    if abs(length - 1.0) > UNIT_TOLERANCE:
        notes.add(axis, "the axis is not of length 1, so it was scaled to 1.")
    return tuple(x / length for x in xyz)


def _read_mimic(element: Element, kind: str, notes: Notes) -> Mimic | None:
    part = element.one("mimic")
    if part is None:
        return None
    source = part.text("joint", "left_finger")
    mimic = Mimic(source, part.number_or("multiplier", 1.0), part.number_or("offset", 0.0))
    if kind == "fixed":
        notes.add(part, "a fixed joint has nothing to mimic with, so <mimic> was ignored.")
        return None
    return mimic


def _read_limits(element: Element, kind: str, notes: Notes, soft_limits: bool) -> dict[str, Any]:
    """The arguments of Joint that limit it."""
    limit, limited = element.one("limit"), bool(KINDS[kind].unit)
    if limit is None:
        if not limited:
            return {}
        example = '<limit lower="-1.57" upper="1.57" effort="10" velocity="2"/>'
        raise element.error(f"a {kind} joint needs limits. Add {example}{KINDS[kind].endless}.")
    lower, upper = _read_range(limit, kind, notes)
    soft_lower, soft_upper = -math.inf, math.inf
    safety = element.one("safety_controller")
    if safety is not None:
        unit = KINDS[kind].unit or "a number"
        soft_lower = safety.number_or("soft_lower_limit", -math.inf, unit, "-1.5", math.inf)
        soft_upper = safety.number_or("soft_upper_limit", math.inf, unit, "1.5", math.inf)
    if not limited:
        return _read_rates(limit, notes) if kind == "continuous" else {}
    if soft_limits:
        lower, upper = max(lower, soft_lower), min(upper, soft_upper)
        if lower > upper:
            raise element.error(
                f"the soft limits {soft_lower:g} to {soft_upper:g} of <safety_controller> lie outside the "
                "limits. Correct them, or read the file with soft_limits=False."
            )
    return {"lower": lower, "upper": upper, **_read_rates(limit, notes)}


def _read_range(limit: Element, kind: str, notes: Notes) -> tuple[float, float]:
    """Lower and upper, infinite where there is none. They mean 0 if they are left out, as URDF says."""
    unit = KINDS[kind].unit or "a number"
    lower = limit.number_or("lower", 0.0, unit, "-1.57", math.inf)
    upper = limit.number_or("upper", 0.0, unit, "1.57", math.inf)
    missing = [name for name in ("lower", "upper") if name not in limit.attributes]
    if not KINDS[kind].unit:
        if len(missing) < 2 and kind != "fixed":  # exporters give fixed joints limits of zero
            notes.add(limit, f"lower and upper were ignored, because URDF gives a {kind} joint no limits.")
        return -math.inf, math.inf
    if missing:
        text = " and ".join(missing)
        notes.add(limit, f"the limit has no {text}, which means 0 in URDF. Add {text}{KINDS[kind].endless}.")
    if lower > upper:
        raise limit.error(f"limit lower {lower:g} is above upper {upper:g}. Swap or correct them.")
    if lower >= LARGEST or upper <= -LARGEST:
        raise limit.error(f"no posture lies between the limits {lower:g} and {upper:g}. Check their unit.")
    if lower <= -LARGEST or upper >= LARGEST:
        notes.add(limit, f"a limit of {LARGEST:g} or more was taken as none.")
    return -math.inf if lower <= -LARGEST else lower, math.inf if upper >= LARGEST else upper


def _read_rates(limit: Element, notes: Notes) -> dict[str, float]:
    """Velocity, acceleration and effort. URDF demands effort and velocity, but kinematics can do without them."""
    effort = limit.number_or("effort", math.inf, "newton metres", "10", math.inf)
    velocity = limit.number_or("velocity", math.inf, "radians or metres per second", "2", math.inf)
    acceleration = limit.number_or("acceleration", math.inf, "radians or metres per second squared", "5", math.inf)
    missing = [name for name in ("effort", "velocity") if name not in limit.attributes]
    if missing:
        notes.add(limit, f"the limit has no {' and no '.join(missing)}, so it was taken as unlimited.")
    rates = {"velocity": velocity, "acceleration": acceleration}
    for name, rate in rates.items():
        if rate < 0.0:
            raise limit.error(f"limit {name} is {rate:g}, below zero. Write its size, which holds both ways.")
        if rate == 0.0:  # what exporters write that know none
            notes.add(limit, f"limit {name} is 0, so the joint could never move; it was taken as unlimited.")
            rates[name] = math.inf
    return {**rates, "effort": effort if effort > 0.0 else math.inf}  # 0 is what exporters write that know none
