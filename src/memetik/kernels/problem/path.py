"""A whole path of postures as one least-squares problem: the terms of every step, and the bend of the path.

With the residuals r_i of step i, its Jacobian J_i, and d_j = q_(j-1) - 2 q_j + q_(j+1), the cost of a path is

    sum_i |r_i|^2 + stiffness sum_j |d_j|^2

Its normal equations have blocks J_i^T J_i on the diagonal, and the stiffness times 1, -4, 6, -4, 1 across: they couple a
posture to the two before it and the two after it only, so a step takes time in proportion to the length of the path.
"""

from typing import NamedTuple

from memetik.kernels.compiler.jit import jit_free
from memetik.kernels.math.banded import solve_banded
from memetik.kernels.problem.budget import OUTCOME
from memetik.kernels.problem.evaluate import linearise, measure, place
from memetik.kernels.problem.limits import clamp
from memetik.kernels.problem.mounts import place_root
from memetik.kernels.problem.problem_record import solve_arrays
from memetik.kernels.problem.verify import verify
from memetik.kernels.runtime.record import Array, floats, integers
from memetik.kernels.terms.springs import rest_at_start

LEAST_DAMPING = 1e-9


class PathModel(NamedTuple):
    """A path, and the terms of each of its steps around where it is."""

    columns: Array = integers("columns")  # where the targets go in the data of the problem
    targets: Array = floats("steps", "columns")
    x: Array = floats("steps", "variables")  # postures, in variables
    factor: Array = floats("terms")  # of the residuals of each term
    cost: Array = floats("steps")
    gradient: Array = floats("steps", "variables")  # half of it
    normal: Array = floats("steps", "variables", "variables")  # J^T J


@jit_free
def model_path(table, path):
    """Write cost, gradient and normal equations of the terms at every step; change has no price here."""
    arrays = solve_arrays(table)
    problem, work = arrays.problem, arrays.work
    terms, data, variables = problem.terms, problem.data, problem.variables
    n = work.x.size
    for k in range(data.size):
        data[k] = arrays.source[k]
    place_root(problem)
    for step in range(path.x.shape[0]):
        for c in range(path.columns.size):
            data[path.columns[c]] = path.targets[step, c]
        for k in range(n):
            work.x[k] = path.x[step, k]
        rest_at_start(terms, data, work.x)
        place(problem.nodes, problem.frames, work.x, work.poses, work.world)
        measure(terms, data, work.world, work.x, 1.0, work.residual)
        linearise(problem, work.x, 1.0, work)
        for t in range(terms.size):
            for i in range(terms[t].row, terms[t].row + terms[t].rows):
                work.residual[i] *= path.factor[t]
                for k in range(n):
                    work.jacobian[k, i] *= path.factor[t]
        cost = 0.0
        for i in range(work.residual.size):
            cost += work.residual[i] * work.residual[i]
        path.cost[step] = cost
        for k in range(n):
            g = work.gradient[k]
            for i in range(variables[k].row_begin, variables[k].row_end):
                g += work.jacobian[k, i] * work.residual[i]
            path.gradient[step, k] = g
            for j in range(k + 1):
                s = 0.0
                first = max(variables[k].row_begin, variables[j].row_begin)
                for i in range(first, min(variables[k].row_end, variables[j].row_end)):
                    s += work.jacobian[k, i] * work.jacobian[j, i]
                path.normal[step, k, j] = s
            path.normal[step, k, k] += work.diagonal[k]


@jit_free
def bend_path(table, path, around, first, stiffness, damping, band, step):
    """Take a damped Gauss-Newton step of a path, within the limits, and write the result into `step` (steps, variables).

    `around` (rows, variables) is the path with postures before and after it that stay, of which row `first` is the path's own
    first. `band` is scratch, (steps * variables, 2 * variables + 1).
    """
    variables = solve_arrays(table).problem.variables
    count, n = path.x.shape
    flat = step.reshape(count * n)
    for p in range(count * n):
        for k in range(band.shape[1]):
            band[p, k] = 0.0
    for i in range(count):
        for k in range(n):
            p = i * n + k
            flat[p] = -path.gradient[i, k]
            for j in range(k + 1):
                band[p, k - j] = path.normal[i, k, j]
            band[p, 0] += damping
    for row in range(around.shape[0] - 2):
        for k in range(n):
            bend = around[row, k] - 2.0 * around[row + 1, k] + around[row + 2, k]
            for a in range(3):
                i = row + a - first
                if 0 <= i < count:
                    share = stiffness * (-2.0 if a == 1 else 1.0)
                    flat[i * n + k] -= share * bend
                    for b in range(a + 1):
                        if i - a + b >= 0:
                            band[i * n + k, (a - b) * n] += share * (-2.0 if b == 1 else 1.0)
    for i in range(count):
        for k in range(n):
            p = i * n + k
            x = path.x[i, k]
            if (x <= variables[k].lower and flat[p] < 0.0) or (x >= variables[k].upper and flat[p] > 0.0):
                # Downhill is beyond a limit: the joint stays, which takes its row and column out.
                flat[p] = 0.0
                for d in range(band.shape[1]):
                    band[p, d] = 0.0
                    if d > 0 and p + d < count * n:
                        band[p + d, d] = 0.0
                band[p, 0] = 1.0
    solve_banded(band, flat)
    for i in range(count):
        for k in range(n):
            step[i, k] = clamp(path.x[i, k] + step[i, k], variables[k])


@jit_free
def judge_path(table, columns, targets, q, errors, statuses, outcome):
    """Verify every row of joint vectors q with its targets; change counts from the row before, as in a track."""
    arrays = solve_arrays(table)
    problem, work = arrays.problem, arrays.work
    variables = problem.variables
    for k in range(problem.data.size):
        problem.data[k] = arrays.source[k]
    place_root(problem)
    for step in range(q.shape[0]):
        for c in range(columns.size):
            problem.data[columns[c]] = targets[step, c]
        for k in range(work.x.size):
            work.start[k] = q[max(step - 1, 0), variables[k].index]
        rest_at_start(problem.terms, problem.data, work.start)
        for k in range(work.x.size):
            work.x[k] = work.start[k] = q[step, variables[k].index]
        statuses[step] = verify(problem, work.x, outcome, work)
        for t in range(problem.terms.size):
            errors[step, t] = outcome[OUTCOME + t]
