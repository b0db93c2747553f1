"""Budget: how much a solver may spend."""

from __future__ import annotations

import math
from dataclasses import dataclass

from memetik.errors import ProblemError


@dataclass(frozen=True)
class Budget:
    """Evaluations of the body first, because they are the same on every machine; wall time second.

    A solve that ends because of `seconds` says so in its solution and may differ from run to run.
    """

    evaluations: int = 20_000
    seconds: float = math.inf

    def __post_init__(self) -> None:
        if not self.evaluations >= 1:
            raise ProblemError(f"budget: evaluations is {self.evaluations}; at least one is needed.")
        if not self.seconds > 0.0:
            raise ProblemError(f"budget: seconds is {self.seconds}; it must be above zero, or infinite.")


DEFAULT = Budget()
