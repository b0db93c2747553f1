"""Twins of the losses of the thesis, section 4.4: matrices, arc cosines and the words of the equations."""

from __future__ import annotations

import math

import numpy as np


def chain_length(body, link):
    """L of eq. 4.4 for joints that turn: every link's length on the way from the root, straightened out."""
    holder = {joint.child: joint for joint in body.joints.values()}
    length = 0.0
    while link in holder:
        length += math.dist(holder[link].origin[:3, 3], (0.0, 0.0, 0.0))
        link = holder[link].parent
    return length


def position(T, target, length):
    """Eq. 4.4 for a frame at the 4x4 pose T in a chain of this length [m]."""
    d, reach = math.dist(T[:3, 3], target), math.dist(T[:3, 3], (0.0, 0.0, 0.0))
    return math.pi * d / math.sqrt((length + d) * (reach + d))


def orientation(R, target):
    """Eq. 4.5: the angle between two rotations, here from the trace of the rotation from one to the other."""
    return math.acos(min(max((np.trace(target.T @ R) - 1.0) / 2.0, -1.0), 1.0))


def direction(T, axis, point):
    """Eq. 4.6 with the unit vector to the point: how far an axis of the frame misses it [rad]."""
    view, towards = T[:3, :3] @ np.asarray(axis), np.asarray(point) - T[:3, 3]
    cosine = view @ towards / (np.linalg.norm(view) * np.linalg.norm(towards))
    return math.acos(min(max(cosine, -1.0), 1.0))


def distance(gap, margin):
    """Eq. 4.7 for the gap d - r between two surfaces [m]: infinite in contact, 1/(d - r) beyond.

    Shifted by its value at the margin, from where on nothing is lost, and scaled to the slope -1 there.
    """
    if gap <= 0.0:
        return math.inf
    return margin**2 * max(1.0 / gap - 1.0 / margin, 0.0)


def published_distance(gap):
    """Eq. 4.7 as it stands, for the gap d - r between two surfaces [m]."""
    return math.inf if gap <= 0.0 else 1.0 / gap


def displacement(x, reference, weights):
    """Eq. 4.8: the mean of weighted distances from a posture."""
    return float(np.mean([w * abs(a - b) for w, a, b in zip(weights, x, reference, strict=True)]))


def joint_value(value, wanted):
    """Eq. 4.9."""
    return abs(wanted - value)


def functional_relation(value, expected):
    """Eq. 4.10."""
    return abs(value - expected)


def projection(position_loss, orientation_loss):
    """Eq. 4.11: the mean of a position at the hit and an orientation against the normal there."""
    return (position_loss + orientation_loss) / 2.0


def smooth_projection(position_loss, orientation_loss):
    """The same as a root mean square."""
    return math.hypot(position_loss, orientation_loss) / math.sqrt(2.0)


def fitness(losses, weights):
    """Eq. 4.3."""
    return math.sqrt(sum(w * loss**2 for w, loss in zip(weights, losses, strict=True)) / len(losses))


def mean_error(losses, weights):
    """What Table 5.4 compares with eq. 4.3."""
    return sum(w * loss for w, loss in zip(weights, losses, strict=True)) / len(losses)
