"""Bio IK's settings and arrays: those that all threads of a search share, and those that each has for itself."""

from typing import NamedTuple

from memetik.kernels.body.ofkt import REFERENCE
from memetik.kernels.lbfgsb.minimiser_record import Minimiser
from memetik.kernels.problem.problem_record import Problem
from memetik.kernels.runtime.record import Array, flags, floats, integers, item, reader, records

ANALYTIC, PREDICTED, PLAIN = 0, 1, 2  # gradients: by the chain rule; by differences through the OFKT, or plain FK

TASK = item(
    allowance=int,  # evaluations that each elite may spend, ...
    deadline=float,  # ... and until when
    seed=int,  # where the random numbers of the elites come from
    stream=int,
    unguided=int,  # 1 if guides are left out
    living=int,  # 0 if the first of the two populations lives, 1 if the second does
    trials=int,  # how often there was a choice of ways to exploit elites
    generations=int,  # that may be bred, 0 for any number
)
WAY = item(seconds=float, evaluations=float)  # what it took (elites.py)
TALLY = item(spent=int, satisfied=int)  # evaluations; 1 if the posture that was evaluated last satisfies all terms


class Settings(NamedTuple):
    """What the user chose, and the addresses of the kernels that follow from it (function_pointers.py, lbfgsb/minimiser.py)."""

    steps: int  # the most iterations of L-BFGS-B that an elite gets in a generation
    norm: int  # how losses become one fitness (problem/losses.py)
    gradient: int
    ofkt: bool
    exploitation: bool  # false, here and below, leaves a phase out
    adoption: bool
    wipe_out: bool
    weight_interpolation: bool
    momentum: bool
    niching: bool
    patience: int  # generations that the solution may stand before all is drawn again; 0: eq. 4.23 alone decides
    strides: bool  # genes of weak effect go further at once
    whole_turns: bool  # joints that may turn freely meet no limit in the exploitation
    early_stop: bool  # an elite that gains little is left alone
    look: int
    exploit: int
    differentiate: int
    advance: int


class Population(NamedTuple):
    """One generation."""

    genes: Array = floats("population", "variables")  # x
    momentum: Array = floats("population", "variables")  # g
    losses: Array = floats("population", "terms")  # so that other weights need no other evaluation
    fitness: Array = floats("population")  # phi, under the weights of the generation
    extinction: Array = floats("population")  # xi


class Record(NamedTuple):
    """Every individual of every generation, for pictures of the evolution; no rows if none are wanted."""

    count: Array = integers(1)  # of rows
    generation: Array = integers("rows")
    place: Array = integers("rows")  # in it
    parents: Array = integers("rows", 2)  # their places in the generation before, -1 for none
    elite: Array = flags("rows")
    fitness: Array = floats("rows")  # under the given weights
    genes: Array = floats("rows", "variables")


class Shared(NamedTuple):
    """What all threads share. Every array begins a line of the cache, so that signals do not disturb each other."""

    first: Population  # the one that lives, or its offspring: they take turns (task.living)
    second: Population
    given: Array = floats("terms")  # weights of the objectives
    weights: Array = floats("terms")  # those of the generation
    ease: Array = floats("terms")  # what terms that have yielded keep of their weight
    yields: Array = flags("terms")  # 1 for a term that may yield (weights.py)
    motions: Array = integers("variables")  # the one motion that each variable drives, -1 if none or several
    stride: Array = floats("variables")  # how far each gene goes at once (exploit.py) ...
    lower: Array = floats("variables")  # ... and its limits in such strides
    upper: Array = floats("variables")
    task: Array = records(TASK, 1)
    ways: Array = records(WAY, 2)  # to exploit elites, and what they were worth
    spent: Array = integers("elites")  # evaluations of each elite
    satisfied: Array = flags("elites")  # 1 if it has come to satisfy all terms
    ended: Array = flags("elites")  # 1 if it was exploited until it gained no more
    order: Array = integers("population")  # individuals by rank
    pool: Array = integers("population")  # the mating pool
    parents: Array = integers("population", 2)  # of the offspring, -1 for none
    elites: Array = integers("elites")
    next: Array = integers(1)  # signal: the first elite that nobody has taken
    done: Array = integers(1)  # signal: how many are done
    reached: Array = integers(1)  # signal: the first that satisfies all terms, their number if there is none
    wakeups: Array = integers("workers")  # of the threads
    clock: Array = integers("clock")  # of the thread that evolves


class Scratch(NamedTuple):
    """What evaluating and exploiting needs besides; each thread has its own."""

    clock: Array = integers("clock")
    tally: Array = records(TALLY, 1)
    poses: Array = floats("nodes", 7)  # pose of every node
    axes: Array = floats("nodes", 3)  # world direction of every motion
    tree: Array = floats("nodes", REFERENCE)  # what the OFKT keeps of a node besides its pose (objective.py)
    wrenches: Array = floats("nodes", 6)  # force and moment on each, zero between uses
    world: Array = floats("frames", 7)  # pose of every frame
    moved: Array = floats("frames", 7)  # where the frames would be if one gene were changed
    jacobian: Array = floats("variables", "residuals")  # derivative of residuals by each variable
    residual: Array = floats("residuals")  # of the posture that was evaluated last
    right: Array = floats("residuals")  # derivative of the fitness by each of them
    losses: Array = floats("terms")  # of the posture that was evaluated last
    slopes: Array = floats("terms")  # derivative of the fitness by each of them
    gradient: Array = floats("variables")  # derivative of the fitness by each gene
    x: Array = floats("variables")  # the posture that is exploited


class Worker(NamedTuple):
    """All that a thread works with. Its table is what kernels are called by address with."""

    minimiser: Minimiser
    problem: Problem
    settings: Settings
    shared: Shared
    record: Record
    scratch: Scratch


read_worker = reader(Worker)
