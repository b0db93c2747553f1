"""Bio IK's numbers and arrays: the parameters of a search, a population, and the scratch of whoever evaluates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memetik.kernels.evaluate import count_residuals
from memetik.kernels.jit import jit_inline
from memetik.kernels.lbfgsb import places_size, room_size
from memetik.kernels.ofkt import WIDTH
from memetik.kernels.workspace import Workspace, carve, size

# The parameters, by their place. SIZE is psi and ELITES kappa of the thesis, STEPS the most iterations of L-BFGS-B that an
# elite gets in a generation, HISTORY how many individuals can be recorded. The phases are 1, or 0 to leave one out.
SIZE, ELITES, STEPS, LOSS, GRADIENT, OFKT, HISTORY = 0, 1, 2, 3, 4, 5, 6
EXPLOITATION, ADOPTION, WIPE_OUT, INTERPOLATION, MOMENTUM, NICHING = 7, 8, 9, 10, 11, 12
# Behind them: for each term 1 if it may yield (bio_ik_weights.py), for each variable the one motion that it drives, and
# for each term and variable 1 if the variable moves the term.
PARAMETERS = 13

RMSE, MEAN = 0, 1  # LOSS
ANALYTIC, PREDICTED, PLAIN = 0, 1, 2  # GRADIENT: by the chain rule; by differences through the OFKT, or plain FK

MEMORY = 5  # pairs that L-BFGS-B keeps


class Population(NamedTuple):
    """One generation of psi individuals with n genes and t losses each."""

    genes: np.ndarray  # (psi, n) x
    momentum: np.ndarray  # (psi, n) g
    losses: np.ndarray  # (psi, t), so that other weights need no other evaluation
    fitness: np.ndarray  # (psi,) phi, under the weights of the generation
    extinction: np.ndarray  # (psi,) xi


class Hand(NamedTuple):
    """What evaluating and exploiting needs besides the problem; each thread has its own."""

    work: Workspace
    tree: np.ndarray  # (nodes, WIDTH) the OFKT
    wrenches: np.ndarray  # (nodes, 6) force and moment on each, zero between uses
    moved: np.ndarray  # (frames, 7) where the frames would be if one gene were changed
    losses: np.ndarray  # (t,) of the posture that was evaluated last
    slopes: np.ndarray  # (t,) derivative of the fitness by each of them
    x: np.ndarray  # (n,) the posture that is exploited
    y: np.ndarray  # (n,) the same in strides
    tally: np.ndarray  # (TALLY,) evaluations spent; 1 once a posture satisfied all terms
    room: np.ndarray  # of L-BFGS-B
    places: np.ndarray
    clock: np.ndarray  # (2,)


SPENT, SATISFIED, TALLY = 0, 1, 2


@jit_inline
def population_size(psi, n, terms):
    """How many numbers a population needs."""
    return psi * (2 * n + terms + 2)


@jit_inline
def carve_population(room, psi, n, terms):
    """Cut a Population out of `room`."""
    genes = room[: psi * n].reshape((psi, n))
    at = psi * n
    momentum = room[at : at + psi * n].reshape((psi, n))
    at += psi * n
    losses = room[at : at + psi * terms].reshape((psi, terms))
    at += psi * terms
    return Population(genes, momentum, losses, room[at : at + psi], room[at + psi : at + 2 * psi])


@jit_inline
def hand_size(nodes, frames, n, residuals, terms):
    """How many numbers a Hand needs."""
    placing = size(nodes, frames, n, residuals, 0) + (WIDTH + 6) * nodes + 7 * frames
    return placing + 2 * terms + 2 * n + TALLY + room_size(n, MEMORY)


@jit_inline
def hand_places(n):
    """How many integers a Hand needs."""
    return 2 + places_size(n, MEMORY)


@jit_inline
def carve_hand(room, places, nodes, frames, terms, n):
    """Cut a Hand out of `room` and `places`."""
    i, f, t, m = nodes.size, frames.size, terms.size, count_residuals(terms)
    at = size(i, f, n, m, 0)
    work = carve(room[:at], i, f, n, m, 0)
    tree = room[at : at + WIDTH * i].reshape((i, WIDTH))
    at += WIDTH * i
    wrenches = room[at : at + 6 * i].reshape((i, 6))
    at += 6 * i
    moved = room[at : at + 7 * f].reshape((f, 7))
    at += 7 * f
    losses = room[at : at + t]
    at += t
    slopes = room[at : at + t]
    at += t
    x = room[at : at + n]
    at += n
    y = room[at : at + n]
    at += n
    tally = room[at : at + TALLY]
    at += TALLY
    bfgs = room[at : at + room_size(n, MEMORY)]
    return Hand(work, tree, wrenches, moved, losses, slopes, x, y, tally, bfgs, places[2:], places[:2])
