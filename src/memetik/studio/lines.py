"""The lines of a body: its skeleton, the axes of its joints and the arcs of their limits."""

from __future__ import annotations

import math

import numpy as np

import memetik as mk
from memetik.geometry import between
from memetik.studio import Array
from memetik.types import Array

STEPS = 16  # segments of an arc


class Lines:
    """Segments (n, 2, 3) that follow a posture; what can be known of the body beforehand is worked out once."""

    def __init__(self, body: mk.Body, size: float) -> None:
        rows = {link: k for k, link in enumerate(body.links)}
        joints = list(body.joints.values())
        self._parents = np.array([rows[joint.parent] for joint in joints], dtype=np.int64)
        self._children = np.array([rows[joint.child] for joint in joints], dtype=np.int64)
        lengths = np.array([np.linalg.norm(joint.origin[:3, 3]) for joint in joints])
        self._bones = np.flatnonzero(lengths > 1e-3 * max(lengths.max(initial=0.0), 1e-9))
        moving = [joint for joint in joints if joint.dof == 1]
        self._carriers = np.array([rows[joint.parent] for joint in moving], dtype=np.int64)
        axes = [(joint.origin, joint.axis, 0.09 * size) for joint in moving]
        self._axes = np.array([_segment(origin, axis, length) for origin, axis, length in axes]).reshape(-1, 2, 3)
        limited = [joint for joint in moving if joint.kind == "revolute"]
        arcs = [(rows[joint.parent], _arc(joint, 0.09 * size)) for joint in limited]
        self._turned = np.array([rows[joint.child] for joint in limited], dtype=np.int64)
        self._needles = np.array([_needle(joint, 0.11 * size) for joint in limited]).reshape(-1, 2, 3)
        self._arcs = np.array([arc for _, arc in arcs]).reshape(-1, STEPS + 2, 2, 3)
        self._arc_carriers = np.array([row for row, _ in arcs], dtype=np.int64)

    def skeleton(self, poses: Array) -> Array:
        """From each joint's parent to its child."""
        return np.stack([poses[self._parents, :3, 3], poses[self._children, :3, 3]], axis=1)

    def bones(self, poses: Array) -> Array:
        """The skeleton without what has no length and without the joint that frees the root, which is no bone."""
        return self.skeleton(poses)[self._bones]

    def axes(self, poses: Array) -> Array:
        """The axis of each joint with one degree of freedom, and where in its range each one stands that has limits."""
        return np.concatenate([_carry(poses[self._carriers], self._axes), _carry(poses[self._turned], self._needles)])

    def arcs(self, poses: Array) -> Array:
        """The range of each joint that turns within limits, as a sector."""
        carried = np.einsum("nij,nkpj->nkpi", poses[self._arc_carriers, :3, :3], self._arcs)
        return np.asarray(carried + poses[self._arc_carriers, None, None, :3, 3]).reshape(-1, 2, 3)


def _carry(poses: Array, segments: Array) -> Array:
    return np.asarray(np.einsum("nij,npj->npi", poses[:, :3, :3], segments) + poses[:, None, :3, 3])


def _segment(origin: Array, axis: Array, half: float) -> Array:
    middle, along = origin[:3, 3], origin[:3, :3] @ axis
    return np.array([middle - half * along, middle + half * along])


def _needle(joint: mk.Joint, length: float) -> Array:
    """From the joint to its own angle on the arc, in the frame of the child, with which it turns."""
    return np.stack([np.zeros(3), length * between((0.0, 0.0, 1.0), joint.axis)[:, 0]])


def _arc(joint: mk.Joint, radius: float) -> Array:
    """A sector in the parent's frame, from the lower to the upper limit; a full turn at most."""
    low, high = joint.lower[0], joint.upper[0]
    low, high = max(low, -math.pi), min(high, math.pi)
    angles = np.linspace(low, high, STEPS + 1)
    x, y, _ = between((0.0, 0.0, 1.0), joint.axis).T
    flat = radius * (np.outer(np.cos(angles), x) + np.outer(np.sin(angles), y))
    rim = flat @ joint.origin[:3, :3].T + joint.origin[:3, 3]
    middle = joint.origin[:3, 3]
    sides = [np.stack([middle, rim[0]]), np.stack([rim[-1], middle])]
    return np.array([sides[0], *np.stack([rim[:-1], rim[1:]], axis=1), sides[1]])
