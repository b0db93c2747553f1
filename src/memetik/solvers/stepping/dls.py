"""Damped least squares: reach the target, but not at any price.

The pseudoinverse minimises |r + J step|^2 alone and pays with huge steps near singular postures. Here the length of the
step has a price as well (Wampler 1986, Nakamura and Hanafusa 1986):

    minimise |r + J step|^2 + lambda^2 |step|^2
    step = -J^T (J J^T + lambda^2)^-1 r = -(J^T J + lambda^2)^-1 J^T r

In terms of singular values 1 / sigma becomes sigma / (sigma^2 + lambda^2): about the same for a large sigma, harmless for
a small one. It is one Cholesky factorisation of the smaller of the two systems, the cheapest step that inverts anything.

Shines as the workhorse: stable everywhere, quick, simple. Fails to have one lambda for all: a large one slows down all
directions, also those that need no damping, and turns the last digits into a crawl; a small one hardly damps.
levenberg_marquardt lets lambda follow the success of the steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memetik.kernels.stepping.dls import dls_step
from memetik.solvers.stepping.base import Stepping


@dataclass(frozen=True, kw_only=True)
class DampedLeastSquares(Stepping):
    """Steps by damped least squares with a constant damping.

    damping: lambda; a singular value of this size is damped to half. The residuals have no unit: one radian counts 1, a
    metre 5 over the reach of the chain.
    """

    damping: float = 0.03

    name = "dls"
    step = dls_step

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_positive("damping")

    def own(self) -> Sequence[float]:
        return (self.damping,)
