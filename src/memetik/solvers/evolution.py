"""Genetic algorithm, differential evolution, particle swarm, their hybrid, and what they share; see kernels/evolution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from memetik.errors import ProblemError
from memetik.kernels.compiler.function_pointers import lasting_address
from memetik.kernels.evolution.adaptive import AdaptiveRecord, breed_adaptive
from memetik.kernels.evolution.evolve import BREED, EvolutionRecord, evolve
from memetik.kernels.evolution.generations import DeRecord, GaRecord, PsoRecord, breed_de, breed_ga, breed_pso
from memetik.kernels.evolution.hgsa import HgsaRecord, breed_hgsa
from memetik.kernels.evolution.lesson import descend_once
from memetik.kernels.lbfgsb.minimiser import new_minimiser, no_minimiser
from memetik.kernels.lbfgsb.search import Descents
from memetik.kernels.problem.function_pointers import SEARCH
from memetik.kernels.terms.value import gradient_calls
from memetik.problem.compile import Compiled
from memetik.solvers.family import Family, record_of
from memetik.solvers.method import ask_for
from memetik.solvers.seeded import above_zero, parameter, share

MEMORY = 7  # pairs that L-BFGS-B keeps


@dataclass(frozen=True, kw_only=True)
class Evolving(Family):
    """A population of postures that are only compared: without derivatives any objective will do, even one that jumps.

    Takes every objective, any number of tips, any joint. The start is one of the first population. Limits hold in every
    individual. The same seed gives the same answer, bit for bit. One evaluation is one individual. Guides (objectives
    without tolerance) fade from generation to generation while the others are not satisfied. Fitness is the loss of the
    thesis, which is small far from the root too: of a target out of reach it finds about the nearest point.

    population: how many individuals; more with more joints unless given.
    patience: after so many generations in a row that gain less than a twentieth, a fresh population is drawn.
    memetic: the fittest individual descends to its minimum by L-BFGS-B now and then, and passes on what it has learnt; for
    smooth objectives, since this needs derivatives.
    """

    seed: int = 0
    population: int | None = None
    patience: int = above_zero(25)
    memetic: bool = False

    search, by_generations = evolve, True
    breed: ClassVar[Any]  # the kernel that makes the method (BREED in kernels/evolution/evolve.py)
    fewest: ClassVar[int] = 2  # individuals that the method needs
    usual: ClassVar[tuple[int, int]]  # individuals unless given, and more for each joint
    adaptive: ClassVar[bool] = False  # whether progress is measured by the spread of the population

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.population is not None and self.population < self.fewest:
            raise ProblemError(f"{self.name}: population is {self.population}; it must be at least {self.fewest}.")

    def make_record(self, c: Compiled) -> Any:
        usual = self.usual[0] + self.usual[1] * c.variables.size
        sizes = {**c.sizes, "population": usual if self.population is None else self.population}
        own, kernel = self.kind
        ask_for(type(self).search, (kernel, BREED), *([(descend_once, SEARCH)] if self.memetic else []))
        minimiser = new_minimiser(c.active.size, MEMORY) if self.memetic else no_minimiser()
        evolution = record_of(
            self, EvolutionRecord, sizes, descents=Descents(minimiser, False, gradient_calls(c.terms)),
            breed=lasting_address(kernel, BREED), blocks=not c.only_guides,
            by_spread=self.adaptive, learn=lasting_address(descend_once, SEARCH) if self.memetic else 0,
        )  # fmt: skip
        return record_of(self, own, sizes, evolution=evolution)

    @property
    def kind(self) -> tuple[Any, Any]:
        """The record of the method and its kernel."""
        return self.own, type(self).breed


@dataclass(frozen=True, kw_only=True)
class GA(Evolving):
    """GA, a genetic algorithm with real numbers as genes: the fittest have offspring, offspring differ a little.

    Postures are individuals, joint values their genes (Holland 1975; for inverse kinematics Parker, Khoogar and
    Goldberg 1989). A generation keeps its fittest individual and replaces all others by children of two parents x and
    y, each of which won a tournament, that is, was the fittest of a few that were drawn:

        crossover    c_k = x_k + (U (1 + 2 b) - b) (y_k - x_k)      anywhere between the parents, and b beyond them
        mutation     c_k +- r span_k 2^(-20 U)                      in two genes or so; all sizes of steps are equally likely

    The first is the extended intermediate recombination and the second the mutation of the breeder genetic algorithm
    (Muehlenbein and Schlierkamp-Voosen 1993). U is drawn from [0, 1) each time. No schedule is needed: crossover
    contracts with the population, and small mutations are there when they are wanted.

    Where it shines: nothing is assumed of the objectives, and the population looks everywhere before it settles. A
    rough answer comes soon. Where it fails: the last digits. Each gene is drawn for itself, while the joints of an arm
    must change together to keep its tip in place, so most children are worse than their parents. It takes more
    evaluations than any other method here: of random poses of a UR5 it brings about a third to 0.1 mm and 1 mrad in
    20 000 evaluations, differential evolution all of them in a quarter of that.

    tournament: how many individuals are drawn for one parent; more press harder for fitness.
    blend: how far beyond its parents a child may lie, as a share of their distance.
    mutation: how many genes of a child mutate on average.
    reach: the largest mutation, as a share of the range of the joint.
    """

    patience: int = above_zero(60)
    tournament: int = parameter(4, lambda value: value >= 1, "at least one individual must be drawn")
    blend: float = share(0.5)
    mutation: float = above_zero(2.0)
    reach: float = share(0.1)

    name, own, breed = "ga", GaRecord, breed_ga
    usual = (40, 6)


@dataclass(frozen=True, kw_only=True)
class DE(Evolving):
    """DE, differential evolution (Storn and Price 1997): the population itself says how far and where to step.

    For every individual x_i three others are drawn, and a trial is made from a base b and a scaled difference of two:

        v = b + F (x_r1 - x_r2)              u_k = v_k with probability CR, and for one k for certain; else x_ik

    If u is no less fit than x_i, it takes its place. While the individuals are spread, steps are long; where they
    gather in a valley, differences point along it; and as they close in, steps shrink with them. So there is no step
    size to choose.

    The base is the fittest individual, DE/best/1/bin in the customary shorthand; `base="random"` makes it
    DE/rand/1/bin. F is drawn again for each trial, from `difference` to 1 (dither). Differences of angles go the
    shorter way round, where whole turns do not matter. A gene that leaves its limits is drawn again between the limit
    and the base.

    Where it shines: joints that must change together, because differences know about correlations; it is the best of
    the pure evolutionary methods for arms, with next to nothing to tune. Where it fails: the base is the same for all,
    so the whole population gathers in one valley, and where that is the wrong one only a fresh population helps. A
    random base keeps looking for longer, wants more patience, and takes three to four times as many evaluations.
    Without derivatives each further digit costs as much as the one before, and the more joints the more.

    With `adaptive` every individual has an F and a CR of its own, tries others now and then and keeps those it does well with
    (Brest et al. 2006). The base is a random individual then, and a population lasts until it gains nothing by its own spread:
    slower on arms, and surer on functions with many minima, whether their variables belong together or not.

    adaptive: let F and CR adapt; base, difference and crossover do not count then.
    base: what differences are added to, the "best" individual or a "random" one.
    difference: the least factor F; it is drawn from here to 1.
    crossover: CR, the share of genes that a trial does not have from its parent.
    """

    base: Literal["best", "random"] = parameter(
        "best", lambda value: isinstance(value, str) and value in ("best", "random"), "it must be 'best' or 'random'"
    )
    difference: float = share(0.5)
    crossover: float = share(0.9)
    adaptive: bool = False  # type: ignore[misc]

    name, own, breed = "de", DeRecord, breed_de
    fewest, usual = 4, (30, 2)

    @property
    def from_best(self) -> bool:
        """Whether differences are added to the best individual."""
        return self.base == "best"

    @property
    def kind(self) -> tuple[Any, Any]:
        return (AdaptiveRecord, breed_adaptive) if self.adaptive else super().kind


@dataclass(frozen=True, kw_only=True)
class PSO(Evolving):
    """PSO, particle swarm optimisation (Kennedy and Eberhart 1995): postures that fly, drawn to where it was good.

    Every particle has a posture x and a speed v. It remembers the best posture p it has been at, and knows the best l
    that those around it have been at. With inertia w (Shi and Eberhart 1998):

        v' = w v + c1 U (p - x) + c2 U (l - x)              x' = x + v'

    U is drawn from [0, 1) for each joint. Particles overshoot and swing back. Their swing dies out if w < 1 and
    c1 + c2 < 24 (1 - w^2) / (7 - 5 w) (Poli 2009); the defaults w = 0.6, c1 = c2 = 1.7 are those of Trelea (2003). A
    particle that meets a limit turns back at half its speed.

    Everybody knows everybody, unless `neighbours` says how many to either side in a ring a particle knows: news of a
    good place then travels slowly, and the swarm takes longer to agree on one.

    Where it shines: it is the simplest of all, few particles suffice, and a swarm that is near a solution homes in on
    it quickly. Where it fails: a swarm that agrees too soon circles around a local minimum and comes to rest there; a
    fresh swarm has to begin again. Joints are drawn independently, so a narrow valley across the joint axes is
    followed badly.

    inertia: w, the share of its speed that a particle keeps.
    memory: c1, how much the best posture of its own attracts it.
    company: c2, how much the best posture of those it knows attracts it.
    neighbours: how many to either side a particle knows; None for all.
    """

    inertia: float = share(0.6)
    memory: float = above_zero(1.7)
    social: float = above_zero(1.7)
    neighbours: int | None = parameter(None, lambda value: value >= 1, "it must be at least 1, or None for all")

    name, own, breed = "pso", PsoRecord, breed_pso
    usual = (20, 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        most = 24.0 * (1.0 - self.inertia**2) / (7.0 - 5.0 * self.inertia)
        if not self.memory + self.social < most:
            raise ProblemError(
                f"pso: memory {self.memory} and social {self.social} let the swarm fly apart; with inertia "
                f"{self.inertia} they must sum to less than {most:.3g}."
            )


@dataclass(frozen=True, kw_only=True)
class HGSA(Evolving):
    """HGSA, the hybrid genetic swarm algorithm (Starke, Hendrich, Magg and Zhang 2016): the forerunner of Bio IK.

    A genetic algorithm whose individuals have the momentum of particles, with a simple local search. A generation goes

        selection        parents by rank, the fittest most often; who has a child fitter than himself makes way (niching)
        recombination    x = a posture between both parents, plus a share of their momentum g
        mutation         genes change the more often and the further, the less fit the parents are (extinction)
        adoption         x moves towards the mean of its parents and towards a third, as particles follow the best
        exploitation     each of the fittest, gene by gene:  x_k + U r phi  and  x_k - U r phi  are tried, the better one
                         is kept if it is better than x_k

    where U is drawn from [0, 1), r is `reach`, 1 unless given, and phi is the fitness, an angle that says how far the
    posture is off (eq. 4.3 of the thesis): a joint need hardly turn further than that. Joints that slide move by
    phi L / pi, with the length L of the chain. The change is added to the momentum. Bio IK kept all of this and put
    L-BFGS-B in the place of the last line, which is nearly all of its advantage; the other phases are those of its
    equations 4.14 to 4.20 here as well. How exactly the forerunner weighed its steps is not in the thesis, so phi as
    their scale is this library's reading.

    Where it shines: next to bare evolution a small population will do, and it gets close quickly. The local search
    changes one gene at a time, which the OFKT makes cheap on large bodies. Where it fails: joints are improved one
    after another, as in coordinate descent. Where they must change together the steps become small, and the last
    digits come slowly: of random poses of a UR5 it brings three in five to 0.1 mm and 1 mrad in 20 000 evaluations.
    Published for the original, for 10 um and 10 urad in 5 ms: 51 % (Table 5.3 of the thesis).

    elites: how many of the fittest are exploited and survive.
    reach: how far the local search turns a joint at most, over the fitness.
    """

    patience: int = above_zero(10)
    elites: int = 4
    reach: float = above_zero(1.0)

    name, own, breed = "hgsa", HgsaRecord, breed_hgsa
    usual = (12, 0)

    def __post_init__(self) -> None:
        super().__post_init__()
        most = self.usual[0] if self.population is None else self.population
        if not 1 <= self.elites <= most:
            raise ProblemError(f"hgsa: elites is {self.elites}; it must be from 1 to the population of {most}.")
