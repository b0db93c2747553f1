"""What every step of a least-squares method is made of: a linear model of the errors, and a move within the limits.

With residuals r and their Jacobian J, and springs on single variables with gradient g and diagonal D, the squared error
after a step s is about

    |r + J s|^2 + 2 g·s + s^T D s        with half the gradient J^T r + g

The step of several limbs at once (blocks.py) is called by address: most arms never need it, and it is a good part of what
there is to compile.
"""

import math

import numpy as np

from memetik.kernels.body.balls import step_balls
from memetik.kernels.compiler.jit import jit, jit_fast, jit_inlined, jit_part
from memetik.kernels.math.linear import factorise, substitute
from memetik.kernels.problem.evaluate import linearise
from memetik.kernels.problem.function_pointers import call_gather_blocks, call_step_by_blocks
from memetik.kernels.problem.limits import clamp

LEAST_DAMPING = 1e-12  # leaves a system that can be solved


@jit_part
def linear_model(problem, x, softness, work):
    """The linear model at a posture that was just measured, in the workspace, and which variables are free to move."""
    variables = problem.variables
    linearise(problem, x, softness, work)
    for k in range(x.size):
        work.free[k] = 1.0
        if x[k] <= variables[k].lower or x[k] >= variables[k].upper:
            # At a limit: hold the joint if going downhill would push it out.
            uphill = work.gradient[k]
            for i in range(variables[k].row_begin, variables[k].row_end):
                uphill += work.jacobian[k, i] * work.residual[i]
            if (x[k] <= variables[k].lower and uphill >= 0.0) or (x[k] >= variables[k].upper and uphill <= 0.0):
                work.free[k] = 0.0


@jit
def steepest_descent(problem, work):
    """Write half the negative gradient of the squared error, -(J^T r + g), into work.step; held variables stay."""
    variables = problem.variables
    for k in range(work.step.size):
        uphill = work.gradient[k]
        for i in range(variables[k].row_begin, variables[k].row_end):
            uphill += work.jacobian[k, i] * work.residual[i]
        work.step[k] = -uphill if work.free[k] != 0.0 else 0.0


@jit
def curvature(problem, step, work):
    """s^T (J^T J + D) s, the bend of the model along a step; J s is left in work.right."""
    variables, total = problem.variables, 0.0
    for i in range(work.right.size):
        work.right[i] = 0.0
    for k in range(step.size):
        total += work.diagonal[k] * step[k] * step[k]
        for i in range(variables[k].row_begin, variables[k].row_end):
            work.right[i] += work.jacobian[k, i] * step[k]
    for i in range(work.right.size):
        total += work.right[i] * work.right[i]
    return total


# Indices of loops that do not start at zero are unsigned (math/linear.py says why).
_ONE = np.uint64(1)


@jit_fast
def step_by_residuals(variables, damping, work):
    """Solve (J^T J + D + damping) step = -(J^T r + g) through a system as large as the residuals.

    For few residuals and many variables. A variable with free 0 stays where it is. Row k of the transposed Jacobian is zero
    outside the residuals that variable k moves.
    With E = damping / (damping + D):  (damping + J E J^T) y = r - J (E / damping) g,  step = -E (g / damping + J^T y).
    """
    n, m = work.jacobian.shape[0], work.residual.size
    for i in range(m):
        work.right[i] = work.residual[i]
        for j in range(i + 1):
            work.system[i, j] = 0.0
        work.system[i, i] = damping
    for k in range(n):
        if work.free[k] == 0.0:
            continue
        ease = damping / (damping + work.diagonal[k])
        pull = work.gradient[k] / (damping + work.diagonal[k])
        first, end = np.uint64(variables[k].row_begin), np.uint64(variables[k].row_end)
        for i in range(first, end):
            work.right[i] -= work.jacobian[k, i] * pull
            a = work.jacobian[k, i] * ease
            for j in range(first, i + _ONE):
                work.system[i, j] += a * work.jacobian[k, j]
    factorise(work.system, m)
    substitute(work.system, m, work.right)
    for k in range(n):
        if work.free[k] == 0.0:
            work.step[k] = 0.0
            continue
        s = 0.0
        for i in range(np.uint64(variables[k].row_begin), np.uint64(variables[k].row_end)):
            s += work.jacobian[k, i] * work.right[i]
        work.step[k] = -(damping * s + work.gradient[k]) / (damping + work.diagonal[k])


