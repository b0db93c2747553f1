"""Limbs of a figure by its structure alone, whatever its links are called.

A limb is a chain of joints that begins where the trunk branches. Two chains are left and right of each other if they begin
at mirrored points and have the same lengths. The pair that ends lowest are the legs, and the longest other pair the arms, or the
forelegs. Joints whose axes nearly meet are one joint of the figure: of such centres and the end of the limb, the three in a row
with the longest segments between them are hip, knee and ankle, or shoulder, elbow and wrist.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import combinations
from typing import NamedTuple

import numpy as np

from memetik.body import Body
from memetik.body.joint import Joint
from memetik.types import Array

MEETING = (
    0.12  # share of a limb's length; axes that come this near to the centre of the joints before them belong to it
)
ALIKE = 0.06  # share of the figure's size by which mirrored points and lengths may differ
SHORTEST = 0.15  # share of the figure's size; shorter chains are no limbs
ALMOST = 0.7  # share of the longest two segments; of two that are nearly as long, those farther out are taken
MAIN = 3.0  # of branches, one that reaches this many times as far as all others goes on with the limb
TURNING = ("revolute", "continuous")


class Limb(NamedTuple):
    """A chain of links, first to last, that a joint moves each."""

    start: str  # the link of the trunk it hangs on
    links: tuple[str, ...]
    at: Array  # (n, 3) where the joints are [m]
    tip: Array  # (3,) the farthest point of the last link and what is fixed to it [m]

    @property
    def length(self) -> float:
        """Along the chain [m]."""
        return float(np.linalg.norm(np.diff(np.vstack((self.at, self.tip)), axis=0), axis=1).sum())


class Tree:
    """Ways up and down a body."""

    def __init__(self, body: Body) -> None:
        self.joint: dict[str, Joint] = {joint.child: joint for joint in body.joints.values()}
        self.children: dict[str, list[str]] = {link: [] for link in body.links}
        for joint in body.joints.values():
            self.children[joint.parent].append(joint.child)
        self.root = body.root
        self.links = tuple(body.links)

    def path(self, link: str) -> list[str]:
        """The links from the root to this one, both included."""
        way = [link]
        while way[-1] in self.joint:
            way.append(self.joint[way[-1]].parent)
        return way[::-1]

    def common(self, one: str, other: str) -> str:
        """The last link that both ways from the root share."""
        shared = self.root
        for a, b in zip(self.path(one), self.path(other), strict=False):
            if a != b:
                break
            shared = a
        return shared

    def moves(self, link: str) -> bool:
        """Whether a joint moves the link against its parent."""
        return link in self.joint and self.joint[link].dof > 0

    def is_ball(self, link: str) -> bool:
        """Whether the link turns any way by one joint, as the bones of a skeleton do."""
        return link in self.joint and self.joint[link].kind in ("spherical", "floating")

    def base(self, link: str) -> Joint | None:
        """The floating joint on the root that carries the link, if there is one: not that of something which lies around."""
        first = self.joint.get((*self.path(link), link)[1])
        return first if first is not None and first.kind == "floating" else None

    def slides(self, link: str) -> bool:
        """Whether the link also slides on its parent, along more than one axis, as bones of animation programs may."""
        return link in self.joint and self.joint[link].kind in ("floating", "xyz", "planar")

    def rigid_with(self, link: str) -> list[str]:
        """The links that never move against this one."""
        top = link
        while top in self.joint and not self.moves(top):
            top = self.joint[top].parent
        return self.fixed_below(top)

    def fixed_below(self, link: str) -> list[str]:
        """The link and all that are fixed to it."""
        found = [link]
        for each in found:
            found += [child for child in self.children[each] if not self.moves(child)]
        return found

    def moved_below(self, link: str) -> list[str]:
        """The links that the next joints below a link move."""
        return [child for each in self.fixed_below(link) for child in self.children[each] if self.moves(child)]


def limbs_by_structure(tree: Tree, body: Body, points: Mapping[str, Array]) -> dict[str, dict[str, list[str]]]:
    """For each side and part of legs and arms the links that move there; empty where there is no such pair.

    points: of the shapes of each link, in its frame (n, 3) [m].
    """
    poses = body.forward(body.home)
    limbs = _limbs(tree, poses, points)
    places = np.array([poses[link][:3, 3] for link in tree.links] + [limb.tip for limb in limbs])
    size = float(np.ptp(places, axis=0).max())
    limbs = [limb for limb in limbs if limb.length > SHORTEST * size and not all(map(FINGER_WORDS.search, limb.links))]
    both = [[(a, b) for a, b in combinations(limbs, 2) if _mirrored(a, b, axis, size)] for axis in (1, 0)]
    pairs = max(both, key=len)  # left and right lie along y, unless more of the limbs are mirrored along x
    found: dict[str, dict[str, list[str]]] = {"left": {}, "right": {}}
    if not pairs:
        return found
    floor = float(places[:, 2].min())
    low = [pair for pair in pairs if _stands(pair, floor, size) and not _called(ARM_WORDS, LEG_WORDS, pair)]
    low.sort(key=lambda pair: pair[0].tip[2] + pair[1].tip[2])
    legs = low[0] if low else None
    forward = _forward(tree, poses, points, legs, pairs[0], size)
    standing = [pair for pair in pairs if _stands(pair, floor, size)]
    if legs is not None:  # on four legs: the hind legs are led by legs
        legs = min(
            (legs, *(pair for pair in standing if not _shared(pair, legs))),
            key=lambda pair: (pair not in low, float((pair[0].at[0] + pair[1].at[0]) @ forward)),
        )
    others = [pair for pair in pairs if legs is None or not _shared(pair, legs)]
    if legs is None:  # three limbs alike at one link are the fingers of a hand
        others = [pair for pair in others if sum(_alike(limb, pair[0]) for limb in limbs) < 3]
    arms = max(others, key=lambda pair: pair[0].length + pair[1].length) if others else None
    for pair, names in ((legs, LEG), (arms, ARM)):
        for limb in pair or ():
            k = _apart(pair[0], pair[1], size)  # type: ignore[index]
            middle = 0.5 * (pair[0].at[k] + pair[1].at[k])  # type: ignore[index]
            side = "left" if np.cross(forward, limb.at[k] - middle)[2] > 0.0 else "right"
            for name, links in zip(names, _three(tree, limb, poses, pair in standing), strict=False):
                if links:
                    found[side][name] = links
    return found


ARM_WORDS = re.compile(r"arm|shoulder|elbow|wrist|hand|gripper", re.IGNORECASE)
FINGER_WORDS = re.compile(r"finger|thumb|index|middle|ring_|little|pinky|knuckle|gripper", re.IGNORECASE)
LEG_WORDS = re.compile(r"leg|hip|thigh|knee|shin|shank|calf|ankle|foot|toe", re.IGNORECASE)


def _called(pattern: re.Pattern[str], other: re.Pattern[str], pair: tuple[Limb, Limb]) -> bool:
    """Whether links of a pair have names of one kind and none of the other."""
    names = [link for limb in pair for link in limb.links]
    return any(map(pattern.search, names)) and not any(map(other.search, names))


def _stands(pair: tuple[Limb, Limb], floor: float, size: float) -> bool:
    """Whether limbs reach down to the floor."""
    return all(
        limb.tip[2] < floor + 0.2 * size and limb.at[:, 2].max() - limb.tip[2] > 0.5 * SHORTEST * size for limb in pair
    )


LEG = ("upper_leg", "lower_leg", "foot", "toes")
ARM = ("upper_arm", "lower_arm", "hand")


def _shared(pair: tuple[Limb, Limb], legs: tuple[Limb, Limb]) -> bool:
    own = {link for limb in legs for link in limb.links}
    return any(link in own or limb.start in own for limb in pair for link in limb.links)


def _limbs(tree: Tree, poses: Mapping[str, Array], points: Mapping[str, Array]) -> list[Limb]:
    """All chains that begin where a body branches, each down to where it branches again."""
    found = []
    for start in tree.links:
        if start != tree.root and not tree.moves(start):
            continue
        below = tree.moved_below(start)
        if len(below) > 1:
            found += [_chain(tree, start, first, poses, points) for first in below]
    return found


def _chain(tree: Tree, start: str, first: str, poses: Mapping[str, Array], points: Mapping[str, Array]) -> Limb:
    links = [first]
    while below := tree.moved_below(links[-1]):
        reach = sorted(((_reach(tree, link, poses), link) for link in below), reverse=True)
        if len(reach) > 1 and not reach[0][0] > MAIN * reach[1][0]:
            break
        links.append(reach[0][1])
    at = np.array([poses[link][:3, 3] for link in links])
    ends = [_placed(poses[link], points[link]) for link in tree.fixed_below(links[-1])]
    ends += [poses[link][:3, 3][None] for link in (*tree.fixed_below(links[-1]), *tree.moved_below(links[-1]))]
    around = np.vstack(ends)
    tip = around[np.linalg.norm(around - at[0], axis=1).argmax()]
    return Limb(start, tuple(links), at, tip)


def _placed(pose: Array, points: Array) -> Array:
    return np.asarray(points @ pose[:3, :3].T + pose[:3, 3])


def _reach(tree: Tree, link: str, poses: Mapping[str, Array]) -> float:
    """How far from the joint of a link the farthest link below it is."""
    below, here = [link], poses[link][:3, 3]
    for each in below:
        below += tree.children[each]
    return max(float(np.linalg.norm(poses[each][:3, 3] - here)) for each in below) + 1e-9


def _mirrored(one: Limb, other: Limb, axis: int, size: float) -> bool:
    """Whether two chains begin at points mirrored along an axis and are equally long, joint by joint."""
    if len(one.links) != len(other.links):
        return False
    k = _apart(one, other, size)
    away = np.abs(one.at[k] - other.at[k])
    lengths = [np.linalg.norm(np.diff(limb.at, axis=0), axis=1) for limb in (one, other)]
    return bool(
        away[axis] > 0.01 * size
        and np.delete(away, axis).max() < ALIKE * size
        and np.abs(lengths[0] - lengths[1]).max(initial=0.0) < ALIKE * size
    )


def _alike(limb: Limb, other: Limb) -> bool:
    """Whether two chains hang on the same link and are about equally long."""
    return limb.start == other.start and abs(limb.length - other.length) < 0.25 * other.length


def _apart(one: Limb, other: Limb, size: float) -> int:
    """The first joint that two chains do not have at the same place; both may begin in the middle."""
    away = np.abs(one.at - other.at).max(axis=1) > 0.01 * size
    return int(away.argmax())


def _forward(
    tree: Tree, poses: Mapping[str, Array], points: Mapping[str, Array], legs: tuple[Limb, Limb] | None,
    pair: tuple[Limb, Limb], size: float,
) -> Array:  # fmt: skip
    """Where a figure faces: across its hips, the way that its feet point; else along x, or against y."""
    k = _apart(*pair, size)
    across = pair[0].at[k] - pair[1].at[k]
    ahead = np.cross(across * (1.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    ahead = ahead / max(float(np.linalg.norm(ahead)), 1e-12)
    usual = ahead if ahead @ (1.0, -1e-3, 0.0) > 0.0 else -ahead
    for limb in legs or ():
        ends = [_placed(poses[each], points[each]) for each in tree.fixed_below(limb.links[-1])]
        ends += [limb.tip[None], *(poses[each][:3, 3][None] for each in tree.fixed_below(limb.links[-1]))]
        low = np.vstack(ends) - limb.at[-1]
        reach = low @ ahead
        if abs(reach.max() + reach.min()) > 0.05 * limb.length:
            return ahead if reach.max() > -reach.min() else -ahead
    return usual


def _three(tree: Tree, limb: Limb, poses: Mapping[str, Array], stands: bool) -> tuple[list[str], ...]:
    """The links at the first, middle and last joint of a limb, and those after it."""
    groups, centers = _groups(tree, limb, poses)
    if len(groups) < 2:
        return ()
    places = np.vstack((centers, limb.tip))
    lengths = np.linalg.norm(np.diff(places, axis=0), axis=1)
    if len(groups) > 2:
        lengths[-1] *= 0.5  # a hand with a tool may be as long as a forearm
    long = lengths[:-1] * lengths[1:]
    # The collarbone before an arm may be as long as a forearm; a leg begins at its hip.
    k = int(long.argmax()) if stands else int(np.flatnonzero(long > ALMOST * long.max())[-1])
    rest = groups[k + 3] if k + 3 < len(groups) else []
    return groups[k], groups[k + 1], groups[k + 2] if k + 2 < len(groups) else [], rest


def _groups(tree: Tree, limb: Limb, poses: Mapping[str, Array]) -> tuple[list[list[str]], list[Array]]:
    """Links whose axes nearly meet, in their order, and where they do [m]."""
    groups: list[list[str]] = []
    near = MEETING * limb.length
    for link, at in zip(limb.links, limb.at, strict=True):
        if groups:
            center = meeting_point(tree, groups[-1], poses)
            axis = poses[link][:3, :3] @ tree.joint[link].axis
            away = center - at
            if tree.joint[link].kind in TURNING:
                away = away - axis * (axis @ away)
            if np.linalg.norm(away) < near and not (tree.is_ball(link) and np.linalg.norm(center - at) > 0.2 * near):
                groups[-1].append(link)
                continue
        groups.append([link])
    return groups, [meeting_point(tree, group, poses) for group in groups]


def meeting_point(tree: Tree, links: list[str], poses: Mapping[str, Array]) -> Array:
    """The point nearest to the axes of all these links [m]: the least sum of |(I - a a') (x - p)|^2."""
    point = poses[links[-1]][:3, 3]
    joints = [joint for link in links if (joint := tree.joint.get(link)) is not None and joint.kind in TURNING]
    if len(joints) < 2:
        return np.asarray(point)
    matrix, right = np.zeros((3, 3)), np.zeros(3)
    for joint in joints:
        pose = poses[joint.child]
        a = pose[:3, :3] @ joint.axis
        across = np.eye(3) - np.outer(a, a)
        matrix += across
        right += across @ pose[:3, 3]
    return np.asarray(np.linalg.solve(matrix + 1e-9 * np.eye(3), right + 1e-9 * point))
