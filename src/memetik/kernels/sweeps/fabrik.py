"""FABRIK, forward and backward reaching: tips to root on rigid links, root to tips on real joints, again and again."""

from __future__ import annotations

import math

from memetik.kernels.body.forward import frame_pose
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import store
from memetik.kernels.sweeps.coupled import link_variables, move_coupled
from memetik.kernels.sweeps.fabrik_backward import sweep_backward
from memetik.kernels.sweeps.fabrik_forward import sweep_forward
from memetik.kernels.sweeps.fabrik_tips import SWEPT
from memetik.kernels.sweeps.moments import MOMENTS
from memetik.kernels.sweeps.restart import MEMORY, SOFTNESS, begin, beyond_reach, over

# The parameters of the search.
AHEAD, RESTARTS = 0, 1

# Seen from a target this many times as far away, bones that look at the next point alone turn into the line towards it.
FAR = 1e4


def places(nodes: int, variables: int) -> int:
    """How many integers the search needs."""
    return variables + nodes


def room(nodes: int, frames: int) -> int:
    """How many numbers the search needs."""
    return MEMORY + 7 * frames + (SWEPT + MOMENTS) * nodes


@jit_part
def improve_coupled(problem, x, softness, deepest, above, work, moved):
    """Variables with several motions have no link of their own to follow: they take a step of coordinate descent."""
    nodes, frames = problem.nodes, problem.frames
    for f in range(frames.size):
        store(frame_pose(frames[f], work.poses), work.world, f, 0)
    for i in range(nodes.size - 1, -1, -1):
        if above[i] >= 0 and deepest[nodes[i].variable] == i:
            move_coupled(problem, x, softness, math.inf, i, above, work, moved)


@jit
def search(problem, x, seed, most, deadline, parameters, places, room, clock, state, outcome, work):
    """Sweep after sweep from x until one satisfies all terms, nothing more is gained, or the budget is spent.

    A single tip with a target beyond its reach is stretched towards it by the first sweep.
    """
    nodes, frames, terms = problem.nodes, problem.frames, problem.terms
    n, m = nodes.size, MEMORY + 7 * frames.size
    deepest, above = places[: x.size], places[x.size :]
    memory, moved = room[:MEMORY], room[MEMORY:m].reshape((frames.size, 7))
    swept = room[m : m + SWEPT * n].reshape((n, SWEPT))
    moments = room[m + SWEPT * n :].reshape((n, MOMENTS))
    link_variables(nodes, deepest, above)
    begin(terms, seed, state, memory, outcome)
    beyond = beyond_reach(problem)
    restarts, far = parameters[RESTARTS] != 0.0 and not beyond, FAR if beyond else 1.0
    while not over(problem, x, restarts, most, deadline, clock, state, memory, outcome, work):
        softness, ahead = memory[SOFTNESS], parameters[AHEAD] if far == 1.0 else 0.0
        sweep_forward(problem, x, softness, ahead, far, deepest, above, work.poses, work.world, swept, moments)
        sweep_backward(problem, x, softness, ahead, far, deepest, above, work.poses, work.world, swept, moments)
        improve_coupled(problem, x, softness, deepest, above, work, moved)
        far = 1.0
