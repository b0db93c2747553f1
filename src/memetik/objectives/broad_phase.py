"""Balls around solids, by which the kernels see which pairs can be close (kernels/terms/distance.py)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from memetik.body import Body
from memetik.collision.solids import group
from memetik.kernels.geometry.solids import SOLID_DATA
from memetik.kernels.terms.distance import GROUP_CENTER, GROUP_COUNT, GROUP_FRAME, GROUP_RADIUS, GROUP_SOLIDS
from memetik.objectives.objective import Packer
from memetik.types import Array

# A ball around a link and all that hangs on it is worth a look if it holds so many groups at least, and is no larger
# than so many times the largest of them: the fingers of a hand stay near the palm, a hand does not stay near the shoulder.
FEW, WIDE = 6, 2.5
PAIRS = 4  # a list of fewer pairs is walked without a look at the balls around it
# Joints that keep the distance of what hangs on them from the joint.
PIVOTS = ("fixed", "revolute", "continuous", "spherical")


class Group(NamedTuple):
    """Solids on one frame, as packed; in the world if it has no link."""

    place: int  # in the data
    link: str | None = None
    frame: int = -1  # row of the frame at the centre of the ball around it
    center: tuple[float, float, float] = (0.0, 0.0, 0.0)  # of that ball, in the frame of the link
    radius: float = 0.0


Pair = tuple[Group, Group]


def place_group(packer: Packer, link: str, solids: Iterable[Array]) -> Group:
    """Pack solids of a link, with the frame that carries them at the centre of the ball around all."""
    numbers = group(0, solids)
    center, radius = numbers[GROUP_CENTER : GROUP_CENTER + 3].copy(), float(numbers[GROUP_RADIUS])
    frame = packer.frame(packer.body.frame(link, offset=center))
    numbers[GROUP_FRAME], numbers[GROUP_CENTER : GROUP_CENTER + 3] = frame, 0.0
    end = GROUP_SOLIDS + int(numbers[GROUP_COUNT]) * SOLID_DATA  # where the points of hulls begin
    numbers[GROUP_SOLIDS:end].reshape(-1, SOLID_DATA)[:, 4:7] -= center
    return Group(packer.numbers(numbers), link, frame, (center[0], center[1], center[2]), radius)


def pair_lists(packer: Packer, pairs: Sequence[Pair]) -> list[list[int]]:
    """The pairs as lists for the kernel, one for each group and each ball around some of its others."""
    home = _clusters(packer.body, dict.fromkeys(each for pair in pairs for each in pair if each.link is not None))
    balls = {root: packer.numbers([root.frame, 0.0, 0.0, 0.0, radius]) for root, radius in dict.fromkeys(home.values())}
    together: dict[tuple[Group, Group | None], list[Group]] = defaultdict(list)
    for a, b in pairs:
        # What is in a ball with others comes second, so that a look at the ball is one at all of them.
        one, two = (b, a) if a in home and b not in home else (a, b)
        root = home[two][0] if two in home else None
        together[one, None if one in home and home[one][0] == root else root].append(two)
    lists = []
    for (one, root), others in together.items():
        first, second = (one.place, balls[root]) if root is not None and len(others) >= PAIRS else (-1, -1)
        lists.append([first, second, one.place, len(others), *(each.place for each in others)])
    return lists


def _clusters(body: Body, groups: Iterable[Group]) -> dict[Group, tuple[Group, float]]:
    """For each group that stays near another, on a link above it: that one, and the radius of a ball around all of these."""
    on: dict[str, list[Group]] = defaultdict(list)
    for each in groups:
        assert each.link is not None
        on[each.link].append(each)
    below: dict[str, list[str]] = defaultdict(list)
    joints = {joint.child: joint for joint in body.joints.values()}
    for joint in body.joints.values():
        below[joint.parent].append(joint.child)
    # How far all that hangs on a link can be from its origin, the largest radius of it, and how much it is; links that carry
    # others come first in `order`. No recursion: chains may be longer than Python's stack.
    order = [body.root]
    for link in order:
        order += below[link]
    far: dict[str, float] = {}
    largest: dict[str, float] = {}
    count: dict[str, int] = {}

    def extent(link: str, origin: Array) -> float:
        """How far all that hangs on a link can be from a point of it."""
        reach = max((math.dist(origin, each.center) + each.radius for each in on[link]), default=0.0)
        for child in below[link]:
            if count[child]:
                joint = joints[child]
                pivots = joint.kind in PIVOTS
                reach = max(reach, math.dist(origin, joint.origin[:3, 3]) + far[child] if pivots else math.inf)
        return reach

    for link in reversed(order):
        count[link] = len(on[link]) + sum(count[child] for child in below[link])
        largest[link] = max(
            [*(each.radius for each in on[link]), *(largest[child] for child in below[link])], default=0.0
        )
        far[link] = extent(link, np.zeros(3))
    found: dict[Group, tuple[Group, float]] = {}
    waiting = [body.root]
    while waiting:
        link = waiting.pop()
        if on[link] and count[link] >= FEW:
            reach = extent(link, np.array(on[link][0].center))
            if reach <= WIDE * largest[link]:
                found.update(dict.fromkeys(_hanging(link, on, below), (on[link][0], reach)))
                continue
        waiting += reversed(below[link])
    return found


def _hanging(link: str, on: dict[str, list[Group]], below: dict[str, list[str]]) -> Iterator[Group]:
    """The groups on a link and on all that it carries, in depth-first order."""
    waiting = [link]
    while waiting:
        each = waiting.pop()
        yield from on[each]
        waiting += reversed(below[each])
