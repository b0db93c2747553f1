"""The flight of a particle swarm; see solvers/evolution/pso.py for the method."""

from __future__ import annotations

import math

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
    populate,
    wait,
)
from memetik.kernels.problem.limits import clamp

INERTIA, MEMORY, COMPANY, NEIGHBOURS = OWN, OWN + 1, OWN + 2, OWN + 3

BOUNCE = 0.5  # what is left of a speed that meets a limit, and turns back


def room_size(size: int, n: int) -> int:
    """How many floats a swarm needs."""
    return size * (3 * n + 1)


@jit
def leader(fitness, i, neighbours, best):
    """The fittest of those whom particle i knows: so many to either side in the ring, or all."""
    if neighbours == 0:
        return best
    known = i
    for step in range(1, neighbours + 1):
        for j in ((i + step) % fitness.size, (i - step) % fitness.size):
            if fitness[j] < fitness[known]:
                known = j
    return known


@jit
def fly(x, speed, own, led, parameters, variables, state):
    """v' = w v + c1 U (own best - x) + c2 U (leader's best - x), then x' = x + v', within the limits."""
    inertia, memory, company = parameters[INERTIA], parameters[MEMORY], parameters[COMPANY]
    for k in range(x.size):
        v = inertia * speed[k] + memory * uniform(state) * (own[k] - x[k]) + company * uniform(state) * (led[k] - x[k])
        gene = x[k] + v
        inside = clamp(gene, variables[k])
        speed[k] = v if gene == inside else -BOUNCE * v
        x[k] = inside


@jit_part
def start_flight(setting, best, genes, speed):
    """Particles set out from where they were drawn, half way towards a posture that is drawn for each."""
    for i in range(genes.shape[0]):
        draw_genes(setting, speed[i])
        for k in range(genes.shape[1]):
            genes[i, k] = best[i, k]
            speed[i, k] = 0.5 * (speed[i, k] - genes[i, k])


@jit
def advance(setting, parameters, genes, speed, bests, fitness, best, ease):
    """One move of the whole swarm. Whether the search is over."""
    variables, state, neighbours = setting.problem.variables, setting.state, int(parameters[NEIGHBOURS])
    for i in range(fitness.size):
        led = leader(fitness, i, neighbours, best)
        fly(genes[i], speed[i], bests[i], bests[led], parameters, variables, state)
        found, over = appraise(setting, genes[i], ease)
        if over:
            return True
        if found < fitness[i]:
            fitness[i] = found
            for k in range(genes.shape[1]):
                bests[i, k] = genes[i, k]
    return False


@jit
def search(problem, x, seed, most, deadline, parameters, places, room, clock, state, outcome, work):
    """Moves of the swarm until all is satisfied; a fresh swarm whenever there was no progress for long."""
    setting = Setting(problem, most, deadline, clock, state, outcome, work)
    n, size = x.size, int(parameters[SIZE])
    at = size * n
    bests, genes = room[:at].reshape((size, n)), room[at : 2 * at].reshape((size, n))
    speed, fitness = room[2 * at : 3 * at].reshape((size, n)), room[3 * at : 3 * at + size]
    blocks = anything_blocks(problem.terms)
    while True:
        if populate(setting, x, seed, bests, fitness):
            return
        start_flight(setting, bests, genes, speed)
        record, waited, ease = math.inf, 0, 1.0
        while waited < parameters[PATIENCE]:
            ease *= FADING if blocks else 1.0
            best = fittest(fitness)
            record, waited = wait(fitness[best], record, waited)
            if advance(setting, parameters, genes, speed, bests, fitness, best, ease):
                return
        if not blocks:
            return
