"""Many postures at once: rows of joint vectors in one kernel, on all cores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from memetik.errors import BodyError, shown
from memetik.kernels.body.rows import forward_rows, jacobian_rows, singular_rows
from memetik.parallel import cores, in_parts
from memetik.types import Array

Axes = Literal["all", "position", "rotation"]

# The first row of the Jacobian that counts, and how many do.
_ROWS = {"all": (0, 6), "position": (0, 3), "rotation": (3, 3)}
LEAST = 1 << 12  # rows that are worth a thread: a millisecond of forward kinematics


def _in_rounds(work: Callable[[slice], object], count: int) -> None:
    """Work on so many rows, on all cores and a few milliseconds at a time: in between, an interrupt is answered."""
    most = LEAST * max(cores(), 2)
    for begin in range(0, count, most):

        def part(rows: slice, begin: int = begin) -> None:
            work(slice(begin + rows.start, begin + rows.stop))

        in_parts(part, min(most, count - begin), LEAST)


def poses_of(nodes: NDArray[np.void], frames: NDArray[np.void], q: Array) -> Array:
    """All frames at every row of q: (rows, frames, 4, 4)."""
    out = np.empty((len(q) * frames.size, 4, 4))

    def part(rows: slice) -> None:
        matrices = out[rows.start * frames.size : rows.stop * frames.size]
        forward_rows(nodes, frames, q[rows], np.empty((nodes.size, 7)), matrices)

    _in_rounds(part, len(q))
    return out.reshape(len(q), frames.size, 4, 4)


def jacobians_of(nodes: NDArray[np.void], frames: NDArray[np.void], q: Array) -> Array:
    """The Jacobian of a frame at every row of q: (rows, 6, variables)."""
    out = np.empty((len(q), 6, q.shape[1]))
    _in_rounds(lambda rows: jacobian_rows(nodes, frames, q[rows], np.empty((nodes.size, 7)), out[rows]), len(q))
    return out


def singular_of(nodes: NDArray[np.void], frames: NDArray[np.void], q: Array, axes: Axes) -> Array:
    """Manipulability and condition number of a frame at every row of q: (rows, 2)."""
    if not isinstance(axes, str) or axes not in _ROWS:
        raise BodyError(f"axes is {shown(axes)}. Give 'all', 'position' or 'rotation'.")
    first, count = _ROWS[axes]
    out = np.empty((len(q), 2))

    def part(rows: slice) -> None:
        jacobian, vectors = np.empty((6, q.shape[1])), np.empty((count, q.shape[1]))
        turns, sigma = np.empty((count, count)), np.empty(count)
        singular_rows(
            nodes, frames, q[rows], first, np.empty((nodes.size, 7)), jacobian, vectors, turns, sigma, out[rows]
        )  # fmt: skip

    _in_rounds(part, len(q))
    return out
