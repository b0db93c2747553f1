"""TORQUE: motors bear the weight of a body.

With the centre c_i of mass m_i, moved by the motions that the variable k drives, the torque (or force) that keeps k at rest is

    tau_k = - sum_i m_i g·v_ik        e_k = sign(tau_k) max(0, |tau_k| / effort_k - share)

where v_ik is the velocity of c_i for a unit velocity of k. The derivative of v_j, the velocity by motion j, by a motion i is
w_i x v_j for an i before j or j itself, and w_j x v_i for an i after it (w is the angular velocity, see manipulability.py).
"""

from memetik.kernels.body.motion import twist
from memetik.kernels.body.records import SCREW, SLIDE
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import axis, load
from memetik.kernels.terms.manipulability import MOTION_KIND, MOTION_PITCH, MOTION_RATIO, MOTION_ROW
from memetik.kernels.terms.records import TermKind, declare

# Target: gravity, and the share of the effort that is free. Data: for each residual, where its items are, how many, and one over
# the effort; an item is the place of a motion (see manipulability.py), the row of the frame at the centre of a mass that it
# moves, and that mass.
SHARE = 3
EFFORT_FIRST, EFFORT_COUNT, EFFORT_INVERSE, EFFORT_DATA = 0, 1, 2, 3
ITEM_MOTION, ITEM_FRAME, ITEM_MASS, ITEM_DATA = 0, 1, 2, 3


@jit
def torque_share(term, data, world, at):
    """The torque of the variable whose numbers stand at a place, over its effort."""
    gx, gy, gz = data[term.target], data[term.target + 1], data[term.target + 2]
    item = int(data[at + EFFORT_FIRST])
    total = 0.0
    for _ in range(int(data[at + EFFORT_COUNT])):
        motion, f = int(data[item + ITEM_MOTION]), int(data[item + ITEM_FRAME])
        pose = load(world, int(data[motion + MOTION_ROW]), 0)
        ux, uy, uz = axis(pose)
        along = gx * ux + gy * uy + gz * uz
        kind = data[motion + MOTION_KIND]
        if kind != SLIDE:
            rx, ry, rz = world[f, 4] - pose[4], world[f, 5] - pose[5], world[f, 6] - pose[6]
            along *= data[motion + MOTION_PITCH] if kind == SCREW else 0.0
            along += gx * (uy * rz - uz * ry) + gy * (uz * rx - ux * rz) + gz * (ux * ry - uy * rx)
        total -= data[item + ITEM_MASS] * data[motion + MOTION_RATIO] * along
        item += ITEM_DATA
    return total * data[at + EFFORT_INVERSE]


@jit_part
def torque_residual(term, data, world, x, out):
    share = data[term.target + SHARE]
    for row in range(term.rows):
        load_share = torque_share(term, data, world, term.numbers + row * EFFORT_DATA)
        out[term.row + row] = load_share - min(max(load_share, -share), share)


@jit_part
def torque_jacobian(term, data, world, x, nodes, frames, poses, axes, scale, jacobian):
    gx, gy, gz = data[term.target], data[term.target + 1], data[term.target + 2]
    for row in range(term.rows):
        at = term.numbers + row * EFFORT_DATA
        if abs(torque_share(term, data, world, at)) <= data[term.target + SHARE]:
            continue
        item = int(data[at + EFFORT_FIRST])
        for _ in range(int(data[at + EFFORT_COUNT])):
            f = int(data[item + ITEM_FRAME])
            weight = scale * data[at + EFFORT_INVERSE] * data[item + ITEM_MASS]
            j = frames[int(data[int(data[item + ITEM_MOTION]) + MOTION_ROW])].node
            px, py, pz = world[f, 4], world[f, 5], world[f, 6]
            vjx, vjy, vjz, wjx, wjy, wjz = twist(nodes, poses, axes, j, px, py, pz)
            i = frames[f].node
            while i >= 0:
                vx, vy, vz, wx, wy, wz = twist(nodes, poses, axes, i, px, py, pz)
                if i <= j:
                    vx, vy, vz = vjx, vjy, vjz
                else:
                    wx, wy, wz = wjx, wjy, wjz
                gain = gx * (wy * vz - wz * vy) + gy * (wz * vx - wx * vz) + gz * (wx * vy - wy * vx)
                jacobian[nodes[i].variable, term.row + row] -= weight * gain
                i = nodes[i].parent
            item += ITEM_DATA


TORQUE = declare(TermKind(27, "torque", "", None, torque_residual, torque_jacobian))
