"""DE, differential evolution (Storn and Price 1997): the population itself says how far and where to step.

For every individual x_i three others are drawn, and a trial is made from a base b and a scaled difference of two:

    v = b + F (x_r1 - x_r2)              u_k = v_k with probability CR, and for one k for certain; else x_ik

If u is no less fit than x_i, it takes its place. While the individuals are spread, steps are long; where they gather in a
valley, differences point along it; and as they close in, steps shrink with them. So there is no step size to choose.

The base is the fittest individual, DE/best/1/bin in the customary shorthand; `base="random"` makes it DE/rand/1/bin. F is
drawn anew for each trial, from `difference` to 1 (dither). Differences of angles go the shorter way round, where whole
turns do not matter. A gene that leaves its limits is drawn again between the limit and the base.

Where it shines: joints that must change together, because differences know about correlations; it is the best of the pure
evolutionary methods for arms, with next to nothing to tune. Where it fails: the base is the same for all, so the whole
population gathers in one valley, and where that is the wrong one only a fresh population helps. A random base keeps
looking for longer, wants more patience, and takes three to four times as many evaluations. Without derivatives each
further digit costs as much as the one before, and the more joints the more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from memetik.errors import ProblemError
from memetik.kernels.evolution import de as kernel
from memetik.problem.compile import Compiled
from memetik.solvers.evolution.base import Evolving

BASES = ("best", "random")


@dataclass(frozen=True, kw_only=True)
class DE(Evolving):
    """Differential evolution with binomial crossover, DE/best/1/bin or DE/rand/1/bin.

    base: what differences are added to, the "best" individual or a "random" one.
    difference: the least factor F; it is drawn from here to 1.
    crossover: CR, the share of genes that a trial does not have from its parent.
    """

    base: Literal["best", "random"] = "best"
    difference: float = 0.5
    crossover: float = 0.9

    name = "de"
    fewest = 4
    search = kernel.search

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_share("difference", "crossover")
        if not isinstance(self.base, str) or self.base not in BASES:
            raise ProblemError(f"de: base is {self.base!r}; it must be {' or '.join(map(repr, BASES))}.")

    def usual(self, joints: int) -> int:
        return 30 + 2 * joints

    def own(self) -> Sequence[float]:
        return (self.difference, self.crossover, float(self.base == "best"))

    def scratch(self, c: Compiled, size: int) -> tuple[int, int]:
        return 0, kernel.room_size(size, c.active.size)
