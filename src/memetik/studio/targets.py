"""Targets and gizmos: what a drag means for the values of a wish, and where a gizmo stands for them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import memetik as mk
from memetik.geometry import between
from memetik.scenes import KINDS, Wish
from memetik.scenes.fields import frame_of
from memetik.types import Array


def dragged(wish: Wish, position: ArrayLike | None, wxyz: ArrayLike | None) -> dict[str, Any]:
    """The values of a wish whose gizmo is there: its place, its rotation, the z axis of that as its direction."""
    kind = KINDS[wish.kind]
    values: dict[str, Any] = {}
    if kind.place and position is not None:
        values[kind.place] = plain(position)
    if kind.turn and wxyz is not None:
        values[kind.turn] = plain(wxyz)
    if kind.axis and wxyz is not None:
        values[kind.axis] = mk.rotation_matrix(np.asarray(wxyz, dtype=np.float64))[:, 2].tolist()
    return {name: value for name, value in values.items() if value != wish.values[name]}


def gizmo_pose(wish: Wish, body: mk.Body, q: Array) -> tuple[Array, Array] | None:
    """Position and wxyz of a gizmo; None for a wish that has none, or whose target rides on a frame of the body.

    A wish without a place, such as a direction, has its gizmo at its frame.
    """
    kind = KINDS[wish.kind]
    if wish.values.get("relative_to") is not None or (kind.place, kind.turn, kind.axis) == (None, None, None):
        return None
    position = np.array(wish.values[kind.place]) if kind.place else tip(wish, body, q)
    wxyz = np.array([1.0, 0.0, 0.0, 0.0])
    if kind.turn:
        wxyz = np.array(wish.values[kind.turn])
    elif kind.axis:
        wxyz = mk.to_quaternion(between((0.0, 0.0, 1.0), wish.values[kind.axis]))
    return position, wxyz


def tip(wish: Wish, body: mk.Body, q: Array) -> Array:
    """Where the frame of a wish is [m]."""
    frame = frame_of(wish.values["frame"], body)
    return np.asarray((body.forward(q)[frame.link] @ frame.link_from_frame)[:3, 3])


def plain(values: ArrayLike) -> list[float]:
    """Numbers as a file keeps them."""
    numbers: list[float] = np.asarray(values, dtype=np.float64).tolist()
    return numbers
