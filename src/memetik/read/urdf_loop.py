"""<loop> of URDF+ -> Loop: a joint between two links that are in the tree already.

URDF+ (Chignoli, Slotine, Wensing and Kim, arXiv 2411.19753) adds it beside <joint>. Parsers of plain URDF pass over it.
"""

from __future__ import annotations

import numpy as np

from memetik.body import CLOSED, Frame, Loop
from memetik.errors import suggest
from memetik.geometry import between, transform
from memetik.read.urdf_link import read_origin
from memetik.read.xml import Element, short
from memetik.types import Array

LIKE = {"continuous": "revolute"}  # kinds of joints that close a loop as another one does


def read_loop(element: Element) -> Loop:
    """One loop. Its axis, x unless given, is written in both frames, which are turned so that it is their z."""
    name = element.text("name", "knee_loop")
    written = element.text("type", "revolute")
    kind = LIKE.get(written, written)
    if kind not in CLOSED:
        raise element.error(
            f"type is {short(written)}, which closes no loop; these do: {', '.join([*CLOSED, *LIKE])}. {suggest(kind, CLOSED)}"
        )
    turn = transform((0.0, 0.0, 0.0), between((0.0, 0.0, 1.0), _axis(element)))
    ends = (
        element.need("predecessor", '<predecessor link="rod"/>'),
        element.need("successor", '<successor link="crank"/>'),
    )
    frame, other = (Frame(end.text("link", "rod"), read_origin(end) @ turn) for end in ends)
    return Loop(name, frame, other, kind)


def _axis(element: Element) -> Array:
    axis = element.one("axis")
    if axis is None:
        return np.array((1.0, 0.0, 0.0))
    xyz = np.array(axis.vector("xyz", "a direction", "0 0 1", 3))
    length = float(np.linalg.norm(xyz))
    if length < 1e-9:
        raise axis.error(f'axis xyz is {axis.attributes["xyz"]!r}, which has no direction. Write for example "0 0 1".')
    return xyz / length
