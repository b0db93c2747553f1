"""How a skeleton and a body correspond: lengths, offsets and rotations, from one posture of the skeleton.

No posture of the body has to be prepared: the one that looks like the skeleton's, each limb in the same direction, is
solved for. What limbs then turn by, both turn by.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from memetik.body import Body
from memetik.errors import BodyError
from memetik.geometry import axis_angle, between, to_quaternion
from memetik.motion.retargeting.figure import SIDES, Part
from memetik.motion.retargeting.structure import Tree
from memetik.objectives import Displacement, Objective, Pose, Position
from memetik.problem import Problem
from memetik.solvers import solve
from memetik.types import Array

UP = np.array([0.0, 0.0, 1.0])
LIMBS = (("upper_leg", "lower_leg", "foot"), ("upper_arm", "lower_arm", "hand"))
UPRIGHT = 0.5  # cosine: legs that point less steeply down, on average, are not those of a standing figure
SLANTED = 0.2  # the same for a body, whose legs may be splayed or bent at home
AT_EASE = 0.1  # of the score; a rest posture that stands nearly as well as the best frame is taken before it
APART = 0.8  # cosine; offsets of two bones that differ more are along other axes, not of another length
ALIKE = math.cos(0.05)  # bones and axes that differ less point the same way
LYING = 0.5  # sine; a trunk that rises less than this from hips to chest is level


class Calibrated(NamedTuple):
    """For each part."""

    links: dict[str, tuple[str | None, float, tuple[float, float, float]]]  # parent, scale, anchor
    turns: dict[str, Array]  # bone_from_link, quaternions
    points: dict[str, Array]  # of the body's links
    posture: dict[str, float]  # of the skeleton, by variables


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
    """world_from_figure: x forward, y to the left, z up, as the hips of a standing figure lie, or its shoulders."""
    pair = "upper_leg" if "left_upper_leg" in at and "right_upper_leg" in at else "upper_arm"
    left = at[f"left_{pair}"] - at[f"right_{pair}"]
    left = left - UP * (left @ UP)
    if np.linalg.norm(left) < 1e-9:
        raise BodyError("the hips of a figure lie above each other, so that it faces nowhere. Give it upright, z up.")
    left = left / np.linalg.norm(left)
    return np.column_stack((np.cross(left, UP), left, UP))


def calibrate(
    skeleton: Body, source: Mapping[str, Part], body: Body, target: Mapping[str, Part], postures: Array,
    parents: Mapping[str, str], others: Collection[str],
) -> Calibrated:  # fmt: skip
    """Lengths, offsets and rotations, from the one of the postures that is most like a figure standing at ease.

    parents: the part that each hangs on, where it is not the usual one. others: parts beside the usual ones, such as collarbones.
    """
    posture = _most_upright(skeleton, source, postures)
    if same_joints(skeleton, body) is None:  # else it takes the skeleton's posture, whatever its own at rest is
        _most_upright(body, target, body.home[None], "the body")
    if Tree(body).base(target["hips"].link) is None:
        body = body.with_base("floating")  # which only this posture is searched for with
    human = posed(skeleton, source, skeleton.vector(posture))
    known = same_joints(skeleton, body)
    posture_of_body = body.home if known is None else known_posture(body, known, posture)
    robot = posed(body, target, posture_of_body)
    turn = facing(human.at) @ facing(robot.at).T  # the body, turned to face as the skeleton does
    both = [part for part in target if part in source]
    scale = _size(robot.at, both) / _size(human.at, both)

    middle = {name: _middle(each.at) for name, each in (("h", human), ("r", robot))}
    # The point of the body's hips at which the scaled skeleton has its own, if both have their legs at the same height.
    hips = middle["r"] + turn.T @ (scale * (human.at["hips"] - middle["h"]))
    points = {part: np.array(target[part].joint) for part in both}
    points["hips"] = robot.turned["hips"].T @ (hips - _origin(robot, target, "hips"))
    at = {**robot.at, "hips": hips}

    tree = Tree(body)
    links: dict[str, tuple[str | None, float, tuple[float, float, float]]] = {"hips": (None, scale, (0.0, 0.0, 0.0))}
    for part in both:
        parent = parent_of(part, both, parents)
        if part == "hips":
            continue
        slides = known is not None and tree.slides(target[part].link)
        ends = part.endswith(("lower_leg", "foot", "lower_arm", "hand")) and part not in others
        if slides or (ends and parent in both):
            there, here = np.linalg.norm(at[part] - at[parent]), np.linalg.norm(human.at[part] - human.at[parent])
            links[part] = (parent, float(there / here) if here > 1e-9 else scale * slides, (0.0, 0.0, 0.0))
        elif (
            parent == "hips"
            and part in others
            and np.linalg.norm(human.at[part] - human.at["hips"]) > 1e-9
            and _is_above(skeleton, source[part].link, source["hips"].link)
        ):
            links[part] = (parent, scale, (0.0, 0.0, 0.0))  # a root above the hips, between which they move
        else:
            x, y, z = (robot.turned[parent].T @ (at[part] - at[parent])).tolist()
            links[part] = (parent, 0.0, (x, y, z))
    standing = robot if known is not None else _swung(body, target, human, robot, turn, links)
    turned = {part: turn @ each if known is not None else each for part, each in standing.turned.items()}
    turns = {part: to_quaternion(human.turned[part].T @ turned[part]) for part in both}
    for part in both:
        if known is None and part.endswith(("foot", "toes")) and part not in others:
            flat = _toe_out(human.at, part) @ turn @ robot.turned[part]
            turns[part] = to_quaternion(human.turned[part].T @ flat)
    return Calibrated(links, turns, points, posture)


def same_joints(skeleton: Body, body: Body) -> dict[str, str] | None:
    """The variable of the skeleton for each of the body's, if all joints of the body are the skeleton's but for lengths.

    Names of links do not suffice: bones of one name may have other axes in another file, where equal joint values mean another
    posture.
    """
    by_child = {joint.child: joint for joint in skeleton.joints.values()}
    found: dict[str, str] = {}
    for joint in body.joints.values():
        if joint.dof == 0 or joint.mimic is not None:
            continue
        other = by_child.get(joint.child)
        if other is None or other.mimic is not None or (other.kind, other.order) != (joint.kind, joint.order):
            return None
        if (
            np.abs(other.axis - joint.axis).max() > 1e-6
            or np.abs(other.origin[:3, :3] - joint.origin[:3, :3]).max() > 1e-6
        ):
            return None
        here, there = joint.origin[:3, 3], other.origin[:3, 3]
        if here @ there < APART * np.linalg.norm(here) * np.linalg.norm(there):
            return None
        found.update(zip(joint.variables, other.variables, strict=True))
    return found if _axes_agree(skeleton, body) else None


def _axes_agree(skeleton: Body, body: Body) -> bool:
    """Whether links are turned alike at home wherever their bones point alike, as seen from the first link of both."""
    both = [link for link in body.links if link in skeleton.links]
    here, there = (_seen_from(figure.forward(figure.home), both) for figure in (skeleton, body))
    for joint in body.joints.values():
        link, end = joint.parent, joint.child
        if link in here and end in here:
            one, two = (_unit(poses[end][:3, 3] - poses[link][:3, 3]) for poses in (here, there))
            turn = here[link][:3, :3].T @ there[link][:3, :3]
            if one @ two > ALIKE and np.trace(turn) < 1.0 + 2.0 * ALIKE:
                return False
    return True


def _seen_from(poses: Mapping[str, Array], links: list[str]) -> dict[str, Array]:
    """The poses of links in the frame of the first of them."""
    base = np.linalg.inv(poses[links[0]]) if links else np.eye(4)
    return {link: base @ poses[link] for link in links}


def stands(body: Body, parts: Mapping[str, Part]) -> bool:
    """Whether a body stands in its posture at home."""
    try:
        _most_upright(body, parts, body.home[None], "the body")
    except BodyError:
        return False
    return True


def known_posture(body: Body, known: Mapping[str, str], posture: Mapping[str, float]) -> Array:
    """The posture of the body whose joints have the values that the skeleton's have."""
    return body.vector({name: posture[other] for name, other in known.items()})


