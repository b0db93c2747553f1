"""Bio IK, what counts how much: weights that change from generation to generation, and terms that yield.

Section 5.3 of the thesis found the search more robust if the weights of the objectives are interpolated at random: who
stays fit under ever other weights is fit whatever counts. They decide who is selected; elites are exploited, and the
solution is judged, under the given weights.
"""

from memetik.kernels.compiler.jit import jit
from memetik.kernels.problem.evaluate import term_error
from memetik.kernels.runtime.random import uniform

YIELDING = 0.1  # what a term that yields keeps of its weight


@jit
def given_weights(terms, ease, weights):
    """The weights of the objectives, less where terms have yielded."""
    for t in range(terms.size):
        weights[t] = ease[t] * terms[t].weight


@jit
def interpolate_weights(terms, given, interpolates, state, weights):
    """Each weight between nothing and all: w U, with U drawn again; all are as given unless `interpolates` is true.

    Guides keep theirs: they are never satisfied, so under other weights another posture would be best.
    """
    for t in range(terms.size):
        weights[t] = given[t]
        if interpolates and not terms[t].soft:
            weights[t] *= uniform(state)


@jit
def let_yield(terms, data, x, residual, yields, ease):
    """At the posture that was just evaluated: terms that may yield, and are satisfied, count less from now on.

    Guides, and objectives with room in their tolerance, pull even where they are satisfied, and can so hold the others
    back. They yield when the search is stuck.
    """
    for t in range(terms.size):
        if yields[t] and (terms[t].soft or term_error(terms[t], data, x, residual)[1]):
            ease[t] *= YIELDING
