"""Where the model of L-BFGS-B is least within the bounds, or nearly so: the point that a line search heads for.

The published way is by the Cauchy point, which says which variables to hold at bounds, to the minimum over the others. The
minimum over the variables that are not held at x, though, is below the Cauchy point if it lies within the bounds: so it is
looked for first, and the Cauchy point only where it does not (one iteration in seven, on arms and humanoids).
"""

from __future__ import annotations

from memetik.kernels.jit import jit
from memetik.kernels.lbfgsb_cauchy import begin_path, cauchy_point
from memetik.kernels.lbfgsb_memory import add_product, decompose_middle, project
from memetik.kernels.lbfgsb_subspace import subspace_step, take_inside, take_step


@jit
def find_minimum(x, lower, upper, theta, count, memory, oldest, gradient, times, direction, target, model):
    """Write the point into `target`; `times` and `direction` are scratch. Returns whether rounding let it."""
    n = x.size
    held = begin_path(x, lower, upper, gradient, times, direction)
    project(model.pairs, count, memory, direction, model.first)
    for j in range(2 * memory):
        model.product[j] = model.first[j]
    from_cauchy_point = False
    while True:
        if not subspace_step(
            theta, count, memory, oldest, model.pairs, model.older, model.newer, model.steps, model.changes, times, held,
            model.corner, model.system, model.product, direction,
        ):  # fmt: skip
            return False
        if from_cauchy_point:
            break
        if take_inside(x, lower, upper, direction, target):
            return True
        if not decompose_middle(theta, count, model.older, model.steps, model.middle):
            return False
        met = cauchy_point(
            x, lower, upper, gradient, theta, count, memory, model.pairs, model.older, model.middle, model.first, times,
            model.path, model.moved, model.corner, model.product, target,
        )  # fmt: skip
        if met == 0:  # the same variables are held, so the minimum is where it was
            for k in range(n):
                direction[k] += x[k] - target[k]
            break
        held += met
        if held == n:
            return True
        for k in range(n):
            direction[k] = -gradient[k] - theta * (target[k] - x[k])
        add_product(model.pairs, count, memory, model.moved, direction)
        for k in range(n):
            direction[k] = direction[k] if times[k] > 0.0 else 0.0
        project(model.pairs, count, memory, direction, model.product)
        from_cauchy_point = True
    take_step(x, lower, upper, gradient, direction, target)
    return True
