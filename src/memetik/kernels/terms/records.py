"""The flat form of objectives: one TERM for each thing that is measured, its numbers in a common data array.

An objective packs into one or more terms (a pose is a position and an orientation). Terms read frames and variables and
give residuals, zero when satisfied. `scale` turns a residual [m, rad] into what the search minimises.
"""

from __future__ import annotations

import numpy as np

TERM = np.dtype(
    (
        np.record,
        [
            ("residual", np.int64),  # addresses of the kernels that compute it (compiler/function_pointers.py)
            ("jacobian", np.int64),
            ("kind", np.int32),
            ("frame", np.int32),  # row in the frames, -1 for none
            ("other", np.int32),  # row of the frame that the target rides on, -1: the world
            ("row", np.int32),  # first residual
            ("rows", np.int32),  # how many residuals; 0 for springs, which act on single variables
            ("target", np.int32),  # where the numbers that say what is wanted start in the data array
            ("numbers", np.int32),  # where its other numbers start
            ("count", np.int32),  # how many items follow, where the kind has a list
            ("soft", np.int32),  # 1: guides, never blocks
            ("unused", np.int32),  # the numbers below stand at multiples of eight bytes, as graphics cards want it
            ("scale", np.float64),  # square root of the weight over the unit of the residual
            ("tolerance", np.float64),  # error [m or rad] up to which the term is satisfied
            ("reach", np.float64),  # length of the chain to the frame [m], for the thesis's loss
            ("weight", np.float64),  # of the objective, for the thesis's loss
        ],
    )
)

# The kinds, each with its residual.
POSITION = 0  # where the frame is, in the axes of the target
ORIENTATION = 1  # rotation vector from the target to the frame
AIM = 2  # an axis of the frame points along a direction or to a point
SPRINGS = 3  # single variables held at a value or inside an interval
DISTANCE = 4  # groups of solids keep apart
RANGE = 5  # how far a frame is from a point, at least and at most
PLANE = 6  # the lowest point of the solids on a frame lies on a plane, or above it
PROJECTION = 12  # a ray from the frame meets a surface where the frame is
PROJECTION_TURN = 13  # and the frame faces the surface there
BALANCE = 14  # the centre of mass stands over a polygon
CUSTOM = 15  # whatever a user's function returns

# POSITION, ORIENTATION. Target: a pose. Data: mask of three axes (0 free, 1 full), tolerance of each axis.
MASK, AXIS_TOLERANCE, POSE_DATA = 0, 3, 6
# AIM. Target: a direction or point. Data: axis in the frame, 1 for a point, half angle [rad] that is free.
AIM_AXIS, AIM_IS_POINT, AIM_FREE, AIM_DATA = 0, 3, 4, 5
# SPRINGS. Data, for each of `count`: variable, stiffness, lower and upper end of the rest interval.
SPRING_VARIABLE, SPRING_STIFFNESS, SPRING_LOW, SPRING_HIGH, SPRING_DATA = 0, 1, 2, 3, 4
# `other` of springs that rest where the solve starts.
FOLLOWS_START = -2
# PROJECTION, PROJECTION_TURN. Data: direction of the ray in the frame, how far behind the frame it starts [m], residual
# of a miss [m], angle [rad] that is free, place of the surface in the data array (terms/geometry/rays.py).
PROJECTION_AXIS, PROJECTION_LIFT, PROJECTION_MISS, PROJECTION_FREE, PROJECTION_SURFACE = 0, 3, 4, 5, 6
# BALANCE. Target: number of corners, x and y of each. Data, for each of `count`: row of the frame at the centre of a
# mass, its share of the whole mass.
MASS_FRAME, MASS_SHARE, MASS_DATA = 0, 1, 2

# CUSTOM. Data: addresses of the compiled function (negative for none) and of the way into Python, in two halves each;
# how many joints it reads, the rows of `count` frames, then for each joint: variable (-1 for none), ratio, offset; the
# value of the joint is ratio * variable + offset. Last the numbers that the function captured.
CUSTOM_COMPILED, CUSTOM_PYTHON, CUSTOM_JOINTS, CUSTOM_FRAMES = 0, 2, 4, 5
JOINT_VARIABLE, JOINT_RATIO, JOINT_OFFSET, READ_JOINT = 0, 1, 2, 3

# A solid: the sum of a box, a disc across z and a ball. Pose, half sizes of the box, radii of the disc and the ball.
SOLID_BOX, SOLID_DISC, SOLID_BALL, SOLID_DATA = 7, 10, 11, 12
# A group of solids on one frame: its row (-1: the world), centre and radius of a ball around all, how many, the solids.
GROUP_FRAME, GROUP_CENTER, GROUP_RADIUS, GROUP_COUNT, GROUP_SOLIDS = 0, 1, 4, 5, 6
# DISTANCE. Data: margin [m], then for each of `count` pairs the places of two groups.
DISTANCE_MARGIN, DISTANCE_PAIRS = 0, 1
# RANGE. Target: a point, the least and the greatest distance.
RANGE_LEAST, RANGE_MOST, RANGE_TARGET = 3, 4, 5
# PLANE. Target: a point and the normal. Data: 1 if above is as good as on it, then `count` solids.
PLANE_NORMAL, PLANE_TARGET = 3, 6
PLANE_ABOVE, PLANE_SOLIDS = 0, 1
