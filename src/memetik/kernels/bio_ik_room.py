"""Bio IK's numbers and arrays: the parameters of a search, what its threads share, and what each has for itself."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memetik.kernels.evaluate import count_residuals
from memetik.kernels.jit import jit_inline, jit_part
from memetik.kernels.lbfgsb import places_size, room_size
from memetik.kernels.ofkt import WIDTH
from memetik.kernels.workspace import Workspace, carve, size

# The parameters, by their place. SIZE is psi and ELITES kappa of the thesis, STEPS the most iterations of L-BFGS-B that an
# elite gets in a generation, HISTORY how many individuals can be recorded. The phases are 1, or 0 to leave one out.
SIZE, ELITES, STEPS, LOSS, GRADIENT, OFKT, HISTORY = 0, 1, 2, 3, 4, 5, 6
EXPLOITATION, ADOPTION, WIPE_OUT, INTERPOLATION, MOMENTUM, NICHING = 7, 8, 9, 10, 11, 12
# Behind them: for each term 1 if it may yield (bio_ik_weights.py), for each variable the one motion that it drives (-1 if
# none or several), and for each term and variable 1 if the variable moves the term.
PARAMETERS = 13

RMSE, MEAN = 0, 1  # LOSS
ANALYTIC, PREDICTED, PLAIN = 0, 1, 2  # GRADIENT: by the chain rule; by differences through the OFKT, or plain FK

# The integers begin with addresses (bio_ik_late.py), which of the two populations lives, and the signals of threads, a line
# of the cache each (bio_ik_threads.py).
LOOK, EXPLOIT, ADVANCE, LIVING, SIGNALS, LINE = 0, 1, 2, 3, 8, 8
FIRST_PLACE = SIGNALS + 5 * LINE

MEMORY = 5  # pairs that L-BFGS-B keeps


class Population(NamedTuple):
    """One generation of psi individuals with n genes and t losses each."""

    genes: np.ndarray  # (psi, n) x
    momentum: np.ndarray  # (psi, n) g
    losses: np.ndarray  # (psi, t), so that other weights need no other evaluation
    fitness: np.ndarray  # (psi,) phi, under the weights of the generation
    extinction: np.ndarray  # (psi,) xi


class Colony(NamedTuple):
    """What all threads share."""

    population: Population
    offspring: Population
    given: np.ndarray  # (t,) weights of the objectives
    weights: np.ndarray  # (t,) those of the generation
    ease: np.ndarray  # (t,) what terms that have yielded keep of their weight
    strides: np.ndarray  # (3, n) how far a gene goes at once, and its limits in such strides (bio_ik_exploit.py)
    spent: np.ndarray  # (kappa,) evaluations of each elite
    satisfied: np.ndarray  # (kappa,) 1 if it has come to satisfy all terms
    order: np.ndarray  # (psi,) individuals by rank
    pool: np.ndarray  # (psi,) the mating pool
    parents: np.ndarray  # (psi, 2) of the offspring, -1 for none
    elites: np.ndarray  # (kappa,)


class Hand(NamedTuple):
    """What evaluating and exploiting needs besides; each thread has its own."""

    work: Workspace
    tree: np.ndarray  # (nodes, WIDTH) the OFKT
    wrenches: np.ndarray  # (nodes, 6) force and moment on each, zero between uses
    moved: np.ndarray  # (frames, 7) where the frames would be if one gene were changed
    losses: np.ndarray  # (t,) of the posture that was evaluated last
    slopes: np.ndarray  # (t,) derivative of the fitness by each of them
    x: np.ndarray  # (n,) the posture that is exploited
    y: np.ndarray  # (n,) the same in strides
    tally: np.ndarray  # (TALLY,) evaluations spent; 1 if the posture that was evaluated last satisfies all terms
    room: np.ndarray  # of L-BFGS-B
    places: np.ndarray
    clock: np.ndarray  # (2,)


SPENT, SATISFIED, TALLY = 0, 1, 2


@jit_inline
def population_size(psi, n, terms):
    """How many floats a population needs."""
    return psi * (2 * n + terms + 2)


@jit_inline
def colony_size(psi, kappa, n, terms):
    """How many floats a colony needs."""
    return 2 * population_size(psi, n, terms) + 3 * terms + 3 * n + 2 * kappa


@jit_inline
def colony_places(psi, kappa):
    """How many integers a colony needs."""
    return FIRST_PLACE + 4 * psi + kappa


@jit_inline
def hand_size(nodes, frames, n, residuals, terms):
    """How many floats a hand needs."""
    placing = size(nodes, frames, n, residuals, 0) + (WIDTH + 6) * nodes + 7 * frames
    return placing + 2 * terms + 2 * n + TALLY + room_size(n, MEMORY)


@jit_inline
def hand_places(n):
    """How many integers a hand needs."""
    return 2 + places_size(n, MEMORY)


@jit_part
def carve_population(room, at, psi, n, terms):
    """Cut a Population out of `room` from `at` on."""
    genes = room[at : at + psi * n].reshape((psi, n))
    at += psi * n
    momentum = room[at : at + psi * n].reshape((psi, n))
    at += psi * n
    losses = room[at : at + psi * terms].reshape((psi, terms))
    at += psi * terms
    return Population(genes, momentum, losses, room[at : at + psi], room[at + psi : at + 2 * psi])


@jit_part
def carve_colony(problem, parameters, places, room):
    """Cut the Colony out of the beginning of `places` and `room`."""
    n, t = problem[4].shape[1], problem[2].size
    psi, kappa = int(parameters[SIZE]), int(parameters[ELITES])
    whole = population_size(psi, n, t)
    population = carve_population(room, places[LIVING] * whole, psi, n, t)
    offspring = carve_population(room, (1 - places[LIVING]) * whole, psi, n, t)
    at = 2 * whole
    given, weights, ease = room[at : at + t], room[at + t : at + 2 * t], room[at + 2 * t : at + 3 * t]
    at += 3 * t
    strides = room[at : at + 3 * n].reshape((3, n))
    at += 3 * n
    k = FIRST_PLACE
    order, pool = places[k : k + psi], places[k + psi : k + 2 * psi]
    parents, elites = places[k + 2 * psi : k + 4 * psi].reshape((psi, 2)), places[k + 4 * psi : k + 4 * psi + kappa]
    return Colony(
        population, offspring, given, weights, ease, strides, room[at : at + kappa], room[at + kappa : at + 2 * kappa],
        order, pool, parents, elites,
    )  # fmt: skip


@jit_part
def carve_hand(problem, parameters, places, room, h):
    """Cut hand number h out of what follows the colony."""
    nodes, frames, terms, data, bounds, spans = problem
    i, f, n, t, m = nodes.size, frames.size, bounds.shape[1], terms.size, count_residuals(terms)
    psi, kappa = int(parameters[SIZE]), int(parameters[ELITES])
    at = colony_size(psi, kappa, n, t) + h * hand_size(i, f, n, m, t)
    work = carve(room[at : at + size(i, f, n, m, 0)], i, f, n, m, 0)
    at += size(i, f, n, m, 0)
    tree = room[at : at + WIDTH * i].reshape((i, WIDTH))
    at += WIDTH * i
    wrenches = room[at : at + 6 * i].reshape((i, 6))
    at += 6 * i
    moved = room[at : at + 7 * f].reshape((f, 7))
    at += 7 * f
    losses, slopes = room[at : at + t], room[at + t : at + 2 * t]
    at += 2 * t
    x, y = room[at : at + n], room[at + n : at + 2 * n]
    at += 2 * n
    tally = room[at : at + TALLY]
    at += TALLY
    bfgs = room[at : at + room_size(n, MEMORY)]
    k = colony_places(psi, kappa) + h * hand_places(n)
    clock, counters = places[k : k + 2], places[k + 2 : k + hand_places(n)]
    return Hand(work, tree, wrenches, moved, losses, slopes, x, y, tally, bfgs, counters, clock)
