"""Where the model of L-BFGS-B is least within the bounds, or nearly so: the point that a line search heads for.

The published way is by the Cauchy point, which says which variables to hold at bounds, to the minimum over the others. The
minimum over the variables that are not held at x, though, is below the Cauchy point if it lies within the bounds: so it is
looked for first, and the Cauchy point only where it does not (one iteration in seven, on arms and humanoids).

A minimum that is out of bounds is projected onto them (Morales and Nocedal 2011). They take the projection wherever it is
downhill from x; here it must be below the Cauchy point too, else the step ends at the first bound. For once the model is
exact, a projection can be level with x, downhill by rounding only, and be aimed at again and again.
"""

from numba.core import types

from memetik.kernels.compiler.function_pointers import caller
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.lbfgsb.cauchy import begin_path, cauchy_point
from memetik.kernels.lbfgsb.memory import add_product, decompose_middle, dot_used, multiply_middle, project
from memetik.kernels.lbfgsb.minimiser_record import read_minimiser
from memetik.kernels.lbfgsb.subspace import subspace_step, take_inside
from memetik.kernels.problem.function_pointers import TABLE

# (table of a Minimiser). It is half of the code, called by address to be compiled once for all who use it.
FIND_MINIMUM = types.boolean(TABLE)
call_minimum = caller(FIND_MINIMUM)


@jit
def find_minimum(table):
    """Write the point into line.target; line.times and line.direction are scratch. Returns whether rounding let it."""
    minimiser = read_minimiser(table)
    line, model = minimiser.line, minimiser.model
    x, gradient, direction, target = line.x, line.gradient, line.direction, line.target
    n, theta = x.size, model.known[0].theta
    held = begin_path(line)
    project(model, direction, model.first)
    for j in range(model.first.size):
        model.product[j] = model.first[j]
    from_cauchy_point = False
    while True:
        if not subspace_step(line, held, model):
            return False
        if from_cauchy_point:
            break
        if take_inside(line):
            return True
        if not decompose_middle(model):
            return False
        met = cauchy_point(line, model)
        if met == 0:  # the same variables are held, so the minimum is where it was
            for k in range(n):
                direction[k] += x[k] - target[k]
            break
        held += met
        if held == n:
            return True
        for k in range(n):
            direction[k] = -gradient[k] - theta * (target[k] - x[k])
        add_product(model, model.moved, direction)
        for k in range(n):
            direction[k] = direction[k] if line.times[k] > 0.0 else 0.0
        project(model, direction, model.product)
        from_cauchy_point = True
    take_step(line, model)
    return True


@jit
def model_gain(gradient, way, model):
    """g.d + d.B.d / 2: what the model gains, if negative, by going a way d."""
    gain, theta = 0.0, model.known[0].theta
    for k in range(way.size):
        gain += gradient[k] * way[k] + 0.5 * theta * way[k] * way[k]
    project(model, way, model.corner)
    for j in range(model.corner.size):
        model.product[j] = model.corner[j]
    multiply_middle(model, model.product)
    return gain - 0.5 * dot_used(model, model.corner, model.product)


@jit_part
def take_step(line, model):
    """Move the Cauchy point along the step in line.direction, projected onto the bounds or shortened."""
    x, lower, upper, target, step = line.x, line.lower, line.upper, line.target, line.direction
    n, way = x.size, line.times  # of which nothing is needed any more
    for k in range(n):
        way[k] = target[k] - x[k]
    cauchy = model_gain(line.gradient, way, model)
    for k in range(n):
        way[k] = min(max(target[k] + step[k], lower[k]), upper[k]) - x[k]
    share = 1.0
    if not model_gain(line.gradient, way, model) <= cauchy:
        for k in range(n):
            if target[k] + share * step[k] > upper[k]:
                share = (upper[k] - target[k]) / step[k]
            elif target[k] + share * step[k] < lower[k]:
                share = (lower[k] - target[k]) / step[k]
    for k in range(n):
        target[k] = min(max(target[k] + share * step[k], lower[k]), upper[k])
