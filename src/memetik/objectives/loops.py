"""close_loops: the loops of a body as objectives."""

from __future__ import annotations

import numpy as np

from memetik.body import CLOSED, Body
from memetik.errors import ProblemError
from memetik.geometry.checks import instance
from memetik.objectives.objective import Objective
from memetik.objectives.pose import Pose, Position


def close_loops(
    body: Body, *, position_tolerance: float | None = 1e-9, orientation_tolerance: float | None = 1e-9, weight: float = 1.0,
    priority: int = 0,
) -> tuple[Objective, ...]:  # fmt: skip
    """An objective for each of `body.loops`, to stand among the others of a problem: the tree has the loop open, this closes it.

    A spherical loop is a Position of its one frame in the other, all others are a Pose there, in which the axes that the joint
    leaves free do not count. They have the names of the loops.

    position_tolerance [m], orientation_tolerance [rad]: how far a loop that counts as closed may gape; None for mere guides.
    weight, priority: of each. A higher priority than that of the others keeps loops closed where not all can be had.
    """
    instance(body, Body, ProblemError, "a body. Give the one whose loops are to be closed.")
    if not body.loops:
        raise ProblemError(
            f"body {body.name!r} has no loops to close. Say where it has some, by BodyBuilder.close or mk.Body(..., loops=...), "
            "or tie two frames together yourself: mk.Pose(frame, target, relative_to=other)."
        )
    closed: list[Objective] = []
    for name, frame, other, kind in body.loops:
        if kind == "spherical":
            closed.append(
                Position(
                    frame,
                    (0.0, 0.0, 0.0),
                    relative_to=other,
                    tolerance=position_tolerance,
                    weight=weight,
                    priority=priority,
                    name=name,
                )
            )
        else:
            closed.append(
                Pose(
                    frame, np.eye(4), relative_to=other, position_tolerance=position_tolerance,
                    orientation_tolerance=orientation_tolerance,
                    mask=CLOSED[kind], weight=weight, priority=priority, name=name,
                )
            )  # fmt: skip
    return tuple(closed)
