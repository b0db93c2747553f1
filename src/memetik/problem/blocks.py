"""Residuals in blocks, for the normal equations (kernels/problem/blocks.py): which variables move a limb alone, and which are
the trunk that moves several.

A wrist is moved by its arm and the torso, a foot by its leg and the pelvis. With the torso and the pelvis taken as the trunk,
no variable of an arm has anything to do with the residuals of a leg, and what takes the cube of all residuals for the whole
body takes the cube of six for each limb.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memetik.kernels.compiler.lanes import LANES
from memetik.kernels.problem.problem_record import BLOCK

TRIES = 8  # trunks that are weighed, from none to nearly all variables
PIVOT = 10.0  # how long a division takes, in operations on lanes


class Split(NamedTuple):
    """The blocks of a problem."""

    blocks: NDArray[np.void]
    order: NDArray[np.int64]  # of the variables
    trunk: int  # how many of them are the trunk

    @property
    def sizes(self) -> dict[str, int]:
        """What the scratch of blocks is as large as (Workspace in kernels/problem/workspace.py)."""
        own = int((self.blocks["end"] - self.blocks["begin"]).max(initial=0))
        tall = int((self.blocks["row_end"] - self.blocks["row_begin"]).max(initial=0))
        return {
            "blocks": self.blocks.size, "own": own, "tall": tall, "own+tall": own + tall, "border": self.trunk + 1
        }  # fmt: skip


def split_residuals(terms: NDArray[np.void], affects: NDArray[np.uint8]) -> Split:
    """The cheapest of several splits; gives the rows of `terms` an order in which those of a block stand together."""
    with_rows = np.flatnonzero(terms["rows"] > 0)
    rows, moves = terms["rows"][with_rows].astype(np.int64), affects[with_rows] != 0
    moved = rows @ moves  # how many residuals each variable moves
    many = np.unique(moved)  # the more a variable moves, the nearer to the root it is
    tries = many[np.unique(np.linspace(0, many.size - 1, min(TRIES, many.size)).astype(int))] if many.size else many
    labels, alone = np.zeros(rows.size, dtype=np.int64), np.ones(moved.size, dtype=bool)
    least = _cost(rows, moves, labels, alone)
    for level in tries if rows.sum() <= moved.size else ():  # with more residuals, they are not what is solved for
        tried = _share_lanes(_components(moves & (moved <= level)), rows)
        cost = _cost(rows, moves, tried, moved <= level)
        if cost < least:
            least, labels, alone = cost, tried, moved <= level
    blocks, order, row = [], np.flatnonzero(moved == 0).tolist(), 0
    for label in dict.fromkeys(labels.tolist()):
        inside = labels == label
        own = np.flatnonzero(moves[inside].any(axis=0) & alone)
        blocks.append((row, row + int(rows[inside].sum()), len(order), len(order) + own.size, 0, 0))
        order.extend(own)
        for term in with_rows[inside]:
            terms["row"][term] = row
            row += int(terms["rows"][term])
    trunk = np.flatnonzero(~alone)
    return Split(np.array(blocks, dtype=BLOCK), np.array([*order, *trunk], dtype=np.int64), trunk.size)


def _components(moves: NDArray[np.bool_]) -> NDArray[np.int64]:
    """A label for each term, the same for terms that a variable moves, or a chain of them."""
    labels = np.arange(len(moves))
    for column in moves.T:
        together = np.flatnonzero(column)
        if together.size > 1:
            labels[np.isin(labels, labels[together])] = labels[together].min()
    return labels


def _share_lanes(labels: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same with no more labels than lanes: the smallest ones are put together."""
    while (known := np.unique(labels)).size > LANES:
        sizes = [rows[labels == label].sum() for label in known]
        first, second = known[np.argsort(sizes, kind="stable")[:2]]
        labels = np.where(labels == second, first, labels)
    return labels


def _cost(
    rows: NDArray[np.int64], moves: NDArray[np.bool_], labels: NDArray[np.int64], alone: NDArray[np.bool_]
) -> float:
    """About how many operations on lanes a step takes."""
    own = max((int((moves[labels == label].any(axis=0) & alone).sum()) for label in np.unique(labels)), default=0)
    tall, trunk = max((int(rows[labels == label].sum()) for label in np.unique(labels)), default=0), int((~alone).sum())
    square = 0.5 * tall * tall * (own + tall / 3.0 + trunk) + tall * PIVOT
    return square + 0.5 * trunk * trunk * (tall + trunk / 3.0) + trunk * PIVOT
