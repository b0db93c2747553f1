"""What the kernels of planning work on, made from the pairs of solids that a problem keeps apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memetik.geometry.rotation import rotation_matrix
from memetik.kernels.collision.solids_record import Solids
from memetik.kernels.compiler.lanes import LANES
from memetik.kernels.geometry.solids import SOLID_BALL, SOLID_BOX, SOLID_DATA, SOLID_DISC, SOLID_POINTS
from memetik.kernels.planning.planning_record import BODY, CHECK, LEVELS, Planning
from memetik.kernels.runtime.cancel import CLOCK
from memetik.kernels.runtime.record import allocate, table_of
from memetik.kernels.terms.distance import GROUP_COUNT, GROUP_RADIUS, GROUP_SOLIDS
from memetik.motion.swept_pairs import Plan as Pairs
from memetik.types import Array

CAPACITY = 1024  # nodes of a tree, at first


class PlanArrays:
    """The arrays of one call of `plan`, and the table by which kernels find them.

    moving: the joints that move, in the joint vector of the problem.
    """

    def __init__(self, pairs: Pairs, moving: NDArray[np.int64]) -> None:
        self.pairs = pairs
        place = {int(joint): k for k, joint in enumerate(pairs.keep)}
        solids = pairs.new_solids()
        groups, spheres = _groups(pairs, solids)
        checks = _checks(pairs)
        sizes = {
            "groups": groups.size, "spheres": len(spheres), "pairs": checks.size, "moving": moving.size, "levels": LEVELS,
            "variables": pairs.keep.size, "nodes": solids.nodes.size, "blocks": CAPACITY // LANES, "capacity": CAPACITY,
            "clock": CLOCK, "trees": 2, "one": 1,
            "path": 2 * CAPACITY, "bounds": int(checks["bound"].max(initial=groups.size - 1)) + 1,
        }  # fmt: skip
        self.record = allocate(
            Planning, sizes, solids=solids, groups=groups, spheres=spheres, checks=checks,
            moving=np.array([place[int(joint)] for joint in moving], dtype=np.int64),
        )  # fmt: skip
        self.table: Any = table_of(self.record)

    def double(self) -> None:
        """Make room for twice as many nodes."""
        old = self.record
        capacity = 2 * old.parent.shape[1]
        sizes = {"moving": old.moving.size}
        tree = np.zeros((2, capacity // LANES, sizes["moving"], LANES))
        tree[:, : old.tree.shape[1]] = old.tree
        parent, radius = np.zeros((2, capacity), dtype=np.int64), np.zeros((2, capacity))
        parent[:, : old.parent.shape[1]], radius[:, : old.parent.shape[1]] = old.parent, old.radius
        path = np.zeros((2 * capacity, sizes["moving"]))
        self.record = old._replace(tree=_aligned(tree), parent=parent, radius=radius, path=path)
        self.table = table_of(self.record)

    @property
    def capacity(self) -> int:
        """Nodes that a tree has room for."""
        return int(self.record.parent.shape[1])

    @property
    def path(self) -> Array:
        """(rows, moving) The path that was found."""
        return np.asarray(self.record.path[: int(self.record.rows[0])])


def _aligned(array: Array) -> Array:
    """The same numbers, from the beginning of a cache line on, as lanes are read."""
    buffer = np.zeros(array.nbytes + 64, dtype=np.uint8)
    at = -buffer.ctypes.data % 64
    out: Array = buffer[at : at + array.nbytes].view(np.float64).reshape(array.shape)
    out[...] = array
    return out


def _groups(pairs: Pairs, solids: Solids) -> tuple[NDArray[np.void], Array]:
    """The groups as planning reads them, and the spheres of those on the body, seen from the motion that carries them."""
    groups = np.zeros(pairs.places.size, dtype=BODY)
    groups["frame"] = groups["node"] = groups["first"] = -1
    spheres: list[Array] = []
    riding = len(solids.frames)
    for k in range(riding):
        frame, at = solids.frames[k], int(pairs.places[k])
        count = int(solids.data[at + GROUP_COUNT])
        rows = solids.data[at + GROUP_SOLIDS : at + GROUP_SOLIDS + count * SOLID_DATA].reshape(count, SOLID_DATA)
        group = groups[k]
        group["frame"], group["node"], group["count"] = k, frame["node"], count
        group["cx"], group["cy"], group["cz"] = frame["px"], frame["py"], frame["pz"]
        group["radius"] = solids.data[at + GROUP_RADIUS]
        others = (SOLID_BOX, SOLID_BOX + 1, SOLID_BOX + 2, SOLID_DISC, SOLID_POINTS)
        if not rows[:, others].any():
            turn = rotation_matrix(np.array([frame["w"], frame["x"], frame["y"], frame["z"]]))
            group["first"], group["least"] = len(spheres), rows[:, SOLID_BALL].min()
            middle = np.array([frame["px"], frame["py"], frame["pz"]])
            spheres += [np.append(turn @ row[4:7] + middle, row[SOLID_BALL]) for row in rows]
    return groups, np.array(spheres).reshape(-1, 4)


def _checks(pairs: Pairs) -> NDArray[np.void]:
    """The pairs, each with the row that says how far its groups move past each other."""
    checks = np.zeros(pairs.pairs.size, dtype=CHECK)
    checks["one"], checks["other"] = pairs.pairs["one"], pairs.pairs["other"]
    riding = checks["other"] < len(pairs.groups.frames)
    checks["bound"] = checks["one"]
    checks["bound"][riding] = pairs.places.size + np.arange(np.count_nonzero(riding))
    return checks
