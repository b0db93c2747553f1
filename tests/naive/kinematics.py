"""Forward kinematics straight from the definition of each joint: 4x4 matrices, from every link to the root.

Nothing here uses the kernels, `Joint.motions` or `Joint.transform`: a mistake there must show.
"""

from __future__ import annotations

import math

import numpy as np

from memetik import Body
from memetik.build import Joint

X, Y, Z = np.eye(3)
UNIT = {"x": X, "y": Y, "z": Z}


# ---- Matrices ---------------------------------------------------------------------------------------------


def turn(axis, angle):
    """Rodrigues: R = I cos + (1 - cos) a aT + sin [a]x, as a 4x4 matrix.

    The angle may be complex, or an array of angles, which gives a stack of matrices.
    """
    x, y, z = np.asarray(axis) / math.sqrt(np.dot(axis, axis))
    c, s = np.cos(angle), np.sin(angle)
    T = unmoved(angle)
    R = [
        [c + x * x * (1 - c), x * y * (1 - c) - z * s, x * z * (1 - c) + y * s],
        [y * x * (1 - c) + z * s, c + y * y * (1 - c), y * z * (1 - c) - x * s],
        [z * x * (1 - c) - y * s, z * y * (1 - c) + x * s, c + z * z * (1 - c)],
    ]
    T[..., :3, :3] = np.moveaxis(np.array(R), (0, 1), (-2, -1))
    return T


def slide(axis, distance):
    """A move along an axis, as a 4x4 matrix; an array of distances gives a stack of them."""
    T = unmoved(distance)
    T[..., :3, 3] = np.multiply.outer(distance, np.asarray(axis) / math.sqrt(np.dot(axis, axis)))
    return T


def unmoved(values):
    """The identity, or a stack of as many as there are values."""
    return np.zeros((*np.shape(values), 4, 4), dtype=np.result_type(values, float)) + np.eye(4)


def plane(normal):
    """The x and y of a planar joint: those of its frame after the shortest turn from z to the normal."""
    sine = np.cross(Z, normal)
    angle = math.atan2(math.sqrt(sine @ sine), normal[2])
    if not sine.any():
        sine = Y  # along z nothing turns; against it any half turn would do, and the one about y is taken
    T = turn(sine, angle)
    return T[:3, 0], T[:3, 1]


# ---- Joints -----------------------------------------------------------------------------------------------


def motion(joint: Joint, values):
    """joint_from_child of one joint, from the words of its documentation."""
    a = joint.axis
    if joint.kind == "fixed":
        return np.eye(4)
    if joint.kind in ("revolute", "continuous"):
        return turn(a, values[0])
    if joint.kind == "prismatic":
        return slide(a, values[0])
    if joint.kind == "screw":
        return turn(a, values[0]) @ slide(a, joint.screw_pitch * values[0])
    if joint.kind == "cylindrical":
        return turn(a, values[0]) @ slide(a, values[1])
    if joint.kind == "planar":
        x, y = plane(a)
        return slide(x, values[0]) @ slide(y, values[1]) @ turn(a, values[2])
    if joint.kind == "xyz":
        return slide(X, values[0]) @ slide(Y, values[1]) @ slide(Z, values[2])
    if joint.kind == "spherical":
        first, second, third = (UNIT[letter] for letter in joint.order)
        return turn(first, values[0]) @ turn(second, values[1]) @ turn(third, values[2])
    if joint.kind == "floating":
        first, second, third = (UNIT[letter] for letter in joint.order)
        place = slide(X, values[0]) @ slide(Y, values[1]) @ slide(Z, values[2])
        return place @ turn(first, values[3]) @ turn(second, values[4]) @ turn(third, values[5])
    raise AssertionError(joint.kind)


def suffixes(joint: Joint):
    """What ends the names of a joint's variables."""
    turns = [".r" + letter for letter in joint.order]
    return {
        "fixed": [],
        "cylindrical": [".turn", ".slide"],
        "planar": [".x", ".y", ".turn"],
        "xyz": [".x", ".y", ".z"],
        "spherical": turns,
        "floating": [".x", ".y", ".z", *turns],
    }.get(joint.kind, [""])


