"""Chains of any length in one call: planar, snake, or with axes of your own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import cycle

import numpy as np

from memetik.body import Body
from memetik.build.builder import AXES, BodyBuilder, Rod, add_rods
from memetik.errors import BodyError, shown
from memetik.geometry.checks import real_array, real_number, whole_number

MOST = 10_000  # links; a body of more takes minutes to build

Limits = tuple[float, float] | Sequence[tuple[float, float]] | None


def serial_chain(
    lengths: int | Sequence[float],
    joint_axes: str = "z",
    *,
    length: float = 1.0,
    limits: Limits = (-math.pi, math.pi),
    radius: float | None = None,
    name: str = "chain",
) -> Body:
    """Links in a row along x, each turning about an axis of its own frame, with "tip" at the end of the last.

    `lengths` [m] are those of the links, or their number, which share `length` evenly. `joint_axes` are letters
    x, y, z used over and over: "z" is planar, "yz" a snake, "zyyxyx" an arm. `limits` [rad] are one pair
    for all joints, one pair for each, or None. `radius` [m] is that of the links' capsules.

    Joints are joint_1, joint_2, ..., links base, link_1, link_2, ..., tip; the chain "chain" is all of it.
    """
    sizes = _lengths(lengths, length)
    if not isinstance(joint_axes, str) or not joint_axes or set(joint_axes) - set(AXES):
        raise BodyError(
            f"joint_axes is {shown(joint_axes)}. Give the letters of the joint axes, for example 'z' or 'zyy'."
        )
    bounds = _limits(limits, len(sizes))
    thickness = 0.08 * sum(sizes) / len(sizes)
    if radius is not None:
        thickness = real_number(radius, BodyError, "the radius of the links")
    builder = BodyBuilder(name)
    rods = [
        Rod(size, thickness, axis, pair) for size, axis, pair in zip(sizes, cycle(joint_axes), bounds, strict=False)
    ]
    last, end = add_rods(builder, "base", "", (0.0, 0.0, 0.0), "x", rods)
    builder.add(last, "tip_joint", "fixed", "tip", origin=end)
    return builder.chain("chain", "base", "tip").build()


def planar_chain(
    lengths: int | Sequence[float],
    *,
    length: float = 1.0,
    limits: Limits = (-math.pi, math.pi),
    name: str = "planar_chain",
) -> Body:
    """A chain that moves in the plane z = 0: its tip is at sum_i l_i (cos, sin)(q_1 + ... + q_i).

    lengths: of the links [m], or how many there are of `length` [m] each. limits: of every joint [rad].
    """
    return serial_chain(lengths, "z", length=length, limits=limits, name=name)


def snake(
    count: int, *, length: float = 1.0, limits: Limits = (-0.5 * math.pi, 0.5 * math.pi), name: str = "snake"
) -> Body:
    """A hyper-redundant chain of `count` joints about y and z by turns, `length` metres long in all."""
    length = real_number(length, BodyError, "the length of a chain")
    size = _lengths(_count(count), length)[0]
    # Thin enough that a link never meets the one after the next within these limits.
    return serial_chain(count, "yz", length=length, limits=limits, radius=min(0.4 * size, 0.02 * length), name=name)


def _count(count: object) -> int:
    return whole_number(count, BodyError, "the number of links", least=1, most=MOST)


def _lengths(lengths: int | Sequence[float], length: float) -> list[float]:
    """The length of every link; a count shares `length` evenly."""
    if isinstance(lengths, (int, np.integer)):
        count = _count(lengths)
        lengths = [real_number(length, BodyError, "the length of a chain") / count] * count
    sizes = real_array(lengths, BodyError, "the lengths of a chain are numbers [m] or one whole number")
    if sizes.ndim != 1 or not 1 <= sizes.size <= MOST:
        raise BodyError(
            f"the lengths of a chain are a list of at least one number and at most {MOST}; got shape {sizes.shape}."
        )
    for i, size in enumerate(sizes, start=1):
        if not (math.isfinite(size) and size >= 0.0):
            raise BodyError(f"link {i} of the chain is {size:g} m long. Give a length of zero or more.")
    return [float(size) for size in sizes]


def _limits(limits: Limits, count: int) -> list[tuple[float, float]]:
    """One (lower, upper) pair for each joint."""
    wanted = f"limits are one pair (lower, upper), one for each of {count} joints, or None"
    pairs = real_array((-math.inf, math.inf) if limits is None else limits, BodyError, wanted)
    if pairs.shape not in ((2,), (count, 2)):
        raise BodyError(f"{wanted}; got {shown(limits)}.")
    return [(low, high) for low, high in np.broadcast_to(pairs, (count, 2)).tolist()]
