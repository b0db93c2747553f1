"""The generations of the hybrid genetic swarm algorithm; see solvers/evolution/hgsa.py for the method.

Selection, recombination, mutation, adoption and niching are those of Bio IK, which came out of it (bio_ik/select.py and
bio_ik/reproduce.py). Its own is the local search, gene by gene. It changes one gene at a time, so only what that joint
carries is placed anew, through the OFKT. Against placing the whole body an evaluation then takes two thirds of the time for
four limbs of Valkyrie, 40 % for a snake of 30 joints and 15 % for one of 120, but a tenth more for an arm of six.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from memetik.kernels.bio_ik.reproduce import adopt, constrain, extinguish, mutate, recombine
from memetik.kernels.bio_ik.select import niche, select, sort_by_fitness
from memetik.kernels.body.ofkt import REFERENCE, WIDTH, clear, move_frames, update
from memetik.kernels.body.records import SLIDE
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.compiler.random import uniform
from memetik.kernels.evolution.fitness import (
    FADING,
    OWN,
    PATIENCE,
    SIZE,
    Setting,
    anything_blocks,
    appraise,
    draw_genes,
    fittest,
    judge_placed,
    populate,
    wait,
)
from memetik.kernels.math.pose import compose, constant, load, store

ELITES = OWN

SEVERAL = -1  # in place of a motion: the variable drives several, or none


class Generation(NamedTuple):
    """Individuals as rows."""

    genes: np.ndarray
    momentum: np.ndarray
    fitness: np.ndarray  # (size,)
    extinction: np.ndarray  # (size,)


class Bench(NamedTuple):
    """What the local search works with."""

    tree: np.ndarray  # (nodes, WIDTH) the OFKT, at the posture that is exploited
    world: np.ndarray  # (frames, 7) of that posture
    moved: np.ndarray  # (frames, 7) of the same with one gene changed
    unit: np.ndarray  # (n,) how far a joint moves for one radian of fitness [rad or m]
    motion: np.ndarray  # (n,) the one node that a variable drives, or SEVERAL


def room_size(size: int, n: int, nodes: int, frames: int) -> int:
    """How many floats two generations and a bench need."""
    return 4 * size * (n + 1) + WIDTH * nodes + 14 * frames + n


def places_size(size: int, n: int) -> int:
    """How many integers the order, the mating pool and a bench need."""
    return 2 * size + n


@jit_part
def carve_generation(room, size, n):
    """Cut a Generation out of `room`."""
    at = size * n
    return Generation(
        room[:at].reshape((size, n)), room[at : 2 * at].reshape((size, n)), room[2 * at : 2 * at + size],
        room[2 * at + size : 2 * at + 2 * size],
    )  # fmt: skip


@jit
def set_up(problem, room, motion):
    """Cut a Bench out of `room`, and find out what each variable drives."""
    nodes, frames, terms = problem.nodes, problem.frames, problem.terms
    n, f = motion.size, frames.size
    at = WIDTH * nodes.size
    bench = Bench(
        room[:at].reshape((nodes.size, WIDTH)), room[at : at + 7 * f].reshape((f, 7)),
        room[at + 7 * f : at + 14 * f].reshape((f, 7)), room[at + 14 * f : at + 14 * f + n], motion,
    )  # fmt: skip
    clear(bench.tree)
    reach = 0.0
    for t in range(terms.size):
        reach = max(reach, terms[t].reach)
    for k in range(n):
        motion[k] = SEVERAL
        bench.unit[k] = 1.0
        count = 0
        for i in range(nodes.size):
            if nodes[i].variable == k:
                count += 1
                motion[k] = i if count == 1 else SEVERAL
                if nodes[i].motion == SLIDE:
                    bench.unit[k] = reach / math.pi  # as eq. 4.4 turns distances into angles
    return bench


@jit
def settle(nodes, frames, x, bench):
    """Bring the tree and all frames to the posture x."""
    update(nodes, x, bench.tree, None)
    for f in range(frames.size):
        pose = constant(frames[f])
        if frames[f].node >= 0:
            pose = compose(load(bench.tree, frames[f].node, REFERENCE), pose)
        store(pose, bench.world, f, 0)
        store(pose, bench.moved, f, 0)


@jit
def move_one(nodes, frames, k, x, bench):
    """Write the frames for x, which differs from the settled posture in gene k alone."""
    changed = bench.motion[k]
    if changed == SEVERAL:
        settle(nodes, frames, x, bench)
        return
    move_frames(nodes, frames, changed, x[k], bench.tree, REFERENCE, bench.world, bench.moved)


@jit
def move_back(nodes, frames, k, x, bench):
    """Undo the change of gene k, which x has again as in the settled posture."""
    changed = bench.motion[k]
    if changed == SEVERAL:
        settle(nodes, frames, x, bench)
        return
    for f in range(frames.size):
        if changed <= frames[f].node <= nodes[changed].last:
            store(load(bench.world, f, 0), bench.moved, f, 0)


@jit
def exploit(setting, ease, bench, genes, momentum, fitness, x, g):
    """Each gene in turn is raised and lowered by a random share of the fitness; the better of both stays, if it is better.

    Writes the individual x with its momentum g. Returns its fitness, and whether the search is over.
    """
    nodes, frames, variables = setting.problem.nodes, setting.problem.frames, setting.problem.variables
    state = setting.state
    for k in range(x.size):
        x[k], g[k] = genes[k], uniform(state) * momentum[k]
    settle(nodes, frames, x, bench)
    for k in range(x.size):
        here, reach = x[k], min(fitness, math.pi) * bench.unit[k]
        up = min(here + reach * uniform(state), variables[k].upper)
        down = max(here - reach * uniform(state), variables[k].lower)
        x[k] = up
        move_one(nodes, frames, k, x, bench)
        raised, over = judge_placed(setting, x, ease, bench.moved)
        if over:
            return raised, True
        x[k] = down
        move_one(nodes, frames, k, x, bench)
        lowered, over = judge_placed(setting, x, ease, bench.moved)
        if over:
            return lowered, True
        if raised >= fitness and lowered >= fitness:
            x[k] = here
            move_back(nodes, frames, k, x, bench)
            continue
        if raised <= lowered:
            x[k] = up
        fitness = min(raised, lowered)
        g[k] += x[k] - here
        settle(nodes, frames, x, bench)
    return fitness, False


@jit_part
def breed(setting, ease, elites, last, order, pool, young):
    """Offspring of parents chosen by rank, from place `elites` on. Whether the search is over."""
    variables, state = setting.problem.variables, setting.state
    size = order.size
    for i in range(size):
        pool[i] = order[i]
    for i in range(elites, order.size):
        x, g = young.genes[i], young.momentum[i]
        first = second = -1
        if size > 0:
            first, second, prototype = pool[select(size, state)], pool[select(size, state)], pool[select(size, state)]
            recombine(
                last.genes[first], last.genes[second], last.momentum[first], last.momentum[second], True, state, x, g
            )
            mutate(0.5 * (last.extinction[first] + last.extinction[second]), variables, state, x, g)
            adopt(last.genes[first], last.genes[second], last.genes[prototype], state, x, g)
            constrain(variables, x)
        else:
            draw_genes(setting, x)
            for k in range(g.size):
                g[k] = 0.0
        young.fitness[i], over = appraise(setting, x, ease)
        if over:
            return True
        if size > 0:
            size = niche(pool, size, young.fitness[i], first, second, last.fitness)
    return False


@jit
def evolve(setting, ease, elites, last, order, pool, bench, young):
    """One generation: the fittest are exploited and survive, the others are replaced. Whether the search is over."""
    for i in range(order.size):
        order[i] = i
    sort_by_fitness(last.fitness, order)
    extinguish(order, last.fitness, last.extinction)
    for e in range(elites):
        row = order[e]
        young.fitness[e], over = exploit(
            setting,
            ease,
            bench,
            last.genes[row],
            last.momentum[row],
            last.fitness[row],
            young.genes[e],
            young.momentum[e],
        )
        if over:
            return True
    return breed(setting, ease, elites, last, order, pool, young)


@jit
def search(problem, x, seed, most, deadline, parameters, places, room, clock, state, outcome, work):
    """Generations until all is satisfied; a fresh population whenever there was no progress for long."""
    setting = Setting(problem, most, deadline, clock, state, outcome, work)
    n, size, elites = x.size, int(parameters[SIZE]), int(parameters[ELITES])
    order, pool = places[:size], places[size : 2 * size]
    at = 2 * size * (n + 1)
    last, young = carve_generation(room, size, n), carve_generation(room[at:], size, n)
    bench = set_up(problem, room[2 * at :], places[2 * size : 2 * size + n])
    blocks = anything_blocks(problem.terms)
    while True:
        if populate(setting, x, seed, last.genes, last.fitness):
            return
        for i in range(size):
            for k in range(n):
                last.momentum[i, k] = 0.0
        record, waited, ease = math.inf, 0, 1.0
        while waited < parameters[PATIENCE]:
            ease *= FADING if blocks else 1.0
            record, waited = wait(last.fitness[fittest(last.fitness)], record, waited)
            if evolve(setting, ease, elites, last, order, pool, bench, young):
                return
            last, young = young, last
        if not blocks:
            return
