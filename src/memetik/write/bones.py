"""Bones of a body, as animation programs have them: one for each place where something turns, each with a length.

Links that stand at the same place, such as those of the three axes of a shoulder, are one bone, named after the last of
them, which turns as all of them together do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memetik.body import Body, LinkPoses
from memetik.body.joint import Joint
from memetik.motion.retargeting.soles import shape_points
from memetik.read.bvh import END
from memetik.types import Array

NEAR = 1e-4  # m; places that are nearer to each other are one
SHORTEST = 2e-3  # m; Blender moves the ends of bones that are shorter than 1 mm
TIP = 0.5  # length of a last bone without shapes, as a share of that of the bone before it


class Bone(NamedTuple):
    """A bone, its links, and what of it moves."""

    name: str  # of the last of its links
    parent: int  # -1 for the first
    links: tuple[str, ...]
    turns: bool
    slides: bool
    end: Array | None  # of a last bone, the point where it ends, in its link [m]


def bones_of(body: Body, rest: LinkPoses) -> list[Bone]:
    """The bones of a body, parents first; `rest` are the poses in which their places are compared."""
    children: dict[str, list[Joint]] = {link: [] for link in body.links}
    for joint in body.joints.values():
        children[joint.parent].append(joint)

    def apart(joint: Joint) -> float:
        return float(np.linalg.norm(rest[joint.child][:3, 3] - rest[joint.parent][:3, 3]))

    tips = {}  # end sites, which are points of bones and no bones
    for link, own in children.items():  # a mark on a link is no bone, either
        for joint in own:
            if not joint.dof and joint.child.endswith(END) and apart(joint) > NEAR:
                tips[link] = rest[link][:3, :3].T @ (rest[joint.child][:3, 3] - rest[link][:3, 3])
        moving = [joint for joint in own if joint.dof or children[joint.child] or apart(joint) > NEAR]
        children[link] = [joint for joint in moving if joint.dof or not joint.child.endswith(END)]
    top = children[body.root]
    start = top[0].child if len(top) == 1 and top[0].kind == "floating" else body.root
    bones: list[Bone] = []
    waiting: list[tuple[str, int, list[Joint]]] = [(start, -1, [])]
    while waiting:
        link, parent, way = waiting.pop()
        links = [link]
        while len(children[link]) == 1 and apart(children[link][0]) <= NEAR and not _slides(children[link][0]):
            way = [*way, children[link][0]]
            link = children[link][0].child
            links.append(link)
        turns, slides = any(map(_turns, way)), any(map(_slides, way))
        length = float(np.linalg.norm(rest[link][:3, 3] - rest[bones[parent].name][:3, 3])) if bones else 0.0
        end = None if children[link] else tips.get(link)
        if end is None and not children[link]:
            end = _end(body, links, rest, TIP * length)
        bones.append(Bone(link, parent, tuple(links), turns, slides, end))
        waiting += [(joint.child, len(bones) - 1, [joint]) for joint in reversed(children[link])]
    return bones


def _turns(joint: Joint) -> bool:
    return any(motion.turns for motion in joint.motions())


def _slides(joint: Joint) -> bool:
    return any(motion.pitch for motion in joint.motions())


def _end(body: Body, links: list[str], rest: LinkPoses, length: float) -> Array:
    """Where a last bone ends: at the point of its shapes that is farthest from it, else on the way of the bone before it."""
    last = rest[links[-1]]
    found = np.empty((0, 3))
    for link in links:
        points = shape_points(body.links[link])
        found = np.vstack([found, (points @ rest[link][:3, :3].T + rest[link][:3, 3] - last[:3, 3]) @ last[:3, :3]])
    if len(found) and np.linalg.norm(found, axis=1).max() > SHORTEST:
        return np.asarray(found[np.linalg.norm(found, axis=1).argmax()])
    above = next((joint.parent for joint in body.joints.values() if joint.child == links[0]), None)
    way = last[:3, 3] - rest[above][:3, 3] if above is not None else np.zeros(3)
    norm = float(np.linalg.norm(way))
    way = way / norm if norm > NEAR else np.array([0.0, 0.0, 1.0])
    return np.asarray(last[:3, :3].T @ way * max(length, SHORTEST))
