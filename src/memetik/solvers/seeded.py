"""Seeded: what every method with a seed is, so that a wrong one is told when the solver is made."""

from __future__ import annotations

from memetik.problem.seed import checked_seed


class Seeded:
    """A frozen dataclass with a field `seed`, which is a plain int once the solver is made."""

    seed: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "seed", checked_seed(self.seed))
