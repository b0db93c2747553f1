"""How a skeleton and a body correspond: lengths, offsets and rotations, from one posture of the skeleton.

No posture of the body has to be prepared: the one that looks like the skeleton's, each limb in the same direction, is
solved for. What limbs then turn by, both turn by.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from memetik.body import Body
from memetik.errors import BodyError
from memetik.geometry import axis_angle, to_quaternion
from memetik.motion.retargeting.figure import SIDES, Part
from memetik.objectives import Displacement, Objective, Pose, Position
from memetik.problem import Problem
from memetik.solvers import solve
from memetik.types import Array

UP = np.array([0.0, 0.0, 1.0])
LIMBS = (("upper_leg", "lower_leg", "foot"), ("upper_arm", "lower_arm", "hand"))
UPRIGHT = 0.5  # cosine: legs that point less steeply down, on average, are not those of a standing figure


class Calibrated(NamedTuple):
    """For each part."""

    links: dict[str, tuple[str | None, float, tuple[float, float, float]]]  # parent, scale, anchor
    turns: dict[str, Array]  # bone_from_link, quaternions
    points: dict[str, Array]  # of the body's links


class Posed(NamedTuple):
    """Where the joints of a figure's parts are, and how the parts are turned."""

    at: dict[str, Array]
    turned: dict[str, Array]


def posed(body: Body, parts: Mapping[str, Part], q: Array) -> Posed:
    """For one joint vector, or rows of them."""
    poses = body.forward(q)
    turned = {part: poses[each.link][..., :3, :3] for part, each in parts.items()}
    at = {part: poses[each.link][..., :3, 3] + turned[part] @ np.array(each.joint) for part, each in parts.items()}
    return Posed(at, turned)


def facing(at: Mapping[str, Array]) -> Array:
    """world_from_figure: x forward, y to the left, z up, as the hips of a standing figure lie."""
    left = at["left_upper_leg"] - at["right_upper_leg"]
    left = left - UP * (left @ UP)
    if np.linalg.norm(left) < 1e-9:
        raise BodyError("the hips of a figure lie above each other, so that it faces nowhere. Give it upright, z up.")
    left = left / np.linalg.norm(left)
    return np.column_stack((np.cross(left, UP), left, UP))


def calibrate(
    skeleton: Body, source: Mapping[str, Part], body: Body, target: Mapping[str, Part], postures: Array
) -> Calibrated:
    """Lengths, offsets and rotations, from the one of the postures that is most like a figure standing at ease."""
    human = posed(skeleton, source, _most_upright(skeleton, source, postures))
    robot = posed(body, target, body.home)
    turn = facing(human.at) @ facing(robot.at).T  # the body, turned to face as the skeleton does
    both = [part for part in target if part in source]
    legs = [
        sum(_length(each.at, side, "upper_leg", "lower_leg", "foot") for side in SIDES if f"{side}_foot" in both)
        for each in (robot, human)
    ]
    if min(legs) <= 0.0:
        legs = [sum(_length(each.at, side, "upper_leg", "lower_leg") for side in SIDES) for each in (robot, human)]
    scale = legs[0] / legs[1]

    middle = {
        name: 0.5 * (each.at["left_upper_leg"] + each.at["right_upper_leg"])
        for name, each in (("h", human), ("r", robot))
    }
    # The point of the body's hips at which the scaled skeleton has its own, if both have their legs at the same height.
    hips = middle["r"] + turn.T @ (scale * (human.at["hips"] - middle["h"]))
    points = {part: np.array(target[part].joint) for part in both}
    points["hips"] = robot.turned["hips"].T @ (hips - _origin(robot, target, "hips"))
    at = {**robot.at, "hips": hips}

    links: dict[str, tuple[str | None, float, tuple[float, float, float]]] = {"hips": (None, scale, (0.0, 0.0, 0.0))}
    for part in both:
        parent = _parent(part, both)
        if part == "hips":
            continue
        if part.endswith(("lower_leg", "foot", "lower_arm", "hand")) and parent in both:
            there, here = np.linalg.norm(at[part] - at[parent]), np.linalg.norm(human.at[part] - human.at[parent])
            links[part] = (parent, float(there / here) if here > 1e-9 else 0.0, (0.0, 0.0, 0.0))
        else:
            x, y, z = (robot.turned[parent].T @ (at[part] - at[parent])).tolist()
            links[part] = (parent, 0.0, (x, y, z))
    alike = posed(body, target, _alike(body, target, human, robot, turn, links))
    turns = {part: to_quaternion(human.turned[part].T @ alike.turned[part]) for part in both}
    for part in both:
        if part in ("hips", "chest", "head"):
            turns[part] = to_quaternion(human.turned[part].T @ turn @ robot.turned[part])
        elif part.endswith(("foot", "toes")):
            flat = _toe_out(human.at, part) @ turn @ robot.turned[part]
            turns[part] = to_quaternion(human.turned[part].T @ flat)
    return Calibrated(links, turns, points)


