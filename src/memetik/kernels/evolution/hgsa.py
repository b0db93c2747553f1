"""The generations of the hybrid genetic swarm algorithm; see solvers/evolution.py for the method.

Selection, recombination, mutation, adoption and niching are those of Bio IK, which came out of it (bio_ik/select.py and
bio_ik/reproduce.py). Its own is the local search, gene by gene. It changes one gene at a time, so only what that joint
carries is placed again, through the OFKT. Against placing the whole body an evaluation then takes two thirds of the time for
four limbs of Valkyrie, 40 % for a snake of 30 joints and 15 % for one of 120, but a tenth more for an arm of six.
"""

import math
from typing import NamedTuple

from memetik.kernels.bio_ik.reproduce import adopt, constrain, extinguish, initialise, mutate, recombine
from memetik.kernels.bio_ik.select import niche, select, sort_by_fitness
from memetik.kernels.body.ofkt import REFERENCE, WIDTH, clear, move_frames, update
from memetik.kernels.body.records import SLIDE
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.evolution.evolve import EvolutionRecord
from memetik.kernels.evolution.fitness import appraise, judge_placed
from memetik.kernels.math.pose import compose, constant, load, store
from memetik.kernels.runtime.random import uniform
from memetik.kernels.runtime.record import Array, floats, integers, reader

SEVERAL = -1  # in place of a motion: the variable drives several, or none


class Bench(NamedTuple):
    """What the local search works with."""

    tree: Array = floats("nodes", WIDTH)  # the OFKT, at the posture that is exploited
    world: Array = floats("frames", 7)  # of that posture
    moved: Array = floats("frames", 7)  # of the same with one gene changed
    unit: Array = floats("variables")  # how far a joint moves for one radian of fitness [rad or m]
    motion: Array = integers("variables")  # the one node that a variable drives, or SEVERAL


class Young(NamedTuple):
    """The generation under way, individuals as rows."""

    genes: Array = floats("population", "variables")
    momentum: Array = floats("population", "variables")
    fitness: Array = floats("population")


class HgsaRecord(NamedTuple):
    """The hybrid genetic swarm algorithm."""

    evolution: EvolutionRecord
    young: Young
    bench: Bench
    elites: int  # so many of the fittest are exploited and survive
    reach: float  # how far the local search goes at most, over the fitness
    momentum: Array = floats("population", "variables")
    extinction: Array = floats("population")
    order: Array = integers("population")  # individuals, the fittest first
    pool: Array = integers("population")  # who may still mate


read_hgsa = reader(HgsaRecord)


@jit
def set_up(problem, bench):
    """Find out what each variable drives."""
    nodes, terms = problem.nodes, problem.terms
    clear(bench.tree)
    reach = 0.0
    for t in range(terms.size):
        reach = max(reach, terms[t].reach)
    for k in range(bench.unit.size):
        bench.motion[k] = SEVERAL
        bench.unit[k] = 1.0
        count = 0
        for i in range(nodes.size):
            if nodes[i].variable == k:
                count += 1
                bench.motion[k] = i if count == 1 else SEVERAL
                if nodes[i].motion == SLIDE:
                    bench.unit[k] = reach / math.pi  # as eq. 4.4 turns distances into angles


@jit
def settle(problem, x, bench):
    """Bring the tree and all frames to the posture x."""
    nodes, frames = problem.nodes, problem.frames
    update(nodes, x, bench.tree, None)
    for f in range(frames.size):
        pose = constant(frames[f])
        if frames[f].node >= 0:
            pose = compose(load(bench.tree, frames[f].node, REFERENCE), pose)
        store(pose, bench.world, f, 0)
        store(pose, bench.moved, f, 0)


@jit
def move_one(problem, k, x, bench):
    """Write the frames for x, which differs from the settled posture in gene k alone."""
    changed = bench.motion[k]
    if changed == SEVERAL:
        settle(problem, x, bench)
        return
    move_frames(problem.nodes, problem.frames, changed, x[k], bench.tree, REFERENCE, bench.world, bench.moved)


