"""The limbs of a body nobody knows yet, by its tree alone: what a person would take hold of first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import memetik as mk
from memetik.types import Array

HAND = 0.15  # of the size of the body: branches that end within so much of where they begin are the fingers of one hand
MOST = 8  # limbs
MANY = 8  # joints; a tail of thirty is no reason to leave out legs
# Of several frames on the last part of a limb, the one whose name has the first of these; people name what they mean.
WORDS = ("tcp", "tool0", "ee_link", "end_effector", "gripper", "sole", "palm", "foot", "hand", "tool", "tip")
HEADS = ("head", "neck")


class Limb(NamedTuple):
    """Where a limb ends, and how many joint variables move it and no other limb."""

    tip: str
    dof: int
    offset: tuple[
        float, float, float
    ]  # in the link [m]: in the middle of a foot, not at the ankle, if its shapes say so


def limbs(body: mk.Body) -> list[Limb]:
    """The limbs that a first scene has targets for, at most 8.

    A hand or gripper is one tip: the link that carries the fingers. Heads by their names, and limbs with less than half as many
    joints of their own as the best one, of which eight count, such as wheels and cameras, are left out if there are others.
    """
    tree = _Tree(body)
    ends = tree.ends(body.root)
    tips = [tip for tip in ends if not tree.is_head(tip)] or ends
    above = {tip: tree.variables_above(tip) for tip in tips}
    shared = [variable for found in above.values() for variable in found]
    own = {tip: sum(shared.count(variable) == 1 for variable in found) for tip, found in above.items()}
    most = min(max(own.values(), default=0), MANY)
    found = [Limb(tip, own[tip], tree.middle(tip)) for tip in tips if above[tip] and 2 * own[tip] >= most]
    kept = sorted(found, key=lambda limb: -limb.dof)[:MOST]
    return [limb for limb in found if limb in kept]


class _Tree:
    """A body as rigid parts, each named after its first link."""

    def __init__(self, body: mk.Body) -> None:
        self._body, self._poses = body, body.forward(body.home)
        points = self._poses.array[:, :3, 3]
        self._size = float(np.linalg.norm(np.ptp(points, axis=0)))
        self._part = {body.root: body.root}
        self._into: dict[str, mk.build.Joint] = {}  # the joint that moves a part
        self._branches: dict[str, list[str]] = {}  # the parts that a part moves
        for joint in body.joints.values():  # depth-first: parents are met before their children
            self._part[joint.child] = self._part[joint.parent] if joint.dof == 0 else joint.child
            if joint.dof > 0:
                self._into[joint.child] = joint
                self._branches.setdefault(self._part[joint.parent], []).append(joint.child)
        self._parents = {joint.parent for joint in body.joints.values()}

    def ends(self, part: str) -> list[str]:
        """The links at which the limbs beyond a part end, or the part's own tip if there are none or they are fingers."""
        branches = self._branches.get(part, [])
        if not branches:
            return [self._tip(part)]
        found = [end for branch in branches for end in self.ends(branch)]
        start = min((self._at(self._into[branch].parent) for branch in branches), key=lambda at: at.tolist())
        reach = max(float(np.linalg.norm(self._at(end) - start)) for end in found)
        is_hand = part in self._into and len(found) > 1 and len(branches) > 1 and reach < HAND * self._size
        return [self._tip(part, bare=True)] if is_hand else found

    def variables_above(self, link: str) -> set[str]:
        """The joints with a variable of their own between the root and a link."""
        found, part = set(), self._part[link]
        while part in self._into:
            joint = self._into[part]
            if joint.mimic is None:
                found |= {f"{joint.name} {k}" for k in range(joint.dof)}
            part = self._part[joint.parent]
        return found

    def is_head(self, link: str) -> bool:
        """Whether the name of the part that a link belongs to, or of the joint that moves it, says so."""
        part = self._part[link]
        names = (link, part, self._into[part].name if part in self._into else "")
        return any(word in name.lower() for word in HEADS for name in names)

    def middle(self, link: str) -> tuple[float, float, float]:
        """The middle of the simple shapes of a link, its origin if it has none."""
        own = self._body.links[link]
        places = [shape.link_from_shape[:3, 3] for shape in own.shapes if shape.kind != "mesh"]
        x, y, z = np.mean(places, axis=0).round(4).tolist() if places else (0.0, 0.0, 0.0)
        return x, y, z

    def _at(self, link: str) -> Array:
        return np.asarray(self._poses[link][:3, 3])

    def _tip(self, part: str, *, bare: bool = False) -> str:
        """The link of a rigid part that is meant by its end, of those that carry nothing: by its name, or the farthest.

        With `bare`, only a frame without a shape, such as the centre of a tool, is taken in place of the part itself.
        """
        links = [link for link in self._body.links if self._part[link] == part and link not in self._parents]
        if bare:
            links = [link for link in links if not (self._body.links[link].visuals or self._body.links[link].shapes)]
            return links[0] if len(links) == 1 else max(self._carriers(part), key=self._body_order)
        for word in WORDS:
            called = [link for link in links if word in link.lower()]
            if called:
                return min(called, key=len)
        return max(links, key=lambda link: float(np.linalg.norm(self._at(link) - self._at(part))), default=part)

    def _carriers(self, part: str) -> list[str]:
        """The links of a part that other parts are joined to."""
        return [self._into[branch].parent for branch in self._branches[part]]

    def _body_order(self, link: str) -> int:
        return list(self._body.links).index(link)