def _size(at: Mapping[str, Array], both: list[str]) -> float:
    """The length of the legs that both figures have, else of the arms, both sides together [m]."""
    for limb in LIMBS:
        for parts in (limb, limb[:2]):
            if all(f"{side}_{part}" in both for side in SIDES for part in parts):
                length = sum(_length(at, side, *parts) for side in SIDES)
                if length > 0.0:
                    return length
    raise BodyError("two figures need two legs or two arms that both have, to be scaled by. Name them: link_map={...}.")


def _middle(at: Mapping[str, Array]) -> Array:
    legs = [at[f"{side}_upper_leg"] for side in SIDES if f"{side}_upper_leg" in at]
    return 0.5 * (legs[0] + legs[1]) if len(legs) == 2 else at["hips"]


def _origin(figure: Posed, parts: Mapping[str, Part], part: str) -> Array:
    return np.asarray(figure.at[part] - figure.turned[part] @ np.array(parts[part].joint))


def _length(at: Mapping[str, Array], side: str, *parts: str) -> float:
    points = [at[f"{side}_{part}"] for part in parts]
    return float(sum(np.linalg.norm(b - a) for a, b in pairwise(points)))


def _is_above(body: Body, link: str, other: str) -> bool:
    return link != other and link in Tree(body).path(other)


