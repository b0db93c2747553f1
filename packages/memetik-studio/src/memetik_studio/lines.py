"""The lines of a body: its skeleton, the axes of its joints and the arcs of their limits."""

from __future__ import annotations

import math

import numpy as np

import memetik as mk
from memetik.geometry import between
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
        limited = [joint for joint in moving if joint.kind == "revolute"]
        self._axes = _Riders([(rows[joint.parent], _axis(joint, 0.09 * size)) for joint in moving])
        self._needles = _Riders([(rows[joint.child], _needle(joint, 0.11 * size)) for joint in limited])
        self._arcs = _Riders([(rows[joint.parent], _arc(joint, 0.09 * size)) for joint in limited])

    def skeleton(self, poses: Array) -> Array:
        """From each joint's parent to its child."""
        return np.stack([poses[self._parents, :3, 3], poses[self._children, :3, 3]], axis=1)

    def bones(self, poses: Array) -> Array:
        """The skeleton without what has no length and without the joint that frees the root, which is no bone."""
        return self.skeleton(poses)[self._bones]

    def axes(self, poses: Array) -> Array:
        """The axis of each joint with one degree of freedom, and where in its range each one stands that has limits."""
        return np.concatenate([self._axes.at(poses), self._needles.at(poses)])

    def arcs(self, poses: Array) -> Array:
        """The range of each joint that turns within limits, as a sector."""
        return self._arcs.at(poses)


class _Riders:
    """Segments (k, 2, 3) that ride on links, in the frame of each."""

    def __init__(self, rows: list[tuple[int, Array]]) -> None:
        self._links = np.array([link for link, segments in rows for _ in segments], dtype=np.int64)
        self._segments = np.array([segment for _, segments in rows for segment in segments]).reshape(-1, 2, 3)

    def at(self, poses: Array) -> Array:
        carriers = poses[self._links]
        return np.asarray(np.einsum("nij,npj->npi", carriers[:, :3, :3], self._segments) + carriers[:, None, :3, 3])


def _axis(joint: mk.build.Joint, half: float) -> Array:
    middle, along = joint.origin[:3, 3], joint.origin[:3, :3] @ joint.axis
    return np.array([[middle - half * along, middle + half * along]])


def _needle(joint: mk.build.Joint, length: float) -> Array:
    """From the joint to its own angle on the arc, in the frame of the child, with which it turns."""
    return np.array([[np.zeros(3), length * between((0.0, 0.0, 1.0), joint.axis)[:, 0]]])


def _arc(joint: mk.build.Joint, radius: float) -> Array:
    """A sector in the parent's frame, from the lower to the upper limit; a full turn at most."""
    angles = np.linspace(max(joint.lower[0], -math.pi), min(joint.upper[0], math.pi), STEPS + 1)
    x, y, _ = between((0.0, 0.0, 1.0), joint.axis).T
    flat = radius * (np.outer(np.cos(angles), x) + np.outer(np.sin(angles), y))
    middle = joint.origin[:3, 3]
    around = np.array([middle, *(flat @ joint.origin[:3, :3].T + middle), middle])
    return np.stack([around[:-1], around[1:]], axis=1)
