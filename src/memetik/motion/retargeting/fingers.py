"""Fingers of figures that have them: which links they are, and how those of a skeleton turn those of a body.

A finger bends as its bone does from the posture at rest of both, which is a flat hand, as seen from the link before it. So it
bends by the same angle whether or not the hand could follow. Hands are laid on each other by their knuckles.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from memetik.body import Body
from memetik.geometry import to_quaternion
from memetik.motion.retargeting.figure import SIDES, Part, words_of
from memetik.types import Array

FINGERS = {
    "thumb": "thumb",
    "index": "index|fore",
    "middle": "middle|mid",
    "ring": "ring",
    "little": "little|pinky|pinkie",
}
JOINTS = ("proximal", "intermediate", "distal")  # of a thumb, too: the first, second and third from the wrist
FINGER_PARTS = tuple(f"{side}_{finger}_{joint}" for side in SIDES for finger in FINGERS for joint in JOINTS)
WORDS = r"(hand)?({})(finger)?(knuckle|metacarpal|proximal|intermediate|distal|pitch|roll|yaw|x|y|z)*"
TOGETHER = 1e-3  # m; axes that are nearer to each other at rest are those of one joint


class FingerTurn(NamedTuple):
    """How a part of a hand is led."""

    part: str
    parent: str
    turn: Array  # bone_from_link, a quaternion
    anchor: tuple[float, float, float]  # of its joint in the link of the parent [m]


def find_fingers(body: Body, parts: Mapping[str, Part]) -> dict[str, Part]:
    """The fingers of a figure's hands by their names; none of a hand with less than two knuckles beside the thumb."""
    above = {joint.child: joint for joint in body.joints.values()}
    poses = body.forward(body.home)
    found: dict[str, Part] = {}
    for side in SIDES:
        if f"{side}_hand" not in parts:
            continue
        hand, own = parts[f"{side}_hand"].link, {}
        for finger, names in FINGERS.items():
            links = [
                link
                for link in body.links
                if _is_below(above, link, hand)
                and above[link].kind != "fixed"
                and re.fullmatch(WORDS.format(names), words_of(link)[1])
                and words_of(link)[0] in (side, None)
            ]
            groups: list[str] = []
            for k, link in enumerate(links):
                same = k > 0 and np.linalg.norm(poses[link][:3, 3] - poses[links[k - 1]][:3, 3]) < TOGETHER
                groups = [*groups[:-1], link] if same else [*groups, link]
            # A fourth bone of a skeleton is the tip of a finger; a fourth axis of a robot is at its root.
            ball = bool(groups) and above[groups[0]].kind == "spherical"
            last = groups[:3] if ball else groups[-3:]
            own.update(
                {
                    f"{side}_{finger}_{joint}": Part(link, (0.0, 0.0, 0.0))
                    for joint, link in zip(JOINTS, last, strict=False)
                }
            )
        if len(_knuckles(side, own)) > 1:
            found.update(own)
    return found


def finger_turns(
    skeleton: Body, source: Mapping[str, Part], body: Body, target: Mapping[str, Part]
) -> list[FingerTurn]:
    """The hands and fingers that both have, hands first; nothing of a side where they have less than two knuckles in common."""
    both = {part: each for part, each in target.items() if part in source}
    here, there = skeleton.forward(skeleton.home), body.forward(body.home)
    found = []
    for side in SIDES:
        hand, knuckles = f"{side}_hand", _knuckles(side, both)
        if hand not in both or len(knuckles) < 2:
            continue
        across = _hand_frame(source, here, hand, knuckles) @ _hand_frame(target, there, hand, knuckles).T
        for part in (hand, *(part for part in FINGER_PARTS if part in both and part.startswith(side))):
            bone, link = here[source[part].link][:3, :3], there[target[part].link][:3, :3]
            parent = (
                hand if part.endswith(JOINTS[0]) else part.rpartition("_")[0] + "_" + JOINTS[max(_order(part) - 1, 0)]
            )
            if part != hand and parent not in both:
                continue
            frame = there[target[parent].link] if part != hand else there[target[part].link]
            x, y, z = (frame[:3, :3].T @ (there[target[part].link][:3, 3] - frame[:3, 3])).tolist()
            found.append(FingerTurn(part, parent, to_quaternion(bone.T @ across @ link), (x, y, z)))
    return found


def _order(part: str) -> int:
    name = part.rpartition("_")[2]
    return JOINTS.index(name) if name in JOINTS else 0


def _knuckles(side: str, parts: Mapping[str, Part]) -> list[str]:
    """The first joints of all fingers but the thumb, in their order."""
    return [name for finger in list(FINGERS)[1:] if (name := f"{side}_{finger}_{JOINTS[0]}") in parts]


def _hand_frame(parts: Mapping[str, Part], poses: Mapping[str, Array], hand: str, knuckles: list[str]) -> Array:
    """world_from_hand: x from the wrist to the knuckles, z out of the hand, as the knuckles lie from the first to the last."""
    wrist = poses[parts[hand].link]
    at = np.array([poses[parts[part].link][:3, 3] for part in knuckles])
    forward = at.mean(axis=0) - (wrist[:3, 3] + wrist[:3, :3] @ np.array(parts[hand].joint))
    out = np.cross(forward, at[-1] - at[0])
    x, z = (v / max(np.linalg.norm(v), 1e-12) for v in (forward, out))
    return np.column_stack((x, np.cross(z, x), z))


def _is_below(above: Mapping[str, object], link: str, other: str) -> bool:
    while link in above:
        link = above[link].parent  # type: ignore[attr-defined]
        if link == other:
            return True
    return False
