"""The errors of a solution by objective, typed so that a pose's error has two parts and any other is a number."""

from __future__ import annotations

from typing import TypeAlias, overload

from memetik.errors import UnknownNameError
from memetik.objectives import (
    AvoidLimits,
    Balance,
    CenterJoints,
    Displacement,
    JointValue,
    Line,
    Objective,
    Plane,
    PoseError,
)
from memetik.objectives.aim import Aim
from memetik.objectives.custom import Custom
from memetik.objectives.distance import Apart
from memetik.objectives.framed import Posed
from memetik.objectives.per_axis import PerAxis
from memetik.objectives.regions import Range

# The objectives whose error is one number [m, rad, or their own unit].
Single: TypeAlias = (
    PerAxis
    | Aim
    | Range
    | Line
    | Plane
    | Apart
    | Balance
    | Custom
    | JointValue
    | Displacement
    | CenterJoints
    | AvoidLimits
)


class Errors(dict[Objective, float | PoseError]):
    """A dict whose values type checkers know: `errors[pose].position` [m], `errors[reach] < 1e-3`."""

    @overload
    def __getitem__(self, objective: Posed, /) -> PoseError: ...
    @overload
    def __getitem__(self, objective: Single, /) -> float: ...
    @overload
    def __getitem__(self, objective: Objective, /) -> float | PoseError: ...

    def __getitem__(self, objective: Objective, /) -> float | PoseError:
        try:
            return super().__getitem__(objective)
        except (KeyError, TypeError):
            raise UnknownNameError("objective", objective, map(repr, self), "this problem") from None
