"""Gauss-Newton by hand on a chain of ball joints with a full pose as target, beside memetik's.

A ball joint is three revolute joints in one place, about z, x and y in turn (Euler angles). Besides the position p of the
end effector its rotation R_e counts. Its error is the turn that leads to the target, as a rotation vector in the world:

    residuals  r = (p - p_target, -log(R_target R_e^T))
    Jacobian   J = (w × (p - c), w)  in the column of a joint with world axis w at c

The lower half is exact where the error is zero, which is where it has to be.
"""

import numpy as np

import memetik as mk

X, Y, Z = np.eye(3)
BALLS = [  # fixed turn about z before the joint [rad], offset from the joint before [m]
    (0.0, (0.0, 0.0, 0.5)),
    (0.3, (0.0, 0.0, 0.4)),
    (-0.6, (0.1, 0.0, 0.3)),
]
TOOL = (0.0, 0.1, 0.2)  # offset of the end effector from the last joint [m] ...
TOOL_TURN = 0.4  # ... and its turn about x [rad]


# ---- By hand ------------------------------------------------------------------------------------------------


def rotation(axis, angle):
    """Rodrigues: exp([k] a) = I + sin(a) [k] + (1 - cos(a)) [k]^2, with [k] v = k × v."""
    K = np.cross(np.eye(3), axis)
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K


def rotation_vector(R):
    """log R: the axis times the angle. The part of R that is not symmetric is sin(angle) [axis]."""
    sine = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    length = np.linalg.norm(sine)
    angle = np.arctan2(length, 0.5 * (np.trace(R) - 1.0))
    return sine * (angle / length if length > 1e-12 else 1.0)


def pose_and_jacobian(q):
    """The position and the rotation of the end effector, and the Jacobian of both."""
    R, c, axes, centers = np.eye(3), np.zeros(3), [], []
    for ball, (turn, offset) in enumerate(BALLS):
        c = c + R @ offset
        R = R @ rotation(Z, turn)
        for axis, angle in zip((Z, X, Y), q[3 * ball : 3 * ball + 3], strict=True):
            R = R @ rotation(axis, angle)
            axes.append(R @ axis)
            centers.append(c)
    p = c + R @ TOOL
    J = np.vstack([np.cross(axes, p - np.array(centers)).T, np.array(axes).T])
    return p, R @ rotation(X, TOOL_TURN), J


goal = np.array([0.3, -0.4, 0.2, 0.7, 0.5, -0.3, 0.2, 0.6, 0.4])
p_target, R_target, _ = pose_and_jacobian(goal)
start = goal + 0.2 * np.array([1, 1, -1, -1, 1, 1, 1, -1, 1])

by_hand = [start]
for _ in range(5):
    p, R_e, J = pose_and_jacobian(by_hand[-1])
    r = np.concatenate([p - p_target, -rotation_vector(R_target @ R_e.T)])
    by_hand.append(by_hand[-1] - np.linalg.pinv(J) @ r)

# ---- The same chain in memetik ------------------------------------------------------------------------------

builder, below = mk.build.BodyBuilder("ball_joints"), "base"
for ball, (turn, offset) in enumerate(BALLS):
    builder.add(below, f"ball_{ball}", "spherical", f"link_{ball}", origin=(offset, rotation(Z, turn)))
    below = f"link_{ball}"
builder.add(below, "wrist", "fixed", "tool", origin=(TOOL, rotation(X, TOOL_TURN)))
body = builder.build()

target = mk.transform(p_target, R_target)
problem = mk.Problem(body, mk.Pose("tool", target, position_tolerance=1e-12, orientation_tolerance=1e-12))
plain = mk.solvers.GaussNewton(
    restarts=False, line_search=False, longest_step=np.inf
)  # as written above, nothing added

print("step   error of the pose [m, rad]   apart from by hand [rad]")
for k, q in enumerate(by_hand):
    solution = plain.solve(problem, start, mk.Budget(evaluations=k + 1))
    p, R_e, _ = pose_and_jacobian(solution.q)
    error = np.linalg.norm([*(p - p_target), *rotation_vector(R_target @ R_e.T)])
    apart = np.abs(solution.q - q).max()
    print(f"{k:4d}   {error:26.1e}   {apart:24.1e}")
    assert apart < 1e-8
assert error < 1e-12
