"""What a learned solver was trained for, and the way in and out of it: targets to inputs, outputs to postures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memetik.errors import ProblemError
from memetik.kernels.learned.encoding import ORIENTATION_INPUTS, POSITION_INPUTS, write_wanted
from memetik.kernels.terms.pose import MASK
from memetik.kernels.terms.records import POINT, ROTATION
from memetik.objectives import Objective
from memetik.problem import Problem, require_problem
from memetik.problem.columns import target_columns
from memetik.problem.compile import Compiled
from memetik.types import Array

BOUNDS = ("lower", "upper", "sample_lower", "sample_upper", "whole_turn")  # of variables
INPUTS = {POINT: POSITION_INPUTS, ROTATION: ORIENTATION_INPUTS}  # by the goal of a term


@dataclass(frozen=True, eq=False)
class Domain:
    """A body, the joints to answer with, where the targets lie, and the ranges that become 0 to 1.

    Its numbers stand beside the weights in a file, so that weights of another body are refused.
    """

    body: str
    joints: tuple[str, ...]
    geometry: Array  # all numbers of the compiled body, its limits and the frames that targets are for
    low: Array  # (inputs,) least value in the training set
    gain: Array  # (inputs,) 1 / (greatest - least)
    lower: Array  # (joints,) [rad or m]
    span: Array  # (joints,) upper - lower

    @classmethod
    def of(cls, problem: Problem, inputs: Array) -> Domain:
        """That of a problem, with the range of these inputs, a row a sample."""
        c = problem.compiled
        low, high = inputs.min(axis=0), inputs.max(axis=0)
        gain = 1.0 / np.where(high > low, high - low, 1.0)
        lower, upper = c.variables["sample_lower"], c.variables["sample_upper"]
        return cls(problem.body.name, _joints(problem), _geometry(c), low, gain, lower.copy(), upper - lower)

    def check(self, problem: Problem) -> Compiled:
        """The compiled problem, if it is one that this was trained for; only targets and tolerances may differ."""
        require_targets(problem)
        c = problem.compiled
        here, joints = _geometry(c), _joints(problem)
        what = ""
        if joints != self.joints:
            what = f"joints {', '.join(joints)}"
        elif here.shape != self.geometry.shape or not np.allclose(here, self.geometry, rtol=0.0, atol=1e-9):
            what = "the same joints, but other lengths, limits, frames or kinds of targets"
        if what:
            raise ProblemError(
                f"these weights were trained for body {self.body!r} with joints {', '.join(self.joints)}; the problem is "
                f"about body {problem.body.name!r} with {what}. Train others: mk.learn.FeedForward.train(problem)."
            )
        return c

    def arrays(self) -> dict[str, Array | NDArray[np.str_]]:
        """All of it as arrays, for a file."""
        return {name: np.array(getattr(self, name)) for name in _NAMES}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.generic]]) -> Domain:
        """What `arrays` made."""
        numbers = {name: np.array(arrays[name], dtype=np.float64) for name in _NAMES[2:]}
        return cls(str(arrays["body"]), tuple(map(str, arrays["joints"])), **numbers)


_NAMES = [each.name for each in fields(Domain)]


def require_targets(problem: Problem) -> None:
    """Raise if there is nothing that a learned solver could read, or a target that stands for many."""
    require_problem(problem, "a learned solver")
    if problem.root is not None:
        raise ProblemError(
            "a learned solver knows targets as the root sees them, so it cannot take a problem with a root. Give targets in "
            "the frame of the root, or use method 'memetic'."
        )
    c = problem.compiled
    for objective, owner in zip(problem.objectives, c.owners, strict=True):
        if objective.follows_start:
            raise ProblemError(
                f"a learned solver sets out from a posture of its own, so it cannot take {objective!r}, which is about the "
                "start. Method 'memetic' can."
            )
        for term in c.terms[owner]:
            if term["goal"] in INPUTS and not c.data[term["numbers"] + MASK :][:3].all():
                raise ProblemError(
                    f"a learned solver cannot take {objective!r}, which leaves an axis free: it knows only targets that "
                    "one posture shows. Give it a mask (1, 1, 1) and finite tolerances, or use method 'memetic'."
                )
    if not input_count(c):
        raise ProblemError(
            "a learned solver reads positions and orientations, and the problem asks for none. Add mk.Position, "
            "mk.Orientation or mk.Pose, or use method 'memetic'."
        )


def input_count(c: Compiled) -> int:
    """How many numbers the targets of a problem are."""
    return sum(INPUTS.get(int(goal), 0) for goal in c.terms["goal"])


def wanted_inputs(problem: Problem, targets: Mapping[Objective, ArrayLike]) -> Array:
    """The inputs of many targets, a row for each, before they are scaled."""
    c, columns = problem.compiled, target_columns(problem, targets, "a learned solver")
    data, inputs = c.data.copy(), np.empty((len(columns.rows), input_count(c)))
    for row, numbers in zip(inputs, columns.rows, strict=True):
        data[columns.places] = numbers
        write_wanted(c.terms, data, row)
    return inputs


def _joints(problem: Problem) -> tuple[str, ...]:
    return tuple(problem.body.joint_names[k] for k in problem.compiled.active)


def _geometry(c: Compiled) -> Array:
    parts: list[Array] = [np.ravel([c.variables[name] for name in BOUNDS])]
    for rows, names in ((c.nodes, c.nodes.dtype.names), (c.frames, c.frames.dtype.names)):
        parts += [rows[name].astype(np.float64) for name in names or ()]
    read = c.terms[np.isin(c.terms["goal"], list(INPUTS))]
    parts += [read[name].astype(np.float64) for name in ("kind", "frame", "other")]
    return np.concatenate(parts)
