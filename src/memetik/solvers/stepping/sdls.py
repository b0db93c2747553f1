"""Selectively damped least squares: every direction as far as it can be trusted (Buss and Kim 2005).

Like svd_dls it takes the motion apart by singular values, J = sum_i sigma_i left_i right_i^T. But how much a direction
is damped depends on what the joints would do to all targets, not on sigma alone:

    wanted step along i          phi_i = (1 / sigma_i) (left_i·r) right_i
    what it does to targets      N_i = sum_l |left_(l,i)|
    what the joints do for it    M_i = (1 / sigma_i) sum_k |right_(k,i)| sum_l |dr_l / dx_k|
    as far as it is trusted      gamma_i = gamma min(1, N_i / M_i)

with l over the targets, each position and each orientation for itself. Joints that swing far and cancel each other out
make M_i large and the direction suspect. No joint moves more than gamma_i for direction i, nor more than gamma in all:

    step = -clamp(sum_i clamp(phi_i, gamma_i), gamma)

Shines with several targets that cannot all be reached and near singular postures: no parameter needs tuning, and steps
are full where they are safe. Fails to be quick: a decomposition for each step, and steps that are cautious from afar.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from memetik.kernels.stepping.directions import size
from memetik.kernels.stepping.iterate import MEMORY
from memetik.kernels.stepping.sdls import sdls_step
from memetik.solvers.stepping.base import Stepping


@dataclass(frozen=True, kw_only=True)
class SelectivelyDampedLeastSquares(Stepping):
    """Steps by the pseudoinverse with every direction clamped by what it would do.

    gamma: no joint moves further in one step [rad or m]; the paper's value is pi / 4.
    """

    gamma: float = 0.25 * math.pi

    name = "sdls"
    step = sdls_step

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_positive("gamma")

    def own(self) -> Sequence[float]:
        return (self.gamma,)

    def room(self, variables: int, residuals: int, springs: bool) -> int:
        return MEMORY + size(variables, residuals, springs)
