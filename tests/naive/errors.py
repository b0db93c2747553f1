"""How far postures are from what objectives want, in the words of their documentation, for many postures at once.

Poses are stacks of matrices (n, 4, 4), points and directions (n, 3). Nothing here knows of kernels or terms.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from tests.naive.raycast import distance_to_edges


def lengths(vectors):
    """Of many vectors."""
    return np.sqrt((vectors * vectors).sum(axis=-1))


def turned(poses, vectors):
    """Vectors that are fixed to frames, in the world; one for all or one for each."""
    return np.einsum("nij,nj->ni", poses[:, :3, :3], np.broadcast_to(vectors, (len(poses), 3)))


def position_gap(poses, targets, mask=(1, 1, 1)):
    """From the target to the frame, in the axes of the target [m]."""
    gap = poses[:, :3, 3] - targets[:, :3, 3]
    return np.asarray(mask) * np.einsum("nji,nj->ni", targets[:, :3, :3], gap)


def orientation_gap(poses, targets, mask=(1, 1, 1)):
    """The rotation vector from the target to the frame, in the axes of the target [rad]."""
    turn = np.swapaxes(targets[:, :3, :3], 1, 2) @ poses[:, :3, :3]
    return np.asarray(mask) * Rotation.from_matrix(turn).as_rotvec()


def angle(a, b):
    """Between directions of any length [rad]."""
    return np.arctan2(lengths(np.cross(a, b)), (a * b).sum(axis=-1))


def aim_gap(axes, wanted, half_angle=0.0):
    """How much the axes are off the wanted directions, beyond the angle that is free [rad]."""
    return np.maximum(0.0, angle(axes, wanted) - half_angle)


def stretch(values, low, high, stiffness):
    """The mean over joints (n, joints) of stiffness times the distance from the interval at rest."""
    if values.shape[-1] == 0:
        return np.zeros(len(values))
    away = np.maximum(0.0, np.maximum(low - values, values - high))
    return (stiffness * away).mean(axis=-1)


def shrunk(polygon, margin):
    """The corners, anticlockwise, of what lies at least `margin` inside every edge of a convex polygon.

    Every corner is where two of the moved edges meet, and lies on the inner side of all of them.
    """
    along = np.roll(polygon, -1, axis=0) - polygon
    inward = np.stack([-along[:, 1], along[:, 0]], axis=1) / lengths(along)[:, None]
    offset = (inward * polygon).sum(axis=1) + margin
    corners = []
    for i in range(len(polygon)):
        for j in range(i):
            if abs(np.linalg.det(inward[[i, j]])) > 1e-12:
                corner = np.linalg.solve(inward[[i, j]], offset[[i, j]])
                if (inward @ corner >= offset - 1e-12).all():
                    corners.append(corner)
    middle = np.mean(corners, axis=0)
    return np.array(sorted(corners, key=lambda c: np.arctan2(*(c - middle)[::-1])))


def outside(polygon, points):
    """How far points (n, 2) are outside of an anticlockwise convex polygon."""
    ends = np.roll(polygon, -1, axis=0)
    edges, away = ends - polygon, points[:, None] - polygon
    inside = (edges[:, 0] * away[..., 1] - edges[:, 1] * away[..., 0] >= 0.0).all(axis=1)
    return np.where(inside, 0.0, np.array([distance_to_edges(polygon, ends, point).min() for point in points]))
