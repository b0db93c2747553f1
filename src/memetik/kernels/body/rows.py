"""Forward kinematics, Jacobians and their singular values for many joint vectors, a row each."""

import math

from memetik.kernels.body.forward import forward, frame_pose
from memetik.kernels.body.jacobian import frame_jacobian
from memetik.kernels.compiler.jit import jit_free
from memetik.kernels.math.pose import write_matrix
from memetik.kernels.math.svd import decompose


@jit_free
def forward_rows(nodes, frames, q, poses, out):
    """All frames at every row of q (rows, variables), as 4x4 matrices: out is (rows * frames, 4, 4)."""
    for r in range(q.shape[0]):
        forward(nodes, q[r], poses)
        for k in range(frames.size):
            write_matrix(frame_pose(frames[k], poses), out, r * frames.size + k)


@jit_free
def jacobian_rows(nodes, frames, q, poses, out):
    """Jacobian of the one frame in `frames` at every row of q: out is (rows, 6, variables)."""
    for r in range(q.shape[0]):
        frame_jacobian(nodes, frames, q[r], poses, out[r])


@jit_free
def singular_rows(nodes, frames, q, first, poses, jacobian, vectors, turns, sigma, out):
    """The product of the singular values of the Jacobian, and the largest over the smallest, at every row of q.

    Of the Jacobian the rows from `first` on count, as many as `vectors` (rows, variables) has. out is (rows, 2).
    """
    for r in range(q.shape[0]):
        frame_jacobian(nodes, frames, q[r], poses, jacobian)
        for i in range(sigma.size):
            for k in range(jacobian.shape[1]):
                vectors[i, k] = jacobian[first + i, k]
        decompose(vectors, turns, sigma)
        product, least, most = 1.0, math.inf, 0.0
        for i in range(sigma.size):
            product *= sigma[i]
            least, most = min(least, sigma[i]), max(most, sigma[i])
        out[r, 0] = product
        out[r, 1] = most / least if least > 0.0 else math.inf
