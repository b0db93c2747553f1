"""Parameters of solvers: each is what its field says, whole number, number or flag, before its range is looked at."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from memetik.errors import ProblemError
from memetik.geometry.checks import flag, real_number, whole_number

MOST = 10**9  # nothing is counted in more, and a kernel's scratch would not fit into memory


def method_name(solver: Any) -> str:
    """What messages call a solver: its method, or its class where it has no name."""
    return str(getattr(solver, "name", type(solver).__name__))


def check_parameters(solver: Any) -> None:
    """Make every parameter of a solver, a frozen dataclass, what its field says, or raise. NaN is no number here."""
    method = method_name(solver)
    for field in dataclasses.fields(solver):
        kind, value = str(field.type), getattr(solver, field.name)
        what = f"{method}: {field.name}"
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
        object.__setattr__(solver, field.name, value)
