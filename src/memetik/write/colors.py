"""Colours and light: a palette that colour-blind readers can tell apart, and how bright a surface looks."""

from __future__ import annotations

import math

import numpy as np

from memetik.types import Array

Color = tuple[float, float, float]  # red, green, blue in 0..1


def from_hex(code: str) -> Color:
    """'#0072b2' as three numbers."""
    red, green, blue = (int(code[k : k + 2], 16) / 255.0 for k in (1, 3, 5))
    return red, green, blue


def to_hex(color: Color) -> str:
    """Three numbers as '#0072b2'."""
    return "#" + "".join(f"{round(255.0 * min(max(c, 0.0), 1.0)):02x}" for c in color)


def mix(one: Color, other: Color, share: float) -> Color:
    """`one` with a share of the other."""
    red, green, blue = (a + share * (b - a) for a, b in zip(one, other, strict=True))
    return red, green, blue


WHITE, BLACK = (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)

# After Okabe and Ito (2008), in mid tones that stand out from white and from black pages alike.
TRUNK = from_hex("#8f9bab")
LIMBS = tuple(map(from_hex, ("#3b8fd1", "#e8963a", "#2ea884", "#c26fa6", "#d9603b", "#56b4d8", "#b8a531")))
RAMP = tuple(map(from_hex, ("#2f5fb3", "#2f93c4", "#35b09a", "#9cb84a", "#eda63c")))  # one limb, root to tip
AXIS_COLORS = ("#d9483b", "#2c9f6b", "#3b7fd9")  # x, y, z
TARGET = "#d6459b"
OBSTACLE = from_hex("#b9aa96")
DARK = 0.3  # colours below this would be lost on a black page
GREY = "#808891"  # lines and text: legible on white and on black

# The light comes over the viewer's left shoulder: in camera axes right, up, back.
LIGHT = np.array([-0.45, 0.65, 0.61]) / math.sqrt(0.45**2 + 0.65**2 + 0.61**2)


def brightness(normal: Array) -> float:
    """How bright a surface looks, 0 to 1; `normal` in camera axes.

    Lambert's law wrapped around the whole surface, ((1 + n.l) / 2)^1.5, so that no side is lost in the
    dark; a little less where the surface turns away from the viewer, so that round things look round in any
    light.
    """
    return float((0.5 + 0.5 * normal @ LIGHT) ** 1.5 * (0.7 + 0.3 * abs(normal[2])))


def shade(color: Color, light: float) -> str:
    """A colour in this much light, as text: darker than itself in shadow, paler in full light."""
    if light < 0.62:
        return to_hex(mix(mix(color, (0.05, 0.07, 0.16), 0.58), color, light / 0.62))
    return to_hex(mix(color, WHITE, 0.55 * (light - 0.62) / 0.38))


def outline(color: Color) -> str:
    """The thin line around a shape of this colour: darker, but paler around what is nearly black itself."""
    dark = max(color) < DARK
    return to_hex(mix(color, from_hex(GREY), 0.6) if dark else mix(color, (0.03, 0.05, 0.12), 0.55))


def along(ramp: tuple[Color, ...], share: float) -> Color:
    """The colour at `share` (0 to 1) of a ramp."""
    place = min(max(share, 0.0), 1.0) * (len(ramp) - 1)
    k = min(int(place), len(ramp) - 2)
    return mix(ramp[k], ramp[k + 1], place - k)
