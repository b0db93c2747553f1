"""The scalar losses of the thesis, section 4.4: one number for each term, and their root mean square.

They serve Bio IK and the other evolutionary methods, which compare postures and need no residuals. Equation numbers are
those of the thesis; where its text differs from what is computed here, the function says so.
"""

import math

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.problem.evaluate import place
from memetik.kernels.terms.distance import DISTANCE_MARGIN
from memetik.kernels.terms.function_pointers import call_residual
from memetik.kernels.terms.records import CONTACT, HYPERBOLA, POSITION_LOSS
from memetik.kernels.terms.springs import springs_error

MEAN, PUBLISHED, SMOOTH = 0, 1, 2  # how losses become one fitness (`average`)


@jit_part
def residual_length(term, residual):
    """Length of a term's residual [m or rad]."""
    total = 0.0
    for i in range(term.row, term.row + term.rows):
        total += residual[i] * residual[i]
    return math.sqrt(total)


@jit
def position_loss(distance, length, extent):
    """Eq. 4.4, pi d / sqrt((L + d) (lambda + d)): a distance d [m] as an angle below pi.

    L is the length of the chain [m], lambda the distance of the frame from the root [m].
    """
    if distance == 0.0:
        return 0.0  # at the root itself lambda is zero too
    return math.pi * distance / math.sqrt((length + distance) * (extent + distance))


@jit
def distance_loss(shortfall, margin):
    """Eq. 4.7, a hyperbola that rises to infinity at contact, for a gap of margin - shortfall between two surfaces [m].

    The thesis loses 1 / (d - r) for any pair of points, however far apart, which is never zero and so keeps all other
    objectives from it. Here the hyperbola is shifted to be zero at the margin and scaled to slope there like the
    shortfall e: margin^2 (1 / (margin - e) - 1 / margin) = margin e / (margin - e).
    """
    if shortfall <= 0.0:
        return 0.0
    if shortfall >= margin:
        return math.inf
    return margin * shortfall / (margin - shortfall)


@jit
def published_distance_loss(shortfall, margin):
    """Eq. 4.7 as it stands, 1 / (d - r) for the gap d - r = margin - shortfall [m], infinite where there is none."""
    return 1.0 / (margin - shortfall) if shortfall < margin else math.inf


@jit
def term_loss(term, data, world, x, residual):
    """The loss of one term, from its residuals, which have been computed for this posture.

    Orientation (4.5) and direction (4.6) lose the angle [rad], taken from the rotation between target and frame because
    the arc cosine is inexact near zero. Springs lose the mean of stiffness times stretch (4.8, 4.9), a relation between
    joints its absolute difference (4.10), solids that keep apart the sum over all pairs (4.7). Terms that the thesis
    does not know lose the length of their residual.
    """
    if term.rows == 0:
        return springs_error(term, data, x)
    if term.loss == CONTACT:
        total = 0.0
        for i in range(term.row, term.row + term.rows):
            total += distance_loss(residual[i], data[term.numbers + DISTANCE_MARGIN])
        return total
    if term.loss == HYPERBOLA:
        total = 0.0
        for i in range(term.row, term.row + term.rows):
            total += published_distance_loss(residual[i], data[term.numbers + DISTANCE_MARGIN])
        return total
    length = residual_length(term, residual)
    if term.loss == POSITION_LOSS:
        px, py, pz = world[term.frame, 4], world[term.frame, 5], world[term.frame, 6]
        return position_loss(length, term.reach, math.sqrt(px * px + py * py + pz * pz))
    return length


@jit
def measured_loss(term, data, world, x, residual):
    """The loss of one term; computes its residuals first."""
    if term.rows > 0:
        call_residual(term.residual, term, data, world, x, residual)
    return term_loss(term, data, world, x, residual)


@jit
def write_losses(terms, data, world, x, residual, losses):
    """The loss of every term at a posture; writes all residuals on the way."""
    for t in range(terms.size):
        losses[t] = measured_loss(terms[t], data, world, x, residual)


@jit
def average(terms, losses, weights, norm):
    """The fitness of losses L_j: eq. 4.3, sqrt(1/k sum_j w_j L_j^2), or the linear 1/k sum_j w_j L_j of Table 5.4.

    A pose counts as two losses, position and orientation; a projection as one, the mean of its two terms (4.11). The square of
    that has a crease where one of them is zero and the other is not; SMOOTH takes the mean of their squares instead.
    """
    total, count, t = 0.0, 0, 0
    while t < terms.size:
        loss = losses[t]
        if terms[t].paired:
            t += 1
            mean, square = 0.5 * (loss + losses[t]), 0.5 * (loss * loss + losses[t] * losses[t])
            loss = math.sqrt(square) if norm == SMOOTH else mean
        total += weights[t] * (loss if norm == MEAN else loss * loss)
        count += 1
        t += 1
    return total / count if norm == MEAN else math.sqrt(total / count)


@jit
def write_fitness(problem, genes, weights, losses, work, out):
    """The fitness of every row of genes, for what looks at postures apart from a search."""
    for i in range(out.size):
        place(problem.nodes, problem.frames, genes[i], work.poses, work.world)
        write_losses(problem.terms, problem.data, work.world, genes[i], work.residual, losses)
        out[i] = average(problem.terms, losses, weights, PUBLISHED)
