"""Jacobian pseudoinverse: the shortest step that the linear model says will do.

If J could be inverted, step = -J^-1 r would bring the errors to zero at once. The pseudoinverse J^+ does the best
there is for any J: it makes |r + J step| as small as possible, and of all such steps it takes the shortest.

    step = -J^+ r          J^+ = J^T (J J^T)^-1  with more joints than residuals,  (J^T J)^-1 J^T  with fewer

Both formulas break down where J loses rank, so it is computed from the singular values, which gives the same and never
divides by zero: with J = sum_i sigma_i left_i right_i^T

    J^+ = sum_i (1 / sigma_i) right_i left_i^T          over all i with sigma_i > cutoff * largest sigma

Shines near the solution and away from singular postures: each step doubles the number of right digits, and a redundant
body moves no more than it must. Fails near singular postures: along a direction that the joints can hardly move, 1 / sigma
is huge, and the joints jump for next to nothing. `longest_step` keeps the jump within bounds, not the direction from
being useless; dls, svd_dls and sdls are the cures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memetik.kernels.stepping.directions import size
from memetik.kernels.stepping.pseudoinverse import SCRATCH, pseudoinverse_step
from memetik.solvers.stepping.base import Stepping


@dataclass(frozen=True, kw_only=True)
class Pseudoinverse(Stepping):
    """Steps by the Moore-Penrose pseudoinverse of the Jacobian.

    cutoff: singular values up to this share of the largest count as zero.
    """

    cutoff: float = 1e-6

    name = "pseudoinverse"
    step = pseudoinverse_step

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_positive("cutoff")

    def own(self) -> Sequence[float]:
        return (self.cutoff, 1.0)

    def room(self, variables: int, residuals: int, springs: bool) -> int:
        return SCRATCH + size(variables, residuals, springs)
