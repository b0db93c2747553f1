"""HGSA, the hybrid genetic swarm algorithm (Starke, Hendrich, Magg and Zhang 2016): the forerunner of Bio IK.

A genetic algorithm whose individuals have the momentum of particles, with a simple local search. A generation goes

    selection        parents by their rank, the fittest most often; who has a child fitter than himself makes way (niching)
    recombination    x = a posture between both parents, plus a share of their momentum g
    mutation         genes change the more often and the further, the less fit the parents are (extinction)
    adoption         x moves towards the mean of its parents and towards a third, as particles follow the best
    exploitation     each of the fittest, gene by gene:  x_k + U phi  and  x_k - U phi  are tried, the better one is kept
                     if it is better than x_k

where U is drawn from [0, 1) and phi is the fitness, an angle that says how far the posture is off (eq. 4.3 of the thesis):
a joint need hardly turn further than that. Joints that slide move by phi L / pi, with the reach L. The change is added to
the momentum. Bio IK kept all of this and put L-BFGS-B in the place of the last line, which is nearly all of its
advantage; the other phases are those of its equations 4.14 to 4.20 here as well. How exactly the forerunner weighed its steps
is not in the thesis, so phi as their scale is this library's reading.

Where it shines: next to bare evolution a small population will do, and it gets close quickly. The local search changes one
gene at a time, which the OFKT makes cheap on large bodies. Where it fails: joints are improved one after another, as in
coordinate descent. Where they must change together the steps become small, and the last digits come slowly: of random
poses of a UR5 it brings three in five to 0.1 mm and 1 mrad in 20 000 evaluations. Published for the original, for 10 um
and 10 urad in 5 ms: 51 % (Table 5.3 of the thesis).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memetik.errors import ProblemError
from memetik.kernels.evolution import hgsa as kernel
from memetik.problem.compile import Compiled
from memetik.solvers.evolution.base import Evolving


@dataclass(frozen=True, kw_only=True)
class HGSA(Evolving):
    """Genetic algorithm, swarm and gene-by-gene local search in one.

    elites: how many of the fittest are exploited and survive.
    """

    patience: int = 10
    elites: int = 4

    name = "hgsa"
    fewest = 2
    search = kernel.search

    def __post_init__(self) -> None:
        super().__post_init__()
        most = self.usual(1) if self.population is None else self.population
        if not 1 <= self.elites <= most:
            raise ProblemError(f"hgsa: elites is {self.elites}; it must be from 1 to the population of {most}.")

    def usual(self, joints: int) -> int:
        return 12

    def own(self) -> Sequence[float]:
        return (self.elites,)

    def scratch(self, c: Compiled, size: int) -> tuple[int, int]:
        n = c.active.size
        return kernel.places_size(size, n), kernel.room_size(size, n, c.nodes.size, c.frames.size)
