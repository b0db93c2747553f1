"""EAIK, the closed forms of Ostermeier, Külz and Althoff in C++, as the oracle of ours."""

from __future__ import annotations

import numpy as np

from tests.naive import kinematics


def matrices(body, tip):
    """root_from_joint of all joints that turn, at zero, each turned so that its z axis is that of the joint; and of the tip."""
    rest = np.zeros(body.dof)
    frames = []
    for name in body.joint_names:
        joint = body.joints[name]
        T = kinematics.pose(body, joint.child, rest)
        z = T[:3, :3] @ joint.axis / np.linalg.norm(joint.axis)
        x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
        x /= np.linalg.norm(x)
        T[:3, :3] = np.column_stack((x, np.cross(z, x), z))
        frames.append(T)
    return np.array([*frames, kinematics.pose(body, tip, rest)])


def robot(body, tip, held=()):
    """Its robot, or None where it cannot take the arm apart; held: joints, by number, and their angles [rad]."""
    from eaik.IK_Homogeneous import HomogeneousRobot

    try:
        made = HomogeneousRobot(matrices(body, tip), list(held))
    except RuntimeError:  # axes in a place where its own computations divide by zero
        return None
    return made if made.hasKnownDecomposition() else None


def solutions(made, body, tip, target, atol=1e-6):
    """Those of its answers that the naive forward kinematics confirms, a row each; the others are its least squares."""
    offered, off, _ = answers(made, body, tip, target)
    # It knows no limits, and its angles are within half a turn of zero.
    offered += 2.0 * np.pi * ((offered < body.lower).astype(float) - (offered > body.upper))
    within = ((offered >= body.lower) & (offered <= body.upper)).all(axis=1)
    return offered[(off < atol) & within]


def answers(made, body, tip, target):
    """All that it answers, a row each, how far each is off by the naive forward kinematics, and which it says are exact."""
    answer = made.IK(target)
    offered = np.array(answer.Q, dtype=float).reshape(-1, body.dof)
    off = np.abs(kinematics.pose(body, tip, offered.T) - target).max(axis=(1, 2), initial=0.0)
    return offered, off, ~np.array(answer.is_LS, dtype=bool)
