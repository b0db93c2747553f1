"""memetik through the same door as its peers."""

from __future__ import annotations

import numpy as np

from memetik.bench.peers import Task
from memetik.body import Body
from memetik.objectives import Pose
from memetik.problem import Problem
from memetik.solvers import Budget, solve
from memetik.types import Array


class Memetik:
    """What a user writes: assign the target, solve from the start within a time."""

    name = "memetik"
    whole_turns = False

    def __init__(self, body: Body, tip: str, task: Task) -> None:
        self.pose = pose_of(tip, task)
        self.problem = Problem(body, self.pose)
        self._budget = Budget(seconds=task.seconds)

    def solve(self, target: Array, start: Array) -> Array | None:
        """The joint vector, if the solution says that it is within tolerance."""
        self.pose.target = target
        solution = solve(self.problem, start, budget=self._budget)
        return solution.q if solution.success else None


def pose_of(tip: str, task: Task) -> Pose:
    """The objective of a task; its target comes later."""
    return Pose(tip, np.eye(4), position_tolerance=task.position, orientation_tolerance=task.orientation)
