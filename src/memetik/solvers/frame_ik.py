"""solve_frame: the joint vector that takes one frame to a target, which is all that many users ask for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from memetik.collision.world import World
from memetik.errors import ProblemError, known
from memetik.geometry.checks import flag, several
from memetik.objectives import Displacement, Distance, Objective, Pose, Position, SelfDistance
from memetik.problem import Problem
from memetik.solution import Solution
from memetik.solvers.budget import DEFAULT, Budget
from memetik.solvers.solving import solve

if TYPE_CHECKING:
    from memetik.body import Body
    from memetik.geometry import TransformLike
    from memetik.objectives.objective import FrameLike

TRANSLATIONS, ROTATIONS = ("x", "y", "z"), ("rx", "ry", "rz")
NEARBY = 1e-3  # the weight of staying near the start: enough to choose among solutions, too little to leave the target


def solve_frame(
    body: Body, frame: FrameLike, target: Any, *, start: ArrayLike | None = None,
    free: str | Iterable[str] = (), obstacles: object = None,
    clearance: float = 0.0, self_collision: bool = False, lock: Mapping[str, float] | None = None,
    root: TransformLike | None = None, position_tolerance: float = 1e-4, orientation_tolerance: float = 1e-3,
    budget: Budget | None = None, seed: int = 0,
) -> Solution:  # fmt: skip
    """The solution of a problem with one target; see Body.ik."""
    objectives: list[Objective] = [
        _target(frame, target, _free_axes(free), position_tolerance, orientation_tolerance),
        Displacement(weight=NEARBY),
    ]
    if obstacles is not None:
        if isinstance(obstacles, Mapping) and not isinstance(obstacles, World):
            obstacles = World(obstacles)
        objectives.append(Distance(body, obstacles, clearance=clearance))
    if flag(self_collision, ProblemError, "self_collision"):
        objectives.append(SelfDistance(body, clearance=clearance))
    problem = Problem(body, objectives, lock=lock, root=root)
    return solve(problem, start, budget=DEFAULT if budget is None else budget, seed=seed)


def _target(frame: FrameLike, target: Any, free: tuple[str, ...], position: float, orientation: float) -> Objective:
    """A Position for a point, a Pose for a transform."""
    counts = [axis not in free for axis in (*TRANSLATIONS, *ROTATIONS)]
    if not _is_point(target):
        return Pose(frame, target, position_tolerance=position, orientation_tolerance=orientation, mask=counts)
    if not all(counts[3:]):
        raise ProblemError(
            f"the target is a point, which leaves all rotations free, but free is {free!r}. Name x, y and z only, or give a "
            "4x4 transform as the target."
        )
    return Position(frame, target, tolerance=position, mask=counts[:3])


def _is_point(target: Any) -> bool:
    try:
        return bool(np.shape(target) == (3,))
    except ValueError:  # a position and a rotation, say
        return False


def _free_axes(free: str | Iterable[str]) -> tuple[str, ...]:
    names = (free,) if isinstance(free, str) else several(free, ProblemError, "free", "('rz',)")
    return tuple(known(name, (*TRANSLATIONS, *ROTATIONS), "axis", "free") for name in names)
