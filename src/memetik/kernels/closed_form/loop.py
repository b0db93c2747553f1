"""Six joints and their target as a loop that begins at any joint.

The turns g0 ... g5 are to multiply to M, the motion that takes the tip from where it is at zero to the target. Then also

    g_k ... g5 (M^-1 g0 M) ... (M^-1 g_(k-1) M) = M

where M^-1 g M turns by the same angle about the axis moved by M^-1. So three axes that meet or are parallel may always be
taken to stand where a closed form wants them, and an arm with a spherical shoulder is one with a spherical wrist.
"""

from memetik.kernels.closed_form.subproblems import about_line
from memetik.kernels.closed_form.trigonometric import TOUCHES
from memetik.kernels.compiler.jit import jit
from memetik.kernels.math.pose import compose, inverse, turn

BLUR = 100.0  # how much farther off the coefficients of an equation may be than the arm is


@jit
def vector(rows, k):
    """Row k, a vector."""
    return rows[k, 0], rows[k, 1], rows[k, 2]


@jit
def moved_point(pose, point):
    """Where a pose takes a point."""
    x, y, z = turn(pose, point[0], point[1], point[2])
    return x + pose[4], y + pose[5], z + pose[6]


@jit
def close_loop(arm, loop, motion, begin):
    """Write the loop that begins at axis `begin` of the six that are not held, and return what its turns multiply to.

    motion: takes the tip from where it is with all joints at zero to the target. With the joint h held, its turn moves all
    axes behind it, and its inverse goes to the right end of the product.
    """
    loop.touches[0] = TOUCHES + BLUR * arm.off
    held = arm.held
    hold = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    if held >= 0:
        hold = about_line(vector(arm.axes, held), vector(arm.points, held), loop.posture[held])
        motion = compose(motion, inverse(hold))
    back = inverse(motion)
    for k in range(6):
        place = (begin + k) % 6
        joint = place if held < 0 or place < held else place + 1
        axis, point = vector(arm.axes, joint), vector(arm.points, joint)
        if 0 <= held < joint:
            axis, point = turn(hold, axis[0], axis[1], axis[2]), moved_point(hold, point)
        if place < begin:
            axis, point = turn(back, axis[0], axis[1], axis[2]), moved_point(back, point)
        loop.axes[k, 0], loop.axes[k, 1], loop.axes[k, 2] = axis
        loop.points[k, 0], loop.points[k, 1], loop.points[k, 2] = point
        loop.joints[k] = joint
        loop.start[k] = loop.posture[joint]
    return motion