BEFORE = {
    "lower_leg": "upper_leg", "foot": "lower_leg", "toes": "foot", "lower_arm": "upper_arm", "hand": "lower_arm",
}  # fmt: skip


def parent_of(part: str, both: Iterable[str], parents: Mapping[str, str]) -> str:
    """The part that a part is counted from, of those that both figures have; `parents` says it where it is no usual one."""
    side, _, kind = part.partition("_")
    if part in parents:
        return parents[part]
    if kind in BEFORE and f"{side}_{BEFORE[kind]}" in both:
        return f"{side}_{BEFORE[kind]}"
    if part == "head" or kind == "upper_arm":
        return "chest" if "chest" in both else "hips"
    return "hips"


def on_all_fours(at: Mapping[str, Array]) -> bool:
    """Whether a standing figure stands on its hands, too: its trunk is level and its hands are as low as its feet."""
    if not all(f"{side}_{end}" in at for side in SIDES for end in ("hand", "foot", "upper_arm", "upper_leg")):
        return False
    hands, feet, arms, legs = (
        0.5 * (at[f"left_{part}"] + at[f"right_{part}"]) for part in ("hand", "foot", "upper_arm", "upper_leg")
    )
    trunk = arms - legs
    level = abs(trunk @ UP) < LYING * np.linalg.norm(trunk)
    return bool(level and abs((hands - feet) @ UP) < 0.3 * max((legs - feet) @ UP, 0.0))


