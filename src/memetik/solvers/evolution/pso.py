"""PSO, particle swarm optimisation (Kennedy and Eberhart 1995): postures that fly, and are drawn to where it was good.

Every particle has a posture x and a speed v. It remembers the best posture p it has been at, and knows the best l that
those around it have been at. With inertia w (Shi and Eberhart 1998):

    v' = w v + c1 U (p - x) + c2 U (l - x)              x' = x + v'

U is drawn from [0, 1) for each joint. Particles overshoot and swing back. Their swing dies out if w < 1 and
c1 + c2 < 24 (1 - w^2) / (7 - 5 w) (Poli 2009); the defaults w = 0.6, c1 = c2 = 1.7 are those of Trelea (2003). A particle
that meets a limit turns back at half its speed.

Everybody knows everybody, unless `neighbours` says how many to either side in a ring a particle knows: news of a good place
then travels slowly, and the swarm takes longer to agree on one.

Where it shines: it is the simplest of all, few particles suffice, and a swarm that is near a solution homes in on it
quickly. Where it fails: a swarm that agrees too soon circles around a local minimum and comes to rest there; a fresh
swarm has to begin again. Joints are drawn independently, so a narrow valley across the joint axes is followed badly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memetik.errors import ProblemError
from memetik.kernels.evolution import pso as kernel
from memetik.problem.compile import Compiled
from memetik.solvers.evolution.base import Evolving


@dataclass(frozen=True, kw_only=True)
class PSO(Evolving):
    """A particle swarm with inertia, in which all know the best, or each its neighbours in a ring.

    inertia: w, the share of its speed that a particle keeps.
    memory: c1, how much the best posture of its own attracts it.
    company: c2, how much the best posture of those it knows attracts it.
    neighbours: how many to either side a particle knows; None for all.
    """

    inertia: float = 0.6
    memory: float = 1.7
    company: float = 1.7
    neighbours: int | None = None

    name = "pso"
    fewest = 2
    search = kernel.search

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_positive("memory", "company")
        self.require_share("inertia")
        most = 24.0 * (1.0 - self.inertia**2) / (7.0 - 5.0 * self.inertia)
        if not self.memory + self.company < most:
            raise ProblemError(
                f"pso: memory {self.memory} and company {self.company} let the swarm fly apart; with inertia {self.inertia} "
                f"they must sum to less than {most:.3g}."
            )
        if self.neighbours is not None and self.neighbours < 1:
            raise ProblemError(f"pso: neighbours is {self.neighbours}; it must be at least 1, or None for all.")

    def usual(self, joints: int) -> int:
        return 20 + joints

    def own(self) -> Sequence[float]:
        return (self.inertia, self.memory, self.company, self.neighbours or 0)

    def scratch(self, c: Compiled, size: int) -> tuple[int, int]:
        return 0, kernel.room_size(size, c.active.size)
