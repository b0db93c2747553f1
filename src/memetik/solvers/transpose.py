"""Jacobian transpose: pull the tip towards the target and let the joints give way.

The residuals r say how far everything is off, J how they change with the joints. A spring between tip and target would
pull with the force -r, and by the principle of virtual work it is felt in the joints as the torque -J^T r. The joints
move along it, which is the direction in which |r|^2 falls most steeply:

    step = -alpha J^T r          alpha = <r, J J^T r> / <J J^T r, J J^T r>

This alpha minimises |r + J step|, the error as far as the linear model can tell (Buss 2004). `length` fixes it instead,
as in the first papers (Balestrino et al. 1984, Wolovich and Elliott 1984).

Shines where a step must be cheap and safe: no matrix is inverted, so singular postures do no harm, and the motion is
smooth. Fails to be quick: steepest descent zigzags, and every further digit takes as many steps as the one before. It
takes some ten to some hundred times as many as the methods that invert J, more for a full pose than for a position, and
most where joints have very unequal effects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memetik.kernels.step_transpose import transpose_step
from memetik.solvers.stepping import Stepping


@dataclass(frozen=True, kw_only=True)
class Transpose(Stepping):
    """Steps along -J^T r, of the length that is best for the linear model.

    length: a fixed alpha instead [no unit, of the order of 0.01]; too large a one diverges.
    """

    patience: int = 80
    longest_step: float = 0.3
    length: float | None = None

    name = "transpose"
    step = transpose_step

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.length is not None:
            self.require_positive("length")

    def own(self) -> Sequence[float]:
        return (self.length or 0.0,)
