"""Guides, terms without tolerance: how they fade while the others are not satisfied."""

import numpy as np

from memetik.kernels.compiler.jit import jit

FADING = np.array([1.0, 1e-2, 1e-4, 1e-6, 0.0])  # what guides count for in one descent after another
FAINT = 1e-6  # what they count for where something was missed: they still choose among postures that are equally close


@jit
def any_guides(terms):
    """Whether there are terms that guide."""
    found = False
    for t in range(terms.size):
        found = found or terms[t].soft != 0
    return found


@jit
def first_fading(attempts):
    """Where in FADING an attempt begins: with full guides at first, with fainter ones where these led astray before."""
    return min(2 * (attempts - 1), FADING.size - 1)
