"""Seeded: what every method with a seed is, so that a wrong parameter is told when the solver is made."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

from memetik.errors import ProblemError, shown
from memetik.geometry.checks import flag, real_number, whole_number
from memetik.problem.seed import checked_seed

MOST = 10**9  # nothing is counted in more, and a kernel's scratch would not fit into memory


def parameter(default: Any, holds: Callable[[Any], bool], rule: str) -> Any:
    """A field of a solver that must hold, or a message says the rule."""
    return dataclasses.field(default=default, metadata={"holds": holds, "rule": rule})


def above_zero(default: Any) -> Any:
    """A field of a solver that must be above zero."""
    return parameter(default, lambda value: value > 0.0, "it must be above zero")


def share(default: float) -> Any:
    """A field of a solver that must be from 0 to 1."""
    return parameter(default, lambda value: 0.0 <= value <= 1.0, "it is a share, from 0 to 1")


class Seeded:
    """A frozen dataclass with a field `seed`; all its fields are what they are declared to be once the solver is made."""

    seed: int

    def __post_init__(self) -> None:
        """Make every parameter what its field says, or raise. NaN is no number here."""
        object.__setattr__(self, "seed", checked_seed(self.seed))
        for field in dataclasses.fields(self):  # type: ignore[arg-type]  # those who inherit are dataclasses
            kind, value = str(field.type), getattr(self, field.name)
            what = f"{getattr(self, 'name', type(self).__name__)}: {field.name}"
            if field.name == "seed" or (value is None and kind.endswith("| None")):
                continue
            if kind.startswith("int"):
                value = whole_number(value, ProblemError, what, least=-MOST, most=MOST)
            elif kind.startswith("float"):
                value = real_number(value, ProblemError, what)
                if math.isnan(value):
                    raise ProblemError(f"{what} is NaN; give a number.")
            elif kind == "bool":
                value = flag(value, ProblemError, what)
            if field.metadata and not field.metadata["holds"](value):
                raise ProblemError(f"{what} is {shown(value)}; {field.metadata['rule']}.")
            object.__setattr__(self, field.name, value)
