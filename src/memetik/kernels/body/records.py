"""The flat form of a body: one row for each motion, one row for each frame that rides on it.

Rows of a structured array cross from Python into a kernel as one argument, whatever the number of fields.

Every motion acts along the z axis of its own frame: the packer turns the joint frames so that it holds. This makes
the local transform a few multiplications, and the world axis of the motion the third column of its rotation.
"""

import numpy as np

from memetik.kernels.runtime.record import item

TURN, SLIDE, SCREW = 0, 1, 2

_POSE = dict.fromkeys(("w", "x", "y", "z", "px", "py", "pz"), float)

# One scalar motion. Rows stand in depth-first order, so parents come first and the motions below row i are exactly
# rows i + 1 to `last`. The pose fields hold the static transform from the parent's moved frame to this motion's frame.
NODE = item(
    parent=np.int32,  # row of the motion before this one, -1 at the root
    last=np.int32,  # last row of the subtree that this motion carries
    motion=np.int32,  # TURN, SLIDE or SCREW
    variable=np.int32,  # index into q
    ratio=float,  # value = ratio * q[variable] + offset
    offset=float,
    pitch=float,  # SCREW only [m/rad]
    **_POSE,
)

# Three turns without limits about axes at right angles, behind each other (balls.py).
BALL = item(
    node=int,  # row of the first turn; the other two follow
    variable=int,  # of the first turn; the other two follow
    sign=float,  # -1 if the axes of the turns in their order are left-handed
)

# What hangs on the root of a body that stands somewhere in the world: a motion or a frame whose constant pose the pose of the
# root is multiplied into. The pose fields hold what it is seen from the root.
MOUNT = item(
    row=int,
    is_frame=int,  # 1: of the frames, 0: of the nodes
    root=int,  # where the pose of the root stands in the data
    **_POSE,
)

# A frame fixed to a moved node (or to the root, node -1) by a constant pose.
FRAME = item(node=np.int32, **_POSE)
