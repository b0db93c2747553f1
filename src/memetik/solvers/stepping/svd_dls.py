"""The damped pseudoinverse by singular values: damp where it is needed, and nowhere else.

Damped least squares treats all directions alike. The singular value decomposition J = sum_i sigma_i left_i right_i^T
takes them apart, and only the directions that the joints can hardly move are damped (numerical filtering, Maciejewski
and Klein 1988):

    step = -sum_i f(sigma_i) right_i (left_i·r)

    f(sigma) = 1 / sigma                                                      if sigma >= singular
             = sigma / (sigma^2 + lambda^2 (1 - (sigma / singular)^2))        if sigma < singular

f is continuous, so the joints do not jerk when a direction becomes singular.

Shines where singular postures are near and accuracy counts: as exact as the pseudoinverse in the good directions, as
calm as dls in the bad ones. Fails to be cheap: a step takes four times as long as one of dls for an arm, twenty times
for a whole body. And what lies in a singular direction still comes slowly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memetik.kernels.stepping.directions import size
from memetik.kernels.stepping.iterate import MEMORY
from memetik.kernels.stepping.svd_dls import svd_dls_step
from memetik.solvers.stepping.base import Stepping


@dataclass(frozen=True, kw_only=True)
class SVDDampedLeastSquares(Stepping):
    """Steps by the pseudoinverse with small singular values damped.

    damping: lambda where a singular value is zero.
    singular: singular values from this on are not damped. Residuals have no unit, see DampedLeastSquares.
    """

    damping: float = 0.03
    singular: float = 0.1

    name = "svd_dls"
    step = svd_dls_step

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_positive("damping", "singular")

    def own(self) -> Sequence[float]:
        return (self.damping, self.singular)

    def room(self, variables: int, residuals: int, springs: bool) -> int:
        return MEMORY + size(variables, residuals, springs)