@jit
def move_back(problem, k, x, bench):
    """Undo the change of gene k, which x has again as in the settled posture."""
    changed = bench.motion[k]
    if changed == SEVERAL:
        settle(problem, x, bench)
        return
    for f in range(problem.frames.size):
        if changed <= problem.frames[f].node <= problem.nodes[changed].last:
            store(load(bench.world, f, 0), bench.moved, f, 0)


@jit
def exploit(problem, run, hgsa, e, ease, work):
    """Each gene in turn is raised and lowered by a random share of the fitness; the better of both stays, if it is better.

    Writes young individual e, with its momentum and its fitness. Returns whether the search is over.
    """
    variables, state, bench = problem.variables, run.state, hgsa.bench
    row, x, g = hgsa.order[e], hgsa.young.genes[e], hgsa.young.momentum[e]
    fitness = hgsa.evolution.fitness[row]
    for k in range(x.size):
        x[k], g[k] = hgsa.evolution.genes[row, k], uniform(state) * hgsa.momentum[row, k]
    settle(problem, x, bench)
    for k in range(x.size):
        here, reach = x[k], hgsa.reach * min(fitness, math.pi) * bench.unit[k]
        up = min(here + reach * uniform(state), variables[k].upper)
        down = max(here - reach * uniform(state), variables[k].lower)
        x[k] = up
        move_one(problem, k, x, bench)
        raised, over = judge_placed(problem, run, x, ease, bench.moved, work)
        if over:
            return True
        x[k] = down
        move_one(problem, k, x, bench)
        lowered, over = judge_placed(problem, run, x, ease, bench.moved, work)
        if over:
            return True
        if raised >= fitness and lowered >= fitness:
            x[k] = here
            move_back(problem, k, x, bench)
            continue
        if raised <= lowered:
            x[k] = up
        fitness = min(raised, lowered)
        g[k] += x[k] - here
        settle(problem, x, bench)
    hgsa.young.fitness[e] = fitness
    return False


@jit_part
def mate(problem, run, hgsa, ease, work):
    """Offspring of parents chosen by rank, in the places behind the elites. Whether the search is over."""
    variables, state = problem.variables, run.state
    genes, fitness, pool, young = hgsa.evolution.genes, hgsa.evolution.fitness, hgsa.pool, hgsa.young
    momentum, extinction = hgsa.momentum, hgsa.extinction
    size = pool.size
    for i in range(size):
        pool[i] = hgsa.order[i]
    for i in range(hgsa.elites, pool.size):
        x, g = young.genes[i], young.momentum[i]
        first = second = -1
        if size > 0:
            first, second, prototype = pool[select(size, state)], pool[select(size, state)], pool[select(size, state)]
            recombine(genes[first], genes[second], momentum[first], momentum[second], True, state, x, g)
            mutate(0.5 * (extinction[first] + extinction[second]), variables, state, x, g)
            adopt(genes[first], genes[second], genes[prototype], state, x, g)
            constrain(variables, x)
        else:
            initialise(variables, state, x, g)
        young.fitness[i], over = appraise(problem, run, x, ease, work)
        if over:
            return True
        if size > 0:
            size = niche(pool, size, young.fitness[i], first, second, fitness)
    return False


@jit
def breed_hgsa(problem, run, generation, best, ease, own, work):
    """The fittest are exploited and survive, the others are replaced (BREED in evolve.py)."""
    hgsa = read_hgsa(own)
    genes, fitness, momentum, young, order = (
        hgsa.evolution.genes, hgsa.evolution.fitness, hgsa.momentum, hgsa.young, hgsa.order
    )  # fmt: skip
    if generation == 0:
        set_up(problem, hgsa.bench)
        for i in range(order.size):
            for k in range(momentum.shape[1]):
                momentum[i, k] = 0.0
    for i in range(order.size):
        order[i] = i
    sort_by_fitness(fitness, order)
    extinguish(order, fitness, hgsa.extinction)
    for e in range(hgsa.elites):
        if exploit(problem, run, hgsa, e, ease, work):
            return True
    if mate(problem, run, hgsa, ease, work):
        return True
    for i in range(order.size):
        fitness[i] = young.fitness[i]
        for k in range(momentum.shape[1]):
            genes[i, k], momentum[i, k] = young.genes[i, k], young.momentum[i, k]
    return False
