"""A body as a human-like figure: which of its links are hips, chest, upper legs, feet, hands ...

Parts have the names of the VRM humanoid, with underscores. A part of a robot is often several links, one for each axis of
a shoulder or an ankle: the last of them turns as the part does, and the point nearest to all their axes is its joint.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memetik.body import Body, Frame
from memetik.errors import BodyError
from memetik.geometry import invert, translation
from memetik.motion.retargeting.soles import link_points
from memetik.motion.retargeting.structure import ARM, LEG, Tree, limbs_by_structure, meeting_point
from memetik.types import Array

SIDES = ("left", "right")
PARTS = ("hips", "chest", "head", *(f"{side}_{part}" for side in SIDES for part in (*LEG, *ARM)))

# What the parts of a limb are called: by joints (SMPL, robots) or by bones (BVH, Mixamo, VRM, Unreal), without side,
# numbers and words that say nothing. A collarbone often is a "shoulder" too; the order along the limb tells them apart.
WORDS: dict[str, str] = {
    "upper_leg": r"(up|upper)leg|thigh|femur|hip(joint|yaw|roll|pitch|x|y|z)*",
    "lower_leg": r"(low|lower)?leg|calf|shin|shank|tibia|knee(pitch|x|y|z)*",
    "foot": r"foot|ankle(pitch|roll|yaw|x|y|z)*|midfoot",
    "toes": r"toes?|toebase|ball",
    "upper_arm": r"(up|upper)?arm|humerus|bicep|sho?u?lde?r(pitch|roll|yaw|x|y|z)*",
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
    tree = Tree(body)
    points = Surfaces(body)
    limbs = _mapped_limbs(body) or _named_limbs(tree)
    if limbs is None or not all(part in limbs[side] for side in SIDES for part in ARM[:2]):
        limbs = _completed(limbs, limbs_by_structure(tree, body, points))
    groups: dict[str, list[str]] = {}
    for side in SIDES:
        for part in (*LEG, *ARM):
            if limbs[side].get(part):
                groups[f"{side}_{part}"] = limbs[side][part]
    pairs = [(f"left_{part}", f"right_{part}") for part in ("upper_leg", "upper_arm")]
    legs, arms = (pair if all(each in groups for each in pair) else None for pair in pairs)
    if legs is None and arms is None:
        raise BodyError(
            f"body {body.name!r} is no figure with two legs or two arms: neither the names of its links nor its structure tell "
            "which they are. Name them: mk.motion.retarget_plan(skeleton, body, link_map={'left_upper_leg': LINK, ...})."
        )
    shoulders = [tree.common(*(groups[each][0] for each in arms))] if arms else []
    hips = tree.common(*(groups[each][0] for each in legs)) if legs else _base_of_trunk(tree, shoulders[0])
    groups["hips"] = [hips]
    if shoulders and shoulders != [hips]:
        groups["chest"] = shoulders
    head = (
        [body.parts["head"]]
        if "head" in body.parts
        else [link for link in body.links if re.fullmatch(HEAD, words_of(link)[1])]
    )
    head = [link for link in head if tree.moves(link)] or head or _head_by_structure(tree, body, groups)
    if head:
        groups["head"] = head[:1]
    poses = body.forward(body.home)
    found = {part: _part(tree, groups[part], poses) for part in PARTS if part in groups}
    for side in SIDES:  # a limb that ends at its knee or elbow still points somewhere
        for before, end in (("lower_arm", "hand"), ("lower_leg", "foot")):
            if f"{side}_{before}" in found and f"{side}_{end}" not in found:
                own = found[f"{side}_{before}"]
                ways = {each: invert(poses[own.link]) @ poses[each] for each in tree.fixed_below(own.link)}
                around = np.vstack([points[each] @ way[:3, :3].T + way[:3, 3] for each, way in ways.items()])
                if not len(around):
                    around = np.array([way[:3, 3] for way in ways.values()])
                if np.linalg.norm(around - own.joint, axis=1).max() > 0.0:
                    x, y, z = around[np.argmax(np.linalg.norm(around - own.joint, axis=1))].tolist()
                    found[f"{side}_{end}"] = Part(own.link, (x, y, z))
    return found


class Surfaces(Mapping[str, Array]):
    """Points of the shapes of each link, read when they are first asked for."""

    def __init__(self, body: Body) -> None:
        self._body = body

    def __getitem__(self, link: str) -> Array:
        return link_points(self._body, link).points

    def __iter__(self) -> Iterator[str]:
        return iter(self._body.links)

    def __len__(self) -> int:
        return len(self._body.links)


def axes_between(body: Body, link: str, child: str) -> int:
    """The degrees of freedom on the way from a link to one below it."""
    above = {joint.child: joint for joint in body.joints.values()}
    count = 0
    while child != link and child in above:
        count += above[child].dof
        child = above[child].parent
    return count


def _mapped_limbs(body: Body) -> dict[str, dict[str, list[str]]] | None:
    """For each side and part the link that the file itself says it is, as the humanoid map of a .vrm; None without a map."""
    found = {
        side: {part: [body.parts[f"{side}_{part}"]] for part in (*LEG, *ARM) if f"{side}_{part}" in body.parts}
        for side in SIDES
    }
    return found if all("upper_leg" in found[side] and "lower_leg" in found[side] for side in SIDES) else None


def _completed(
    named: dict[str, dict[str, list[str]]] | None, structural: dict[str, dict[str, list[str]]]
) -> dict[str, dict[str, list[str]]]:
    """Named limbs with those that structure tells in place of what names do not; a limb is of one of both."""
    if named is None:
        return structural
    return {
        side: named[side]
        if all(part in named[side] for part in ARM[:2])
        else {
            **{part: links for part, links in named[side].items() if part not in ARM},
            **{part: links for part, links in structural[side].items() if part in ARM},
        }
        for side in SIDES
    }


def _base_of_trunk(tree: Tree, chest: str) -> str:
    """Of a machine without legs, what its arms' trunk stands on: the link before the first joint on the way to its chest."""
    way = tree.path(chest)
    moving = [k for k, link in enumerate(way) if tree.moves(link) and tree.joint[link].kind != "floating"]
    return way[moving[0] - 1] if moving and moving[0] > 0 else way[-1]