@jit_fast
def step_by_variables(variables, damping, work):
    """The same step through a system as large as the variables, for many residuals."""
    n = work.jacobian.shape[0]
    for k in range(n):
        g = work.gradient[k]
        for i in range(np.uint64(variables[k].row_begin), np.uint64(variables[k].row_end)):
            g += work.jacobian[k, i] * work.residual[i]
        work.step[k] = -g * work.free[k]
        for j in range(k + 1):
            s = 0.0
            if work.free[k] * work.free[j] != 0.0:
                first = max(variables[k].row_begin, variables[j].row_begin)
                end = min(variables[k].row_end, variables[j].row_end)
                for i in range(np.uint64(first), np.uint64(max(first, end))):
                    s += work.jacobian[k, i] * work.jacobian[j, i]
            work.system[k, j] = s
        work.system[k, k] += work.diagonal[k] + damping
    factorise(work.system, n)
    substitute(work.system, n, work.step)


@jit_inlined
def damped_step(problem, damping, work):
    """Write the solution of (J^T J + D + damping) s = -(J^T r + g) into work.step, through the smaller system."""
    if work.residual.size <= work.step.size:
        step_by_residuals(problem.variables, damping, work)
    else:
        step_by_variables(problem.variables, damping, work)


@jit_inlined
def prepare_step(problem, work):
    """What a step by limbs needs of a new Jacobian."""
    if problem.blocks.size > 1:
        call_gather_blocks(problem.blocks[0].gather, problem, work)


@jit_inlined
def step_by_limbs(problem, damping, work):
    """The same step limb by limb, where there are several: sooner, and off by rounding over the damping.

    That is no harm to a search that goes on until it is there, but a single step without damping would not be exact.
    """
    if problem.blocks.size > 1:
        call_step_by_blocks(problem.blocks[0].step, problem, damping, work)
    else:
        damped_step(problem, damping, work)


@jit_part
def stop_at_limits(problem, x, longest, work):
    """Stop the variables that work.step takes past a limit, and let the others make up for it.

    How far each may go stands in work.trial and is added to the next step, and the residuals are those after these moves: the
    next damped step is that of the variables which are still free. Returns whether there are any that had to be stopped.
    """
    for k in range(x.size):
        work.step[k] += work.trial[k]
    variables, share, stopped = problem.variables, shortening(longest, work), False
    for k in range(x.size):
        to = x[k] + share * work.step[k]
        if work.free[k] == 0.0 or variables[k].lower <= to <= variables[k].upper:
            continue
        move = clamp(to, variables[k]) - x[k]
        work.free[k], work.trial[k], stopped = 0.0, move, True
        for i in range(variables[k].row_begin, variables[k].row_end):
            work.residual[i] += work.jacobian[k, i] * move
    return stopped


@jit_part
def bounded_step(problem, x, damping, longest, work):
    """The damped step of a linear model within the limits, no variable further than `longest` [rad or m].

    A step that is only cut off at the limits leaves the errors that the stopped variables were to take away. So the others
    take a second one, from where these stop. The residuals in the workspace are spent.
    """
    prepare_step(problem, work)
    for k in range(x.size):
        work.trial[k] = 0.0
    for _ in range(2):
        step_by_limbs(problem, damping, work)
        if not stop_at_limits(problem, x, longest, work):
            break
    shorten(longest, work)


@jit
def shortening(longest, work):
    """The share of work.step by which no variable moves by more than `longest` [rad or m]."""
    most = 0.0
    for k in range(work.step.size):
        most = max(most, abs(work.step[k]))
    return longest / most if most > longest else 1.0


@jit
def shorten(longest, work):
    """Scale work.step so that no variable moves by more than `longest` [rad or m]; its direction stays."""
    share = shortening(longest, work)
    if share < 1.0:
        for k in range(work.step.size):
            work.step[k] *= share


@jit
def take_step(x, problem, work):
    """Move along work.step and stop at the limits. A step that is not finite leads nowhere: x stays."""
    variables, total = problem.variables, 0.0
    for k in range(x.size):
        total += work.step[k]
    if not math.isfinite(total):
        return
    for k in range(x.size):
        if not variables[k].ball:
            x[k] = clamp(x[k] + work.step[k], variables[k])
    step_balls(problem.balls, x, 1.0, work.step, x)


@jit
def step_from(origin, share, x, problem, work):
    """Put x at a share of work.step from `origin`, within the limits; false if that is nowhere new, or nowhere at all."""
    variables, total = problem.variables, 0.0
    for k in range(x.size):
        total += work.step[k]
    if not math.isfinite(total):
        return False
    moved = False
    for k in range(x.size):
        if not variables[k].ball:
            value = clamp(origin[k] + share * work.step[k], variables[k])
            moved = moved or value != origin[k]
            x[k] = value
    turned = step_balls(problem.balls, origin, share, work.step, x)
    return moved or turned
