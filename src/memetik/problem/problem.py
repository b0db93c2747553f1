"""Problem: a body, what is wanted of it, and what is held fast."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memetik.body import Body
from memetik.errors import ProblemError, shown
from memetik.geometry import TransformLike, transform
from memetik.geometry.checks import real_array, real_number, several
from memetik.geometry.rotation import quaternion_of_matrix
from memetik.geometry.transform import frozen_transform
from memetik.kernels.compiler.cancel import end_run, raise_caught
from memetik.objectives import Objective
from memetik.objectives.objective import Target
from memetik.problem.compile import Compiled, compile_problem
from memetik.problem.doubts import degrees_hint, doubt_problem, doubt_start, usual_size
from memetik.rich import Rich
from memetik.types import Array

_ARRAY, _FLOAT = np.ndarray, np.dtype(np.float64)
WEIGHTS = ("given", "balanced")


class Problem(Rich):
    """A body, objectives, joints that are locked at a value, limits narrower than the body's, and where its root stands.

    Compiled once; assigning a new target to an objective changes it in place. Everything that can be wrong is said here,
    before anything is solved.

    root: world_from_root, the pose of the body's root link in the world in which targets are given; the world's own pose
    unless given. `problem.root = T` moves it in place, as a target is.

    weights: "given" takes the weights of the objectives as they are: an error of a fifth of the reach pulls as hard as one of a
    radian. "balanced" measures errors by their tolerances instead, so that where not all can be had
    sum_i w_i (error_i / tolerance_i)^2 is least, and nobody has to find weights: what must be exact is held, what may be
    rough gives way. The geometric mean of all gains is one, so that guides keep their say; none is above a thousand times or
    below a thousandth, and a tolerance below 1e-9 counts as 1e-9.
    """

    def __init__(
        self,
        body: Body,
        objectives: Objective | Iterable[Objective],
        *,
        lock: Mapping[str, float] | None = None,
        limits: Mapping[str, tuple[float, float]] | None = None,
        root: TransformLike | None = None,
        weights: str = "given",
    ) -> None:
        if not isinstance(body, Body):
            raise ProblemError(f"a problem needs a body, not {shown(body)}. Give mk.load(...) and the like.")
        self.body = body
        self.objectives = _several(objectives)
        if not self.objectives:
            raise ProblemError("a problem needs at least one objective, for example mk.Position(frame, target).")
        for objective in self.objectives:
            if not isinstance(objective, Objective):
                raise ProblemError(
                    f"{shown(objective)} is not an objective. Give mk.Position(...), mk.Pose(...) and the like."
                )
        if len(set(map(id, self.objectives))) < len(self.objectives):
            raise ProblemError("the same objective stands in the problem twice. Raise its weight instead.")
        if not isinstance(weights, str) or weights not in WEIGHTS:
            raise ProblemError(
                f"weights is {shown(weights)}. Give 'given', or 'balanced' to measure errors by tolerances."
            )
        self.weights = weights
        self.lower, self.upper = _narrow(body, {} if limits is None else limits)
        self.lock = _locked(body, {} if lock is None else lock)
        for joint, value in self.lock.items():
            k = body.index(joint)
            if not (math.isfinite(value) and self.lower[k] <= value <= self.upper[k]):
                raise ProblemError(
                    f"joint {joint!r} is locked at {value:g}, outside its limits {self.lower[k]:g} to {self.upper[k]:g}."
                    f"{degrees_hint(body, k, value)}"
                )
        self._root = None if root is None else _new_root(root)
        self._fallible = [o for o in self.objectives if type(o).raise_fault is not Objective.raise_fault]
        self._shape = (body.dof,)
        self._locked = [(body.index(joint), value) for joint, value in self.lock.items()]
        self.usual_size = usual_size(body)  # a start that is shorter than this is not looked at
        self.compiled  # noqa: B018 - compile now, so that mistakes are said now
        for objective in self.objectives:
            objective._problems.add(self)
        doubt_problem(body, self.objectives, self.compiled, limits or {}, self.lock)

    @cached_property
    def compiled(self) -> Compiled:
        """The flat arrays, compiled at need."""
        balanced = self.weights == "balanced"
        return compile_problem(self.body, self.objectives, self.lower, self.upper, self.lock, self._root, balanced)

    @property
    def root(self) -> Array | None:
        """world_from_root as a 4x4 array; None where the root stands in the origin of the world.

        Assign a pose to move the root: nothing is compiled again if the problem was given one before (the identity will do),
        and a solve that runs in another thread keeps the one it began with.
        """
        return None if self._root is None else transform(self._root.numbers[4:], self._root.numbers[:4])

    @root.setter
    def root(self, pose: TransformLike | None) -> None:
        if pose is not None and self._root is not None:
            self._root.assign(0, _seven(pose))
        else:
            self._root = None if pose is None else _new_root(pose)
            self.recompile()

    def recompile(self) -> None:
        """Forget the compiled arrays; the next solve builds them anew. Weights and tolerances do this by themselves."""
        self.__dict__.pop("compiled", None)

    def start(self, q: ArrayLike | None) -> Array:
        """A fresh joint vector to solve from: `q` or the body's home, with locked joints at their values."""
        if q is None:
            q = self.body.home
        if type(q) is not _ARRAY or q.dtype is not _FLOAT:  # most are, and are quick to take
            q = real_array(q, ProblemError, "the start is not a joint vector")
        vector = q.copy()
        if vector.shape != self._shape:
            raise ProblemError(
                f"the start has shape {vector.shape}, but body {self.body.name!r} has {self.body.dof} free joints. Give "
                "one number for each of body.joint_names."
            )
        if not math.hypot(*vector.tolist()) < self.usual_size:  # the quickest look at all entries of a short vector
            self._look_at(vector)
        for k, value in self._locked:
            vector[k] = value
        return vector

    def _look_at(self, vector: Array) -> None:
        """Raise or warn if a large start is no posture; one that may be meant is not looked at again."""
        square = float(vector.dot(vector))
        if not math.isfinite(square):
            raise ProblemError("the start has an entry that is NaN or infinite.")
        doubt_start(self.body, vector)
        self.usual_size = max(self.usual_size, math.sqrt(2.0 * square))

    @property
    def has_functions(self) -> bool:
        """Whether users' functions are among its objectives."""
        return bool(self._fallible)

    def raise_faults(self, clock: NDArray[np.int64]) -> None:
        """Raise what an objective or a signal handler raised in a run with this clock; every solver ends with it."""
        if self._fallible:
            end_run(clock)
        raise_caught(clock)
        for objective in self._fallible:
            objective.raise_fault()

    def __reduce__(self) -> tuple[Any, ...]:
        """To another process goes what it was made of; it is compiled anew there."""
        return _made_of, (self.body, self.objectives, self.lock, self.limits, self.root, self.weights)

    @property
    def limits(self) -> dict[str, tuple[float, float]]:
        """The limits in force, by joint [rad or m]."""
        return dict(zip(self.body.joint_names, zip(self.lower.tolist(), self.upper.tolist(), strict=True), strict=True))

    def __repr__(self) -> str:
        return f"<Problem: {self.body.name}, {len(self.objectives)} objectives, {len(self.compiled.active)} joints to solve>"


