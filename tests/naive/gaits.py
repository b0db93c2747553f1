"""Feet and roots of clips, frame by frame from forward kinematics alone: what a viewer sees of sliding and of speed."""

from __future__ import annotations

import numpy as np

NEAR = 0.004  # m: a point of a sole this near to the ground touches it


def sole_corners(length, width):
    """The four corners of a sole in the frame at its middle."""
    x, y = 0.5 * length, 0.5 * width
    return np.array([(x, y, 0.0), (-x, y, 0.0), (-x, -y, 0.0), (x, -y, 0.0)])


def places(motion, foot, points):
    """Where points of a foot are in each frame (frames, points, 3)."""
    found = []
    for q in motion.q:
        pose = motion.body.forward(q, foot)
        found.append([pose[:3, :3] @ point + pose[:3, 3] for point in points])
    return np.array(found)


def slides(motion, foot, points, ground):
    """The speeds over the ground [m/s] of points that touch it, and when; the first and last frame of a touch are left out."""
    where = places(motion, foot, points)
    speeds, moments = [], []
    for k in range(1, len(motion) - 2):
        for i in range(len(points)):
            if max(where[j, i, 2] for j in range(k - 1, k + 3)) < ground + NEAR:
                way = where[k + 1, i] - where[k, i]
                speeds.append(np.hypot(way[0], way[1]) / (motion.times[k + 1] - motion.times[k]))
                moments.append(0.5 * (motion.times[k] + motion.times[k + 1]))
    return np.array(moments), np.array(speeds)


def root_speeds(motion):
    """How fast the root goes over the ground between frames [m/s]."""
    root = motion.root.child
    way = np.array([motion.body.forward(q, root)[:2, 3] for q in motion.q])
    return np.linalg.norm(np.diff(way, axis=0), axis=1) / np.diff(motion.times)
