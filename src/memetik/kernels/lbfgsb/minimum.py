"""Where the model of L-BFGS-B is least within the bounds, or nearly so: the point that a line search heads for.

The published way is by the Cauchy point, which says which variables to hold at bounds, to the minimum over the others. The
minimum over the variables that are not held at x, though, is below the Cauchy point if it lies within the bounds: so it is
looked for first, and the Cauchy point only where it does not (one iteration in seven, on arms and humanoids).

A minimum that is out of bounds is projected onto them (Morales and Nocedal 2011). They take the projection wherever it is
downhill from x; here it must be below the Cauchy point too, else the step ends at the first bound. For once the model is
exact, a projection can be level with x, downhill by rounding only, and be aimed at again and again.
"""

from __future__ import annotations

from memetik.kernels.compiler.jit import jit
from memetik.kernels.lbfgsb.cauchy import begin_path, cauchy_point
from memetik.kernels.lbfgsb.memory import add_product, decompose_middle, dot_used, multiply_middle, project
from memetik.kernels.lbfgsb.subspace import subspace_step, take_inside


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
    take_step(x, lower, upper, gradient, theta, count, memory, direction, times, target, model)
    return True


@jit
def model_gain(gradient, theta, count, memory, way, model):
    """g.d + d.B.d / 2: what the model gains, if negative, by going a way d."""
    gain = 0.0
    for k in range(way.size):
        gain += gradient[k] * way[k] + 0.5 * theta * way[k] * way[k]
    project(model.pairs, count, memory, way, model.corner)
    for j in range(2 * memory):
        model.product[j] = model.corner[j]
    multiply_middle(theta, count, memory, model.older, model.middle, model.product)
    return gain - 0.5 * dot_used(count, memory, model.corner, model.product)


@jit
def take_step(x, lower, upper, gradient, theta, count, memory, step, way, target, model):
    """Move the Cauchy point `target` along the step, projected onto the bounds or shortened; `way` is scratch."""
    n = x.size
    for k in range(n):
        way[k] = target[k] - x[k]
    cauchy = model_gain(gradient, theta, count, memory, way, model)
    for k in range(n):
        way[k] = min(max(target[k] + step[k], lower[k]), upper[k]) - x[k]
    share = 1.0
    if not model_gain(gradient, theta, count, memory, way, model) <= cauchy:
        for k in range(n):
            if target[k] + share * step[k] > upper[k]:
                share = (upper[k] - target[k]) / step[k]
            elif target[k] + share * step[k] < lower[k]:
                share = (lower[k] - target[k]) / step[k]
    for k in range(n):
        target[k] = min(max(target[k] + share * step[k], lower[k]), upper[k])
