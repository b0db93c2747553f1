"""The bones that two figures share beside the parts of a humanoid: spine, neck, collarbones, twist bones, and all of one name.

Between two parts that both have, as many bones as the other has are paired one by one, others by how far along they are. What is
left is paired by its name, if it hangs on the same part.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from memetik.body import Body
from memetik.motion.retargeting.figure import SIDES, Part
from memetik.motion.retargeting.structure import Tree


class Pair(NamedTuple):
    """A bone of a skeleton and the link of a body that it turns."""

    part: str  # what a plan calls it
    bone: str
    link: str
    parent: str  # the part that it hangs on


# What the bones between two parts are called, by the parts that they lie between.
BETWEEN = (
    ("hips", "chest", "spine"),
    ("chest", "head", "neck"),
    *(
        (start if start in ("hips", "chest") else f"{side}_{start}", f"{side}_{end}", f"{side}_{name}")
        for side in SIDES
        for start, end, name in (
            ("chest", "upper_arm", "shoulder"), ("hips", "upper_leg", "hip"), ("upper_arm", "lower_arm", "upper_arm_twist"),
            ("lower_arm", "hand", "lower_arm_twist"), ("upper_leg", "lower_leg", "upper_leg_twist"),
            ("lower_leg", "foot", "lower_leg_twist"), ("foot", "toes", "foot_twist"),
        )
    ),
)  # fmt: skip


def other_bones(
    skeleton: Body, source: Mapping[str, Part], body: Body, target: Mapping[str, Part], same: bool
) -> list[Pair]:
    """The pairs, in the order of the body's links; `same`: all joints of the body are the skeleton's, but for lengths."""
    here, there = Tree(skeleton), Tree(body)
    bones = {source[part].link: part for part in target if part in source}
    links = {target[part].link: part for part in target if part in source}
    found: dict[str, tuple[str, str]] = {}  # link: part, bone

    def pair(part: str, bone: str, link: str) -> None:
        found[link] = part, bone
        bones[bone] = links[link] = part

    for start, end, name in BETWEEN:
        if not all(part in source and part in target for part in (start, end)):
            continue
        ours = [bone for bone in _between(here, source[start].link, source[end].link) if bone not in bones]
        theirs = [
            link
            for link in _between(there, target[start].link, target[end].link)
            if link not in links and (same or there.is_ball(link))
        ]
        for k, link in enumerate(theirs):
            if ours:
                along = round((k + 1) / (len(theirs) + 1) * (len(ours) + 1)) - 1
                at = k if len(ours) == len(theirs) else int(np.clip(along, 0, len(ours) - 1))
                bone = link if link in ours and len(ours) != len(theirs) else ours[at]
                pair(name if k == 0 else f"{name}_{k + 1}", bone, link)
    named: dict[str, str] = {}
    for bone in reversed(here.links):
        if here.moves(bone) and bone not in bones:
            named[plain(bone)] = bone
    for link in there.links:
        bone = link if link in here.links and here.moves(link) else named.get(plain(link), "")
        if link in links or not there.moves(link) or not bone or bone in bones:
            continue
        if not (same or (there.is_ball(link) and here.is_ball(bone))) or _on(here, bone, bones) != _on(
            there, link, links
        ):
            continue
        pair(link if link not in (*target, *(part for part, _ in found.values())) else f"{link} bone", bone, link)
    return [
        Pair(part, bone, link, _on(there, link, links) or "hips")
        for link in there.links
        if link in found
        for part, bone in (found[link],)
    ]


def hanging(body: Body, target: Mapping[str, Part], usual: Iterable[str]) -> dict[str, str]:
    """For chest, head, upper arms and upper legs the part that each hangs on in the body, where bones in between are led, too."""
    tree, links = Tree(body), {each.link: part for part, each in target.items()}
    found = {}
    for part in usual:
        if part in ("chest", "head") or part.endswith(("upper_arm", "upper_leg")):
            on = _on(tree, target[part].link, links)
            if on is not None:
                found[part] = on
    return found


def plain(name: str) -> str:
    """A name without what comes before a colon or a bar, in small letters and digits."""
    return re.sub(r"[^a-z0-9]", "", re.sub(r"^.*[:|]", "", name).lower())


def _between(tree: Tree, start: str, end: str) -> list[str]:
    """The links that joints move on the way from one link to another below it, without both."""
    way = tree.path(end)
    if start not in way:
        return []
    return [link for link in way[way.index(start) + 1 : -1] if tree.moves(link)]


def _on(tree: Tree, link: str, parts: Mapping[str, str]) -> str | None:
    """The part that a link hangs on."""
    for above in reversed(tree.path(link)[:-1]):
        if above in parts:
            return parts[above]
    return None
