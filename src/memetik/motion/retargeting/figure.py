"""A body as a human-like figure: which of its links are hips, chest, upper legs, feet, hands ...

Parts have the names of the VRM humanoid, with underscores. A part of a robot is often several links, one for each axis of
a shoulder or an ankle: the last of them turns as the part does, and the point nearest to all their axes is its joint.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from memetik.body import Body, Frame, Link
from memetik.body.joint import Joint
from memetik.errors import BodyError
from memetik.geometry import translation
from memetik.types import Array

SIDES = ("left", "right")
LEG = ("upper_leg", "lower_leg", "foot", "toes")
ARM = ("upper_arm", "lower_arm", "hand")
PARTS = ("hips", "chest", "head", *(f"{side}_{part}" for side in SIDES for part in (*LEG, *ARM)))

# What the parts of a limb are called: by joints (SMPL, robots) or by bones (BVH, Mixamo, VRM, Unreal), without side,
# numbers and words that say nothing. A collarbone often is a "shoulder" too; the order along the limb tells them apart.
WORDS: dict[str, str] = {
    "upper_leg": r"(up|upper)leg|thigh|femur|hip(joint|yaw|roll|pitch|x|y|z)*",
    "lower_leg": r"(low|lower)?leg|calf|shin|shank|tibia|knee(pitch|x|y|z)*",
    "foot": r"foot|ankle(pitch|roll|yaw|x|y|z)*|midfoot",
    "toes": r"toes?|toebase|ball",
    "upper_arm": r"(up|upper)?arm|humerus|bicep|shoulder(pitch|roll|yaw|x|y|z)*",
    "lower_arm": r"fore(arm)?|(low|lower)(fore)?arm|forearm|elbow(pitch|roll|yaw|x|y|z)*|radius",
    "hand": r"hand|wrist(pitch|roll|yaw|x|y|z)*|palm|handpalm|gripper",
    "collar": r"collar|clavicle",
}
HEAD = r"head"
IDLE = {"link", "joint", "j", "bip", "c", "def", "org", "mixamorig", "bone", "bip001", "base", "b"}
SIDE_TOKENS = {"left": "left", "l": "left", "right": "right", "r": "right"}


@dataclass(frozen=True)
class Part:
    """A part of a figure: the link that turns with it, and its joint as a point of that link [m]."""

    link: str
    joint: tuple[float, float, float]

    def frame(self, body: Body) -> Frame:
        """Its joint, as a frame of the body."""
        return body.frame(self.link, offset=translation(*self.joint))


def find_parts(body: Body) -> dict[str, Part]:
    """The parts of a figure that the body has, by the names of its links, and by its structure where names say nothing.

    Joints are located in the home posture.
    """
    tree = _Tree(body)
    limbs = _named_limbs(tree) or _limbs_by_structure(tree, body)
    if limbs is None:
        raise BodyError(
            f"body {body.name!r} is no figure with two legs: neither the names of its links nor its structure tell which they "
            "are. Name them: mk.retarget_plan(skeleton, body, links={'left_upper_leg': LINK, ...})."
        )
    groups: dict[str, list[str]] = {}
    for side in SIDES:
        for part in (*LEG, *ARM):
            if limbs[side].get(part):
                groups[f"{side}_{part}"] = limbs[side][part]
    hips = tree.common(groups["left_upper_leg"][0], groups["right_upper_leg"][0])
    groups["hips"] = [hips]
    if "left_upper_arm" in groups and "right_upper_arm" in groups:
        groups["chest"] = [tree.common(groups["left_upper_arm"][0], groups["right_upper_arm"][0])]
        if groups["chest"] == [hips]:
            del groups["chest"]
    head = [link for link in body.links if re.fullmatch(HEAD, words_of(link)[1])]
    if head:
        groups["head"] = head[:1]
    poses = body.forward(body.home)
    found = {part: _part(tree, groups[part], poses) for part in PARTS if part in groups}
    for side in SIDES:  # an arm that ends at its elbow still points somewhere
        if f"{side}_lower_arm" in found and f"{side}_hand" not in found:
            link = body.links[found[f"{side}_lower_arm"].link]
            points = shape_points(link)
            if len(points):
                x, y, z = points[np.argmax(np.linalg.norm(points, axis=1))].tolist()
                found[f"{side}_hand"] = Part(link.name, (x, y, z))
    return found


def shape_points(link: Link) -> Array:
    """Points of a link whose hull holds its boxes, and spheres, capsules and cylinders but for their roundness: (n, 3) [m]."""
    points = [np.empty((0, 3))]
    for shape in link.shapes or link.visuals:
        if shape.kind == "mesh" or shape.is_field:
            continue
        if shape.kind == "box":
            half = 0.5 * np.array(shape.size)
        else:
            radius, length = shape.size[0], shape.size[1] if len(shape.size) > 1 else 0.0
            half = np.array([radius, radius, 0.5 * length + (0.0 if shape.kind == "cylinder" else radius)])
        corners = np.array(list(product((-1.0, 1.0), repeat=3))) * half
        points.append(corners @ shape.link_from_shape[:3, :3].T + shape.link_from_shape[:3, 3])
    return np.vstack(points)


def axes_between(body: Body, link: str, child: str) -> int:
    """The degrees of freedom on the way from a link to one below it."""
    above = {joint.child: joint for joint in body.joints.values()}
    count = 0
    while child != link and child in above:
        count += above[child].dof
        child = above[child].parent
    return count


def _part(tree: _Tree, links: Sequence[str], poses: Mapping[str, Array]) -> Part:
    """The last link, and the point nearest to the axes of all: the least sum of |(I - a a') (x - p)|^2."""
    last = poses[links[-1]]
    point = last[:3, 3]
    joints = [joint for link in links if (joint := tree.joint.get(link)) is not None and joint.kind in TURNING]
    if len(joints) > 1:
        matrix, right = np.zeros((3, 3)), np.zeros(3)
        for joint in joints:
            pose = poses[joint.child]
            a = pose[:3, :3] @ joint.axis
            across = np.eye(3) - np.outer(a, a)
            matrix += across
            right += across @ pose[:3, 3]
        point = np.asarray(np.linalg.solve(matrix + 1e-9 * np.eye(3), right + 1e-9 * point), dtype=np.float64)
    x, y, z = (last[:3, :3].T @ (point - last[:3, 3])).tolist()
    return Part(links[-1], (x, y, z))


TURNING = ("revolute", "continuous")


class _Tree:
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


def words_of(link: str) -> tuple[str | None, str]:
    """The side that a name tells, and what is left of it: "mixamorig:LeftUpLeg" -> ("left", "upleg")."""
    name = re.sub(r"^.*[:|]", "", link)
    name = re.sub(r"^([LR])(?=[A-Z][a-z])", r"\1_", name)
    tokens = [token.lower() for token in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]
    side = next((SIDE_TOKENS[token] for token in tokens if token in SIDE_TOKENS), None)
    kept = [t for t in tokens if t not in IDLE and t not in SIDE_TOKENS and not t.isdigit()]
    return side, "".join(kept)


def _named_limbs(tree: _Tree) -> dict[str, dict[str, list[str]]] | None:
    """For each side and part the links that are called so, in the order of the limb; None if there are no two legs."""
    found: dict[str, dict[str, list[str]]] = {side: {} for side in SIDES}
    for link in tree.links:  # depth-first: in the order of the limbs
        side, words = words_of(link)
        if side is None or words.endswith("frame"):
            continue
        for part, pattern in WORDS.items():
            if re.fullmatch(pattern, words):
                found[side].setdefault(part, []).append(link)
                break
    for side in SIDES:
        limb = found[side]
        for part, members in list(limb.items()):
            limb[part] = _along_one_chain(tree, members)
        # Skeletons that call a collarbone "shoulder" have an "arm" after it; those with an "ankle" call the toes "foot".
        upper = limb.get("upper_arm", [])
        named = [link for link in upper if not re.match("shoulder", words_of(link)[1])]
        if named and len(upper) > len(named) and _is_ball(tree, named[0]):
            limb["upper_arm"] = named
        foot = limb.get("foot", [])
        if len(foot) > 1 and "toes" not in limb and _is_ball(tree, foot[0]):
            limb["foot"], limb["toes"] = foot[:1], foot[1:2]
    if all("upper_leg" in found[side] and "lower_leg" in found[side] for side in SIDES):
        return found
    return None


def _along_one_chain(tree: _Tree, links: Sequence[str]) -> list[str]:
    """Those of the links that lie on the way to the last of the longest such way."""
    ways = [[link for link in tree.path(tip) if link in links] for tip in links]
    return max(ways, key=len)


def _is_ball(tree: _Tree, link: str) -> bool:
    """Whether the link turns any way by one joint, as the bones of a skeleton do."""
    return link in tree.joint and tree.joint[link].kind in ("spherical", "floating")


def _limbs_by_structure(tree: _Tree, body: Body) -> dict[str, dict[str, list[str]]] | None:
    """Two chains that end low, to the left and right of each other, are legs; two that end higher and aside are arms."""
    poses = body.forward(body.home)
    tips = [link for link in tree.links if not tree.children[link]]
    chains = [_moving(tree, tip) for tip in tips]
    at = {tip: poses[tip][:3, 3] for tip in tips}
    pairs = [
        (a, b)
        for i, a in enumerate(tips)
        for b in tips[i + 1 :]
        if len(chains[tips.index(a)]) == len(chains[tips.index(b)]) >= 3 and _mirrored(at[a], at[b])
    ]
    if not pairs:
        return None
    pairs.sort(key=lambda pair: at[pair[0]][2])
    found: dict[str, dict[str, list[str]]] = {side: {} for side in SIDES}
    legs = pairs[0]
    hips = tree.common(*legs)
    heights = [poses[link][2, 3] for link in tree.links]
    if at[legs[0]][2] > min(heights) + 0.15 * (max(heights) - min(heights)):  # arms of a machine without legs
        return None
    arms = next((pair for pair in pairs[::-1] if tree.common(pair[0], legs[0]) == hips and pair != legs), None)
    for pair, parts in ((legs, LEG[:3]), (arms, ARM)):
        if pair is None:
            continue
        start = tree.common(*pair)
        for tip in pair:
            side = "left" if at[tip][1] > 0.0 else "right"
            limb = [link for link in _moving(tree, tip) if link not in tree.path(start)]
            for part, links in zip(parts, _split(tree, limb), strict=True):
                if links:
                    found[side][part] = links
    return found if all("lower_leg" in found[side] for side in SIDES) else None


def _moving(tree: _Tree, tip: str) -> list[str]:
    return [link for link in tree.path(tip) if link in tree.joint and tree.joint[link].kind != "fixed"]


def _mirrored(a: Array, b: Array) -> bool:
    """Whether two tips are images of each other in the plane between left and right."""
    size = np.linalg.norm(a) + np.linalg.norm(b)
    return bool(abs(a[1]) > 0.02 * size and np.abs(a - b * (1.0, -1.0, 1.0)).max() < 0.05 * size)


def _split(tree: _Tree, limb: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """The links of a limb at its first, middle and last joint: by ball joints one each, by single axes three, one, the rest."""
    if any(_is_ball(tree, link) for link in limb):
        last = list(limb)[-3:]
        return last[:1], last[1:2], last[2:3]
    return list(limb[:3]), list(limb[3:4]), list(limb[4:])
