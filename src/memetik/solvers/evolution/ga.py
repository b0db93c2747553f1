"""GA, a genetic algorithm with real numbers as genes: the fittest have offspring, offspring differ a little.

Postures are individuals, joint values their genes (Holland 1975; for inverse kinematics Parker, Khoogar and Goldberg 1989).
A generation keeps its fittest individual and replaces all others by children of two parents x and y, each of which won a
tournament, that is, was the fittest of a few that were drawn:

    crossover    c_k = x_k + (U (1 + 2 b) - b) (y_k - x_k)          anywhere between the parents, and b beyond them
    mutation     c_k +- r span_k 2^(-20 U)                          in two genes or so; all sizes of steps are equally likely

The first is the extended intermediate recombination and the second the mutation of the breeder genetic algorithm
(Muehlenbein and Schlierkamp-Voosen 1993). U is drawn from [0, 1) each time. No schedule is needed: crossover contracts
with the population, and small mutations are there when they are wanted.

Where it shines: nothing is assumed of the objectives, and the population looks everywhere before it settles. A rough
answer comes soon. Where it fails: the last digits. Each gene is drawn for itself, while the joints of an arm must change
together to keep its tip in place, so most children are worse than their parents. It takes more evaluations than any other
method here: of random poses of a UR5 it brings about a third to 0.1 mm and 1 mrad in 20 000 evaluations, differential
evolution all of them in a quarter of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memetik.errors import ProblemError
from memetik.kernels.evolution import ga as kernel
from memetik.problem.compile import Compiled
from memetik.solvers.evolution.base import Evolving


@dataclass(frozen=True, kw_only=True)
class GA(Evolving):
    """Tournament selection, blended crossover, mutation at all scales; the fittest survives.

    tournament: how many individuals are drawn for one parent; more press harder for fitness.
    blend: how far beyond its parents a child may lie, as a share of their distance.
    mutation: how many genes of a child mutate on average.
    reach: the largest mutation, as a share of the range of the joint.
    """

    patience: int = 60
    tournament: int = 4
    blend: float = 0.5
    mutation: float = 2.0
    reach: float = 0.1

    name = "ga"
    fewest = 2
    search = kernel.search

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_share("blend", "reach")
        self.require_positive("mutation")
        if self.tournament < 1:
            raise ProblemError(f"ga: tournament is {self.tournament}; at least one individual must be drawn.")

    def usual(self, joints: int) -> int:
        return 40 + 6 * joints

    def own(self) -> Sequence[float]:
        return (self.tournament, self.blend, self.mutation, self.reach)

    def scratch(self, c: Compiled, size: int) -> tuple[int, int]:
        return 0, kernel.room_size(size, c.active.size)
