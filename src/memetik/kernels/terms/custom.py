"""CUSTOM: residuals by a function that a user wrote, of frames and joint values.

The function is compiled alone, with a small kernel that is made for it here, and called by address. The Jacobian comes
from central differences of the residuals e: six small motions s_d of each frame that it reads (three shifts and three
turns in world axes) and one change of each joint value x_j that it reads,

    de/dx_k = sum_d (de/ds_d) (ds_d/dx_k) + de/dx_j where x_j is x_k,

so the number of calls grows with what the function reads and not with the number of joints of the body.
"""

import functools
import itertools
import math
from typing import Any, NamedTuple

import numba
import numpy as np

from memetik.kernels.body.motion import twist
from memetik.kernels.compiler.jit import jit, jit_allocating, jit_part
from memetik.kernels.geometry.closest import unit
from memetik.kernels.math.pose import load, store
from memetik.kernels.terms.callback import call_back, call_guarded
from memetik.kernels.terms.records import TermKind, declare

# Data: addresses of the compiled function (negative for none) and of the way into Python, in two halves each; how many joints
# it reads, the rows of `count` frames, then for each joint: variable (-1 for none), ratio, offset; the value of the joint is
# ratio * variable + offset. Last the numbers that the function captured.
CUSTOM_COMPILED, CUSTOM_PYTHON, CUSTOM_JOINTS, CUSTOM_FRAMES = 0, 2, 4, 5
JOINT_VARIABLE, JOINT_RATIO, JOINT_OFFSET, READ_JOINT = 0, 1, 2, 3

STEP = 2.0**-17  # m or rad: about the cube root of the rounding error, where central differences are best
Vector = tuple[float, float, float]


class FrameView(NamedTuple):
    """A frame as a user's function sees it, in world coordinates."""

    position: Vector  # m
    quaternion: tuple[float, float, float, float]  # w, x, y, z
    axis_x: Vector  # unit vectors, the columns of the rotation
    axis_y: Vector
    axis_z: Vector


@jit
def frame_view(w, x, y, z, px, py, pz):
    """The view of a frame from its pose."""
    return FrameView(
        (px, py, pz),
        (w, x, y, z),
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)),
        (2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)),
        (2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)),
    )


@jit
def joint_value(data, at, x):
    """The value of a joint that is read: ratio * variable + offset; a locked one has no variable, only the offset."""
    k = int(data[at + JOINT_VARIABLE])
    return data[at + JOINT_OFFSET] + (data[at + JOINT_RATIO] * x[k] if k >= 0 else 0.0)


@jit
def nudge(pose, direction, step):
    """The pose shifted along (direction 0 to 2) or turned about (3 to 5) a world axis."""
    w, x, y, z, px, py, pz = pose
    ux, uy, uz = unit(direction)
    if direction < 3:
        return w, x, y, z, px + step * ux, py + step * uy, pz + step * uz
    c, s = math.cos(0.5 * step), math.sin(0.5 * step)
    a, b, d = s * ux, s * uy, s * uz
    return (
        c * w - a * x - b * y - d * z,
        c * x + a * w + b * z - d * y,
        c * y + b * w + d * x - a * z,
        c * z + d * w + a * y - b * x,
        px,
        py,
        pz,
    )


@jit
def address_at(data, at):
    """An address that stands in the data as two halves, so that no bit is lost."""
    return int(data[at]) * 2**32 + int(data[at + 1])


@jit_part
def custom_residual(term, data, world, x, out):
    """Ask the compiled function; where there is none, or it raised an exception, ask Python, which can tell."""
    compiled = address_at(data, term.numbers + CUSTOM_COMPILED)
    if compiled < 0 or call_guarded(compiled, term, data, world, x, out):
        call_back(
            address_at(data, term.numbers + CUSTOM_PYTHON),
            data[term.numbers :].ctypes.data,
            world.ctypes.data,
            x.ctypes.data,
            out[term.row :].ctypes.data,
            term.rows,
        )


@jit_part
def first_time(data, at, k, width):
    """Whether item k of a list of `width` numbers each does not stand in the list before: each is varied once."""
    for other in range(k):  # noqa: SIM110 - kernels have no generators
        if data[at + other * width] == data[at + k * width]:
            return False
    return True


@jit
def slope(ahead, behind):
    """Central difference; zero where the function has no finite value, so that a step stays finite."""
    difference = (ahead - behind) / (2.0 * STEP)
    return difference if math.isfinite(difference) else 0.0


