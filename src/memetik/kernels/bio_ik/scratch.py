"""Bio IK's numbers and arrays: the parameters of a search, what its threads share, and what each has for itself."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memetik.kernels.body.ofkt import REFERENCE, clear
from memetik.kernels.compiler.array_views import cut_matrix, cut_vector
from memetik.kernels.compiler.cancel import CAUGHT, CLOCK, cancelled
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.lbfgsb.minimiser import places_size, room_size
from memetik.kernels.problem.evaluate import count_residuals

# The parameters, by their place. SIZE is psi and ELITES kappa of the thesis, STEPS the most iterations of L-BFGS-B that an
# elite gets in a generation, HISTORY how many individuals can be recorded. The phases are 1, or 0 to leave one out.
# WORKERS is how many threads may exploit elites.
SIZE, ELITES, STEPS, LOSS, GRADIENT, OFKT, HISTORY = 0, 1, 2, 3, 4, 5, 6
EXPLOITATION, ADOPTION, WIPE_OUT, INTERPOLATION, MOMENTUM, NICHING, WORKERS = 7, 8, 9, 10, 11, 12, 13
# Behind them: for each term 1 if it may yield (weights.py), for each variable the one motion that it drives (-1 if
# none or several), and for each term and variable 1 if the variable moves the term.
PARAMETERS = 14

RMSE, MEAN = 0, 1  # LOSS
ANALYTIC, PREDICTED, PLAIN = 0, 1, 2  # GRADIENT: by the chain rule; by differences through the OFKT, or plain FK

# The integers begin with addresses (function_pointers.py), which of the two populations lives, and where the random numbers
# of the elites come from.
LOOK, EXPLOIT, DIFFERENTIATE, ADVANCE, MINIMUM, LIVING, SEED, STREAM = 0, 1, 2, 3, 4, 5, 6, 7
# Then the signals of threads, a line of the cache each (elites.py).
LINE = 8
NEXT, DONE, REACHED = 1 * LINE, 2 * LINE, 3 * LINE
FIRST_PLACE = 4 * LINE

MEMORY = 5  # pairs that L-BFGS-B keeps
TREE = REFERENCE  # what the OFKT keeps of a node besides its pose


class Population(NamedTuple):
    """One generation of psi individuals with n genes and t losses each."""

    genes: np.ndarray  # (psi, n) x
    momentum: np.ndarray  # (psi, n) g
    losses: np.ndarray  # (psi, t), so that other weights need no other evaluation
    fitness: np.ndarray  # (psi,) phi, under the weights of the generation
    extinction: np.ndarray  # (psi,) xi


class SharedState(NamedTuple):
    """What all threads share."""

    population: Population
    offspring: Population
    given: np.ndarray  # (t,) weights of the objectives
    weights: np.ndarray  # (t,) those of the generation
    ease: np.ndarray  # (t,) what terms that have yielded keep of their weight
    strides: np.ndarray  # (3, n) how far a gene goes at once, and its limits in such strides (exploit.py)
    task: np.ndarray  # (TASK,) what an elite may spend, until when, and what threads have been worth
    spent: np.ndarray  # (kappa,) evaluations of each elite
    satisfied: np.ndarray  # (kappa,) 1 if it has come to satisfy all terms
    ended: np.ndarray  # (kappa,) 1 if it was exploited until it gained no more
    order: np.ndarray  # (psi,) individuals by rank
    pool: np.ndarray  # (psi,) the mating pool
    parents: np.ndarray  # (psi, 2) of the offspring, -1 for none
    elites: np.ndarray  # (kappa,)


class WorkerScratch(NamedTuple):
    """What evaluating and exploiting needs besides, for i nodes, f frames and m residuals; each thread has its own."""

    poses: np.ndarray  # (i, 7) pose of every node
    axes: np.ndarray  # (i, 3) world direction of every motion
    tree: np.ndarray  # (i, TREE) the OFKT (place.py)
    wrenches: np.ndarray  # (i, 6) force and moment on each, zero between uses
    world: np.ndarray  # (f, 7) pose of every frame
    moved: np.ndarray  # (f, 7) where the frames would be if one gene were changed
    jacobian: np.ndarray  # (n, m) derivative of residuals by each variable
    residual: np.ndarray  # (m,) of the posture that was evaluated last
    right: np.ndarray  # (m,) derivative of the fitness by each of them
    losses: np.ndarray  # (t,) of the posture that was evaluated last
    slopes: np.ndarray  # (t,) derivative of the fitness by each of them
    gradient: np.ndarray  # (n,) derivative of the fitness by each gene
    x: np.ndarray  # (n,) the posture that is exploited
    y: np.ndarray  # (n,) the same in strides
    tally: np.ndarray  # (TALLY,) evaluations spent; 1 if the posture that was evaluated last satisfies all terms
    room: np.ndarray  # of L-BFGS-B
    places: np.ndarray
    clock: np.ndarray  # (CLOCK,)


OWN = np.int64(
    0
)  # the scratch of the thread that evolves; whatever is given a plain 0, Numba compiles once more for it
SPENT, SATISFIED, TALLY = 0, 1, 2  # of a worker
# Of the elites. The two ways to exploit them have seconds there, and evaluations behind it.
ALLOWANCE, DEADLINE, ALONE, TOGETHER, TRIALS, TASK = 0, 1, 2, 4, 6, 7


@jit
def population_size(psi, n, terms):
    """How many floats a population needs."""
    return psi * (2 * n + terms + 2)


@jit
def shared_size(psi, kappa, n, terms):
    """How many floats the shared state needs."""
    return 2 * population_size(psi, n, terms) + 3 * terms + 3 * n + TASK + 3 * kappa


@jit
def shared_places(psi, kappa):
    """How many integers the shared state needs."""
    return FIRST_PLACE + 4 * psi + kappa


@jit
def worker_size(nodes, frames, n, residuals, terms):
    """How many floats a worker needs."""
    placing = (16 + TREE) * nodes + 14 * frames + n * residuals + 2 * residuals
    return placing + 2 * terms + 3 * n + TALLY + room_size(n, MEMORY)


@jit
def worker_places(n):
    """How many integers a worker needs: the wake-up of its thread, its clock, and those of L-BFGS-B."""
    return 1 + CLOCK + places_size(n, MEMORY)


@jit
def worker_place(psi, kappa, n, h):
    """Where the integers of worker number h begin."""
    return shared_places(psi, kappa) + h * worker_places(n)


@jit
def carve_population(room, at, psi, n, terms):
    """Cut a Population out of `room` from `at` on."""
    momentum = at + psi * n
    losses = momentum + psi * n
    fitness = losses + psi * terms
    return Population(
        cut_matrix(room, at, psi, n),
        cut_matrix(room, momentum, psi, n),
        cut_matrix(room, losses, psi, terms),
        cut_vector(room, fitness, psi),
        cut_vector(room, fitness + psi, psi),
    )


@jit
def carve_shared(problem, parameters, places, room):
    """Cut the SharedState out of the beginning of `places` and `room`."""
    n, t = problem.variables.size, problem.terms.size
    psi, kappa = int(parameters[SIZE]), int(parameters[ELITES])
    whole = population_size(psi, n, t)
    weights = 2 * whole
    strides = weights + 3 * t
    task = strides + 3 * n
    told = task + TASK
    ranks = FIRST_PLACE
    return SharedState(
        carve_population(room, places[LIVING] * whole, psi, n, t),
        carve_population(room, (1 - places[LIVING]) * whole, psi, n, t),
        cut_vector(room, weights, t),
        cut_vector(room, weights + t, t),
        cut_vector(room, weights + 2 * t, t),
        cut_matrix(room, strides, 3, n),
        cut_vector(room, task, TASK),
        cut_vector(room, told, kappa),
        cut_vector(room, told + kappa, kappa),
        cut_vector(room, told + 2 * kappa, kappa),
        cut_vector(places, ranks, psi),
        cut_vector(places, ranks + psi, psi),
        cut_matrix(places, ranks + 2 * psi, psi, 2),
        cut_vector(places, ranks + 4 * psi, kappa),
    )


@jit
def carve_worker(problem, parameters, places, room, h):
    """Cut worker number h out of what follows the shared state."""
    nodes, frames, terms, variables = problem.nodes, problem.frames, problem.terms, problem.variables
    i, f, n, t, m = nodes.size, frames.size, variables.size, terms.size, count_residuals(terms)
    psi, kappa = int(parameters[SIZE]), int(parameters[ELITES])
    poses = shared_size(psi, kappa, n, t) + h * worker_size(i, f, n, m, t)
    axes = poses + 7 * i
    tree = axes + 3 * i
    wrenches = tree + TREE * i
    world = wrenches + 6 * i
    moved = world + 7 * f
    jacobian = moved + 7 * f
    residual = jacobian + n * m
    losses = residual + 2 * m
    x = losses + 2 * t
    tally = x + 3 * n
    k = worker_place(psi, kappa, n, h) + 1
    return WorkerScratch(
        cut_matrix(room, poses, i, 7),
        cut_matrix(room, axes, i, 3),
        cut_matrix(room, tree, i, TREE),
        cut_matrix(room, wrenches, i, 6),
        cut_matrix(room, world, f, 7),
        cut_matrix(room, moved, f, 7),
        cut_matrix(room, jacobian, n, m),
        cut_vector(room, residual, m),
        cut_vector(room, residual + m, m),
        cut_vector(room, losses, t),
        cut_vector(room, losses + t, t),
        cut_vector(room, x, n),
        cut_vector(room, x + n, n),
        cut_vector(room, x + 2 * n, n),
        cut_vector(room, tally, TALLY),
        cut_vector(room, tally + TALLY, room_size(n, MEMORY)),
        cut_vector(places, k + CLOCK, places_size(n, MEMORY)),
        cut_vector(places, k, CLOCK),
    )


@jit_part
def search_cancelled(parameters, places, n, h, worker):
    """Whether the search is cancelled; the thread that evolves looks for signals, the others look at its clock."""
    if h == OWN:
        return cancelled(worker.clock)
    return places[worker_place(int(parameters[SIZE]), int(parameters[ELITES]), n, OWN) + 1 + CAUGHT] != 0


@jit_part
def clear_worker(worker):
    """Let a worker remember nothing."""
    clear(worker.tree)
    for i in range(worker.wrenches.shape[0]):
        for k in range(6):
            worker.wrenches[i, k] = 0.0
    worker.tally[SPENT] = worker.tally[SATISFIED] = 0.0
