"""Random postures in which a body keeps off itself."""

from memetik.kernels.compiler.jit import jit_free, jit_part
from memetik.kernels.problem.evaluate import place
from memetik.kernels.problem.limits import sample
from memetik.kernels.terms.distance import (
    CONTACT_GROUP,
    CONTACT_OTHER,
    DISTANCE_CONTACTS,
    DISTANCE_FOUND,
    DISTANCE_LISTS,
    GROUP_FRAME,
)
from memetik.kernels.terms.function_pointers import call_residual

DRAWS = 50  # of what touches, for a posture
HOPELESS = 4  # postures that are not free after so many draws: a body that always touches itself


@jit_part
def draw_between(problem, one, other, x, state):
    """Draw the variables again that move two nodes past each other: those of the motions between them."""
    while one != other:
        k = problem.nodes[max(one, other)].variable
        x[k] = sample(problem.variables[k], state)
        if one > other:
            one = problem.nodes[one].parent
        else:
            other = problem.nodes[other].parent


@jit_part
def draw_touching(problem, x, state, work):
    """Draw what moves the first pair that touches; whether there was any.

    Each term writes what it finds into the data (DISTANCE_FOUND).
    """
    data = problem.data
    place(problem.nodes, problem.frames, x, work.poses, work.world)
    for t in range(problem.terms.size):
        term = problem.terms[t]
        call_residual(term.residual, term, data, work.world, x, work.residual)
        found = int(data[term.numbers + DISTANCE_FOUND])
        if data[found + DISTANCE_CONTACTS] > 0.0:
            k = found + DISTANCE_LISTS
            one, other = int(data[k + CONTACT_GROUP]), int(data[k + CONTACT_OTHER])
            one, other = int(data[one + GROUP_FRAME]), int(data[other + GROUP_FRAME])
            draw_between(problem, problem.frames[one].node, problem.frames[other].node, x, state)
            return True
    return False


@jit_free
def free_postures(problem, genes, state, work):
    """Draw parts of the postures genes (rows, variables) again until each is free, or many draws have not helped.

    To draw whole postures until one is free takes fifteen times as many on a humanoid; limbs that are free alone are many.
    """
    hopeless = 0
    for c in range(genes.shape[0]):
        draws = 0
        while draws < DRAWS and draw_touching(problem, genes[c], state, work):
            draws += 1
        hopeless += 1 if draws == DRAWS else 0
        if hopeless == HOPELESS:
            return
