"""Gauss-Newton by hand on a tree with revolute, prismatic and screw joints and two end effectors, beside memetik's.

Every joint hangs on a parent by a fixed rotation R_c and offset p_c. Its variable q turns the child about an axis k and
moves it along a direction d; a revolute joint has d = 0, a prismatic one k = 0, a screw joint both:

    C <- C_parent + R_parent p_c + q R_parent R_c d
    R <- R_parent R_c exp([k] q)

A unit of speed in a joint moves the effectors that hang on it, directly or not, with the velocity

    w × (p - C) + R_parent R_c d          with the world axis w = R k

which is a column of J; effectors on other branches do not move. Then q <- q - J^+ r as for a chain.
"""

import numpy as np

import memetik as mk

X, Y, Z = np.eye(3)
NONE = np.zeros(3)
PITCH = 0.1  # of the screw [m/rad]
#       parent, axis k, direction d, turn about z before the joint [rad], offset p_c [m]
JOINTS = [
    (-1, Z, NONE, 0.0, (0.0, 0.0, 0.3)),  # 0: a trunk that turns
    (0, NONE, Z, 0.2, (0.0, 0.0, 0.2)),  # 1: and a slide that lifts
    (1, Y, NONE, 0.5, (0.2, 0.0, 0.0)),  # 2: left branch
    (2, X, PITCH * X, 0.0, (0.2, 0.0, 0.0)),  # 3: which a screw lengthens
    (3, Z, NONE, 0.0, (0.1, 0.0, 0.0)),  # 4
    (1, Y, NONE, -0.8, (0.2, 0.0, 0.1)),  # 5: right branch
    (5, NONE, X, 0.3, (0.1, 0.0, 0.0)),  # 6
    (6, Z, NONE, 0.0, (0.2, 0.0, 0.0)),  # 7
]
EFFECTORS = [(4, (0.2, 0.0, 0.1)), (7, (0.3, 0.0, 0.0))]  # the joint that carries it, offset [m]


# ---- By hand ------------------------------------------------------------------------------------------------


def rotation(axis, angle):
    """Rodrigues: exp([k] a) = I + sin(a) [k] + (1 - cos(a)) [k]^2, with [k] v = k × v."""
    K = np.cross(np.eye(3), axis)
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K


def carriers(joint):
    """The joint and all joints that it hangs on."""
    while joint >= 0:
        yield joint
        joint = JOINTS[joint][0]


def effectors_and_jacobian(q):
    """The positions of all end effectors and their derivatives by the joints."""
    R, C, axes, directions = {-1: np.eye(3)}, {-1: np.zeros(3)}, [], []
    for j, (parent, axis, direction, turn, offset) in enumerate(JOINTS):
        fixed = R[parent] @ rotation(Z, turn)
        C[j] = C[parent] + R[parent] @ offset + q[j] * fixed @ direction
        R[j] = fixed @ rotation(axis, q[j])
        axes.append(R[j] @ axis)
        directions.append(fixed @ direction)
    positions = [R[j] @ offset + C[j] for j, offset in EFFECTORS]
    J = np.zeros((3 * len(EFFECTORS), len(q)))
    for e, (carrier, _) in enumerate(EFFECTORS):
        for j in carriers(carrier):
            J[3 * e : 3 * e + 3, j] = np.cross(axes[j], positions[e] - C[j]) + directions[j]
    return np.concatenate(positions), J


goal = np.array([0.4, 0.15, -0.5, 0.8, 0.6, -0.7, 0.1, 0.5])
targets, _ = effectors_and_jacobian(goal)
start = goal + np.array([0.3, 0.1, -0.3, 0.3, -0.3, 0.3, -0.1, 0.3])

by_hand = [start]
for _ in range(6):
    positions, J = effectors_and_jacobian(by_hand[-1])
    by_hand.append(by_hand[-1] - np.linalg.pinv(J) @ (positions - targets))

# ---- The same tree in memetik -------------------------------------------------------------------------------

builder = mk.build.BodyBuilder("tree", root_link="link_-1")
for j, (parent, axis, direction, turn, offset) in enumerate(JOINTS):
    kind = "prismatic" if not axis.any() else "screw" if direction.any() else "continuous"
    builder.add(
        f"link_{parent}",
        f"joint_{j}",
        kind,
        f"link_{j}",
        origin=(offset, rotation(Z, turn)),
        axis=axis if axis.any() else direction,
        screw_pitch=PITCH if kind == "screw" else 0.0,
    )
body = builder.build()

objectives = [
    mk.Position(body.frame(f"link_{j}", offset=offset), targets[3 * e : 3 * e + 3], tolerance=1e-12)
    for e, (j, offset) in enumerate(EFFECTORS)
]
problem = mk.Problem(body, objectives)
plain = mk.solvers.GaussNewton(
    restarts=False, line_search=False, longest_step=np.inf
)  # as written above, nothing added
order = [body.joint_names.index(f"joint_{j}") for j in range(len(JOINTS))]  # a body numbers its joints branch by branch

print("step   distance to the targets [m]   apart from by hand [rad, m]")
for k, q in enumerate(by_hand):
    solution = plain.solve(problem, start[np.argsort(order)], mk.Budget(evaluations=k + 1))
    found = solution.q[order]
    distance = np.linalg.norm(effectors_and_jacobian(found)[0] - targets)
    apart = np.abs(found - q).max()
    print(f"{k:4d}   {distance:27.1e}   {apart:27.1e}")
    assert apart < 1e-8
assert distance < 1e-12
