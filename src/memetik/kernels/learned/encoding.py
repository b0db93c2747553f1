"""What a learned solver reads and says: targets as numbers for its inputs, outputs between 0 and 1 as joint values.

A position is its three coordinates. An orientation is the first two columns of its rotation matrix: six numbers that change
smoothly with it, as no set of four or fewer does (q and -q are one rotation, angles jump).
"""

from typing import NamedTuple

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import compose, inverse, load
from memetik.kernels.problem.evaluate import place
from memetik.kernels.runtime.record import Array, floats
from memetik.kernels.terms.records import POINT, ROTATION

POSITION_INPUTS, ORIENTATION_INPUTS = 3, 6


@jit_part
def write_inputs(goal, pose, out, at):
    """Write the position or orientation of a pose from `at` on; where the next one goes."""
    if goal == POINT:
        out[at], out[at + 1], out[at + 2] = pose[4], pose[5], pose[6]
        return at + POSITION_INPUTS
    w, x, y, z = pose[0], pose[1], pose[2], pose[3]
    out[at] = 1.0 - 2.0 * (y * y + z * z)
    out[at + 1] = 2.0 * (x * y + w * z)
    out[at + 2] = 2.0 * (x * z - w * y)
    out[at + 3] = 2.0 * (x * y - w * z)
    out[at + 4] = 1.0 - 2.0 * (x * x + z * z)
    out[at + 5] = 2.0 * (y * z + w * x)
    return at + ORIENTATION_INPUTS


@jit
def write_wanted(terms, data, out):
    """The targets of all positions and orientations of a problem; other terms have none to read. Returns how many numbers."""
    at = 0
    for t in range(terms.size):
        if terms[t].goal == POINT or terms[t].goal == ROTATION:
            k = terms[t].target
            pose = (data[k], data[k + 1], data[k + 2], data[k + 3], data[k + 4], data[k + 5], data[k + 6])
            at = write_inputs(terms[t].goal, pose, out, at)
    return at


@jit_part
def write_shown(terms, world, out):
    """The targets that the frames would satisfy where they are."""
    at = 0
    for t in range(terms.size):
        if terms[t].goal == POINT or terms[t].goal == ROTATION:
            pose = load(world, terms[t].frame, 0)
            if terms[t].other >= 0:
                pose = compose(inverse(load(world, terms[t].other, 0)), pose)
            at = write_inputs(terms[t].goal, pose, out, at)


@jit
def show_all(nodes, frames, terms, postures, poses, world, inputs):
    """A row of inputs for every posture, which answers it."""
    for r in range(postures.shape[0]):
        place(nodes, frames, postures[r], poses, world)
        write_shown(terms, world, inputs[r])


class Scales(NamedTuple):
    """The ranges that inputs and outputs between 0 and 1 stand for."""

    low: Array = floats("inputs")
    gain: Array = floats("inputs")
    lower: Array = floats("variables")
    span: Array = floats("variables")


@jit_part
def scale_in(scales, inputs):
    """Bring inputs of the range of the training set between 0 and 1, in place."""
    for i in range(scales.low.size):
        inputs[i] = (inputs[i] - scales.low[i]) * scales.gain[i]


@jit_part
def scale_out(outputs, first, scales, x):
    """Joint values from outputs between 0 and 1, which stand from `first` on."""
    for k in range(x.size):
        x[k] = scales.lower[k] + scales.span[k] * min(max(outputs[first + k], 0.0), 1.0)
