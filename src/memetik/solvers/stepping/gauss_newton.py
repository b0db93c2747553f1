"""Gauss-Newton: least squares solved by a sequence of linear least squares.

Newton's method minimises |r|^2 with its second derivatives J^T J + sum_i r_i H_i. Near a solution the r_i are small, so
the second part is left out and first derivatives are enough:

    J^T J step = -J^T r          the shortest such step where there are many

With full rank this is the step of the pseudoinverse; it comes from a Cholesky factorisation of the smaller of J^T J and
J J^T, which takes a quarter of the time of singular values for an arm, a twentieth for a whole body. A step that does not
lower the error is halved until it does (line search), which the pseudoinverse method does not do.

Shines near a solution that can be reached: convergence is quadratic, the number of right digits doubles with every step.
It does not care what the residuals are: chains, trees, any joints, any objectives. Fails from afar, where the step can be
so bad that no share of it helps, near singular postures, where J^T J cannot be told from a singular matrix, and where
large errors remain: the part that was left out then counts, and convergence is linear at best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memetik.kernels.stepping.gauss_newton import ORIGIN, gauss_newton_step
from memetik.solvers.stepping.base import Stepping


@dataclass(frozen=True, kw_only=True)
class GaussNewton(Stepping):
    """Full least-squares steps, halved where they gain nothing.

    line_search: halve steps; without it every step is taken as it comes.
    """

    line_search: bool = True

    name = "gauss_newton"
    step = gauss_newton_step

    def own(self) -> Sequence[float]:
        return (float(self.line_search),)

    def room(self, variables: int, residuals: int, springs: bool) -> int:
        return ORIGIN + variables
