"""One judge for all: what a solver answered is put through forward kinematics and held against limits and tolerance."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from memetik.bench.peers.peer import Task
from memetik.body import Body
from memetik.geometry import pose_error

Array = NDArray[np.float64]

SLACK = 1e-9  # rad or m beyond a limit that rounding may explain


class Judge:
    """Knows an arm, its tip and what is asked for, and nothing of the solvers."""

    def __init__(self, body: Body, tip: str, task: Task) -> None:
        self.body, self.tip, self.task = body, tip, task

    def right(self, answer: Array | None, target: Array, *, whole_turns: bool = False) -> bool:
        """Whether a joint vector, or one of several rows, is within the limits and puts the tip on the target."""
        return answer is not None and any(self.agrees(q, target) for q in self.candidates(answer, whole_turns))

    def candidates(self, answer: Array, whole_turns: bool) -> Array:
        """The rows of an answer that are within the limits, if need be with `whole_turns` added."""
        rows = np.atleast_2d(answer).reshape(-1, self.body.dof)
        if whole_turns:
            lower = np.where(np.isfinite(self.body.lower), self.body.lower - SLACK, rows)
            rows = rows + 2.0 * math.pi * np.ceil((lower - rows) / (2.0 * math.pi))
        within = np.isfinite(rows) & (rows >= self.body.lower - SLACK) & (rows <= self.body.upper + SLACK)
        return rows[within.all(axis=1)]

    def agrees(self, q: Array, target: Array) -> bool:
        """Whether forward kinematics puts the tip on the target, within the tolerances."""
        position, orientation = pose_error(self.body.forward(q)[self.tip], target)
        return position <= self.task.position and orientation <= self.task.orientation