def _origin(figure: Posed, parts: Mapping[str, Part], part: str) -> Array:
    return np.asarray(figure.at[part] - figure.turned[part] @ np.array(parts[part].joint))


def _length(at: Mapping[str, Array], side: str, *parts: str) -> float:
    points = [at[f"{side}_{part}"] for part in parts]
    return float(sum(np.linalg.norm(b - a) for a, b in pairwise(points)))


def _parent(part: str, both: list[str]) -> str:
    side, _, kind = part.partition("_")
    before = {
        "lower_leg": "upper_leg",
        "foot": "lower_leg",
        "toes": "foot",
        "lower_arm": "upper_arm",
        "hand": "lower_arm",
    }
    if kind in before:
        return f"{side}_{before[kind]}"
    if part == "head" or kind == "upper_arm":
        return "chest" if "chest" in both else "hips"
    return "hips"


def _most_upright(skeleton: Body, parts: Mapping[str, Part], postures: Array) -> Array:
    """The posture whose legs point down most steeply and whose trunk and limbs are straightest."""
    at = posed(skeleton, parts, postures).at
    score = np.zeros(len(postures))
    down = np.zeros(len(postures))
    for side in SIDES:
        thigh = _unit(at[f"{side}_lower_leg"] - at[f"{side}_upper_leg"])
        down -= 0.5 * thigh @ UP
        for upper, lower, end in LIMBS:
            if f"{side}_{end}" in at and f"{side}_{lower}" in at and f"{side}_{upper}" in at:
                one = _unit(at[f"{side}_{lower}"] - at[f"{side}_{upper}"])
                two = _unit(at[f"{side}_{end}"] - at[f"{side}_{lower}"])
                score += 0.25 * (one * two).sum(axis=-1)
    top = next((part for part in ("head", "chest", "left_upper_arm") if part in at), None)
    if top is not None:
        down = 0.5 * (down + _unit(at[top] - at["hips"]) @ UP)
    best = int(np.argmax(down + 0.2 * score))
    if down[best] < UPRIGHT:
        raise BodyError(
            f"skeleton {skeleton.name!r} never stands upright, with z up, in the postures that calibration looks at. Turn it, or "
            "give one in which it stands: mk.retarget_plan(skeleton, body, posture=q)."
        )
    return np.asarray(postures[best])


def _unit(v: Array) -> Array:
    return np.asarray(v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-12))


def _toe_out(at: Mapping[str, Array], part: str) -> Array:
    """How far a foot on the ground points away from where the figure faces: a rotation about the vertical."""
    side = part.partition("_")[0]
    if f"{side}_toes" not in at or f"{side}_foot" not in at:
        return np.eye(3)
    toe = facing(at).T @ (at[f"{side}_toes"] - at[f"{side}_foot"])
    return (
        np.asarray(axis_angle(UP, float(np.arctan2(toe[1], toe[0])))) if np.hypot(toe[0], toe[1]) > 1e-6 else np.eye(3)
    )


def _alike(
    body: Body, target: Mapping[str, Part], human: Posed, robot: Posed, turn: Array,
    links: Mapping[str, tuple[str | None, float, object]],
) -> Array:  # fmt: skip
    """The posture of the body whose limbs point as those of the skeleton do."""
    hips = body.frame(target["hips"].link)
    stand = np.eye(4)
    stand[:3, :3] = turn @ robot.turned["hips"]
    stand[:3, 3] = _origin(robot, target, "hips")
    objectives: list[Objective] = [
        Pose(hips, stand, position_tolerance=None, orientation_tolerance=None, weight=10.0),
        Displacement(weight=1e-2),
    ]
    for side in SIDES:
        for limb in LIMBS:
            parts = [f"{side}_{part}" for part in limb if f"{side}_{part}" in links]
            point = stand[:3, 3] + turn @ (robot.at[parts[0]] - stand[:3, 3]) if parts else np.zeros(3)
            for before, part in pairwise(parts):
                point = point + links[part][1] * (human.at[part] - human.at[before])
                objectives.append(Position(target[part].frame(body), point, tolerance=None))
    return solve(Problem(body, objectives), start=body.home).q
