"""The compiler as objectives see it: terms, frames, numbers and targets, in the order in which they are asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from memetik.body import Body, Frame
from memetik.errors import ProblemError
from memetik.kernels.terms.manipulability import MOTION_DATA
from memetik.kernels.terms.records import TermKind
from memetik.objectives.objective import Objective, Target
from memetik.types import Array

# A residual of reach / POSITION_GAIN [m] pulls as hard as one radian; found by measurement on nine arms.
POSITION_GAIN = 5.0

Reads = tuple[Sequence[int], Sequence[int]]  # rows of frames, places in the data where numbers of variables stand


def reach_of(body: Body, frame: str | Frame) -> float:
    """The length of the chain from the root to a frame [m]: a residual of a share of it counts as one radian."""
    length, link = 0.0, body.frame(frame).link
    above = {joint.child: joint for joint in body.joints.values()}
    while link in above:
        joint = above[link]
        length += float(np.linalg.norm(joint.origin[:3, 3]))
        for low, high, motion in zip(joint.lower, joint.upper, joint.motions(), strict=True):
            if not motion.turns:  # a slide reaches as far as it goes; one without limits about a metre
                length += max(abs(low), abs(high)) if np.isfinite(low) and np.isfinite(high) else 1.0
        link = joint.parent
    offset = float(np.linalg.norm(body.frame(frame).link_from_frame[:3, 3]))
    return max(length + offset, 1e-3)


class TermList:
    """What objectives pack themselves into (Packer in objectives/objective.py)."""

    def __init__(
        self, whole: Body, locked: Mapping[str, float], body: Body, lower: Array, upper: Array, moving: Sequence[str]
    ) -> None:
        self.whole, self.locked, self.body = whole, locked, body
        self.lower, self.upper = lower, upper
        self.moving = moving  # joints that objectives other than a mere displacement read
        self.frames: list[Frame] = []
        self.terms: list[tuple[float, ...]] = []
        self.kernels: list[tuple[Any, Any]] = []  # residual and Jacobian of each term, nothing for springs
        self.values: list[float] = []
        self.kept: list[object] = []  # what numbers point to
        self.targets: list[tuple[Target, int]] = []
        self.reads: list[Reads] = []  # of each term
        self.priorities: list[int] = []  # of each term
        self.places: list[int] = []  # where the numbers of variables stand
        self.chains: list[tuple[int, int]] = []  # where the motions of a frame stand, and the row of the frame
        self.objective: Objective | None = None
        self._rows = 0
        self._losses: list[tuple[Objective | None, TermKind, int, dict[str, Any]]] = []  # what add_loss was given

    def frame(self, frame: str | Frame) -> int:
        wanted = self.body.frame(frame)
        for row, known in enumerate(self.frames):
            if known is wanted or (
                known.link == wanted.link and np.array_equal(known.link_from_frame, wanted.link_from_frame)
            ):
                return row
        self.frames.append(wanted)
        return len(self.frames) - 1

    def motions(self, frame: str | Frame) -> tuple[int, int]:
        count = self.body.flatten([frame])[0].nodes.size
        at = self.numbers([0.0] * (count * MOTION_DATA))
        self.chains.append((at, self.frame(frame)))
        return at, count

    def numbers(self, values: Array | list[float]) -> int:
        self.values.extend(float(value) for value in values)
        return len(self.values) - len(values)

    def keep(self, what: object) -> None:
        self.kept.append(what)

    def target(self, target: Target) -> int:
        at = self.numbers(target.numbers)
        self.targets.append((target, at))
        return at

    def variable(self, name: str) -> int:
        source, _, value = self.drive(name)
        if source is None:
            raise ProblemError(
                f"{self.objective!r}: joint {name!r} is locked at {value:g}. Unlock it or leave the objective out."
            )
        self.places.append(self.numbers([self.body.index(name)]))
        return self.places[-1]

    def drive(self, name: str) -> tuple[str | None, float, float]:
        source, ratio, offset = name, 1.0, 0.0
        joint = self.whole.joints.get(name)
        if joint is not None and joint.mimic is not None:
            variable, ratio, offset = self.whole.variables.drives[name][0]
            source = self.whole.joint_names[variable]
        self.whole.index(source)
        if source in self.locked:
            return None, 0.0, ratio * self.locked[source] + offset
        return source, ratio, offset

    def limits(self, name: str) -> tuple[float, float]:
        k = self.body.index(name)
        return float(self.lower[k]), float(self.upper[k])

    def reach(self, frame: str | Frame) -> float:
        return reach_of(self.body, frame)

    def add(
        self, kind: TermKind, *, tolerance: float | None, frame: int = -1, other: int = -1, rows: int = 0, target: int = 0,
        data: int = 0, count: int = 0, reach: float = 1.0, more_frames: Sequence[int] = (), variables: Sequence[int] = (),
        residual_only: bool = False, loss_only: int | None = None,
    ) -> None:  # fmt: skip
        assert self.objective is not None
        scale = self.objective.weight**0.5 / (reach / POSITION_GAIN if kind.unit == "m" else 1.0)
        soft = tolerance is None
        limit = np.inf if tolerance is None else tolerance
        rows = rows if kind.rows is None else kind.rows
        self.kernels.append((kind.residual, kind.jacobian))
        self.priorities.append(self.objective.priority)
        self.terms.append((
            0, 0, kind.number, frame, other, self._rows, rows, target, data, count, soft, kind.goal,
            kind.loss if loss_only is None else loss_only, kind.paired, scale if loss_only is None else 0.0, limit, reach,
            0.0 if residual_only else self.objective.weight,
        ))  # fmt: skip
        self.reads.append(([row for row in (frame, other, *more_frames) if row >= 0], variables))
        self._rows += rows

    def add_loss(self, kind: TermKind, loss: int, **term: Any) -> None:
        self._losses.append((self.objective, kind, loss, term))

    def add_losses(self) -> None:
        """Add what objectives asked for by `add_loss`, behind all that they are judged by."""
        for objective, kind, loss, term in self._losses:
            self.objective = objective
            self.add(kind, loss_only=loss, **term)
