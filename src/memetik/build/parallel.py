"""Parallel robots: trees with their loops open, and the loops that close them (mk.objectives.close_loops)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from memetik.body import Body, Frame, Shape
from memetik.build.builder import BodyBuilder, rod
from memetik.errors import BodyError
from memetik.geometry import axis_angle, translation
from memetik.geometry.checks import real_array, real_number
from memetik.types import Array

TILT = 1.5  # rad, how far universal joints go
TURN = math.pi
PLATE = 0.01  # m, half the thickness of bases and platforms


def five_bar(*, base_width: float = 0.3, crank_length: float = 0.3, rod_length: float = 0.35) -> Body:
    """A five-bar linkage in the plane of x and y: two motors `base_width` apart, cranks of `crank_length`, and rods of
    `rod_length` that share a tip [m].

    Joints `left_motor`, `left_elbow`, `right_motor` and `right_elbow`; the links `left_tip` and `right_tip` meet where the loop
    `tip` is closed. At home they do, with the elbows outwards.
    """
    half, crank_length, rod_length = (
        0.5 * _length(base_width, "base_width"),
        _length(crank_length, "crank_length"),
        _length(rod_length, "rod_length"),
    )
    if not half < crank_length + rod_length:
        raise BodyError(
            f"a five-bar linkage with rods of {crank_length:g} and {rod_length:g} m and a base of {2 * half:g} m cannot close."
        )
    span = max(
        math.hypot(crank_length, rod_length), 0.5 * (half + crank_length + rod_length)
    )  # from a motor to the tip
    ahead = math.acos(half / span)
    shoulder, elbow = _corner(crank_length, span, rod_length), math.pi - _corner(crank_length, rod_length, span)
    builder = BodyBuilder("five_bar")
    for side, sign, to_tip in (("left", 1.0, ahead), ("right", -1.0, math.pi - ahead)):
        builder.add(
            "base", f"{side}_motor", "revolute", f"{side}_crank", origin=(-sign * half, 0.0, 0.0), lower=-TURN, upper=TURN,
            home=to_tip + sign * shoulder, shapes=[rod((0.0, 0.0, 0.0), (crank_length, 0.0, 0.0), 0.012)],
        ).add(
            f"{side}_crank", f"{side}_elbow", "revolute", f"{side}_rod", origin=(crank_length, 0.0, 0.0), lower=-TURN, upper=TURN,
            home=-sign * elbow, shapes=[rod((0.0, 0.0, 0.0), (rod_length, 0.0, 0.0), 0.008)],
        ).add(f"{side}_rod", f"{side}_end", "fixed", f"{side}_tip", origin=(rod_length, 0.0, 0.0))  # fmt: skip
    return builder.close("tip", "left_tip", "right_tip", "revolute").build()


def stewart_platform(
    *, base_radius: float = 0.5, platform_radius: float = 0.3, height: float = 0.6, leg_range: Sequence[float] = (0.48, 0.95),
    leg_spread: float = 0.5,
) -> Body:  # fmt: skip
    """A Stewart platform: six legs that push and pull a platform into any pose.

    base_radius, platform_radius: of the circles on which the legs stand and end [m]; height: of the platform at home [m].
    leg_range: the shortest and the longest length of a leg [m]. leg_spread: the angle between two legs that stand
    side by side [rad].

    Leg k of 1 to 6 stands on a universal joint (`leg_k_x`, `leg_k_y`), and its length is the joint `leg_k`; the link `platform`
    floats (`platform.x` to `platform.ry`), and six spherical loops `leg_1` to `leg_6` tie the legs to it. With the anchors a_k
    of the base and b_k of the platform, at a pose (p, R) of the platform the legs are as long as |p + R b_k - a_k|.
    """
    base_radius, platform_radius, height = (
        _length(base_radius, "base_radius"),
        _length(platform_radius, "platform_radius"),
        _length(height, "height"),
    )
    leg_spread = real_number(leg_spread, BodyError, "leg_spread")
    if not math.isfinite(leg_spread):
        raise BodyError(f"leg_spread is {leg_spread:g} rad; it must be finite.")
    ends = real_array(leg_range, BodyError, "leg_range is two lengths, the shortest and the longest")
    if ends.shape != (2,) or not 0.0 < ends[0] < ends[1] < math.inf:
        raise BodyError(f"leg_range is {leg_range}. Give two lengths, the shortest and the longest, in metres.")
    pairs = [(k + 1) // 2 * 2.0 * math.pi / 3.0 for k in range(6)]  # in the middle of two legs that stand side by side
    sides = [1.0 if k % 2 == 0 else -1.0 for k in range(6)]
    feet = [_on_circle(base_radius, middle + side * leg_spread / 2) for middle, side in zip(pairs, sides, strict=True)]
    tops = [
        _on_circle(platform_radius, middle + side * (math.pi / 3 - leg_spread / 2))
        for middle, side in zip(pairs, sides, strict=True)
    ]
    builder = BodyBuilder(
        "stewart_platform", shapes=[Shape("cylinder", (base_radius, 2 * PLATE), translation(0.0, 0.0, -PLATE))]
    )
    builder.add(
        "base", "platform", "floating", "platform", home=(0.0, 0.0, height, 0.0, 0.0, 0.0),
        shapes=[Shape("cylinder", (platform_radius, 2 * PLATE), translation(0.0, 0.0, PLATE))],
    )  # fmt: skip
    for k, (foot, top) in enumerate(zip(feet, tops, strict=True), start=1):
        way = np.array((0.0, 0.0, height)) + top - foot
        length = float(np.linalg.norm(way))
        if not ends[0] <= length <= ends[1]:
            raise BodyError(f"legs from {ends[0]:g} to {ends[1]:g} m are not {length:.3g} m long, as they are at home.")
        x, y, z = way / length  # = Rx(a) Ry(b) (0, 0, 1)
        builder.add(
            "base", f"leg_{k}_x", "revolute", f"leg_{k}_yoke", origin=foot, axis=(1.0, 0.0, 0.0), lower=-TILT, upper=TILT,
            home=math.atan2(-y, z),
        ).add(
            f"leg_{k}_yoke", f"leg_{k}_y", "revolute", f"leg_{k}_tube", axis=(0.0, 1.0, 0.0), lower=-TILT, upper=TILT,
            home=math.asin(x), shapes=[rod((0.0, 0.0, 0.0), (0.0, 0.0, float(ends[0])), 0.02)],
        ).add(
            f"leg_{k}_tube", f"leg_{k}", "prismatic", f"leg_{k}_rod", axis=(0.0, 0.0, 1.0), lower=float(ends[0]),
            upper=float(ends[1]), home=length, shapes=[rod((0.0, 0.0, float(ends[0] - ends[1])), (0.0, 0.0, 0.0), 0.012)],
        ).close(f"leg_{k}", f"leg_{k}_rod", Frame("platform", translation(*top)))  # fmt: skip
        builder.touching("base", f"leg_{k}_tube").touching("platform", f"leg_{k}_rod")
    return builder.build()


def delta_robot(
    *,
    base_radius: float = 0.2,
    arm_length: float = 0.25,
    rod_length: float = 0.5,
    platform_radius: float = 0.06,
    rod_spacing: float = 0.08,
) -> Body:
    """A delta robot that hangs upside down: three arms and six rods in parallel pairs carry a platform that never turns.

    base_radius, platform_radius: of the circles of the motors and of the ends of the rods [m]. arm_length, rod_length: of each
    arm and rod [m]. rod_spacing: the distance between the two rods of a pair [m].

    The motors `motor_1` to `motor_3` turn the arms down from level; each rod has a universal joint at its arm, the link
    `platform` floats, and six spherical loops tie the rods to it. Nothing but the loops keeps the platform from turning, as in
    the machine.
    """
    base_radius, platform_radius = _length(base_radius, "base_radius"), _length(platform_radius, "platform_radius")
    arm_length, rod_length, rod_spacing = (
        _length(arm_length, "arm_length"),
        _length(rod_length, "rod_length"),
        _length(rod_spacing, "rod_spacing"),
    )
    half, down = 0.5 * rod_spacing, 0.3  # down: rad, of the arms at home
    out = base_radius + arm_length * math.cos(down) - platform_radius
    if not abs(out) < rod_length:
        raise BodyError(f"rods of {rod_length:g} m do not reach from the arms to the platform.")
    height = -arm_length * math.sin(down) - math.sqrt(rod_length * rod_length - out * out)
    way = -out, 0.0, height + arm_length * math.sin(down)  # of the rods, in the plane of their arm
    x, _, z = axis_angle((0.0, 1.0, 0.0), -down) @ way / rod_length  # in the frame of the arm: = Ry(a) (1, 0, 0)
    builder = BodyBuilder(
        "delta_robot", shapes=[Shape("cylinder", (base_radius, 2 * PLATE), translation(0.0, 0.0, PLATE))]
    )
    builder.add(
        "base", "platform", "floating", "platform", home=(0.0, 0.0, height, 0.0, 0.0, 0.0),
        shapes=[Shape("cylinder", (platform_radius, 2 * PLATE), translation(0.0, 0.0, -PLATE))],
    )  # fmt: skip
    for k in (1, 2, 3):
        turn = axis_angle((0.0, 0.0, 1.0), (k - 1) * 2.0 * math.pi / 3.0)
        builder.add(
            "base", f"motor_{k}", "revolute", f"arm_{k}", origin=(turn @ (base_radius, 0.0, 0.0), turn), axis=(0.0, 1.0, 0.0),
            lower=-1.0, upper=1.6, home=down,
            shapes=[
                rod((0.0, 0.0, 0.0), (arm_length, 0.0, 0.0), 0.015),
                rod((arm_length, -half, 0.0), (arm_length, half, 0.0), 0.01),
            ],
        )  # fmt: skip
        for side, y in (("a", half), ("b", -half)):
            builder.add(
                f"arm_{k}", f"rod_{k}{side}_y", "revolute", f"rod_{k}{side}_yoke", origin=(arm_length, y, 0.0),
                axis=(0.0, 1.0, 0.0), lower=-TURN, upper=TURN, home=math.atan2(-z, x),
            ).add(
                f"rod_{k}{side}_yoke", f"rod_{k}{side}_z", "revolute", f"rod_{k}{side}", axis=(0.0, 0.0, 1.0), lower=-TILT,
                upper=TILT, home=0.0, shapes=[rod((0.0, 0.0, 0.0), (rod_length, 0.0, 0.0), 0.006)],
            ).close(
                f"rod_{k}{side}", Frame(f"rod_{k}{side}", translation(rod_length, 0.0, 0.0)),
                Frame("platform", translation(*(turn @ (platform_radius, y, 0.0)))),
            ).touching("platform", f"rod_{k}{side}")  # fmt: skip
    return builder.build()


def _on_circle(radius: float, angle: float) -> Array:
    return np.array((radius * math.cos(angle), radius * math.sin(angle), 0.0))


def _corner(a: float, b: float, opposite: float) -> float:
    """The angle between two sides of a triangle."""
    return math.acos(min(max((a * a + b * b - opposite * opposite) / (2.0 * a * b), -1.0), 1.0))


def _length(value: float, what: str) -> float:
    length = real_number(value, BodyError, f"the length {what!r}")
    if not 0.0 < length < math.inf:
        raise BodyError(f"{what} is {length:g} m; it must be positive.")
    return length
