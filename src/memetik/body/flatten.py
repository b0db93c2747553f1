"""Body -> flat arrays for the kernels: fixed joints folded, every joint split into single motions along z."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memetik.body.joint import Joint, Motion
from memetik.body.link import Frame
from memetik.body.variables import Drive, Variables
from memetik.geometry import between
from memetik.geometry.checks import frozen
from memetik.geometry.rotation import quaternion_of_matrix
from memetik.kernels.body.records import FRAME, NODE, SCREW, SLIDE, TURN
from memetik.types import Array


class Carrier(NamedTuple):
    """What a link rides on: a node (-1: the root) and the constant transform from the moved node to the link."""

    node: int
    node_from_link: Array


class Flat(NamedTuple):
    """The packed motions of a body and the carrier of every link that was asked for."""

    nodes: NDArray[np.void]
    carriers: dict[str, Carrier]

    def frames(self, frames: Iterable[Frame]) -> NDArray[np.void]:
        """Pack frames into FRAME records."""
        rows = []
        for frame in frames:
            node, node_from_link = self.carriers[frame.link]
            rows.append((node, *_pose(node_from_link @ frame.link_from_frame)))
        return np.array(rows, dtype=FRAME)


def flatten(root: str, joints: Sequence[Joint], variables: Variables, only: Iterable[str] | None = None) -> Flat:
    """Pack the joints, which stand in depth-first order; with `only`, just those that carry one of these links."""
    if only is not None:
        joints = _leading_to(joints, set(only))
    carriers = {root: Carrier(-1, np.eye(4))}
    rows: list[tuple[int, Motion, Array, Drive]] = []
    for joint in joints:
        node, offset = carriers[joint.parent]
        offset = offset @ joint.origin
        for motion, drive in zip(joint.motions(), variables.drives.get(joint.name, ()), strict=True):
            # Turn the frame so that the motion runs along z, and turn it back behind the motion.
            along_z = _along_z(tuple(motion.axis.tolist()))
            rows.append((node, motion, offset @ along_z, drive))
            node, offset = len(rows) - 1, along_z.T
        carriers[joint.child] = Carrier(node, offset)
    last = _last_rows([parent for parent, _, _, _ in rows])
    nodes = []
    for i, (parent, motion, static, drive) in enumerate(rows):
        kind = SLIDE if not motion.turns else SCREW if motion.pitch else TURN
        nodes.append((parent, last[i], kind, *drive, motion.pitch, *_pose(static)))
    return Flat(np.array(nodes, dtype=NODE), carriers)


def _last_rows(parents: Sequence[int]) -> list[int]:
    """The last row of the subtree below each row; parents stand before their children."""
    last = list(range(len(parents)))
    for i in range(len(parents) - 1, 0, -1):
        if parents[i] >= 0:
            last[parents[i]] = max(last[parents[i]], last[i])
    return last


@lru_cache(maxsize=256)
def _along_z(axis: tuple[float, float, float]) -> Array:
    """The turn that takes z to the axis; most joints of a body share a few axes."""
    matrix = np.eye(4)
    matrix[:3, :3] = between((0.0, 0.0, 1.0), axis)
    return frozen(matrix)


def _leading_to(joints: Sequence[Joint], links: set[str]) -> list[Joint]:
    needed = set(links)
    kept = []
    for joint in reversed(joints):
        if joint.child in needed:
            needed.add(joint.parent)
            kept.append(joint)
    return kept[::-1]


def _pose(matrix: Array) -> tuple[float, ...]:
    """The fields w, x, y, z, px, py, pz of a record."""
    return *quaternion_of_matrix(matrix).tolist(), *matrix[:3, 3].tolist()
