"""Stiffness of joints for editing: what carries much moves little, so that an edit stays where it is made.

The weight of a joint is the square root of the inertia that it moves, the diagonal of the mass matrix at home:

    w_i^2 = sum over links l of  m_l (|dp_l / dq_i|^2 + r^2 |dR_l / dq_i|^2),    r = 5 cm

with p_l the centre of mass of a link. The root of a person costs sqrt(70 kg) for each metre, the wrist next to nothing.
Joints that carry more than the edited limb count TRUNK times: a hand is reached for with the arm first.
Skeletons have no masses; there a bone has mass in proportion to its length.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from memetik.body import Body
from memetik.motion.clips.turns import balls_of
from memetik.types import Array

TRUNK = 3.0  # how many times stiffer a joint is that carries more than the limb that is edited
LEAST = 0.1  # of joints that move next to nothing, such as those of fingers
RADIUS = 0.05  # m, of gyration of a link
LIMB = 0.12  # what is longer, by the extent of the body, is a limb: an arm and a head are, a finger is not
LINEAR_MASS = 40.0  # kg/m: of the bones of a skeleton without masses


def stiffness(body: Body, edited: Iterable[str]) -> dict[str, float]:
    """Return the weight of every joint variable of a body when these links are edited."""
    inertia = _moved_inertia(body)
    found = np.sqrt(inertia)
    for ball in balls_of(body):  # one weight for the three turns of a rotation
        found[ball.columns] = np.sqrt(np.mean(inertia[ball.columns]))
    weights = dict(zip(body.joint_names, np.maximum(found, LEAST).tolist(), strict=True))
    trunk = _trunk(body, set(edited))
    for joint in body.joints.values():
        if joint.child in trunk and joint.mimic is None:
            weights.update({name: TRUNK * weights[name] for name in joint.variables})
    return weights


def _moved_inertia(body: Body) -> Array:
    """The inertia that each variable moves (dof,) [kg m2 or kg]."""
    masses, centers = _masses(body)
    total = np.zeros(body.dof)
    for link, mass in masses.items():
        if mass > 0.0:
            jacobian = body.jacobian(body.frame(link, tuple(centers[link])), body.home)
            total += mass * (np.square(jacobian[:3]).sum(axis=0) + RADIUS**2 * np.square(jacobian[3:]).sum(axis=0))
    return total


def _masses(body: Body) -> tuple[dict[str, float], dict[str, tuple[float, float, float]]]:
    """Mass [kg] and centre of mass [m] of each link; from the lengths of bones if the body has no masses."""
    masses = {link.name: link.mass for link in body.links.values()}
    centers = {link.name: link.center_of_mass for link in body.links.values()}
    if sum(masses.values()) > 0.0:
        return masses, centers
    ends: dict[str, list[Array]] = {name: [] for name in masses}
    for joint in body.joints.values():
        if joint.kind != "floating":
            ends[joint.parent].append(joint.origin[:3, 3])
    for name, points in ends.items():
        if points:
            x, y, z = (0.5 * np.mean(points, axis=0)).tolist()
            masses[name] = LINEAR_MASS * float(np.max(np.linalg.norm(points, axis=1)))
            centers[name] = (x, y, z)
    return masses, centers


def _trunk(body: Body, edited: set[str]) -> set[str]:
    """The links that carry an edited link and another limb besides."""
    poses = body.forward(body.home)
    extent = float(np.linalg.norm(np.ptp(poses.array[:, :3, 3], axis=0)))
    reach = dict.fromkeys(body.links, 0.0)  # from a link to the farthest end of what hangs on it [m]
    on_way = set(edited)
    from_below = list(reversed(body.joints.values()))  # children before their parents
    limbs: list[str] = []
    for joint in from_below:
        length = reach[joint.child] + float(np.linalg.norm(poses[joint.child][:3, 3] - poses[joint.parent][:3, 3]))
        reach[joint.parent] = max(reach[joint.parent], length)
        if joint.child in on_way:
            on_way.add(joint.parent)
        elif length > LIMB * extent:
            limbs.append(joint.parent)
    trunk = set(limbs) - _carried_by(body, edited)
    for joint in from_below:
        if joint.child in trunk:
            trunk.add(joint.parent)
    return trunk & on_way


def _carried_by(body: Body, links: set[str]) -> set[str]:
    """These links and all that hang on them."""
    found = set(links)
    for joint in body.joints.values():
        if joint.parent in found:
            found.add(joint.child)
    return found
