"""Which links of a body are one rigid part, which parts are neighbours, and their solids as numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memetik.body import Body, Frame
from memetik.collision.solids import group
from memetik.geometry import translation
from memetik.kernels.geometry.solids import SOLID_DATA
from memetik.kernels.terms.distance import GROUP_CENTER, GROUP_COUNT, GROUP_SOLIDS
from memetik.types import Array


def welded(body: Body) -> dict[str, str]:
    """For each link the first link of the rigid part that it belongs to."""
    part = {body.root: body.root}
    for joint in body.joints.values():  # depth-first: parents are met before their children
        part[joint.child] = part[joint.parent] if joint.kind == "fixed" else joint.child
    return part


def solid_links(body: Body) -> list[str]:
    """The links that have shapes."""
    return [link.name for link in body.links.values() if link.shapes]


def neighbours(body: Body) -> set[frozenset[str]]:
    """Pairs of links with shapes that are one part, or two with nothing but joints and parts without shapes in between."""
    part = welded(body)
    links: dict[str, list[str]] = {name: [] for name in part.values()}
    for name in solid_links(body):
        links[part[name]].append(name)
    beside: dict[str, set[str]] = {name: set() for name in links}
    for joint in body.joints.values():
        one, two = part[joint.parent], part[joint.child]
        if one != two:
            beside[one].add(two)
            beside[two].add(one)
    for name in [name for name, own in links.items() if not own]:
        around = beside.pop(name)
        for other in around:
            beside[other] |= around - {other}
            beside[other].discard(name)
    found = {frozenset(pair) for own in links.values() for pair in combinations(own, 2)}
    for one, others in beside.items():
        found |= {frozenset((a, b)) for two in others for a in links[one] for b in links[two]}
    return found


class Groups(NamedTuple):
    """Solids that ride on frames: the flat body pruned to what moves them, their numbers and where each begins."""

    nodes: NDArray[np.void]
    frames: NDArray[np.void]
    data: Array
    places: tuple[int, ...]


def groups_of(body: Body, riders: Iterable[tuple[str, Sequence[Array]]]) -> Groups:
    """The solids of links, each given in the frame of its link; the frame of a group stands in the middle of it."""
    frames, rows = [], []
    for k, (link, solids) in enumerate(riders):
        numbers = group(k, solids)
        center = numbers[GROUP_CENTER : GROUP_CENTER + 3].copy()
        numbers[GROUP_CENTER : GROUP_CENTER + 3] = 0.0
        end = GROUP_SOLIDS + int(numbers[GROUP_COUNT]) * SOLID_DATA  # where the points of hulls begin
        numbers[GROUP_SOLIDS:end].reshape(-1, SOLID_DATA)[:, 4:7] -= center
        frames.append(Frame(link, translation(*center.tolist())))
        rows.append(numbers)
    flat, packed = body.flatten(frames)
    ends = np.cumsum([0, *(row.size for row in rows)])
    return Groups(flat.nodes, packed, np.concatenate([np.empty(0), *rows]), tuple(ends[:-1].tolist()))


def meeting(nodes: NDArray[np.void], one: int, two: int) -> int:
    """The last motion that carries both of two motions, -1 for the root."""
    while one != two:  # parents stand before their children
        if one > two:
            one = int(nodes[one]["parent"])
        else:
            two = int(nodes[two]["parent"])
    return one
