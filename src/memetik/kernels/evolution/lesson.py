"""The local search of a memetic method: one descent by L-BFGS-B, in place."""

from memetik.kernels.compiler.jit import jit
from memetik.kernels.lbfgsb.search import NEVER_STALL, descend, read_descents


@jit
def descend_once(problem, run, own, work):
    """From work.x to the minimum below it, or until the budget is spent (SEARCH in problem/function_pointers.py).

    Where something can be missed, guides do not count.
    """
    x, softness = read_descents(own).minimiser.line.x, 1.0
    for t in range(problem.terms.size):
        if problem.terms[t].soft == 0:
            softness = 0.0
    for k in range(x.size):
        x[k] = work.x[k]
    descend(problem, own, softness, NEVER_STALL, run, work)
    for k in range(x.size):
        work.x[k] = x[k]
