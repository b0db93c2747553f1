"""Bio IK, the objective function: from genes to poses to losses to fitness (section 4.4), and when to stop (4.5.9).

Forward kinematics is that of the tree, whole or only of what has changed (OFKT). Both ways run the same instructions, so they
agree to the last bit: without the OFKT, the tree is made to forget all first. Row i of scratch.tree holds the value that
node i was last computed for and its local transform, as in ofkt.py; its transform in the root frame is the pose itself.
"""

import math

from memetik.kernels.body.forward import frame_pose
from memetik.kernels.body.ofkt import clear, update_poses
from memetik.kernels.compiler.jit import jit_part
from memetik.kernels.math.pose import store
from memetik.kernels.problem.evaluate import term_error
from memetik.kernels.problem.losses import average, write_losses


@jit_part
def place_changes(problem, x, scratch, world):
    """The nodes that x moves, then all frames that the terms read."""
    update_poses(problem.nodes, x, scratch.tree, scratch.poses, 0, None)
    for f in range(problem.frames.size):
        store(frame_pose(problem.frames[f], scratch.poses), world, f, 0)


@jit_part
def combine(terms, norm, weights, losses):
    """The fitness phi of losses, eq. 4.3 or the mean error; what is not a number is as bad as can be."""
    phi = average(terms, losses, weights, norm)
    return phi if phi < math.inf else math.inf


@jit_part
def evaluate(problem, settings, weights, x, scratch):
    """Omega(x): place the body, write scratch.losses and return the fitness. This is one evaluation."""
    if not settings.ofkt:
        clear(scratch.tree)
    place_changes(problem, x, scratch, scratch.world)
    scratch.tally[0].spent += 1
    write_losses(problem.terms, problem.data, scratch.world, x, scratch.residual, scratch.losses)
    return combine(problem.terms, settings.norm, weights, scratch.losses)


@jit_part
def terminates(terms, data, x, residual):
    """Whether the posture that was just evaluated satisfies every term that can block, each by its own tolerance.

    No threshold of the fitness could say that. Where all terms are guides, nothing is ever reached.
    """
    blocks = False
    for t in range(terms.size):
        if not terms[t].soft:
            blocks = True
            if not term_error(terms[t], data, x, residual)[1]:
                return False
    return blocks
