"""The scratch that every solve needs."""

from typing import NamedTuple

from memetik.kernels.compiler.jit import jit
from memetik.kernels.compiler.lanes import LANES
from memetik.kernels.runtime.record import Array, floats


class Workspace(NamedTuple):
    """Scratch arrays for one problem; `system` is the smaller of variables and residuals, at least 1.

    The last ones are those of blocks.py, with a lane for each block. They are as large as the largest block, of `own` variables
    and `tall` residuals; `border` is the trunk and one more.
    """

    poses: Array = floats("nodes", 7)  # pose of every node
    axes: Array = floats("nodes", 3)  # world direction of every motion
    world: Array = floats("frames", 7)  # pose of every frame
    jacobian: Array = floats("variables", "residuals")  # derivative of all residuals by each variable
    system: Array = floats("system", "system")  # normal equations
    residual: Array = floats("residuals")
    right: Array = floats("residuals")  # right side of a system, and scratch
    gradient: Array = floats("variables")  # of the springs
    diagonal: Array = floats("variables")  # of the springs
    step: Array = floats("variables")
    free: Array = floats("variables")  # 1, or 0 for a variable that a limit holds
    trial: Array = floats("variables")
    best: Array = floats("variables")  # the best posture of all attempts
    x: Array = floats("variables")  # the posture at hand
    start: Array = floats("variables")  # where the search began
    columns: Array = floats("own", "tall", LANES)  # J
    border: Array = floats("border", "tall", LANES)  # K and w
    reduced: Array = floats("border", "tall", LANES)  # what elimination makes of the border
    square: Array = floats("tall", "tall", LANES)  # B
    ease: Array = floats("own", LANES)  # E
    shares: Array = floats("own+tall", LANES)  # of a row in the others, and scratch
    trunk: Array = floats("border", "border")  # normal equations of the trunk


@jit
def workspace_size(nodes, frames, n, m):
    """How many numbers `carve_workspace` cuts up."""
    s = max(min(n, m), 1)
    return 10 * nodes + 7 * frames + n * m + s * s + 2 * m + 8 * n


@jit
def carve_workspace(buffer, nodes, frames, n, m):
    """A Workspace out of a flat buffer, where threads have a row each and no table: on a graphics card.

    There are no lanes there, and nothing for them.
    """
    s = max(min(n, m), 1)
    poses, rest = buffer[: 7 * nodes].reshape((nodes, 7)), buffer[7 * nodes :]
    axes, rest = rest[: 3 * nodes].reshape((nodes, 3)), rest[3 * nodes :]
    world, rest = rest[: 7 * frames].reshape((frames, 7)), rest[7 * frames :]
    jacobian, rest = rest[: n * m].reshape((n, m)), rest[n * m :]
    system, rest = rest[: s * s].reshape((s, s)), rest[s * s :]
    residual, right, rest = rest[:m], rest[m : 2 * m], rest[2 * m :]
    gradient, diagonal, step, free = rest[:n], rest[n : 2 * n], rest[2 * n : 3 * n], rest[3 * n : 4 * n]
    trial, best, x, start = rest[4 * n : 5 * n], rest[5 * n : 6 * n], rest[6 * n : 7 * n], rest[7 * n : 8 * n]
    none = rest[:0]
    cube, square = none.reshape((0, 0, LANES)), none.reshape((0, LANES))
    return Workspace(
        poses, axes, world, jacobian, system, residual, right, gradient, diagonal, step, free, trial, best, x, start,
        cube, cube, cube, cube, square, square, none.reshape((0, 0)),
    )  # fmt: skip