@jit_allocating
def custom_jacobian(term, data, world, x, nodes, frames, poses, axes, scale, jacobian):
    first, rows = term.row, term.rows
    ahead, behind = np.empty(first + rows), np.empty(first + rows)
    slopes = np.empty((6, rows))
    for f in range(term.count):
        row = int(data[term.numbers + CUSTOM_FRAMES + f])
        i = frames[row].node
        if i < 0 or not first_time(data, term.numbers + CUSTOM_FRAMES, f, 1):
            continue
        pose = load(world, row, 0)
        for d in range(6):
            store(nudge(pose, d, STEP), world, row, 0)
            custom_residual(term, data, world, x, ahead)
            store(nudge(pose, d, -STEP), world, row, 0)
            custom_residual(term, data, world, x, behind)
            for r in range(rows):
                slopes[d, r] = scale * slope(ahead[first + r], behind[first + r])
        store(pose, world, row, 0)
        while i >= 0:
            motion = twist(nodes, poses, axes, i, pose[4], pose[5], pose[6])
            k = nodes[i].variable
            for d in range(6):
                for r in range(rows):
                    jacobian[k, first + r] += motion[d] * slopes[d, r]
            i = nodes[i].parent
    at = term.numbers + CUSTOM_FRAMES + term.count
    for j in range(int(data[term.numbers + CUSTOM_JOINTS])):
        k = int(data[at + j * READ_JOINT + JOINT_VARIABLE])
        if k < 0 or not first_time(data, at + JOINT_VARIABLE, j, READ_JOINT):
            continue
        value = x[k]
        x[k] = value + STEP
        custom_residual(term, data, world, x, ahead)
        x[k] = value - STEP
        custom_residual(term, data, world, x, behind)
        x[k] = value
        for r in range(rows):
            jacobian[k, first + r] += scale * slope(ahead[first + r], behind[first + r])


CUSTOM = declare(TermKind(15, "custom", "", None, custom_residual, custom_jacobian, calls_python=True))


# ---- Kernels made for one function ------------------------------------------------------------------------


def residual_function(function: Any, frames: int, joints: int, rows: int | None, captured: tuple[int, ...] = ()) -> Any:
    """What is to be compiled to call a compiled function as a residual; it passes on what the function raises.

    rows: how many residuals a tuple has, 0 for a single number, None for an array, whose length is checked.
    captured: sizes of tuples, 0 for single numbers, that stand behind the joints and that the function gets in a pair
    with its first argument; none: the first argument stands alone.
    """
    arguments, numbers = _arguments(frames, joints, captured), _numbers(rows)

    def residual(term, data, world, x, out):
        values = numbers(function(*arguments(data, term.numbers, world, x)))
        if len(values) != term.rows:
            raise ValueError("the number of residuals has changed")
        for i in range(term.rows):
            out[term.row + i] = values[i]

    return residual


@functools.cache
def _arguments(frames: int, joints: int, captured: tuple[int, ...]) -> Any:
    """A kernel that reads what functions of so many frames and joints get."""
    reads = [f"frame_view(*load(world, int(data[at + {CUSTOM_FRAMES + k}]), 0))" for k in range(frames)]
    reads += [f"joint_value(data, at + {CUSTOM_FRAMES + frames + READ_JOINT * k}, x)" for k in range(joints)]
    if captured:
        places = itertools.count(CUSTOM_FRAMES + frames + READ_JOINT * joints)
        values = ["".join(f"data[at + {next(places)}], " for _ in range(size or 1)) for size in captured]
        numbers = "".join(f"({value}), " if size else value for size, value in zip(captured, values, strict=True))
        reads[0] = f"({reads[0]}, ({numbers}))"
    return _written(f"lambda data, at, world, x: ({', '.join(reads)},)")


@functools.cache
def _numbers(rows: int | None) -> Any:
    """A kernel that turns what a function returns into something with a length."""
    form = {None: "value", 0: "(float(value),)"}.get(rows, f"({'float(value[{}]), ' * (rows or 0)})")
    return _written(f"lambda value: {form.format(*range(rows or 0))}")


def _written(text: str) -> Any:
    """A kernel from the text of a lambda."""
    known = {"__name__": "memetik", "frame_view": frame_view, "joint_value": joint_value, "load": load}
    return numba.njit(error_model="numpy")(eval(text, known))
