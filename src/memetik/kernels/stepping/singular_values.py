"""Steps by the singular values of the linear model: independent directions of motion, each with its own effect.

With the springs as residuals of their own, sqrt(D_k) s_k + g_k / sqrt(D_k) for each variable k, the model is |b + A s|^2 and

    A = sum_i sigma_i left_i right_i^T        a step of 1 / sigma_i along right_i moves the errors by 1 along left_i

so all steps of this family are s = -sum_i f(sigma_i) (left_i·b) right_i and differ in f alone; see solvers/stepping.py.
"""

import math
from typing import NamedTuple

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.svd import decompose
from memetik.kernels.problem.least_squares import linear_model
from memetik.kernels.runtime.record import Array, floats, reader
from memetik.kernels.stepping.iterate import SteppingRecord, move

NOTHING = 1e-10  # a singular value below this moves nothing


class Directions(NamedTuple):
    """The directions of a model with residuals and springs; `height` counts both. As many count as the rank may be."""

    sigma: Array = floats("variables")  # effect, in no order
    wrong: Array = floats("variables")  # left_i·b, the error along each
    left: Array = floats("variables", "height")  # in the space of residuals, those of springs last
    right: Array = floats("variables", "variables")  # in the space of variables


class PseudoinverseRecord(NamedTuple):
    """The pseudoinverse, also by waypoints."""

    stepping: SteppingRecord
    directions: Directions
    cutoff: float  # singular values below this share of the largest count as zero
    waypoints: int  # in how many parts the way to the target is cut
    passed: Array = floats(1)  # waypoints so far


class SvdDlsRecord(NamedTuple):
    """The pseudoinverse with damped small singular values."""

    stepping: SteppingRecord
    directions: Directions
    damping: float  # lambda where a singular value is zero
    singular: float  # singular values above this are not damped


class SdlsRecord(NamedTuple):
    """Selectively damped least squares."""

    stepping: SteppingRecord
    directions: Directions
    gamma: float  # the longest step of all [rad or m]


read_pseudoinverse = reader(PseudoinverseRecord)
read_svd_dls = reader(SvdDlsRecord)
read_sdls = reader(SdlsRecord)


@jit
def directions(problem, x, softness, scratch, work):
    """Decompose the linear model at x; held variables take no part. The directions that count stand in `scratch`."""
    linear_model(problem, x, softness, work)
    n, m = work.step.size, work.residual.size
    height = m
    for k in range(n):
        if work.diagonal[k] > 0.0:
            height = m + n
    count = min(height, n)
    sigma, wrong = scratch.sigma[:count], scratch.wrong[:count]
    left = scratch.left.reshape(scratch.left.size)[: count * height].reshape((count, height))
    right = scratch.right[:count]
    if height < n:  # the vectors that are turned are the rows of A, else its columns
        for i in range(m):
            for k in range(n):
                right[i, k] = work.jacobian[k, i] * work.free[k]
        decompose(right, left, sigma)
    else:
        for k in range(n):
            for i in range(m):
                left[k, i] = work.jacobian[k, i] * work.free[k]
            for i in range(m, height):
                left[k, i] = 0.0
            if height > m:
                left[k, m + k] = math.sqrt(work.diagonal[k]) * work.free[k]
        decompose(left, right, sigma)
    for i in range(count):
        wrong[i] = 0.0
        for j in range(m):
            wrong[i] += left[i, j] * work.residual[j]
        for j in range(m, height):
            if work.diagonal[j - m] > 0.0:
                wrong[i] += left[i, j] * work.gradient[j - m] / math.sqrt(work.diagonal[j - m])
    return Directions(sigma, wrong, left, right)


@jit_part
def combine(d, x, longest, problem, work):
    """Step by -sum_i wrong_i right_i, once `wrong` has been multiplied by f."""
    for k in range(work.step.size):
        total = 0.0
        for i in range(d.sigma.size):
            total += d.wrong[i] * d.right[i, k]
        work.step[k] = -total
    return move(x, x, longest, problem, work)


@jit
def pseudoinverse_step(problem, x, softness, error, own, work):
    """s = -A^+ b / w, with w waypoints still ahead: f(sigma) = 1 / sigma, or 0 where sigma is next to nothing."""
    inverse = read_pseudoinverse(own)
    last, passed = inverse.stepping.last, inverse.passed
    passed[0] = passed[0] + 1.0 if math.isfinite(last[0]) else 0.0
    last[0] = error
    d = directions(problem, x, softness, inverse.directions, work)
    largest = 0.0
    for i in range(d.sigma.size):
        largest = max(largest, d.sigma[i])
    ahead = max(inverse.waypoints - passed[0], 1.0)
    for i in range(d.sigma.size):
        if d.sigma[i] > inverse.cutoff * largest:
            d.wrong[i] /= ahead * d.sigma[i]
        else:
            d.wrong[i] = 0.0
    return combine(d, x, inverse.stepping.longest_step, problem, work)


@jit
def svd_dls_step(problem, x, softness, error, own, work):
    """f(sigma) = sigma / (sigma^2 + lambda^2 (1 - (sigma / singular)^2)), 1 / sigma from `singular` on."""
    dls = read_svd_dls(own)
    d = directions(problem, x, softness, dls.directions, work)
    for i in range(d.sigma.size):
        sigma, nearness = d.sigma[i], 0.0
        if sigma < dls.singular:
            nearness = 1.0 - (sigma / dls.singular) ** 2
        square = sigma * sigma + dls.damping * dls.damping * nearness
        d.wrong[i] *= sigma / square if square > 0.0 else 0.0
    return combine(d, x, dls.stepping.longest_step, problem, work)


@jit
def add_lengths(total, residual, terms):
    """The total plus the length of the residuals of each term."""
    for t in range(terms.size):
        square = 0.0
        for i in range(terms[t].row, terms[t].row + terms[t].rows):
            square += residual[i] * residual[i]
        total += math.sqrt(square)
    return total


@jit
def sdls_step(problem, x, softness, error, own, work):
    """Every direction as far as the pseudoinverse says, but no further than gamma_i."""
    sdls, terms = read_sdls(own), problem.terms
    n, m = x.size, work.residual.size
    d = directions(problem, x, softness, sdls.directions, work)
    # How far a unit of each variable moves all targets together, sum_l |ds_l / dx_k|: in work.trial.
    for k in range(n):
        work.trial[k] = add_lengths(math.sqrt(work.diagonal[k]), work.jacobian[k], terms)
    for i in range(d.sigma.size):
        if d.sigma[i] <= NOTHING:
            d.wrong[i] = 0.0
            continue
        gain = add_lengths(0.0, d.left[i], terms)  # N_i: how far a unit along left_i moves all targets together
        for j in range(m, d.left.shape[1]):
            gain += abs(d.left[i, j])
        effort, most = 0.0, 0.0  # M_i: how far the joints that achieve it would move them if each moved alone
        for k in range(n):
            effort += abs(d.right[i, k]) * work.trial[k]
            most = max(most, abs(d.right[i, k]))
        effort /= d.sigma[i]
        allowed = sdls.gamma * min(1.0, gain / effort)
        d.wrong[i] /= d.sigma[i]
        if abs(d.wrong[i]) * most > allowed:
            d.wrong[i] *= allowed / (abs(d.wrong[i]) * most)
    return combine(d, x, min(sdls.gamma, sdls.stepping.longest_step), problem, work)