def _most_upright(
    skeleton: Body, parts: Mapping[str, Part], postures: Array, what: str = "skeleton"
) -> dict[str, float]:
    """The posture whose legs point down most steeply and whose trunk and limbs are straightest, by variables.

    The first one is the posture at rest, which says how limbs are rolled: it is taken unless another one is far better.
    """
    at = posed(skeleton, parts, postures).at
    score = np.zeros(len(postures))
    down: list[Array] = []
    for side in SIDES:
        if f"{side}_lower_leg" in at and f"{side}_upper_leg" in at:
            low = at.get(f"{side}_foot", at[f"{side}_lower_leg"]) if what != "skeleton" else at[f"{side}_lower_leg"]
            down.append(-_unit(low - at[f"{side}_upper_leg"]) @ UP)
        for upper, lower, end in LIMBS:
            if f"{side}_{end}" in at and f"{side}_{lower}" in at and f"{side}_{upper}" in at:
                one = _unit(at[f"{side}_{lower}"] - at[f"{side}_{upper}"])
                two = _unit(at[f"{side}_{end}"] - at[f"{side}_{lower}"])
                score += 0.25 * (one * two).sum(axis=-1)
    upright = np.mean(down, axis=0) if down else np.ones(len(postures))
    shoulders = [at[f"{side}_upper_arm"] for side in SIDES if f"{side}_upper_arm" in at]
    top = sum(shoulders) / len(shoulders) if shoulders else at.get("head", at.get("chest"))
    four = on_all_fours({part: each[0] for part, each in at.items()})
    if top is not None and not four:
        upright = 0.5 * (upright + _unit(top - at["hips"]) @ UP)
    total = upright + 0.2 * score
    best = int(np.argmax(total))
    if upright[0] > UPRIGHT and total[0] > total[best] - AT_EASE:
        best = 0
    if what != "skeleton" and upright[best] > SLANTED:
        return {}
    if what != "skeleton":
        raise BodyError(
            f"body {skeleton.name!r} does not stand in its home posture, with z up: its legs or its trunk point {_down(at)}. "
            "Turn the root in its file, or give the file another home posture, so that it stands."
        )
    if upright[best] < UPRIGHT:
        raise BodyError(
            f"skeleton {skeleton.name!r} never stands upright, with z up, in the postures that calibration looks at. Turn it, or "
            "give one in which it stands: mk.motion.retarget_plan(skeleton, body, posture=q). A file whose other axis points up "
            "is read with mk.read_motion(path, up='z')."
        )
    return dict(zip(skeleton.joint_names, postures[best].tolist(), strict=True))


def _down(at: Mapping[str, Array]) -> str:
    """The axis along which a figure's legs point, or its trunk if it has none: "along +y"."""
    pair = ("left_upper_leg", "left_lower_leg") if "left_lower_leg" in at else ("left_upper_arm", "hips")
    way = at[pair[1]][0] - at[pair[0]][0]
    axis = int(np.abs(way).argmax())
    return f"along {'+' if way[axis] > 0.0 else '-'}{'xyz'[axis]}"


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


def _swung(
    body: Body, target: Mapping[str, Part], human: Posed, robot: Posed, turn: Array,
    links: Mapping[str, tuple[str | None, float, tuple[float, float, float]]],
) -> Posed:  # fmt: skip
    """How parts of the body are turned where its limbs point as the skeleton's do and nothing is turned that need not be.

    Where joints turn any way, each bone swings the short way. Other limbs are searched for.
    """
    tree = Tree(body)
    turned = {part: turn @ robot.turned[part] for part in links}
    balls = {
        f"{side}_{part}"
        for side in SIDES
        for limb in LIMBS
        if all(f"{side}_{each}" in links and tree.is_ball(target[f"{side}_{each}"].link) for each in limb[:2])
        for part in limb
    }
    swings: dict[str, Array] = {}
    for side in SIDES:
        for upper, lower, end in LIMBS:
            for part, following in ((f"{side}_{upper}", f"{side}_{lower}"), (f"{side}_{lower}", f"{side}_{end}")):
                if part in balls and following in links:
                    own = turn @ (robot.at[following] - robot.at[part])
                    swings[part] = between(own, human.at[following] - human.at[part])
            if f"{side}_{lower}" in swings:
                swings[f"{side}_{end}"] = swings[f"{side}_{lower}"]
    if any(part.endswith(("lower_leg", "lower_arm")) and part not in balls for part in links):
        alike = posed(body, target, _alike(body, target, human, robot, turn, links))
        limbs = {f"{side}_{part}" for side in SIDES for limb in LIMBS for part in limb}
        turned |= {part: each for part, each in alike.turned.items() if part in limbs and part not in balls}
    for part in links:
        on = part
        while on not in swings and links[on][0] is not None:
            on = links[on][0] or on
        if on in swings:
            turned[part] = swings[on] @ turned[part]
    return Posed(robot.at, turned)


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
                if links[part][0] != before:
                    break
                point = point + links[part][1] * (human.at[part] - human.at[before])
                objectives.append(Position(target[part].frame(body), point, tolerance=None))
    return solve(Problem(body, objectives), start=body.home).q