def require_problem(problem: object, who: str) -> None:
    """Raise unless it is a Problem; `who` asks, for the message."""
    if not isinstance(problem, Problem):
        raise ProblemError(f"{who}: {shown(problem)} is not a problem. Give mk.Problem(body, objectives).")


def _made_of(
    body: Body,
    objectives: tuple[Objective, ...],
    lock: Mapping[str, float],
    limits: Mapping[str, tuple[float, float]],
    root: Array | None,
    weights: str = "given",
) -> Problem:
    return Problem(body, objectives, lock=lock, limits=limits, root=root, weights=weights)


def _new_root(pose: TransformLike) -> Target:
    root = Target(7)
    root.assign(0, _seven(pose))
    return root


def _seven(pose: TransformLike) -> Array:
    """Quaternion and position of the root."""
    world_from_root = frozen_transform(pose, ProblemError, "bad root of a problem", name="root")
    return np.concatenate([quaternion_of_matrix(world_from_root), world_from_root[:3, 3]])


def _several(objectives: Objective | Iterable[Objective]) -> tuple[Objective, ...]:
    if isinstance(objectives, Objective):
        return (objectives,)
    return several(objectives, ProblemError, "what is wanted", "[mk.Position(frame, target)]")


def _locked(body: Body, lock: Mapping[str, float]) -> dict[str, float]:
    """Values by joint. A list of names would leave open which values are meant, home or start."""
    if not isinstance(lock, Mapping):
        raise ProblemError(
            f"lock is {shown(lock)}; it gives a value to each joint that is held. Write lock={{joint: value}}, for example "
            f"lock={{name: start[body.index(name)] for name in names}} to hold joints where a start has them."
        )
    return {joint: real_number(value, ProblemError, f"lock of joint {joint!r}") for joint, value in lock.items()}


def _narrow(body: Body, limits: Mapping[str, tuple[float, float]]) -> tuple[Array, Array]:
    if not isinstance(limits, Mapping):
        raise ProblemError(f"limits are {shown(limits)}. Write limits={{joint: (lower, upper)}}.")
    lower, upper = body.lower.copy(), body.upper.copy()
    for joint, pair in limits.items():
        k = body.index(joint)
        ends = real_array(pair, ProblemError, f"limits of joint {joint!r} are not two numbers")
        if ends.shape != (2,):
            raise ProblemError(f"limits of joint {joint!r} are {shown(pair)}. Give two numbers, (lower, upper).")
        low, high = ends.tolist()
        if not low <= high:
            raise ProblemError(f"limits of joint {joint!r}: {low} is above {high}, or one is not a number.")
        lower[k], upper[k] = max(lower[k], low), min(upper[k], high)
        if lower[k] > upper[k]:
            raise ProblemError(
                f"limits of joint {joint!r}: {low:g} to {high:g} lies outside the body's {body.lower[k]:g} to {body.upper[k]:g}."
            )
    return lower, upper
