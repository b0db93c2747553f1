"""Left for right: which joints belong together, and what the values of one are on the other side.

With B the rest pose (all values zero) of a link in the world and S the reflection in the sagittal plane, a motion M of
a joint of link R is on its partner L

    M' = K M K^T,    K = B_L^T S B_R        (rotations only)

A turn about an axis a becomes a turn about -K a, a slide along a one along K a. So a value keeps its size, and its sign
follows from the axes of both joints.
"""

from __future__ import annotations

import re
from collections.abc import Collection

import numpy as np
from numpy.typing import ArrayLike

from memetik.body import Body, Joint
from memetik.errors import BodyError, ProblemError
from memetik.geometry.checks import three_finite
from memetik.motion.clips.turns import balls_of, quaternions, steady_turns
from memetik.types import Array

# Pairs of words that tell sides apart, as patterns and what is put there instead; the first that gives a known name holds.
_SIDES = (
    ("Left", "Right"), ("left", "right"), ("LEFT", "RIGHT"),
    (r"(?<![A-Za-z])L(?![a-z])", "R"), (r"(?<![A-Za-z])l(?![A-Za-z])", "r"), (r"(?<![A-Za-z])l(?=[A-Z])", "r"),
    (r"(?<=[a-z])L(?![a-z])", "R"),
)  # fmt: skip
SYMMETRY = 1e-3  # how far the axes of two partners may be from mirror images


def partner(name: str, names: Collection[str]) -> str:
    """The name of the same on the other side: RightFoot for LeftFoot, l_hip for r_hip; its own if there is none."""
    for left, right in _SIDES:
        back = left.replace("L", "R").replace("l", "r") if left.startswith("(") else right
        front = "L" if right == "R" else "l" if right == "r" else left
        for pattern, other in ((left, right), (back, front)):
            changed = re.sub(pattern, other, name)
            if changed != name and changed in names:
                return changed
    return name


def sagittal_normal(body: Body) -> Array:
    """The unit vector from right to left, of the links that come in pairs at rest."""
    poses = body.forward(np.zeros(body.dof))
    apart = [
        poses[link][:3, 3] - poses[other][:3, 3]
        for link in body.links
        if (other := partner(link, body.links)) != link and _is_left(link, other)
    ]
    normal = np.sum(apart, axis=0) if apart else np.zeros(3)
    largest = np.abs(normal).argmax()
    if not apart or np.linalg.norm(normal) < 1e-9:
        raise BodyError(
            f"body {body.name!r} has no links named as left and right, so its sagittal plane is not known. "
            "Give its normal, such as normal=(0, 1, 0)."
        )
    nearest = np.zeros(3)
    nearest[largest] = np.sign(normal[largest])
    normal = normal / np.linalg.norm(normal)
    return nearest if nearest @ normal > 0.98 else np.asarray(normal)  # figures are not symmetric to the last digit


def _is_left(name: str, other: str) -> bool:
    """Whether the first letter that differs is an l."""
    first = next(k for k, (a, b) in enumerate(zip(name, other, strict=False)) if a != b)
    return name[first] in "lL"


def mirrored(body: Body, q: Array, normal: ArrayLike | None) -> Array:
    """Joint vectors (n, dof) of the mirror image, in the plane through the origin with this normal."""
    if normal is None:
        across = sagittal_normal(body)
    else:
        across = three_finite(normal, ProblemError, "mirrored: normal")
        if not np.linalg.norm(across) > 1e-9:
            raise ProblemError("mirrored: normal has no length. Give the direction from right to left.")
        across = across / np.linalg.norm(across)
    reflection = np.eye(3) - 2.0 * np.outer(across, across)
    rest = body.forward(np.zeros(body.dof))
    balls = {ball.joint: ball for ball in balls_of(body)}
    result = q.copy()
    for joint in body.joints.values():
        if joint.dof == 0 or joint.mimic is not None:
            continue
        there = body.joints[partner(joint.name, body.joints)]
        if there.kind != joint.kind or there.mimic is not None:
            raise BodyError(f"joints {joint.name!r} and {there.name!r} are no mirror images: one is {there.kind}.")
        across_joint = rest[joint.child][:3, :3].T @ reflection @ rest[there.child][:3, :3]
        places = rest[joint.child], rest[there.child]
        beside = places[0][:3, :3].T @ (reflection @ places[1][:3, 3] - places[0][:3, 3])
        _write(body, joint, there, (across_joint, beside), q, result)
        if joint.name in balls:
            ball, other = balls[joint.name], balls[there.name]
            turned = _reflected(quaternions(other, q), across_joint)
            result[:, ball.columns] = steady_turns(ball.order, turned, body.home[ball.columns])
    return result


def _reflected(rotations: Array, reflection: Array) -> Array:
    """K R K^T of rotations as quaternions: the axis is reflected, and the angle with it."""
    result = rotations.copy()
    result[:, 1:] = -(rotations[:, 1:] @ reflection.T)
    return result


def _write(body: Body, joint: Joint, there: Joint, across: tuple[Array, Array], q: Array, result: Array) -> None:
    """The single turns and the slides of a joint, from those of its partner.

    across: K, and where the mirror image of the partner's rest position is, seen from the joint at rest.
    """
    reflection, beside = across
    own, others = joint.motions(), there.motions()
    is_ball = joint.kind in ("spherical", "floating")
    slides = [k for k, motion in enumerate(own) if not motion.turns]
    if len(slides) == 3:
        columns = [body.index(joint.variables[k]) for k in slides]
        values = q[:, [body.index(there.variables[k]) for k in slides]]
        result[:, columns] = values @ reflection.T + beside
    for k, (motion, other) in enumerate(zip(own, others, strict=True)):
        if (is_ball and motion.turns) or (len(slides) == 3 and not motion.turns):
            continue
        sign = float(motion.axis @ reflection @ other.axis) * (-1.0 if motion.turns else 1.0)
        if abs(abs(sign) - 1.0) > SYMMETRY:
            raise BodyError(
                f"joints {joint.name!r} and {there.name!r} are no mirror images: their axes do not match. Give the "
                "normal of the sagittal plane, or mirror a body that is symmetric."
            )
        result[:, body.index(joint.variables[k])] = np.sign(sign) * q[:, body.index(there.variables[k])]
