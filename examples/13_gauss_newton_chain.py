"""Gauss-Newton by hand, in NumPy, on a chain of revolute joints with two end effectors, beside memetik's.

Each joint sits at an offset p in the frame of the joint before and turns about an axis k. From the root outwards

    c <- c + R p        where the joint is
    R <- R exp([k] a)   how it is turned, a is its angle

An end effector is fixed to a joint: its position is R p_e + c. A joint that turns with unit speed about its world axis w
moves the effectors that it carries with the velocity w × (p - c), which is its column of the Jacobian J. With the
residuals r, where the effectors are minus where they should be, Gauss-Newton repeats

    q <- q - J^+ r

until r is small. Near the solution the number of right digits doubles with every step, as the output shows.
"""

import numpy as np

import memetik as mk

X, Y, Z = np.eye(3)
JOINTS = [  # axis, offset from the joint before [m]
    (Z, (0.0, 0.0, 0.2)),
    (Y, (0.0, 0.1, 0.1)),
    (X, (0.3, 0.0, 0.0)),
    (Z, (0.2, 0.0, 0.0)),
    (Y, (0.2, 0.0, 0.1)),
    (X, (0.1, 0.0, 0.0)),
    (Y, (0.1, 0.1, 0.0)),
]
EFFECTORS = [(6, (0.2, 0.0, 0.0)), (3, (0.0, 0.1, 0.2))]  # the joint that carries it, offset [m]


# ---- By hand ------------------------------------------------------------------------------------------------


def rotation(axis, angle):
    """Rodrigues: exp([k] a) = I + sin(a) [k] + (1 - cos(a)) [k]^2, with [k] v = k × v."""
    K = np.cross(np.eye(3), axis)
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K


def effectors_and_jacobian(q):
    """The positions of all end effectors (3 numbers each, one after the other) and their derivatives by the joints."""
    R, c, joints = np.eye(3), np.zeros(3), []
    for (axis, offset), angle in zip(JOINTS, q, strict=True):
        c = c + R @ offset
        R = R @ rotation(axis, angle)
        joints.append((R @ axis, R, c))
    positions = [joints[j][1] @ offset + joints[j][2] for j, offset in EFFECTORS]
    J = np.zeros((3 * len(EFFECTORS), len(q)))
    for j, (axis, _, center) in enumerate(joints):
        for e, (carrier, _) in enumerate(EFFECTORS):
            if j <= carrier:
                J[3 * e : 3 * e + 3, j] = np.cross(axis, positions[e] - center)
    return np.concatenate(positions), J


goal = np.array([0.4, -0.5, 0.6, 0.8, -0.3, 0.5, 0.7])
targets, _ = effectors_and_jacobian(goal)
start = goal + 0.15 * np.array([1, -1, 1, -1, 1, 1, -1])

by_hand = [start]
for _ in range(5):
    positions, J = effectors_and_jacobian(by_hand[-1])
    by_hand.append(by_hand[-1] - np.linalg.pinv(J) @ (positions - targets))

# ---- The same chain in memetik ------------------------------------------------------------------------------

builder, below = mk.build.BodyBuilder("chain"), "base"
for j, (axis, offset) in enumerate(JOINTS):
    builder.add(below, f"joint_{j}", "continuous", f"link_{j}", origin=offset, axis=axis)
    below = f"link_{j}"
body = builder.build()

objectives = [
    mk.Position(body.frame(f"link_{j}", offset=offset), targets[3 * e : 3 * e + 3], tolerance=1e-12)
    for e, (j, offset) in enumerate(EFFECTORS)
]
problem = mk.Problem(body, objectives)
plain = mk.solvers.GaussNewton(
    restarts=False, line_search=False, longest_step=np.inf
)  # as written above, nothing added

print("step   distance to the targets [m]   apart from by hand [rad]")
for k, q in enumerate(by_hand):
    # One evaluation looks at the start, each further one takes a step.
    solution = plain.solve(problem, start, mk.Budget(evaluations=k + 1))
    distance = np.linalg.norm(effectors_and_jacobian(solution.q)[0] - targets)
    apart = np.abs(solution.q - q).max()
    print(f"{k:4d}   {distance:27.1e}   {apart:24.1e}")
    assert apart < 1e-8
assert distance < 1e-12
