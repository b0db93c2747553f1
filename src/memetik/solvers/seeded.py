"""Seeded: what every method with a seed is, so that a wrong parameter is told when the solver is made."""

from __future__ import annotations

from memetik.errors import ProblemError
from memetik.problem.seed import checked_seed
from memetik.solvers.parameters import check_parameters, method_name


class Seeded:
    """A frozen dataclass with a field `seed`; all its fields are what they are declared to be once the solver is made."""

    seed: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "seed", checked_seed(self.seed))
        check_parameters(self)

    def require_positive(self, *parameters: str) -> None:
        """Raise if one of these parameters is not above zero."""
        for parameter in parameters:
            value = getattr(self, parameter)
            if not value > 0.0:
                raise ProblemError(f"{method_name(self)}: {parameter} is {value}; it must be above zero.")
