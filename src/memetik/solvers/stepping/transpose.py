"""Jacobian transpose: pull the tip towards the target and let the joints give way.

The residuals r say how far everything is off, J how they change with the joints. A spring between tip and target would
pull with the force -r, and by the principle of virtual work it is felt in the joints as the torque -J^T r. The joints
move along it, which is the direction in which |r|^2 falls most steeply:

    step = -alpha J^T r          alpha = <r, J J^T r> / <J J^T r, J J^T r>

This alpha minimises |r + J step|, the error as far as the linear model can tell (Buss 2004). Taken at every step, it makes
steepest descent zigzag: a step is square to the one before, and every further digit takes as many steps as the last. The
same alpha taken one step late, that of the step before, breaks the pattern (Barzilai and Borwein 1988): the error no longer
falls at every step, but a pose of an arm takes a quarter to a half of the steps, and all poses together a thirtieth, since
none is slow. `lag=False` takes it at once, `length` fixes it as in the first papers (Balestrino et al. 1984, Wolovich and
Elliott 1984).

Shines where a step must be cheap and safe: no matrix is inverted, so singular postures do no harm. Fails to be quick: it
takes some ten times as many steps as the methods that invert J, and most where joints have very unequal effects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memetik.kernels.stepping.iterate import MEMORY
from memetik.kernels.stepping.transpose import transpose_step
from memetik.solvers.stepping.base import Stepping


@dataclass(frozen=True, kw_only=True)
class Transpose(Stepping):
    """Steps along -J^T r, of the length that was best for the linear model of the step before.

    lag: without it, of the length that is best for the step itself.
    length: a fixed alpha instead [no unit, of the order of 0.01]; too large a one diverges.
    """

    patience: int = 80
    longest_step: float = 0.3
    length: float | None = None
    lag: bool = True

    name = "transpose"
    step = transpose_step

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.length is not None:
            self.require_positive("length")

    def own(self) -> Sequence[float]:
        return (self.length or 0.0, self.lag)

    def room(self, variables: int, residuals: int, springs: bool) -> int:
        return MEMORY + 1
