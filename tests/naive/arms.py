"""Arms of six turning joints with closed forms, of random geometry: what makes each family is exact, all else is drawn."""

from __future__ import annotations

import dataclasses

import numpy as np

import memetik as mk
from tests.naive.kinematics import turn


def unit(rng):
    vector = rng.normal(size=3)
    return vector / np.linalg.norm(vector)


def build(axes, points, tip, name="arm"):
    """An arm as it stands at zero: unit axes (n, 3), points on them (n, 3), the matrix of the tip."""
    builder = mk.build.BodyBuilder(name)
    at, parent = np.zeros(3), "base"
    for k, (axis, point) in enumerate(zip(axes, points, strict=True)):
        builder.add(parent, f"j{k}", "continuous", f"l{k}", axis=axis, origin=point - at)
        at, parent = point, f"l{k}"
    builder.add(parent, "mount", "fixed", "tip", origin=(tip[:3, 3] - at, tip[:3, :3]))
    return builder.build()


def rounded(body, rng, angle=4e-6, digits=6):
    """The same arm as a file may give it: axes off by up to `angle` [rad], offsets [m] by half of their last digit."""
    joints = []
    for joint in body.joints.values():
        origin = joint.origin.copy()
        origin[:3, 3] += rng.uniform(-0.5, 0.5, 3) * 10.0**-digits
        if joint.kind == "fixed":
            joints.append(dataclasses.replace(joint, origin=origin))
            continue
        across = np.cross(joint.axis, unit(rng))
        axis = joint.axis + rng.uniform(0.0, angle) * across / np.linalg.norm(across)
        joints.append(dataclasses.replace(joint, origin=origin, axis=axis / np.linalg.norm(axis)))
    return mk.Body(f"rounded {body.name}", body.links.values(), joints)


def _drawn(rng):
    """Six axes in no arrangement, and a tip."""
    tip = turn(unit(rng), rng.uniform(-3.0, 3.0))
    tip[:3, 3] = rng.normal(size=3)
    return np.array([unit(rng) for _ in range(6)]), rng.normal(size=(6, 3)), tip


def _slid(rng, axes, points):
    """Other points on the same axes: where a file puts the origin of a joint on its axis is its own business."""
    return points + rng.normal(size=(len(axes), 1)) * axes


def _meet(points, *joints):
    points[list(joints)] = points[joints[0]]


def _be_parallel(rng, axes, *joints):
    axes[list(joints)] = np.outer(rng.choice([-1.0, 1.0], len(joints)), axes[joints[0]])


def spherical(rng, first=3, pair=None, how=""):
    """Three axes in a row from `first` on meet; so do two others, or they are parallel (`pair`, `how`)."""
    axes, points, tip = _drawn(rng)
    _meet(points, first, first + 1, first + 2)
    if how == "meet":
        _meet(points, *pair)
    elif how == "parallel":
        _be_parallel(rng, axes, *pair)
    return build(axes, _slid(rng, axes, points), tip)


def three_parallel(rng, first=1, meet=None):
    """Three axes in a row from `first` on are parallel; perhaps two others meet."""
    axes, points, tip = _drawn(rng)
    _be_parallel(rng, axes, first, first + 1, first + 2)
    if meet is not None:
        _meet(points, *meet)
    return build(axes, _slid(rng, axes, points), tip)


def puma(rng):
    """A vertical axis, two parallel across it, offsets, and a wrist of right angles."""
    x, y, z = np.eye(3)
    a, b, c, d, e = rng.uniform(0.1, 1.0, 5)
    axes = np.array([z, y, y, x, y, x])
    shoulder, elbow, wrist = np.array([e, 0, a]), np.array([e + b, d, a]), np.array([e + b + c, d, a + 0.1])
    tip = turn(y, 0.7)
    tip[:3, 3] = wrist + 0.2 * x
    return build(axes, np.array([0 * x, shoulder, elbow, wrist, wrist, wrist]), tip, "puma")


# Those that EAIK can take apart, too, so far as they come to it as they are.
FAMILIES = {
    "puma": puma,
    "spherical wrist": spherical,
    "spherical wrist, 1 and 2 meet": lambda rng: spherical(rng, 3, (0, 1), "meet"),
    "spherical wrist, 2 and 3 meet": lambda rng: spherical(rng, 3, (1, 2), "meet"),
    "spherical wrist, 1 and 2 parallel": lambda rng: spherical(rng, 3, (0, 1), "parallel"),
    "spherical wrist, 2 and 3 parallel": lambda rng: spherical(rng, 3, (1, 2), "parallel"),
    "spherical shoulder": lambda rng: spherical(rng, 0),
    "spherical shoulder, 4 and 5 parallel": lambda rng: spherical(rng, 0, (3, 4), "parallel"),
    "spherical shoulder, 5 and 6 parallel": lambda rng: spherical(rng, 0, (4, 5), "parallel"),
    "spherical shoulder, 4 and 5 meet": lambda rng: spherical(rng, 0, (3, 4), "meet"),
    "spherical shoulder, 5 and 6 meet": lambda rng: spherical(rng, 0, (4, 5), "meet"),
    "2, 3 and 4 meet": lambda rng: spherical(rng, 1),
    "2, 3 and 4 meet, 5 and 6 meet": lambda rng: spherical(rng, 1, (4, 5), "meet"),
    "2, 3 and 4 meet, 5 and 6 parallel": lambda rng: spherical(rng, 1, (4, 5), "parallel"),
    "3, 4 and 5 meet": lambda rng: spherical(rng, 2),
    "3, 4 and 5 meet, 1 and 2 meet": lambda rng: spherical(rng, 2, (0, 1), "meet"),
    "3, 4 and 5 meet, 1 and 2 parallel": lambda rng: spherical(rng, 2, (0, 1), "parallel"),
    "1, 2 and 3 parallel": lambda rng: three_parallel(rng, 0),
    "1, 2 and 3 parallel, 4 and 5 meet": lambda rng: three_parallel(rng, 0, (3, 4)),
    "1, 2 and 3 parallel, 5 and 6 meet": lambda rng: three_parallel(rng, 0, (4, 5)),
    "2, 3 and 4 parallel": three_parallel,
    "2, 3 and 4 parallel, 5 and 6 meet": lambda rng: three_parallel(rng, 1, (4, 5)),
    "3, 4 and 5 parallel": lambda rng: three_parallel(rng, 2),
    "3, 4 and 5 parallel, 1 and 2 meet": lambda rng: three_parallel(rng, 2, (0, 1)),
    "4, 5 and 6 parallel": lambda rng: three_parallel(rng, 3),
    "4, 5 and 6 parallel, 1 and 2 meet": lambda rng: three_parallel(rng, 3, (0, 1)),
    "4, 5 and 6 parallel, 2 and 3 meet": lambda rng: three_parallel(rng, 3, (1, 2)),
}
