"""What touches where a pose is reached: the contacts of a problem at the answers to all else, an answer a thread.

All threads of a warp walk the same list of pairs, and only those whose balls meet measure any further.
"""

import math
from functools import cache
from typing import Any

import numba.cuda
import numpy as np

from memetik.kernels.cuda.record import Look
from memetik.kernels.cuda.table import card_reader
from memetik.kernels.cuda.terms import Kinds, terms_by_kind
from memetik.kernels.cuda.translate import Translator
from memetik.kernels.problem.budget import OUTCOME
from memetik.kernels.problem.evaluate import place
from memetik.kernels.problem.verify import CLOSEST, INVALID, REACHED
from memetik.kernels.terms.distance import penetration

cuda: Any = numba.cuda  # it has no types
read = card_reader(Look)


@cache
def look_kernel(kinds: Kinds, motions: int, frames: int, n: int, residuals: int, rest: int) -> Any:
    """The kernel for problems with contacts of these kinds and so many motions, frames, variables and residuals.

    `rest` is how many terms are no contacts. Sizes of local arrays must be known when it compiles.
    """
    translate = Translator()
    place_body, depth_of = translate(place), translate(penetration)
    residual_of, _ = terms_by_kind(kinds)

    @cuda.jit
    def look_at_contacts(table):
        """Judge the answers of tasks by all terms. Where the rest is missed, only rows without a result are measured."""
        given = read(table)
        task = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        if task >= given.number:
            return
        problem, q, outcome = given.problem, given.results.q[task], given.results.outcomes[task]
        terms, status = problem.terms, int(given.results.statuses[task])
        found = cuda.local.array(2 * rest, np.float64)
        x, residual = cuda.local.array(n, np.float64), cuda.local.array(residuals, np.float64)
        poses, world = cuda.local.array((motions, 7), np.float64), cuda.local.array((frames, 7), np.float64)
        for k in range(2 * rest):
            found[k] = outcome[OUTCOME + k]
        measured = given.fresh != 0 or status == REACHED
        if measured:
            for k in range(n):
                x[k] = q[problem.variables[k].index]
            place_body(problem.nodes, problem.frames, x, poses, world)
        for t in range(terms.size):
            error, good = math.inf, 0.0
            if given.bare[t] >= 0:
                error, good = found[given.bare[t]], found[rest + given.bare[t]]
            elif measured:
                residual_of(terms[t].residual, terms[t], problem.data, world, x, residual)
                error = depth_of(terms[t], problem.data, residual)
                if error <= terms[t].tolerance:
                    good = 1.0
                else:
                    status = max(status, CLOSEST if math.isfinite(error) else INVALID)
            outcome[OUTCOME + t], outcome[OUTCOME + terms.size + t] = error, good
        given.results.statuses[task] = status

    return look_at_contacts
