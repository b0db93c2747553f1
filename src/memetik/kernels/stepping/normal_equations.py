"""Steps by the gradient J^T r + g and the curvature J^T J + D of the squared error; see solvers/stepping.py."""

import math
from typing import NamedTuple

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.problem.least_squares import curvature, damped_step, linear_model, steepest_descent, step_from
from memetik.kernels.runtime.record import Array, floats, reader
from memetik.kernels.stepping.iterate import SteppingRecord, move

LEAST_SHARE = 1e-3  # a line search that gets here leads nowhere
LEAST, MOST = 1e-12, 1e12  # of the damping of Levenberg-Marquardt


class TransposeRecord(NamedTuple):
    """The Jacobian transpose."""

    stepping: SteppingRecord
    length: float  # a fixed length of the step, 0 to choose it
    lag: bool  # each step is as long as was best for the one before
    best: Array = floats(1)  # the length that was best for the step before


class GaussNewtonRecord(NamedTuple):
    """Gauss-Newton, and damped least squares, which is the same with damping and without a line search."""

    stepping: SteppingRecord
    damping: float  # lambda
    line_search: bool  # halve a step that gains nothing
    share: Array = floats(1)  # how much of the step is taken
    origin: Array = floats("variables")  # where it sets out


class LevenbergMarquardtRecord(NamedTuple):
    """Levenberg-Marquardt."""

    stepping: SteppingRecord
    first_damping: float  # as a share of the largest diagonal entry of J^T J + D
    damping: Array = floats(1)  # lambda
    growth: Array = floats(1)  # what the next refusal multiplies it by
    promised: Array = floats(1)  # gain that the linear model promised for the step under way
    origin: Array = floats("variables")  # the posture that stands
    residual: Array = floats("residuals")  # of that posture


read_transpose = reader(TransposeRecord)
read_gauss_newton = reader(GaussNewtonRecord)
read_levenberg_marquardt = reader(LevenbergMarquardtRecord)


@jit
def transpose_step(problem, x, softness, error, own, work):
    """s = alpha d along d = -(J^T r + g), with alpha = d·d / d^T (J^T J + D) d, of the step before where there is one."""
    transpose = read_transpose(own)
    last = transpose.stepping.last
    linear_model(problem, x, softness, work)
    steepest_descent(problem, work)
    alpha = transpose.length
    if alpha == 0.0:
        steep, bend = 0.0, curvature(problem, work.step, work)
        for k in range(x.size):
            steep += work.step[k] * work.step[k]
        if not bend > 0.0:
            return False
        alpha = best = steep / bend
        if transpose.lag and math.isfinite(last[0]):
            alpha = transpose.best[0]
        last[0], transpose.best[0] = error, best
    for k in range(x.size):
        work.step[k] *= alpha
    return move(x, x, transpose.stepping.longest_step, problem, work)


@jit
def gauss_newton_step(problem, x, softness, error, own, work):
    """(J^T J + D + lambda^2) s = -(J^T r + g); half of that, a quarter, ... while the error does not fall."""
    newton = read_gauss_newton(own)
    last, share, origin = newton.stepping.last, newton.share, newton.origin
    if newton.line_search and not error < last[0]:
        share[0] *= 0.5  # work.step is still the one that led here
        return share[0] >= LEAST_SHARE and step_from(origin, share[0], x, problem, work)
    last[0], share[0] = error, 1.0
    for k in range(x.size):
        origin[k] = x[k]
    linear_model(problem, x, softness, work)
    damped_step(problem, newton.damping * newton.damping, work)
    return move(origin, x, newton.stepping.longest_step, problem, work)


@jit_part
def largest_curvature(work):
    """The largest diagonal entry of J^T J + D."""
    most = 0.0
    for k in range(work.step.size):
        entry = work.diagonal[k]
        for i in range(work.residual.size):
            entry += work.jacobian[k, i] * work.jacobian[k, i]
        most = max(most, entry)
    return most


@jit
def promise(problem, origin, x, work):
    """The gain in squared error that the linear model promises for going from origin to x."""
    for k in range(x.size):
        work.step[k] = x[k] - origin[k]
    gain = -curvature(problem, work.step, work)
    for k in range(x.size):
        gain -= 2.0 * work.gradient[k] * work.step[k]
    for i in range(work.residual.size):
        gain -= 2.0 * work.right[i] * work.residual[i]
    return gain


@jit
def levenberg_marquardt_step(problem, x, softness, error, own, work):
    """Accept or refuse the posture that the last step led to, set the damping by it, and step from the one that stands."""
    marquardt = read_levenberg_marquardt(own)
    stepping, last = marquardt.stepping, marquardt.stepping.last
    damping, growth, promised, origin = marquardt.damping, marquardt.growth, marquardt.promised, marquardt.origin
    if error < last[0]:
        linear_model(problem, x, softness, work)
        if math.isfinite(last[0]):
            rho = (last[0] - error) / promised[0]
            damping[0] = max(damping[0] * max(1.0 / 3.0, 1.0 - (2.0 * rho - 1.0) ** 3), LEAST)
        else:
            damping[0] = max(marquardt.first_damping * largest_curvature(work), LEAST)
        last[0], growth[0] = error, 2.0
        for k in range(x.size):
            origin[k] = x[k]
        for i in range(work.residual.size):
            marquardt.residual[i] = work.residual[i]
    else:  # the Jacobian is still that of the posture that stands
        for i in range(work.residual.size):
            work.residual[i] = marquardt.residual[i]
        damping[0] *= growth[0]
        growth[0] *= 2.0
    while damping[0] <= MOST:
        damped_step(problem, damping[0], work)
        if not move(origin, x, stepping.longest_step, problem, work):
            return False
        promised[0] = promise(problem, origin, x, work)
        if promised[0] > 0.0:
            return True
        damping[0] *= growth[0]  # a limit has bent the step uphill: be warier
        growth[0] *= 2.0
    return False