def values_of(body: Body, joint: Joint, q):
    """The values of a joint's variables; a mimic joint asks its source, which may ask another."""
    if joint.mimic is None:
        return [q[body.joint_names.index(joint.name + suffix)] for suffix in suffixes(joint)]
    source, multiplier, offset = joint.mimic
    if source in body.joint_names:
        return [multiplier * q[body.joint_names.index(source)] + offset]
    return [multiplier * values_of(body, body.joints[source], q)[0] + offset]


# ---- Bodies -----------------------------------------------------------------------------------------------


def pose(body: Body, link: str, q):
    """root_from_link, walked from the link to the root. With q (dof, n) of n postures, n matrices."""
    holder = {joint.child: joint for joint in body.joints.values()}
    T = np.eye(4)
    while link in holder:
        joint = holder[link]
        T = joint.origin @ motion(joint, values_of(body, joint, q)) @ T
        link = joint.parent
    return T


def forward(body: Body, q):
    """root_from_link of every link, each one on its own."""
    return {link: pose(body, link, q) for link in body.links}


def jacobian(body: Body, link: str, q, offset=None, step=1e-6):
    """Central differences of the position and, by `spin`, of the rotation. Good to 1e-8."""
    offset = np.eye(4) if offset is None else offset
    J = np.zeros((6, len(q)))
    for k, change in enumerate(step * np.eye(len(q))):
        ahead, behind = pose(body, link, q + change) @ offset, pose(body, link, q - change) @ offset
        R = (ahead + behind)[:3, :3] / 2.0
        J[:, k] = [*(ahead - behind)[:3, 3] / (2 * step), *spin((ahead - behind)[:3, :3] / (2 * step), R)]
    return J


def exact_jacobian(body: Body, link: str, q, offset=None, step=1e-30):
    """Complex steps: Im f(q + i h) / h has no difference that could cancel, so it is exact to rounding."""
    offset = np.eye(4) if offset is None else offset
    J = np.zeros((6, len(q)))
    for k, change in enumerate(step * np.eye(len(q))):
        T = pose(body, link, q + 1j * change) @ offset
        J[:, k] = [*T.imag[:3, 3] / step, *spin(T.imag[:3, :3] / step, T.real[:3, :3])]
    return J


def spin(rate, R):
    """The angular velocity w with [w]x = dR/dt R^T, from the two entries in which each component stands."""
    W = rate @ R.T
    return np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) / 2.0


def center_of_mass(body: Body, q):
    """Sum of mass times place over sum of mass."""
    poses = forward(body, q)
    moment, mass = np.zeros(3), 0.0
    for name, link in body.links.items():
        x, y, z = link.center_of_mass
        moment += link.mass * (poses[name] @ np.array([x, y, z, 1.0]))[:3]
        mass += link.mass
    return moment / mass


def standard_forward(body: Body, tips, q, world_from_root=None):
    """The standard of the OFKT paper, section 4: every chain on its own, nothing reused.

    A chain of n joints takes n local transformations, n to concatenate them and 1 to the world. Joints of one
    degree of freedom only; fixed ones belong to the static transformation of the next. Returns world_from_tip
    of each tip and the number of transformations.
    """
    world_from_root = np.eye(4) if world_from_root is None else world_from_root
    holder = {joint.child: joint for joint in body.joints.values()}
    poses, count = [], 0
    for tip in tips:
        path, at = [], tip
        while at in holder:
            path.insert(0, holder[at])
            at = holder[at].parent
        reference = np.eye(4)
        for joint in path:
            local = joint.origin @ motion(joint, values_of(body, joint, q))
            reference = reference @ local
            count += 2 * (joint.kind != "fixed")
        poses.append(world_from_root @ reference)
        count += 1
    return np.array(poses), count
