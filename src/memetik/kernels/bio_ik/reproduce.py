"""Bio IK, how an individual comes to be: initialisation, recombination, mutation and adoption (4.5.1 to 4.5.5).

Each phase works on the genes x and the momentum g of one individual, in place, and draws its random numbers from the
stream of that individual. U is a number drawn from [0, 1), I_c(a, b) = (1 - c) a + c b.
"""

import math

from memetik.kernels.compiler.jit import jit
from memetik.kernels.problem.limits import clamp, sample
from memetik.kernels.runtime.random import uniform


@jit
def interpolate(a, b, c):
    """I_c(a, b) of the thesis."""
    return a + c * (b - a)


@jit
def initialise(variables, state, x, g):
    """Eq. 4.12 and 4.13: genes drawn within the limits, no momentum. A joint without limits has a finite span instead."""
    for i in range(x.size):
        x[i] = sample(variables[i], state)
        g[i] = 0.0


@jit
def recombine(first, second, first_momentum, second_momentum, momentum, state, x, g):
    """Eq. 4.16: g = U g1 + U g2, then x = I_U(x1, x2) + g. The momentum of the first line is that of the second."""
    for i in range(x.size):
        g[i] = 0.0
        if momentum:
            g[i] = uniform(state) * first_momentum[i] + uniform(state) * second_momentum[i]
        x[i] = interpolate(first[i], second[i], uniform(state)) + g[i]


@jit
def extinguish(order, fitness, extinction):
    """Eq. 4.17: xi = (phi + phi_min ((i - 1) / (psi - 1) - 1)) / phi_max for rank i, 0 for the fittest, 1 for the worst.

    Where the worst is infinite, those who are finite are measured against the worst of them.
    """
    least, most = fitness[order[0]], 0.0
    for rank in range(order.size):
        if fitness[order[rank]] < math.inf:
            most = fitness[order[rank]]
    for rank in range(order.size):
        k = order[rank]
        if fitness[k] == math.inf:
            extinction[k] = 1.0
        elif most == 0.0 or order.size == 1:
            extinction[k] = 0.0
        else:
            extinction[k] = (fitness[k] + least * (rank / (order.size - 1) - 1.0)) / most


@jit
def mutate(extinction, variables, state, x, g):
    """Eq. 4.18, with the mean extinction xi of both parents: a gene changes with the probability (xi (n - 1) + 1) / n.

    The change is drawn from [-1, 1] times xi times the range of the joint, and added to the momentum.
    """
    n = x.size
    rate = (extinction * (n - 1) + 1.0) / n
    for i in range(n):
        if uniform(state) < rate:
            change = (2.0 * uniform(state) - 1.0) * extinction * (variables[i].sample_upper - variables[i].sample_lower)
            x[i] += change
            g[i] += change


@jit
def adopt(first, second, prototype, state, x, g):
    """Eq. 4.19: x' = x + I_U(U (mean of the parents - x), U (prototype - x)); the momentum takes the change along."""
    for i in range(x.size):
        to_parents = uniform(state) * (0.5 * (first[i] + second[i]) - x[i])
        to_prototype = uniform(state) * (prototype[i] - x[i])
        change = interpolate(to_parents, to_prototype, uniform(state))
        x[i] += change
        g[i] += change


@jit
def constrain(variables, x):
    """Eq. 4.2: genes stay within the limits of their joints."""
    for i in range(x.size):
        x[i] = clamp(x[i], variables[i])
