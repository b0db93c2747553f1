"""How a figure stands: T-pose, A-pose or arms down, which way it faces and how tall it is."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from memetik.types import Array

SIDES = ("left", "right")
T_POSE, A_POSE = math.radians(25.0), math.radians(65.0)  # arms that hang less than this below the horizontal
PERSON = (
    0.3,
    3.0,
)  # m; a figure whose hips are not this far from its head and feet was read in another unit, most likely


def describe(at: Mapping[str, Array]) -> str:
    """The stance of a figure from where its joints are (3,) [m]: "T-pose, faces -y, 1.55 m from feet to head"."""
    heights = [float(point[2]) for point in at.values()]
    tall = max(heights) - min(heights)
    words = [stance(at), f"faces {heading(at)}", f"{tall:.3g} m from its lowest to its highest joint"]
    if not PERSON[0] <= tall <= PERSON[1]:
        words.append("which is no person's size: read the file with scale= if its unit is another one")
    return ", ".join(words)


def stance(at: Mapping[str, Array]) -> str:
    """T-pose, A-pose, arms down, arms raised or arms forward, or that there are no arms."""
    ends = [at.get(f"{side}_hand", at.get(f"{side}_lower_arm")) for side in SIDES]
    shoulders = [at.get(f"{side}_upper_arm") for side in SIDES]
    if any(point is None for point in (*ends, *shoulders)):
        return "without arms"
    across = np.asarray(shoulders[0]) - np.asarray(shoulders[1])
    drops, aside = [], []
    for shoulder, end, out in zip(shoulders, ends, (across, -across), strict=True):
        reach = np.asarray(end) - np.asarray(shoulder)
        drops.append(math.atan2(-reach[2], math.hypot(reach[0], reach[1])))
        aside.append(float(reach[:2] @ out[:2]) > 0.5 * float(np.linalg.norm(reach[:2]) * np.linalg.norm(out[:2])))
    drop = sum(drops) / 2.0
    if abs(drop) < A_POSE and not all(aside):
        return "arms forward"
    return (
        "arms raised" if drop < -T_POSE else "T-pose" if drop < T_POSE else "A-pose" if drop < A_POSE else "arms down"
    )


def heading(at: Mapping[str, Array]) -> str:
    """The axis of the world that a figure faces, as its hips or shoulders lie."""
    for pair in ("upper_leg", "upper_arm"):
        if all(f"{side}_{pair}" in at for side in SIDES):
            left = at[f"left_{pair}"] - at[f"right_{pair}"]
            ahead = np.array((left[1], -left[0]))
            if np.abs(ahead).max() < 1e-9:
                return "nowhere"
            axis = int(np.abs(ahead).argmax())
            return ("+" if ahead[axis] > 0.0 else "-") + "xy"[axis]
    return "nowhere"
