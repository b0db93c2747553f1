"""RepeatedPose: one pose of one frame, asked for again and again, with all that stays the same checked and compiled once."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

import memetik as mk
from memetik.scenes import fields
from memetik.types import Array
from memetik_serve.core import Core, pose_matrix
from memetik_serve.request import Reply, Request


class RepeatedPose:
    """Answers requests that differ from one that was answered in the pose, the start and the timeout only, as Core.answer does,
    in about half the time: a look at some numbers and a solve. For one thread at a time, such as that of a connection.

    request: its only objective is of the kind Pose.
    """

    def __init__(self, core: Core, request: Request) -> None:
        self._core, self._request = core, request
        self._problem, objectives, _ = core.problem(request)
        (self._pose,) = objectives.values()
        self._held = [(core.body.index(name), value) for name, value in self._problem.lock.items()]
        self._method, self._timeout = request.method or core.method, request.timeout
        self._budget = core.allowed(request.timeout)

    def answer(self, start: Array, position: Sequence[float], wxyz: Sequence[float], timeout: float) -> Reply | None:
        """The reply; None where Core.answer has to look: numbers that are no pose, other values of joints that are held."""
        length = math.hypot(*wxyz)
        if not (sum(map(abs, position)) <= fields.LARGEST and 1e-9 <= length <= fields.LARGEST):  # NaN is neither
            return None
        if any(start[k] != value for k, value in self._held):
            return None
        if timeout != self._timeout:
            self._timeout, self._budget = timeout, self._core.allowed(timeout)
        if abs(length - 1.0) >= 1e-12:
            wxyz = [each / length for each in wxyz]
        self._pose.target = pose_matrix(position, wxyz)  # type: ignore[attr-defined]
        solution = mk.solve(self._problem, start, method=self._method, budget=self._budget, seed=self._request.seed)
        return self._core.reply(solution, self._request)


def start_vector(home: Sequence[float], indices: Sequence[int], values: Sequence[float]) -> Array | None:
    """Joint values at their indices, the others as at home; None where one is NaN or infinite. A value at -1 is left out."""
    if not all(map(math.isfinite, values)):
        return None
    q = list(home)
    for index, value in zip(indices, values, strict=True):
        if index >= 0:
            q[index] = value
    return np.array(q)
