"""What solvers are asked: objectives without targets, targets that can be reached, and a start apart from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

import memetik as mk
from memetik.types import Array

Wanted = mk.Pose | mk.Position | mk.Orientation | mk.LookAt

GAZE = np.array([1.0, 0.0, 0.0])  # a head looks along its x axis, at a point one metre ahead


class Task(NamedTuple):
    """What every solver is asked for: the tolerances of a pose, and the time it may take."""

    position: float  # m
    orientation: float  # rad
    seconds: float


class Query(NamedTuple):
    """One problem: a target for each objective, and where to start; at the body's home if that is None."""

    targets: Sequence[Array]
    start: Array | None


def wish(kind: str, link: str, task: Task) -> Wanted:
    """An objective of a kind without its target, which comes with every query."""
    match kind:
        case "pose":
            return pose_of(link, task)
        case "position":
            return mk.Position(link, np.zeros(3), tolerance=task.position)
        case "orientation":
            return mk.Orientation(link, np.eye(3), tolerance=task.orientation)
        case _:
            return mk.LookAt(link, GAZE, axis=GAZE, tolerance=task.orientation)


def pose_of(link: str, task: Task) -> mk.Pose:
    """A pose without its target."""
    return mk.Pose(link, np.eye(4), position_tolerance=task.position, orientation_tolerance=task.orientation)


def target_of(objective: Wanted, pose: Array) -> Array:
    """What the objective must be told so that `pose` satisfies it."""
    match objective:
        case mk.Pose():
            return pose
        case mk.Position():
            return pose[:3, 3]
        case mk.Orientation():
            return pose[:3, :3]
        case mk.LookAt():
            return np.asarray(pose[:3, 3] + pose[:3, :3] @ GAZE)


def draw(body: mk.Body, objectives: Iterable[Wanted], rng: np.random.Generator) -> Query:
    """Targets that can be reached together, and a start that has nothing to do with them."""
    poses = body.forward(body.sample(rng))
    return Query([target_of(wanted, poses[str(wanted.frame)]) for wanted in objectives], body.sample(rng))


def draw_many(body: mk.Body, objectives: Iterable[Wanted], count: int, *, seed: int = 1) -> list[Query]:
    """As many queries, the same for every experiment that draws with this seed."""
    rng, objectives = np.random.default_rng(seed), list(objectives)
    return [draw(body, objectives, rng) for _ in range(count)]


def aim(problem: mk.Problem, query: Query) -> None:
    """Set the targets of the first objectives, as many as there are, or the obstacles of a distance; the others stay."""
    for objective, target in zip(problem.objectives, query.targets, strict=False):
        if isinstance(objective, mk.Distance):
            objective.obstacles = target
        else:
            objective.target = target  # type: ignore[attr-defined]


def ask(problem: mk.Problem, method: str | mk.solvers.Solver, budget: mk.Budget) -> Callable[[Query], mk.Solution]:
    """What a user writes: set the targets, solve from the start within a budget, by the name of a method or by a solver."""

    def answer(query: Query) -> mk.Solution:
        aim(problem, query)
        if isinstance(method, str):
            return mk.solve(problem, query.start, method=method, budget=budget)
        return method.solve(problem, query.start, budget)

    return answer


def search(problem: mk.Problem, solver: mk.solvers.Solver, budget: mk.Budget) -> Callable[[Query], mk.Solution]:
    """The same for a problem whose targets are set already."""
    return lambda query: solver.solve(problem, query.start, budget)


class Peer:
    """A solver that is built for one arm. `solve` is what gets timed, so it does nothing but call the solver."""

    name: str
    whole_turns = False  # whether angles come without regard to limits; the caller adds whole turns
    slow = 1  # a contest hands it one query in so many only, with a wider interval to show for it

    def solve(self, target: Array, start: Array) -> Array | None:
        """A joint vector, several as rows, or None for no solution; target is 4x4, base_from_tip."""
        raise NotImplementedError


class Memetik(Peer):
    """memetik through the same door as its peers."""

    name = "memetik"

    def __init__(self, body: mk.Body, tip: str, task: Task) -> None:
        self.wanted = pose_of(tip, task)
        self.problem = mk.Problem(body, self.wanted)
        self.budget = mk.Budget(seconds=task.seconds)

    def solve(self, target: Array, start: Array) -> Array | None:
        """The joint vector, if the solution says that it is within tolerance."""
        self.wanted.target = target
        solution = mk.solve(self.problem, start, budget=self.budget)
        return solution.q if solution.success else None


class Bound(Peer):
    """memetik as a loop calls it, with the pose bound to its problem."""

    name = "memetik, bound"

    def __init__(self, body: mk.Body, tip: str, task: Task) -> None:
        wanted = pose_of(tip, task)
        self.step = mk.bind(mk.Problem(body, wanted), wanted, budget=mk.Budget(seconds=task.seconds))

    def solve(self, target: Array, start: Array) -> Array | None:
        """The joint vector, if the step says that it is within tolerance."""
        q = self.step(target, start)
        return q if self.step.success else None
