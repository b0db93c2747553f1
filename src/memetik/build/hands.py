"""A hand with any number of fingers, on an arm if wanted."""

from __future__ import annotations

import math

import numpy as np

from memetik.body import Body, Shape
from memetik.build.builder import AXES, BodyBuilder, Rod, add_rods, rod
from memetik.errors import BodyError
from memetik.geometry import axis_angle, transform
from memetik.geometry.checks import whole_number
from memetik.types import Array

# Sizes of a grown-up's hand [m, rad]. Fingers point along z, the palm looks along x, the thumb stands out
# to y.
PALM = 0.095  # from the wrist to the knuckles
FINGER = 0.100  # from the knuckle to the tip, for the finger in the middle
THUMB = 0.085
THUMB_PLACE = transform((0.012, 0.028, 0.024), axis_angle(AXES["x"], -0.75) @ axis_angle(AXES["z"], -0.9))
KNUCKLE_STEP = 0.27  # between neighbouring knuckles, seen from the wrist
MOST = 100  # fingers, joints of one, joints of an arm
PHALANX_RATIO = 0.75  # of each phalanx to the one before
BONE = 0.0105  # radius of the first phalanx
SPREAD_LIMITS = (-0.35, 0.35)
FLEX_LIMITS = (0.0, 1.6)
FLEX_HOME = 0.3

ARM = 0.80  # from the pedestal to the wrist
PEDESTAL = 0.10
TWIST_LIMITS = (-2.9, 2.9)
BEND_LIMITS = (-2.0, 2.0)
BEND_HOME = 0.45


def hand(fingers: int = 5, joints_per_finger: int = 4, *, arm_joints: int = 0, name: str = "hand") -> Body:
    """A right hand; of several fingers the first is the thumb. With `arm_joints`, an arm carries it.

    A finger of four joints or more first spreads, then flexes; one of fewer only flexes. Arm joints twist
    and bend by turns. `hand(5, 4, arm_joints=7)` is an arm and hand of 27 degrees of freedom with five
    chains of 11 joints, the body on which OFKT was measured.

    The root is "palm", or "base" under an arm with arm_joint_1, arm_link_1, ... The joints of a finger are
    finger_1_joint_1, ..., its links finger_1_link_1, ..., finger_1_tip. The chain "finger_1" runs from the
    root to that tip, "hand" from the palm to all tips, "arm" from the base to the palm.
    """
    counts = (("fingers", fingers, 1), ("joints_per_finger", joints_per_finger, 1), ("arm_joints", arm_joints, 0))
    for what, number, least in counts:
        whole_number(number, BodyError, what, least=least, most=MOST)
    places = [_place(k, fingers) for k in range(fingers)]
    # Each metacarpal starts at its own side of the wrist.
    metacarpals = [rod((0.0, 0.4 * place[1, 3], 0.012), place[:3, 3], 1.1 * BONE) for place, _ in places]
    if arm_joints:
        root, builder = "base", _arm(name, arm_joints, metacarpals)
    else:
        root, builder = "palm", BodyBuilder(name, "palm", shapes=metacarpals)
    for k, (place, length) in enumerate(places, start=1):
        _add_finger(builder, f"finger_{k}", place, length, joints_per_finger)
        builder.chain(f"finger_{k}", root, f"finger_{k}_tip")
    return builder.chain("hand", "palm", *(f"finger_{k}_tip" for k in range(1, fingers + 1))).build()


def _place(k: int, fingers: int) -> tuple[Array, float]:
    """palm_from_finger and the length of finger k, counted from 0: the thumb, then side by side."""
    if k == 0 and fingers > 1:
        return THUMB_PLACE, THUMB
    rank, count = (k - 1, fingers - 1) if fingers > 1 else (0, 1)
    middle = 0.5 * (count - 1)
    across = (middle - rank) / max(middle, 0.5)  # 1 beside the thumb, -1 on the far side
    # Many fingers share a fan of two radians, so that the outermost do not bend back to the wrist.
    angle = (middle - rank) * min(KNUCKLE_STEP, 2.0 / count)
    knuckle = (0.0, PALM * math.sin(angle), PALM * math.cos(angle))
    return transform(knuckle, axis_angle(AXES["x"], -0.5 * angle)), FINGER * (1.0 - 0.2 * across**2)


def _add_finger(builder: BodyBuilder, finger: str, place: Array, length: float, joints: int) -> None:
    """A joint that spreads, if there are four or more, then one phalanx for each joint that flexes."""
    flexing = joints - 1 if joints >= 4 else joints
    shares = PHALANX_RATIO ** np.arange(flexing)
    rods = [Rod(0.0, BONE, "x", SPREAD_LIMITS, 0.0)] * (joints - flexing)
    radius = BONE
    for size in (length * shares / shares.sum()).tolist():
        rods.append(Rod(size, radius, "y", FLEX_LIMITS, FLEX_HOME))
        radius *= 0.9
    last, end = add_rods(builder, "palm", f"{finger}_", place, "z", rods)
    builder.add(last, f"{finger}_tip_joint", "fixed", f"{finger}_tip", origin=end)


def _arm(name: str, count: int, metacarpals: list[Shape]) -> BodyBuilder:
    """A pedestal and an upright arm whose links share its length evenly, with the palm at its end."""
    pedestal = Shape("cylinder", (0.07, PEDESTAL), transform((0.0, 0.0, 0.5 * PEDESTAL)))
    builder = BodyBuilder(name, "base", shapes=[pedestal])
    rods = []
    for i in range(count):
        turn = ("y", BEND_LIMITS, BEND_HOME) if i % 2 else ("z", TWIST_LIMITS, 0.0)
        rods.append(Rod(ARM / count, 0.045 - 0.015 * i / count, *turn))
    last, end = add_rods(builder, "base", "arm_", (0.0, 0.0, PEDESTAL), "z", rods)
    builder.add(last, "wrist", "fixed", "palm", origin=end, shapes=metacarpals)
    return builder.chain("arm", "base", "palm")