def _head_by_structure(tree: Tree, body: Body, groups: Mapping[str, Sequence[str]]) -> list[str]:
    """The end of the chain from the chest that is no arm and ends highest, in the middle."""
    if "chest" not in groups:
        return []
    poses, chest = body.forward(body.home), groups["chest"][0]
    limbs = [f"{side}_{part}" for side in SIDES for part in ("upper_arm", "upper_leg")]
    taken = {link for part in limbs if part in groups for link in tree.path(groups[part][0])}
    found = []
    for link in tree.moved_below(chest):
        if link in taken:
            continue
        while len(below := tree.moved_below(link)) == 1:
            link = below[0]
        found.append(link)
    found.sort(key=lambda link: -poses[link][2, 3])
    return [link for link in found if poses[link][2, 3] > poses[chest][2, 3]][:1]


def _part(tree: Tree, links: Sequence[str], poses: Mapping[str, Array]) -> Part:
    """The last link, and the point nearest to the axes of all."""
    last = poses[links[-1]]
    point = meeting_point(tree, list(links), poses)
    x, y, z = (last[:3, :3].T @ (point - last[:3, 3])).tolist()
    return Part(links[-1], (x, y, z))


def words_of(link: str) -> tuple[str | None, str]:
    """The side that a name tells, and what is left of it: "mixamorig:LeftUpLeg" -> ("left", "upleg")."""
    name = re.sub(r"^.*[:|]", "", link)
    name = re.sub(r"^([LR])(?=[A-Z][a-z])", r"\1_", name)
    tokens = [token.lower() for token in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]
    side = next((SIDE_TOKENS[token] for token in tokens if token in SIDE_TOKENS), None)
    if side is None and tokens and any(re.fullmatch(pattern, tokens[0][1:]) for pattern in WORDS.values()):
        side = SIDE_TOKENS.get(tokens[0][0])  # as "lfemur" in files of the CMU database
        tokens[0] = tokens[0][1:] if side else tokens[0]
    kept = [t for t in tokens if t not in IDLE and t not in SIDE_TOKENS and not t.isdigit()]
    return side, "".join(kept)


def _named_limbs(tree: Tree) -> dict[str, dict[str, list[str]]] | None:
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
        if named and len(upper) > len(named) and tree.is_ball(named[0]):
            limb["upper_arm"] = named
        foot = limb.get("foot", [])
        if len(foot) > 1 and "toes" not in limb and tree.is_ball(foot[0]):
            limb["foot"], limb["toes"] = foot[:1], foot[1:2]
    if all("upper_leg" in found[side] and "lower_leg" in found[side] for side in SIDES):
        return found
    return None


def _along_one_chain(tree: Tree, links: Sequence[str]) -> list[str]:
    """Those of the links that lie on the way to the last of the longest such way."""
    ways = [[link for link in tree.path(tip) if link in links] for tip in links]
    return max(ways, key=len)
