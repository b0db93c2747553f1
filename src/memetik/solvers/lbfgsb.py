"""L-BFGS-B: the standard of numerical optimisation for smooth functions within bounds, on the residuals of a problem.

It minimises f(x) = 1/2 |r(x)|^2, all residuals scaled, over the joint limits, from gradients J^T r alone. Curvature comes
from the last few steps s and the changes y of the gradient along them: x moves towards the minimum, within the limits, of

    f + g.d + d.B.d / 2,    B = theta I - W M W^T,    W = [Y S]

(kernels/lbfgsb/minimiser.py), as in Byrd, Lu, Nocedal and Zhu (1995), and stops where a line search finds enough decrease.

It shines where limits are many and touched (they are part of every step, not a clamp behind it), where the problem is not
close to a sum of squares that can vanish, such as targets out of reach or many guides in balance, and where variables are
many: an iteration costs time in proportion to them, not to their cube. It fails where Gauss-Newton wins: near a solution
that satisfies everything, damped least squares squares the error with each step, while this one takes tens of
evaluations more. Like every descent it ends in local minima; drawn restarts make up for them.
"""

from __future__ import annotations

from dataclasses import dataclass

from memetik.kernels.lbfgsb import search as kernel
from memetik.kernels.lbfgsb.minimiser import new_minimiser
from memetik.kernels.terms.value import gradient_calls
from memetik.problem.compile import Compiled
from memetik.solvers.family import Family
from memetik.solvers.seeded import parameter


@dataclass(frozen=True)
class LBFGSB(Family):
    """Descents by limited-memory quasi-Newton steps within the limits, from the start and then from random postures.

    Takes every objective, any number of tips, any joint. The same seed gives the same answer. memory: how many steps the
    curvature is learnt from, 1 to 10. restarts=False: the one descent from the start, to its minimum.
    """

    seed: int = 0
    memory: int = parameter(7, lambda value: 1 <= value <= 10, "it must be from 1 to 10")
    restarts: bool = True

    name, search, by_values = "lbfgsb", kernel.search, True

    def make_record(self, c: Compiled) -> kernel.Descents:
        """What the search needs."""
        return kernel.Descents(new_minimiser(c.active.size, self.memory), self.restarts, gradient_calls(c.terms))
