"""A body whose root stands somewhere in the world: the pose of the root goes into what hangs on it, once for each solve.

All other kernels know nothing of it. Only what is kept from solve to solve, the population of the flagship, is seen from the
root, and so are targets that are compared with it.
"""

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import compose, constant, inverse


@jit_part
def root_pose(problem):
    """world_from_root; for problems with mounts only."""
    at, data = problem.mounts[0].root, problem.data
    return data[at], data[at + 1], data[at + 2], data[at + 3], data[at + 4], data[at + 5], data[at + 6]


@jit_part
def write_constant(record, pose):
    """Give a NODE or FRAME record a constant pose."""
    record.w, record.x, record.y, record.z = pose[0], pose[1], pose[2], pose[3]
    record.px, record.py, record.pz = pose[4], pose[5], pose[6]


@jit
def place_root(problem):
    """Put the root where the data have it."""
    for m in range(problem.mounts.size):
        mount = problem.mounts[m]
        pose = compose(root_pose(problem), constant(mount))
        if mount.is_frame:
            write_constant(problem.frames[mount.row], pose)
        else:
            write_constant(problem.nodes[mount.row], pose)


@jit
def seen_from_root(problem, pose):
    """A pose in the world as it is seen from the root."""
    if problem.mounts.size == 0:
        return pose
    return compose(inverse(root_pose(problem)), pose)


@jit
def seen_from_world(problem, pose):
    """A pose that is seen from the root as it is in the world."""
    if problem.mounts.size == 0:
        return pose
    return compose(root_pose(problem), pose)
