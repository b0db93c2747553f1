"""Levenberg-Marquardt: damped least squares that learns how much to damp.

    (J^T J + lambda) step = -J^T r

For a small lambda this is Gauss-Newton, quick near the solution; for a large one a short step down the steepest slope,
safe anywhere. After each step the gain ratio says how far the linear model can be trusted (Nielsen 1999):

    rho = (|r|^2 - |r_new|^2) / (|r|^2 - |r + J step|^2)          what was gained over what was promised

    rho > 0    keep the step; lambda *= max(1/3, 1 - (2 rho - 1)^3); nu = 2
    rho <= 0   take it back;  lambda *= nu; nu *= 2

The step is bounded: cut off at the limits first, and promised and gained are those of what is left of it.

Shines as the most reliable of this family: downhill at every step, quadratic at the end, nothing to tune. Fails as all
of them do in a local minimum, where only another start helps, and it spends evaluations on steps that it takes back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memetik.kernels.stepping.levenberg_marquardt import ORIGIN, levenberg_marquardt_step
from memetik.solvers.stepping.base import Stepping


@dataclass(frozen=True, kw_only=True)
class LevenbergMarquardt(Stepping):
    """Damped steps, the damping set by how well the last one kept its promise.

    first_damping: the first lambda, as a share of the largest diagonal entry of J^T J.
    """

    first_damping: float = 0.1

    name = "levenberg_marquardt"
    step = levenberg_marquardt_step

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_positive("first_damping")

    def own(self) -> Sequence[float]:
        return (self.first_damping,)

    def room(self, variables: int, residuals: int, springs: bool) -> int:
        return ORIGIN + variables + residuals
